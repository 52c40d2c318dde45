//! Networks and daemons for requests about them, and the required outcomes of these requests.

use std::iter;

use serde_json::{Value, json};
use toposcope::model::Permission;
use uuid::Uuid;

use super::interference::Reached;
use super::model::{By, Caller};
use crate::common::Reply;
use crate::requests::request::{ApiRequest, Body};
use crate::requests::routes::{Route, route};
use crate::requests::tenant::Tenant;

/// Outcomes that must occur; otherwise the requests would prove less than they seem to.
#[cfg(feature = "topology")]
const REACHED: [(&str, &str); 21] = [
    ("GET /api/v1/topology/graph", "200 edges 304"),
    ("GET /api/v1/topology/export", "200 304"),
    ("GET /api/v1/topology/edges/{id}", "200"),
    ("GET /api/v1/topology/blind-spots", "200 304 items"),
    ("GET /api/v1/topology/locate", "200 404"),
    ("GET /api/v1/topology/path", "200 404"),
    ("GET /api/v1/topology/impact", "200"),
    ("GET /api/v1/topology/fragile", "200 304"),
    ("GET /api/v1/topology/vlans", "200 304"),
    ("GET /api/v1/subnets/{id}/addresses", "200 304"),
    ("POST /api/v1/subnets/{id}/addresses/reserve", "200"),
    ("POST /api/v1/subnets/{id}/addresses/release", "200"),
    ("GET /api/v1/topology/layouts/{id}/{view}", "200 304 positions"),
    ("PUT /api/v1/topology/layouts/{id}/{view}", "200"),
    ("PATCH /api/v1/topology/layouts/{id}/{view}", "200"),
    ("POST /api/v1/topology/layouts/{id}/{view}/tidy", "200"),
    ("GET /api/v1/topology/links", "200 304 items"),
    ("POST /api/v1/shares/public/{id}/topology", "200 401 edges"),
    ("GET /api/v1/shares/public/{id}/topology.svg", "200 304 401"),
    ("GET /share/{id}", "200"),
    ("GET /topology/{id}", "200 304"),
];

#[cfg(not(feature = "topology"))]
const REACHED: [(&str, &str); 0] = [];

/// Outcomes that must occur in long runs.
const RARE: [(&str, &str); 2] =
    [("PUT /api/v1/topology/layouts/{id}/{view}", "412"), ("DELETE /api/v1/topology/links/{id}", "200")];
/// Steps from which the rare outcomes must occur too. With a tenth of these, each occurs about once.
const LONG_RUN: usize = 25_000;

/// Returns whether an endpoint is about topologies.
pub(super) fn is_topology(route: &Route) -> bool {
    ["/topology", "/share/", "/addresses"].iter().any(|part| route.path.contains(part))
}

pub(super) fn expected_outcomes(steps: usize) -> impl Iterator<Item = String> {
    let rare = if steps < LONG_RUN || REACHED.is_empty() { &[][..] } else { &RARE };
    let all = REACHED.iter().chain(rare);
    all.flat_map(|(name, outcomes)| outcomes.split(' ').map(move |what| format!("{name} {what}")))
}

/// Returns the outcomes of a request.
pub(super) fn outcomes(route: &Route, reply: &Reply) -> Reached {
    let data = &reply.json["data"];
    let has = |list: &Value| list.as_array().is_some_and(|items| !items.is_empty());
    let contents = [
        ("items", has(data)),
        ("edges", has(&data["edges"]) || has(&data["topology"]["graph"]["edges"])),
        ("positions", has(&data["positions"])),
    ];
    let contents = contents.into_iter().filter(|(_, is_there)| *is_there).map(|(what, _)| what.to_owned());
    let all = iter::once(reply.status.as_str().to_owned()).chain(contents);
    all.map(|what| format!("{} {what}", route.name())).collect()
}

/// Returns the requests with which an Owner fills a network.
///
/// The network gets three switches in a row, of which the last one has an unknown neighbor. It also gets addresses
/// behind one port of each switch, a subnet, and shares.
pub(crate) fn campus(tenant: &Tenant) -> Vec<(&'static Route, ApiRequest)> {
    if !cfg!(feature = "topology") {
        return vec![];
    }
    let network = tenant.ids["networks"][0];
    let name = |what: &str| format!("{} {what}", tenant.marker);
    let subnet = json!({"network_id": network, "name": name("subnet"), "cidr": "10.0.0.0/16"});
    let share = json!({"network_id": network, "name": name("share")});
    let mut redacted = share.clone();
    redacted["redact"] = json!(["names", "addresses", "macs", "serials"]);
    let report = json!({
        "reporter": {"name": name("collector")}, "observed_at": "2026-08-01T12:00:00Z",
        "devices": [
            switch(tenant, 1, &[2]), switch(tenant, 2, &[1, 3]), switch(tenant, 3, &[2, 9]),
        ],
    });
    let import = ApiRequest {
        query: vec![("format", "report".to_owned()), ("network_id", network.to_string())],
        ..ApiRequest::new("POST", "/api/v1/discovery/import")
    };
    let graph = ApiRequest {
        query: vec![("network_id", network.to_string())],
        ..ApiRequest::new("GET", "/api/v1/topology/graph")
    };
    let requests = [
        with_body(ApiRequest::new("POST", "/api/v1/subnets"), &subnet),
        with_body(import, &report),
        with_body(ApiRequest::new("POST", "/api/v1/shares"), &share),
        with_body(ApiRequest::new("POST", "/api/v1/shares"), &redacted),
        graph,
    ];
    requests.into_iter().map(|request| by_owner(tenant, request)).collect()
}

/// Returns the requests with which an Owner links switches manually. They add a link between the first and the last
/// switch of a campus, and suppress another link.
pub(crate) fn manual_links(tenant: &Tenant) -> Vec<(&'static Route, ApiRequest)> {
    if !cfg!(feature = "topology") {
        return vec![];
    }
    let hosts = &tenant.ids["hosts"];
    let link = |source: usize, target: usize, suppressed: bool| {
        let end = |place: usize| json!({"host_id": hosts[place], "if_entry_id": null});
        let network = tenant.ids["networks"][0];
        let body = json!({
            "network_id": network, "source": end(source), "target": end(target), "suppressed": suppressed,
        });
        by_owner(tenant, with_body(ApiRequest::new("POST", "/api/v1/topology/links"), &body))
    };
    vec![link(0, 2, false), link(1, 2, true)]
}

/// Returns the requests with which a daemon of each key registers.
pub(crate) fn registrations(tenant: &Tenant) -> Vec<(&'static Route, ApiRequest)> {
    if !cfg!(feature = "discovery") {
        return vec![];
    }
    let register = |(key, key_id): (&String, &Uuid)| {
        let body = json!({
            "daemon_id": Uuid::from_u128(key_id.as_u128() ^ 1), "name": format!("{} daemon", tenant.marker),
            "version": "0.14.8", "capabilities": {"interfaced_subnet_ids": []},
        });
        let mut request = with_body(ApiRequest::new("POST", "/api/daemons/register"), &body);
        request.authorization.push(format!("Bearer {key}"));
        (route(request.method, &request.path).unwrap(), request)
    };
    tenant.daemon_keys.iter().zip(&tenant.ids["auth/daemon"]).map(register).collect()
}

/// Returns the requests that read and pin a campus, view its share, and send a wrong password for the other. They are
/// the Owner's, although anyone may view a share.
pub(crate) fn views(tenant: &Tenant) -> Vec<(&'static Route, ApiRequest)> {
    if !cfg!(feature = "topology") {
        return vec![];
    }
    let network = tenant.ids["networks"][0];
    let of_network = |path: &str| ApiRequest {
        query: vec![("network_id", network.to_string())],
        ..ApiRequest::new("GET", format!("/api/v1/topology/{path}"))
    };
    let layout = format!("/api/v1/topology/layouts/{network}/l2");
    let positions: Vec<Value> = tenant
        .ids
        .get("topology/nodes")
        .into_iter()
        .flatten()
        .take(2)
        .map(|id| json!({"id": id, "x": 10.5, "y": -20.0}))
        .collect();
    let mut requests = vec![
        of_network("graph"),
        of_network("export"),
        of_network("blind-spots"),
        of_network("links"),
        of_network("fragile"),
        of_network("vlans"),
        with_body(ApiRequest::new("PUT", layout.as_str()), &json!({"positions": positions})),
        with_body(ApiRequest::new("PATCH", layout.as_str()), &json!({"positions": positions})),
        ApiRequest::new("POST", format!("{layout}/tidy")),
        ApiRequest::new("GET", layout),
        ApiRequest::new("GET", format!("/topology/{network}")),
    ];
    requests.extend(questions(tenant, &of_network));
    for subnet in tenant.ids.get("subnets").into_iter().flatten().take(1) {
        let addresses = format!("/api/v1/subnets/{subnet}/addresses");
        let reservation = json!({"count": 2, "name": format!("{} rack", tenant.marker)});
        let release = json!({"addresses": ["10.0.0.1", "10.0.0.2"]});
        requests.push(with_body(ApiRequest::new("POST", format!("{addresses}/reserve")), &reservation));
        requests.push(ApiRequest::new("GET", addresses.as_str()));
        requests.push(with_body(ApiRequest::new("POST", format!("{addresses}/release")), &release));
    }
    let edges = tenant.ids.get("topology/edges").into_iter().flatten();
    requests.extend(edges.take(1).map(|id| of_network(&format!("edges/{id}"))));
    // The first share has a password.
    let mut shares = tenant.ids.get("shares").into_iter().flatten();
    if let Some(locked) = shares.next() {
        let verify = ApiRequest::new("POST", format!("/api/v1/shares/public/{locked}/verify"));
        requests.push(with_body(verify, &json!({"password": "wrong"})));
    }
    if let Some(share) = shares.next() {
        let public = format!("/api/v1/shares/public/{share}/topology");
        requests.push(ApiRequest::new("POST", public.as_str()));
        requests.push(ApiRequest::new("GET", format!("{public}.svg")));
        requests.push(ApiRequest::new("GET", format!("/share/{share}")));
    }
    requests.into_iter().map(|request| by_owner(tenant, request)).collect()
}

/// Returns the questions about nodes of a campus.
fn questions(tenant: &Tenant, of_network: &dyn Fn(&str) -> ApiRequest) -> Vec<ApiRequest> {
    let nodes: Vec<String> =
        tenant.ids.get("topology/nodes").into_iter().flatten().take(2).map(Uuid::to_string).collect();
    let [one, other] = nodes.as_slice() else { return Vec::new() };
    let ask = |path: &str, parameters: &[(&'static str, &String)]| {
        let mut request = of_network(path);
        request.query.extend(parameters.iter().map(|(name, value)| (*name, (*value).clone())));
        request
    };
    vec![
        ask("locate", &[("name", one)]),
        ask("locate", &[("name", &"absent".to_owned())]),
        ask("path", &[("from", one), ("to", other)]),
        ask("path", &[("from", one), ("to", &"absent".to_owned())]),
        ask("impact", &[("node", one)]),
    ]
}

fn by_owner(tenant: &Tenant, mut request: ApiRequest) -> (&'static Route, ApiRequest) {
    let (user, level) = tenant.users.iter().copied().find(|(_, level)| *level == Permission::Owner).unwrap();
    let (organization, user) = (tenant.organization.uuid(), user.uuid());
    request.supplied_caller = Some(Caller { organization, user, level, networks: None, by: By::Host });
    (route(request.method, &request.path).unwrap(), request)
}

fn with_body(request: ApiRequest, body: &Value) -> ApiRequest {
    ApiRequest { content_type: Some("application/json"), body: Body::Text(body.to_string()), ..request }
}

/// Returns a switch with a neighbor at each of its first ports. Two addresses are behind the port after these.
fn switch(tenant: &Tenant, number: u8, neighbors: &[u8]) -> Value {
    let chassis =
        |number: u8| json!({"subtype": "MacAddress", "value": format!("00:1B:21:AA:BB:{number:02X}")});
    let port = |index: usize| json!({"if_index": index, "if_name": format!("Gi0/{index}")});
    let sees = |(place, neighbor): (usize, &u8)| {
        let port_id = json!({"subtype": "InterfaceName", "value": "Gi0/1"});
        json!({"if_index": place + 1, "chassis_id": chassis(*neighbor), "port_id": port_id})
    };
    let last = neighbors.len() + 1;
    let behind =
        |host: u8| json!({"if_index": last, "mac_address": format!("00:1B:21:0{number}:00:{host:02X}")});
    let seen = |host: u8| json!({"ip_address": format!("10.0.{number}.{host}"), "mac_address": format!("00:1B:21:0{number}:00:{host:02X}")});
    json!({
        "sys_name": format!("{}-switch-{number}", tenant.marker),
        "chassis_id": chassis(number),
        "tables": {
            "if_entries": {"complete": true, "rows": (1..=last).map(port).collect::<Vec<_>>()},
            "addresses": {"complete": true, "rows": [{"ip_address": format!("10.0.0.{number}")}]},
            "lldp": {"complete": true, "rows": neighbors.iter().enumerate().map(sees).collect::<Vec<_>>()},
            "fdb": {"complete": true, "rows": [behind(1), behind(2)]},
            "arp": {"complete": true, "rows": [seen(1), seen(2)]},
        },
    })
}
