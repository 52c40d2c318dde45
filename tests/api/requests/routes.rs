//! Every endpoint of the contract, with its access and the contents of its requests.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use toposcope::model::Permission;
use toposcope::model::Permission::{Admin, Member, Owner, Viewer};

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path, in which `{id}` and `{other}` stand for ids, and `{view}` for a view.
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) needs: Needs,
}

/// The callers that an endpoint admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Anyone,
    /// Callers of this level or a higher one.
    Caller(Permission),
    /// Callers of this level or a higher one who do not use an API key.
    InPerson(Permission),
    /// Daemons.
    #[cfg(feature = "discovery")]
    Daemon,
    /// Daemons, and callers of this level or a higher one.
    #[cfg(feature = "discovery")]
    CallerOrDaemon(Permission),
}

/// The content that a request needs, beside an id in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The query of a list that takes these parameters too, separated by spaces.
    Query(&'static str),
    /// A body with the fields of a record of this kind.
    Fields(&'static str),
    /// A list of ids of records of the same collection.
    Ids,
    /// JSON Lines, each a host.
    Lines,
    /// The query of a list that takes only these parameters, separated by spaces.
    Parameters(&'static str),
    /// The output of a scanner or a device.
    #[cfg(feature = "discovery")]
    Report,
}

/// Why no endpoint answers a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misrouted {
    UnknownPath,
    /// The methods that the path supports.
    Method(BTreeSet<&'static str>),
}

type Row = (&'static str, &'static str, Access, Needs);

const ANYONE: Access = Access::Anyone;
const VIEWER: Access = Access::Caller(Viewer);
const MEMBER: Access = Access::Caller(Member);
const ADMIN: Access = Access::Caller(Admin);
const NOTHING: Needs = Needs::Nothing;
const HOSTS: Needs = Needs::Query(
    "network_id tag_ids group_by fields ip mac port service_definition subnet_id source hidden seen_since \
     stale search",
);

const HISTORY: Needs = Needs::Parameters("after before since until actor action limit order_direction");
const CHANGES: Needs =
    Needs::Parameters("after before since until entity id network_id actor action limit order_direction");

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("GET", "/api/version", ANYONE, NOTHING),
    ("GET", "/api/health", ANYONE, NOTHING),
    ("GET", "/api/health/live", ANYONE, NOTHING),
    #[cfg(feature = "openapi")]
    ("GET", "/openapi.json", ANYONE, NOTHING),
    #[cfg(feature = "openapi")]
    ("GET", "/api/openapi.json", ANYONE, NOTHING),
    ("POST", "/api/auth/login", ANYONE, Needs::Fields("login")),
    ("POST", "/api/auth/logout", ANYONE, NOTHING),
    ("GET", "/api/auth/me", VIEWER, NOTHING),
    ("POST", "/api/auth/me", VIEWER, NOTHING),
    ("POST", "/api/auth/password", Access::InPerson(Viewer), Needs::Fields("password change")),
    ("GET", "/api/hosts", VIEWER, HOSTS),
    ("POST", "/api/hosts", MEMBER, Needs::Fields("host")),
    ("GET", "/api/v1/hosts", VIEWER, HOSTS),
    ("POST", "/api/v1/hosts", MEMBER, Needs::Fields("host")),
    ("GET", "/api/v1/changes", VIEWER, CHANGES),
    ("GET", "/api/v1/changes/stream", VIEWER, Needs::Parameters("after")),
    ("GET", "/api/v1/hosts/{id}", VIEWER, Needs::Parameters("at")),
    ("GET", "/api/v1/hosts/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/hosts/{id}", MEMBER, Needs::Fields("host")),
    ("DELETE", "/api/v1/hosts/{id}", MEMBER, NOTHING),
    ("POST", "/api/v1/hosts/{id}/revert", MEMBER, Needs::Fields("reversion")),
    ("POST", "/api/v1/hosts/bulk-delete", MEMBER, Needs::Ids),
    ("POST", "/api/v1/hosts/bulk", MEMBER, Needs::Fields("bulk")),
    ("POST", "/api/v1/hosts/import", MEMBER, Needs::Lines),
    ("GET", "/api/v1/interfaces", VIEWER, Needs::Query("host_id network_id fields")),
    ("POST", "/api/v1/interfaces", MEMBER, Needs::Fields("interface")),
    ("GET", "/api/v1/interfaces/{id}", VIEWER, NOTHING),
    ("PUT", "/api/v1/interfaces/{id}", MEMBER, Needs::Fields("interface")),
    ("DELETE", "/api/v1/interfaces/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/ports", VIEWER, Needs::Query("host_id network_id fields")),
    ("POST", "/api/v1/ports", MEMBER, Needs::Fields("port")),
    ("GET", "/api/v1/ports/{id}", VIEWER, NOTHING),
    ("PUT", "/api/v1/ports/{id}", MEMBER, Needs::Fields("port")),
    ("DELETE", "/api/v1/ports/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/services", VIEWER, Needs::Query("host_id network_id tag_ids fields")),
    ("POST", "/api/v1/services", MEMBER, Needs::Fields("service")),
    ("GET", "/api/v1/services/{id}", VIEWER, NOTHING),
    ("PUT", "/api/v1/services/{id}", MEMBER, Needs::Fields("service")),
    ("DELETE", "/api/v1/services/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/if-entries", VIEWER, Needs::Query("host_id network_id fields")),
    ("POST", "/api/v1/if-entries", MEMBER, Needs::Fields("if-entry")),
    ("GET", "/api/v1/if-entries/{id}", VIEWER, NOTHING),
    ("PUT", "/api/v1/if-entries/{id}", MEMBER, Needs::Fields("if-entry")),
    ("DELETE", "/api/v1/if-entries/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/changes/diff", VIEWER, Needs::Parameters("from to network_id")),
    ("GET", "/api/v1/changes/summary", VIEWER, Needs::Parameters("since until network_id")),
    ("GET", "/api/v1/organizations", VIEWER, Needs::Query("")),
    ("GET", "/api/v1/organizations/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/organizations/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/organizations/{id}", Access::InPerson(Owner), Needs::Fields("organization")),
    ("POST", "/api/v1/organizations/referral-source", Access::InPerson(Viewer), Needs::Fields("referral")),
    ("GET", "/api/v1/networks", VIEWER, Needs::Query("tag_ids")),
    ("POST", "/api/v1/networks", Access::Caller(Admin), Needs::Fields("network")),
    ("GET", "/api/v1/networks/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/networks/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/networks/{id}", Access::InPerson(Admin), Needs::Fields("network")),
    ("DELETE", "/api/v1/networks/{id}", Access::InPerson(Admin), NOTHING),
    #[cfg(feature = "discovery")]
    ("GET", "/api/v1/subnets", Access::CallerOrDaemon(Viewer), Needs::Query("network_id tag_ids contains")),
    #[cfg(not(feature = "discovery"))]
    ("GET", "/api/v1/subnets", VIEWER, Needs::Query("network_id tag_ids contains")),
    #[cfg(feature = "discovery")]
    ("POST", "/api/v1/subnets", Access::CallerOrDaemon(Member), Needs::Fields("subnet")),
    #[cfg(not(feature = "discovery"))]
    ("POST", "/api/v1/subnets", MEMBER, Needs::Fields("subnet")),
    ("GET", "/api/v1/subnets/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/subnets/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/subnets/{id}", MEMBER, Needs::Fields("subnet")),
    ("POST", "/api/v1/subnets/{id}/revert", MEMBER, Needs::Fields("reversion")),
    ("DELETE", "/api/v1/subnets/{id}", MEMBER, NOTHING),
    ("POST", "/api/v1/subnets/bulk-delete", MEMBER, Needs::Ids),
    ("GET", "/api/v1/users", VIEWER, Needs::Query("")),
    ("POST", "/api/v1/users", Access::InPerson(Admin), Needs::Fields("user")),
    ("GET", "/api/v1/users/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/users/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/users/{id}", Access::InPerson(Admin), Needs::Fields("user")),
    ("DELETE", "/api/v1/users/{id}", Access::InPerson(Admin), NOTHING),
    ("GET", "/api/v1/tags", VIEWER, Needs::Query("")),
    ("POST", "/api/v1/tags", MEMBER, Needs::Fields("tag")),
    ("GET", "/api/v1/tags/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/tags/{id}/history", VIEWER, HISTORY),
    ("PUT", "/api/v1/tags/{id}", ADMIN, Needs::Fields("tag")),
    ("POST", "/api/v1/tags/{id}/revert", MEMBER, Needs::Fields("reversion")),
    ("DELETE", "/api/v1/tags/{id}", ADMIN, NOTHING),
    ("POST", "/api/v1/tags/bulk-delete", ADMIN, Needs::Ids),
    ("GET", "/api/v1/auth/keys", VIEWER, Needs::Query("tag_ids")),
    ("GET", "/api/v1/auth/keys/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/auth/keys/{id}/history", VIEWER, HISTORY),
    ("POST", "/api/v1/auth/keys", Access::InPerson(Viewer), Needs::Fields("user key")),
    ("PUT", "/api/v1/auth/keys/{id}", Access::InPerson(Viewer), Needs::Fields("user key")),
    ("DELETE", "/api/v1/auth/keys/{id}", Access::InPerson(Viewer), NOTHING),
    ("POST", "/api/v1/auth/keys/bulk-delete", Access::InPerson(Viewer), Needs::Ids),
    ("POST", "/api/v1/auth/keys/{id}/rotate", Access::InPerson(Viewer), NOTHING),
    ("GET", "/api/v1/auth/daemon", MEMBER, Needs::Query("network_id tag_ids")),
    ("GET", "/api/v1/auth/daemon/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/auth/daemon/{id}/history", MEMBER, HISTORY),
    ("POST", "/api/v1/auth/daemon", MEMBER, Needs::Fields("daemon key")),
    ("PUT", "/api/v1/auth/daemon/{id}", MEMBER, Needs::Fields("daemon key")),
    ("DELETE", "/api/v1/auth/daemon/{id}", MEMBER, NOTHING),
    ("POST", "/api/v1/auth/daemon/bulk-delete", MEMBER, Needs::Ids),
    ("POST", "/api/v1/auth/daemon/{id}/rotate", MEMBER, NOTHING),
    ("GET", "/api/v1/shares", MEMBER, Needs::Query("network_id")),
    ("POST", "/api/v1/shares", MEMBER, Needs::Fields("share")),
    ("GET", "/api/v1/shares/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/shares/{id}/history", MEMBER, HISTORY),
    ("PUT", "/api/v1/shares/{id}", MEMBER, Needs::Fields("share")),
    ("DELETE", "/api/v1/shares/{id}", MEMBER, NOTHING),
    ("POST", "/api/v1/shares/bulk-delete", MEMBER, Needs::Ids),
    ("GET", "/api/v1/shares/public/{id}", ANYONE, NOTHING),
    ("POST", "/api/v1/shares/public/{id}/verify", ANYONE, Needs::Fields("share password")),
];

#[cfg(not(feature = "discovery"))]
const DISCOVERY_ROWS: &[Row] = &[];

#[cfg(feature = "discovery")]
#[rustfmt::skip]
const DISCOVERY_ROWS: &[Row] = &[
    ("GET", "/api/v1/daemons", VIEWER, Needs::Query("network_id")),
    ("GET", "/api/v1/daemons/{id}", VIEWER, NOTHING),
    ("GET", "/api/v1/daemons/{id}/history", VIEWER, HISTORY),
    ("DELETE", "/api/v1/daemons/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/discoveries", VIEWER, Needs::Query("network_id")),
    ("POST", "/api/v1/discoveries", MEMBER, Needs::Fields("discovery")),
    ("GET", "/api/v1/discoveries/stream", VIEWER, NOTHING),
    ("GET", "/api/v1/discoveries/{id}", VIEWER, NOTHING),
    ("POST", "/api/v1/discoveries/{id}/cancel", MEMBER, NOTHING),
    ("POST", "/api/daemons/register", Access::Daemon, Needs::Fields("registration")),
    ("POST", "/api/daemons/{id}/startup", Access::Daemon, Needs::Fields("startup")),
    ("POST", "/api/daemons/{id}/request-work", Access::Daemon, Needs::Fields("status")),
    ("POST", "/api/daemons/{id}/heartbeat", Access::Daemon, Needs::Fields("heartbeat")),
    ("POST", "/api/v1/vlans/discovery", Access::Daemon, Needs::Fields("vlans")),
    ("POST", "/api/daemons/{id}/update-capabilities", Access::Daemon, Needs::Fields("capabilities")),
    ("POST", "/api/v1/discovery/{id}/update", Access::Daemon, Needs::Fields("progress")),
    ("POST", "/api/v1/hosts/discovery", Access::Daemon, Needs::Fields("reported host")),
    ("POST", "/api/v1/discovery/import", Access::CallerOrDaemon(Member), Needs::Report),
    ("GET", "/api/v1/hosts/{id}/claims", VIEWER, Needs::Parameters("kind")),
    ("PUT", "/api/v1/hosts/{id}/consolidate/{other}", MEMBER, NOTHING),
    ("POST", "/api/v1/hosts/{id}/consolidate/{other}", MEMBER, NOTHING),
    ("POST", "/api/v1/hosts/{id}/split", MEMBER, Needs::Fields("split")),
    ("POST", "/api/v1/hosts/delete-stale", MEMBER, Needs::Fields("stale deletion")),
];

#[cfg(not(feature = "topology"))]
const TOPOLOGY_ROWS: &[Row] = &[];

#[cfg(feature = "topology")]
const GRAPH: Needs = Needs::Parameters(
    "network_id view focus depth tag_ids role vlan group_by detail collapse expand min_confidence show_stale at compare layout tidy",
);

#[cfg(feature = "topology")]
const EXPORT: Needs = Needs::Parameters(
    "network_id view focus depth tag_ids role vlan group_by detail collapse expand min_confidence show_stale at compare format theme tidy",
);

#[cfg(feature = "topology")]
const PAGE: Needs =
    Needs::Parameters("view focus depth tag_ids detail collapse expand min_confidence show_stale at compare");

#[cfg(feature = "topology")]
#[rustfmt::skip]
const TOPOLOGY_ROWS: &[Row] = &[
    ("GET", "/api/v1/topology/graph", VIEWER, GRAPH),
    ("GET", "/api/v1/topology/export", VIEWER, EXPORT),
    ("GET", "/api/v1/topology/edges/{id}", VIEWER, Needs::Parameters("network_id view")),
    ("GET", "/api/v1/topology/blind-spots", VIEWER, Needs::Parameters("network_id")),
    ("GET", "/api/v1/topology/locate", VIEWER, Needs::Parameters("network_id mac ip name")),
    ("GET", "/api/v1/topology/path", VIEWER, Needs::Parameters("network_id from to vlan k")),
    ("GET", "/api/v1/topology/impact", VIEWER, Needs::Parameters("network_id node edge location from limit")),
    ("GET", "/api/v1/topology/fragile", VIEWER, Needs::Parameters("network_id leaves pairs limit")),
    ("GET", "/api/v1/topology/vlans", VIEWER, Needs::Parameters("network_id vlan limit")),
    ("GET", "/api/v1/subnets/{id}/addresses", VIEWER, Needs::Parameters("state limit")),
    ("POST", "/api/v1/subnets/{id}/addresses/reserve", MEMBER, Needs::Fields("reservation")),
    ("POST", "/api/v1/subnets/{id}/addresses/release", MEMBER, Needs::Fields("release")),
    ("GET", "/api/v1/topology/layouts/{id}/{view}", VIEWER, NOTHING),
    ("PUT", "/api/v1/topology/layouts/{id}/{view}", MEMBER, Needs::Fields("layout")),
    ("POST", "/api/v1/topology/layouts/{id}/{view}/tidy", MEMBER, Needs::Parameters("group_by")),
    ("GET", "/api/v1/topology/links", VIEWER, Needs::Query("network_id")),
    ("POST", "/api/v1/topology/links", MEMBER, Needs::Fields("link")),
    ("POST", "/api/v1/topology/links/{id}/revert", MEMBER, Needs::Fields("reversion")),
    ("DELETE", "/api/v1/topology/links/{id}", MEMBER, NOTHING),
    ("GET", "/api/v1/topology/links/{id}/history", VIEWER, HISTORY),
    ("POST", "/api/v1/shares/public/{id}/topology", ANYONE, NOTHING),
    ("GET", "/api/v1/shares/public/{id}/topology.svg", ANYONE, NOTHING),
    ("GET", "/share/{id}", ANYONE, NOTHING),
    ("GET", "/topology/{id}", VIEWER, PAGE),
];

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let rows = ROWS.iter().chain(DISCOVERY_ROWS).chain(TOPOLOGY_ROWS);
    let routes = rows.map(|&(method, path, access, needs)| Route { method, path, access, needs });
    // A record that is updated is also patched.
    let with_patch = |route: Route| {
        let is_record = route.path.ends_with("/{id}") || route.path.ends_with("/{view}");
        let is_record = route.method == "PUT" && is_record;
        let patch = is_record.then(|| Route { method: "PATCH", ..route.clone() });
        [Some(route), patch]
    };
    routes.flat_map(with_patch).flatten().collect()
});

/// Returns every endpoint.
pub(crate) fn routes() -> &'static [Route] {
    &ROUTES
}

/// Returns the endpoint of a request. HEAD is answered where GET is.
pub(crate) fn route(method: &str, path: &str) -> Result<&'static Route, Misrouted> {
    let of_path = routes().iter().filter(|route| matches(route.path, path));
    // A literal segment takes precedence over an id.
    let ids = |route: &Route| route.path.matches('{').count();
    let fewest = of_path.clone().map(ids).min().ok_or(Misrouted::UnknownPath)?;
    let of_path = of_path.filter(|route| ids(route) == fewest);
    let meant = if method == "HEAD" { "GET" } else { method };
    of_path.clone().find(|route| route.method == meant).ok_or_else(|| {
        let methods = of_path.flat_map(|route| match route.method {
            "GET" => vec!["GET", "HEAD"],
            other => vec![other],
        });
        Misrouted::Method(methods.collect())
    })
}

/// Returns whether a path is an instance of a template.
pub(crate) fn matches(template: &str, path: &str) -> bool {
    // Most paths differ here already, without being split.
    let literal = template.find('{').map_or(template, |parameter| &template[..parameter]);
    let is_alike = |(expected, given): (&str, &str)| match expected {
        parameter if parameter.starts_with('{') => !given.is_empty(),
        literal => literal == given,
    };
    path.starts_with(literal)
        && template.split('/').count() == path.split('/').count()
        && template.split('/').zip(path.split('/')).all(is_alike)
}

impl Route {
    /// Returns the path with these ids.
    pub(crate) fn path_of(&self, id: &str, other: &str) -> String {
        self.path.replace("{id}", id).replace("{other}", other).replace("{view}", "l2")
    }

    /// Returns whether only daemons are admitted.
    pub(crate) fn is_for_daemons(&self) -> bool {
        #[cfg(feature = "discovery")]
        return self.access == Access::Daemon;
        #[cfg(not(feature = "discovery"))]
        false
    }

    /// Returns whether daemons are admitted.
    pub(crate) fn admits_daemons(&self) -> bool {
        #[cfg(feature = "discovery")]
        return matches!(self.access, Access::Daemon | Access::CallerOrDaemon(_));
        #[cfg(not(feature = "discovery"))]
        false
    }

    /// Returns the method and the path, by which results are counted.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}
