//! Discovery daemons and their work.

use http::Method;

use super::row::CollectionNames;
use super::row::{MEMBER, VIEWER, route};
use crate::discovery::Format;
use crate::discovery::report::TableKind;
use crate::inventory::{MAX_SUBNETS, Requirement};
use crate::model::{
    DaemonMode, Discovery, DiscoveryDaemon, DiscoveryPhase, DiscoveryType, MAX_TEXT, Permission,
};
use crate::service::endpoints::{collections, daemons, discoveries, discovery_stream, lists, reports};
use crate::service::routes::groups;
use crate::service::routes::parameter::{Kind, MAX_REPORTER, Parameter, RequestContent};
use crate::service::routes::route::{BodyLimit, Handler, ResponseContent, Route};
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

const SUBNETS: Kind = Kind::Ids { min: 0, max: MAX_SUBNETS };
const VERSION: Kind = Kind::Text { min: 0, max: 100 };
const PHASES: Kind = Kind::Choice(&[
    DiscoveryPhase::Pending.as_str(),
    DiscoveryPhase::Starting.as_str(),
    DiscoveryPhase::Started.as_str(),
    DiscoveryPhase::Scanning.as_str(),
    DiscoveryPhase::Complete.as_str(),
    DiscoveryPhase::Failed.as_str(),
    DiscoveryPhase::Cancelled.as_str(),
    "Queued",
    "AwaitingSnapshot",
]);
const PERCENT: Kind = Kind::Number { min: 0, max: 100, default: None };

const REGISTRATION: &[Parameter] = &[
    Parameter::required("daemon_id", Kind::Id, "The id that the daemon has chosen."),
    Parameter::required("name", Kind::Name, "The display name."),
    Parameter::optional(
        "mode",
        Kind::Choice(&[DaemonMode::DaemonPoll.as_str(), DaemonMode::ServerPoll.as_str(), "Pull", "Push"]),
        "Which side begins. Daemons older than 0.14 use the last two names.",
    ),
    Parameter::optional("version", VERSION, "The version of the daemon."),
    Parameter::optional("capabilities", Kind::Schema("DaemonCapabilities"), "The scans it is capable of."),
];

const HEARTBEAT: &[Parameter] =
    &[Parameter::optional("name", Kind::Name, "The display name, which stays as it is.")];

const STARTUP: &[Parameter] = &[Parameter::required("daemon_version", VERSION, "The version of the daemon.")];

const STATUS: &[Parameter] = &[
    Parameter::optional("version", VERSION, "The version of the daemon."),
    Parameter::optional("ready_for_work", Kind::Boolean, "Whether the daemon can begin new work."),
    Parameter::optional("has_docker_socket", Kind::Boolean, "Whether it can list containers."),
    Parameter::optional(
        "interfaced_subnets",
        Kind::Schemas("InterfacedSubnet"),
        "The subnets that its host has interfaces in. They are stored like reported subnets.",
    ),
];

const VLANS: &[Parameter] = &[Parameter::required(
    "vlans",
    Kind::Sized { schema: "ReportedVlan", min: 0, max: 4_094 },
    "The VLANs, each with number and name.",
)];

const CAPABILITIES: &[Parameter] = &[
    Parameter::optional("has_docker_socket", Kind::Boolean, "Whether it can list containers."),
    Parameter::optional("interfaced_subnet_ids", SUBNETS, "The subnets that its host has interfaces in."),
];

const PROGRESS: &[Parameter] = &[
    Parameter::required("session_id", Kind::Id, "The session."),
    Parameter::required("daemon_id", Kind::Id, "The daemon that has the session."),
    Parameter::required("phase", PHASES, "The progress."),
    Parameter::optional("progress", PERCENT, "The progress in percent."),
    Parameter::nullable("error", Kind::Text { min: 0, max: 65_536 }, "Why the work failed."),
    Parameter::nullable("started_at", Kind::Time, "When the daemon began."),
    Parameter::nullable("finished_at", Kind::Time, "When the work ended."),
];

const REPORTED_HOST: &[Parameter] = &[
    Parameter::required("host", Kind::Schema("ReportedHost"), "The host, without its parts."),
    Parameter::optional("interfaces", Kind::Schemas("InterfaceInput"), "The host's addresses."),
    Parameter::optional(
        "ip_addresses",
        Kind::Schemas("InterfaceInput"),
        "The host's addresses, by daemons since 0.16. Their `interfaces` are what `if_entries` are.",
    ),
    Parameter::optional("ports", Kind::Schemas("PortInput"), "The host's open ports."),
    Parameter::optional("services", Kind::Schemas("ServiceInput"), "The services of the host."),
    Parameter::optional("if_entries", Kind::Schemas("IfEntryInput"), "The SNMP interface table."),
];

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

fn for_daemons(path: &'static str, id: &str, summary: &str, handler: Handler) -> Route {
    route(Method::POST, path, id, summary, handler).access(AllowedSenders::Daemon)
}

/// The endpoints that daemons call.
pub(super) fn for_all_daemons() -> Vec<Route> {
    let (register, startup) = ("/api/daemons/register", "/api/daemons/{id}/startup");
    let (work, capabilities) = ("/api/daemons/{id}/request-work", "/api/daemons/{id}/update-capabilities");
    let null = |route: Route| Route { answer: ResponseContent::Null, ..route };
    vec![
        for_daemons(register, "register_daemon", "Registers a daemon.", daemons::register)
            .fields(REGISTRATION)
            .value("DaemonRegistration")
            .errors(&[ErrorCode::PolicyRefused, ErrorCode::QuotaExceeded]),
        for_daemons(
            startup,
            "announce_daemon",
            "Records that a daemon has started.",
            daemons::announce_startup,
        )
        .fields(STARTUP)
        .value("ServerCapabilities"),
        for_daemons(work, "request_work", "Hands out the next work.", daemons::request_work)
            .fields(STATUS)
            .value("DaemonWork")
            .errors(&[ErrorCode::DaemonNotRegistered]),
        null(for_daemons(
            "/api/daemons/{id}/heartbeat",
            "note_heartbeat",
            "Records that a daemon is alive.",
            daemons::note_heartbeat,
        ))
        .fields(HEARTBEAT),
        for_daemons(
            "/api/v1/vlans/discovery",
            "report_vlans",
            "Returns the ids of the VLANs that a daemon has found.",
            daemons::report_vlans,
        )
        .fields(VLANS)
        .value("VlanIds"),
        null(for_daemons(
            capabilities,
            "update_daemon_capabilities",
            "Replaces what a daemon can discover.",
            daemons::update_capabilities,
        ))
        .fields(CAPABILITIES),
        null(for_daemons(
            "/api/v1/discovery/{id}/update",
            "report_progress",
            "Stores the progress of the session that the body names.",
            daemons::report_progress,
        ))
        .fields(PROGRESS)
        // Unknown sessions are ignored, and the body names the session once more.
        .no_errors(&[ErrorCode::EntityNotFound, ErrorCode::EntityReferenceInvalid]),
        for_daemons(
            "/api/v1/hosts/discovery",
            "report_host",
            "Stores a host that a daemon has found.",
            daemons::report_host,
        )
        .fields(REPORTED_HOST)
        .value("Host")
        .tagged()
        .errors(&[
            ErrorCode::EntityAlreadyExists,
            ErrorCode::PolicyRefused,
            ErrorCode::QuotaExceeded,
        ]),
    ]
}

/// Lets daemons create a record as well as users.
pub(super) fn or_by_daemons(route: Route, handler: Handler) -> Route {
    let access = match route.access {
        AllowedSenders::Caller(requirement) => AllowedSenders::CallerOrDaemon(requirement),
        other => other,
    };
    Route { access, handler, ..route }
}

pub(super) fn daemons() -> Vec<Route> {
    let daemons = CollectionNames {
        path: "/api/v1/daemons",
        item: "/api/v1/daemons/{id}",
        bulk_delete: "",
        singular: "daemon",
        plural: "daemons",
        one: "a discovery daemon",
        many: "discovery daemons",
        schema: "Daemon",
    };
    vec![
        daemons.list::<DiscoveryDaemon>(&[groups::PAGE, groups::IDS, groups::NETWORK, groups::ORDER]),
        daemons.get::<DiscoveryDaemon>(),
        daemons.history::<DiscoveryDaemon>("/api/v1/daemons/{id}/history"),
        daemons.delete::<DiscoveryDaemon>(),
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
            .errors(&[ErrorCode::QuotaExceeded]),
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
