//! Reports, and the work of daemons.

use http::Method;

use super::row::{MEMBER, VIEWER, route};
use crate::discovery::Format;
use crate::discovery::report::TableKind;
use crate::inventory::{MAX_SUBNETS, Requirement};
use crate::model::{Discovery, DiscoveryType, MAX_TEXT, Permission};
use crate::service::endpoints::{collections, discoveries, discovery_stream, lists, reports};
use crate::service::routes::groups;
use crate::service::routes::parameter::{Kind, MAX_REPORTER, Parameter, RequestContent};
use crate::service::routes::route::{BodyLimit, ResponseContent, Route};
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

const DISCOVERY: &[Parameter] = &[
    Parameter::required("network_id", Kind::Id, "The network to be discovered."),
    Parameter::optional("daemon_id", Kind::Id, "The daemon; without one, the first that asks."),
    Parameter::optional("type", TYPES, "What to discover; by default, the hosts of subnets."),
    Parameter::optional(
        "discovery_type",
        Kind::Schema("GivenDiscoveryType"),
        "Another name of `type`, or an object with `type`, `subnet_ids` and `snmp_credentials`.",
    ),
    Parameter::optional(
        "subnet_ids",
        Kind::Ids { min: 1, max: MAX_SUBNETS },
        "The subnets to scan; without them, those of the daemon's host.",
    ),
    Parameter::optional(
        "snmp_credentials",
        Kind::Schema("SnmpCredentials"),
        "The credentials that the daemon gets. They are held in memory, and never stored or shown.",
    ),
];

const TYPES: Kind = Kind::Choice(DiscoveryType::TEXTS);

const REPORT: &[Parameter] = &[
    Parameter::required(
        "format",
        Kind::Choice(Format::TEXTS),
        "The format of the body; `auto`: by its content.",
    ),
    Parameter::optional("network_id", Kind::Id, "The network of the devices. Keys of daemons have one."),
    Parameter::optional(
        "reporter",
        Kind::Text { min: 0, max: MAX_REPORTER },
        "The device that the body comes from, where it does not tell: the id of a host, or a sysName.",
    ),
    Parameter::optional("complete", Kind::Flag(false), "Whether the tables of the body have all rows."),
    Parameter::optional("create_neighbors", Kind::Flag(false), "Whether unknown neighbors become hosts."),
    Parameter::optional("dry_run", Kind::Flag(false), "Returns the same answer and stores nothing."),
];

const STALE_QUERY: &[Parameter] = &[Parameter::required("network_id", Kind::Id, "The network of the hosts.")];

const PARTS: Kind = Kind::Ids { min: 0, max: 131_072 };

/// Texts of hosts, which devices send.
const DEVICE_TEXT: Kind = Kind::Text { min: 0, max: MAX_TEXT };

const SPLIT_FIELDS: &[Parameter] = &[
    Parameter::optional("name", DEVICE_TEXT, "The display name; derived from the other fields if absent."),
    Parameter::optional("hostname", DEVICE_TEXT, "The DNS name."),
    Parameter::optional("sys_name", DEVICE_TEXT, "`sysName`."),
    Parameter::optional("sys_descr", DEVICE_TEXT, "`sysDescr`."),
    Parameter::optional("sys_object_id", DEVICE_TEXT, "`sysObjectID` in numeric form."),
    Parameter::optional("sys_location", DEVICE_TEXT, "`sysLocation`."),
    Parameter::optional("sys_contact", DEVICE_TEXT, "`sysContact`."),
    Parameter::optional("chassis_id", Kind::Schema("LldpChassisId"), "The device's chassis id by LLDP."),
    Parameter::optional("manufacturer", DEVICE_TEXT, "The manufacturer of the chassis."),
    Parameter::optional("model", DEVICE_TEXT, "The model of the chassis."),
    Parameter::optional("serial_number", DEVICE_TEXT, "The serial number of the chassis."),
    Parameter::optional("management_url", DEVICE_TEXT, "The URL of the management interface."),
    Parameter::optional("interfaces", PARTS, "The ids of the interfaces that move to the new host."),
    Parameter::optional("ports", PARTS, "The ids of the ports that move."),
    Parameter::optional("services", PARTS, "The ids of the services that move."),
    Parameter::optional("if_entries", PARTS, "The ids of the interface entries that move."),
];

const CLAIMS: &[Parameter] =
    &[Parameter::nullable("kind", Kind::Choice(TableKind::TEXTS), "Lists only claims of this kind.")];

/// The endpoints by which reports become hosts.
pub(super) fn reports() -> Vec<Route> {
    let import = Route {
        body: RequestContent::Report,
        body_limit: BodyLimit::Report,
        ..route(
            Method::POST,
            "/api/v1/discovery/import",
            "import_report",
            "Reconciles the output of a scanner or a device with the hosts.",
            reports::import_report,
        )
    };
    let consolidate = "/api/v1/hosts/{id}/consolidate/{other}";
    vec![
        import
            .access(AllowedSenders::CallerOrDaemon(Requirement::level(Permission::Member)))
            .query(&[REPORT])
            .value("DiscoveryReport")
            .errors(&[
                ErrorCode::EntityAccessDenied,
                ErrorCode::EntityNotFound,
                ErrorCode::EntityReferenceInvalid,
            ])
            // Refused devices are in the report.
            .no_errors(&[ErrorCode::PolicyRefused]),
        route(
            Method::GET,
            "/api/v1/hosts/{id}/claims",
            "get_host_claims",
            "Lists the tables that a host reports.",
            reports::list_claims,
        )
        .access(VIEWER)
        .query(&[CLAIMS])
        .list("Claim")
        .errors(&[ErrorCode::EntityAccessDenied]),
        route(
            Method::POST,
            consolidate,
            "consolidate_hosts",
            "Merges another host into a host.",
            reports::consolidate_hosts,
        )
        .access(MEMBER)
        .value("Host")
        .tagged()
        .errors(&[
            ErrorCode::EntityNetworkMismatch,
            ErrorCode::PreconditionFailed,
            ErrorCode::QuotaExceeded,
            ErrorCode::ValidationMaxLength,
        ]),
        route(
            Method::PUT,
            consolidate,
            "consolidate_hosts_by_put",
            "Merges another host into a host, for clients that expect this method.",
            reports::consolidate_hosts,
        )
        .access(MEMBER)
        .value("Host")
        .tagged()
        .errors(&[
            ErrorCode::EntityNetworkMismatch,
            ErrorCode::PreconditionFailed,
            ErrorCode::QuotaExceeded,
            ErrorCode::ValidationMaxLength,
        ]),
        route(
            Method::POST,
            "/api/v1/hosts/{id}/split",
            "split_host",
            "Moves parts of a host to a new host, and returns the new host.",
            reports::split_host,
        )
        .access(MEMBER)
        .fields(SPLIT_FIELDS)
        .value("Host")
        .tagged()
        .creates_in("/api/v1/hosts")
        .errors(&[ErrorCode::PreconditionFailed, ErrorCode::QuotaExceeded]),
        route(
            Method::POST,
            "/api/v1/hosts/delete-stale",
            "delete_stale_parts",
            "Deletes the parts of hosts that three complete tables in a row lack.",
            reports::delete_stale,
        )
        .access(MEMBER)
        .fields(STALE_QUERY)
        .value("StaleDeletion")
        .errors(&[ErrorCode::EntityAccessDenied, ErrorCode::EntityNotFound]),
    ]
}

pub(super) fn discoveries() -> Vec<Route> {
    let (path, item) = ("/api/v1/discoveries", "/api/v1/discoveries/{id}");
    let query = [groups::PAGE, groups::IDS, groups::NETWORK, groups::ORDER_BY_TIME];
    let list = lists::list::<Discovery>;
    let stream = Route {
        answer: ResponseContent::Events(
            "Events named `discovery`, whose data is a discovery. The first are the present ones.",
        ),
        ..route(
            Method::GET,
            "/api/v1/discoveries/stream",
            "stream_discoveries",
            "Sends discoveries as they change.",
            discovery_stream::stream_discoveries,
        )
    };
    vec![
        route(Method::GET, path, "get_all_discoveries", "Lists discoveries.", list)
            .query(&query)
            .page("Discovery"),
        route(Method::POST, path, "create_discovery", "Queues a discovery.", discoveries::create_discovery)
            .access(MEMBER)
            .fields(DISCOVERY)
            .value("Discovery")
            .tagged()
            .creates_in(path)
            .errors(&[ErrorCode::QuotaExceeded])
            .repeatable(),
        stream.query(&[groups::NETWORK]),
        route(
            Method::GET,
            item,
            "get_discovery_by_id",
            "Returns a discovery.",
            collections::get::<Discovery>,
        )
        .access(VIEWER)
        .value("Discovery")
        .tagged(),
        route(
            Method::POST,
            "/api/v1/discoveries/{id}/cancel",
            "cancel_discovery",
            "Cancels a discovery, unless it has ended.",
            discoveries::cancel_discovery,
        )
        .access(AllowedSenders::Caller(Requirement::level(Permission::Member)))
        .value("Discovery")
        .tagged(),
    ]
}
