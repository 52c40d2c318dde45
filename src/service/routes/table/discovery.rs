//! Discovery daemons and their work.

use http::Method;

use super::collection::Collection;
use super::row::{MEMBER, VIEWER, route};
use crate::inventory::{MAX_SUBNETS, Requirement};
use crate::model::{Discovery, DiscoveryDaemon, Permission};
use crate::service::endpoints::{collections, daemons, discoveries, discovery_stream, lists, reports};
use crate::service::routes::groups;
use crate::service::routes::parameter::{Kind, MAX_REPORTER, Parameter, RequestContent};
use crate::service::routes::route::{Answer, BodyLimit, Handler, Route};
use crate::service::sender::Access;
use crate::wire::ErrorCode;

const SUBNETS: Kind = Kind::Ids { min: 0, max: MAX_SUBNETS };
const VERSION: Kind = Kind::Text { min: 0, max: 100 };
const PHASES: Kind =
    Kind::Choice(&["Pending", "Starting", "Started", "Scanning", "Complete", "Failed", "Cancelled"]);
const PERCENT: Kind = Kind::Number { min: 0, max: 100, default: None };

const REGISTRATION: &[Parameter] = &[
    Parameter::required("daemon_id", Kind::Id, "The id that the daemon has chosen."),
    Parameter::required("name", Kind::Name, "The display name."),
    Parameter::optional("mode", Kind::Choice(&["daemon_poll", "server_poll"]), "Which side begins."),
    Parameter::optional("version", VERSION, "The version of the daemon."),
    Parameter::optional("capabilities", Kind::Schema("DaemonCapabilities"), "What it can discover."),
];

const STARTUP: &[Parameter] = &[Parameter::required("daemon_version", VERSION, "The version of the daemon.")];

const STATUS: &[Parameter] = &[
    Parameter::optional("version", VERSION, "The version of the daemon."),
    Parameter::optional("ready_for_work", Kind::Boolean, "Whether the daemon can begin new work."),
];

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
    Parameter::optional("ports", Kind::Schemas("PortInput"), "The host's open ports."),
    Parameter::optional("services", Kind::Schemas("ServiceInput"), "The services of the host."),
    Parameter::optional("if_entries", Kind::Schemas("IfEntryInput"), "The SNMP interface table."),
];

const DISCOVERY: &[Parameter] = &[
    Parameter::required("network_id", Kind::Id, "The network to be discovered."),
    Parameter::optional("daemon_id", Kind::Id, "The daemon; without one, the first that asks."),
    Parameter::optional("type", Kind::Choice(&["Network", "SelfReport", "Docker"]), "What to discover."),
    Parameter::optional(
        "subnet_ids",
        Kind::Ids { min: 1, max: MAX_SUBNETS },
        "The subnets to scan; without them, those of the daemon's host.",
    ),
];

const REPORT: &[Parameter] = &[
    Parameter::required("format", Kind::Choice(FORMATS), "The format of the body; `auto`: by its content."),
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

const FORMATS: &[&str] = &[
    "auto",
    "nmap",
    "lldpctl",
    "snmpwalk",
    "snmprec",
    "arp",
    "ip_addr",
    "bridge_fdb",
    "bridge_vlan",
    "report",
];

const CLAIMS: &[Parameter] =
    &[Parameter::nullable("kind", Kind::Choice(KINDS), "Lists only claims of this kind.")];

const KINDS: &[&str] = &["if_entries", "addresses", "lldp", "cdp", "fdb", "arp", "stp", "lag", "ports"];

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
            .access(Access::CallerOrDaemon(Requirement::level(Permission::Member)))
            .query(&[REPORT])
            .value("DiscoveryReport")
            .errors(&[
                ErrorCode::EntityAccessDenied,
                ErrorCode::EntityNotFound,
                ErrorCode::EntityReferenceInvalid,
            ]),
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
        .errors(&[ErrorCode::EntityNetworkMismatch, ErrorCode::QuotaExceeded]),
    ]
}

fn for_daemons(path: &'static str, id: &str, summary: &str, handler: Handler) -> Route {
    route(Method::POST, path, id, summary, handler).access(Access::Daemon)
}

/// The endpoints that daemons call.
pub(super) fn for_all_daemons() -> Vec<Route> {
    let (register, startup) = ("/api/daemons/register", "/api/daemons/{id}/startup");
    let (work, capabilities) = ("/api/daemons/{id}/request-work", "/api/daemons/{id}/update-capabilities");
    let null = |route: Route| Route { answer: Answer::Null, ..route };
    vec![
        for_daemons(register, "register_daemon", "Registers a daemon.", daemons::register)
            .fields(REGISTRATION)
            .value("DaemonRegistration")
            .errors(&[ErrorCode::QuotaExceeded]),
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
            .value("DaemonWork"),
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
        .errors(&[ErrorCode::EntityAlreadyExists, ErrorCode::QuotaExceeded]),
    ]
}

/// Lets daemons create a record as well as users.
pub(super) fn or_by_daemons(route: Route, handler: Handler) -> Route {
    let access = match route.access {
        Access::Caller(requirement) => Access::CallerOrDaemon(requirement),
        other => other,
    };
    Route { access, handler, ..route }
}

pub(super) fn daemons() -> Vec<Route> {
    let daemons = Collection {
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
        daemons.delete::<DiscoveryDaemon>(),
    ]
}

pub(super) fn discoveries() -> Vec<Route> {
    let (path, item) = ("/api/v1/discoveries", "/api/v1/discoveries/{id}");
    let query = [groups::PAGE, groups::IDS, groups::NETWORK, groups::ORDER_BY_TIME];
    let list = lists::list::<Discovery>;
    let stream = Route {
        answer: Answer::Events,
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
        .access(Access::Caller(Requirement::level(Permission::Member)))
        .value("Discovery")
        .tagged(),
    ]
}
