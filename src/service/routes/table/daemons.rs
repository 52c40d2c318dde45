//! The daemons, and the endpoints that they call.

use http::Method;

use super::row::{CollectionNames, route};
use crate::inventory::MAX_SUBNETS;
use crate::model::{DaemonMode, DiscoveryDaemon, DiscoveryPhase};
use crate::service::endpoints::daemons;
use crate::service::routes::groups;
use crate::service::routes::parameter::{Kind, Parameter};
use crate::service::routes::route::{Handler, ResponseContent, Route};
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
