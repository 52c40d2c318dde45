//! The worst admissible requests to each endpoint.

use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use uuid::Uuid;

use super::bodies::{fields, rows};
use super::reports::reports;
use super::world::{LARGE_HOSTS, World};
use crate::common::{LAB, NOBODY, OFFICE, bare, with_key, with_session};
use crate::requests::routes::{Access, Needs, Route};
use crate::requests::tenant::collection_of;

/// The size of the largest body, except for endpoints that take more or less.
const BODY: usize = 1024 * 1024;
/// The size of the largest body of an endpoint without a credential.
const PUBLIC_BODY: usize = 16 * 1024;
/// The length of the pieces in which bodies arrive.
const PIECE: usize = 16 * 1024;

/// A request.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) request: Request<Bytes>,
    /// The length of the pieces in which the body arrives.
    pub(super) piece: usize,
    pub(super) items: u64,
    /// Whether the request has to succeed. The others may be refused once they are read.
    pub(super) is_valid: bool,
}

impl Case {
    fn new(name: &'static str, request: Request<Bytes>, items: u64) -> Self {
        Self { name, request, piece: PIECE, items, is_valid: true }
    }
}

/// Returns the requests to an endpoint.
pub(super) fn cases(route: &Route, world: &World) -> Vec<Case> {
    let request = |query: &str, kind: &str, body: String| {
        let target = format!("{}{query}", path(route, world));
        let mut request = bare(route.method, &target).map(|_| Bytes::from(body));
        if !kind.is_empty() {
            request.headers_mut().insert(CONTENT_TYPE, kind.parse().unwrap());
        }
        match route.access {
            Access::Anyone if route.path != "/api/auth/logout" => request,
            Access::Daemon => with_key(request, &world.daemon_key),
            _ => with_session(request, &world.session),
        }
    };
    match route.needs {
        Needs::Nothing => vec![Case::new("plain", request("", "", String::new()), 1)],
        Needs::Query(names) => lists(names, route, world)
            .into_iter()
            .map(|(name, query, items)| Case::new(name, request(&query, "", String::new()), items))
            .collect(),
        Needs::Parameters(_) => parameters(route, world)
            .into_iter()
            .map(|(name, query)| Case::new(name, request(&query, "", String::new()), 1))
            .collect(),
        Needs::Fields(kind) => {
            let usual = if route.access == Access::Anyone { PUBLIC_BODY } else { BODY };
            let valid = fields(kind, route, world, 0);
            let mut cases: Vec<Case> = valid
                .into_iter()
                .map(|(name, body, items)| Case::new(name, request("", "application/json", body), items))
                .collect();
            for (number, (name, is_valid, filling)) in fillings(usual).into_iter().enumerate() {
                let (_, body, items) = fields(kind, route, world, number + 1).remove(0);
                let body = padded(&body, &filling);
                let request = request("", "application/json", body);
                let piece = if name == "slow" { 1 } else { PIECE };
                cases.push(Case { name, request, piece, items, is_valid });
            }
            cases
        }
        Needs::Ids => {
            let ids: Vec<Uuid> = (0..1_000).map(|number| deleted(route, world, number)).collect();
            vec![Case::new("ids", request("", "application/json", json!(ids).to_string()), 1_000)]
        }
        Needs::Lines => rows()
            .into_iter()
            .map(|(name, query, kind, body, items)| Case {
                is_valid: !name.starts_with("refused lines"),
                ..Case::new(name, request(query, kind, body), items)
            })
            .collect(),
        Needs::Report => reports()
            .into_iter()
            .map(|report| {
                let query = format!("?network_id={LAB}&reporter=collector&format={}", report.query);
                let request = request(&query, "application/octet-stream", report.body);
                Case { is_valid: report.is_valid, ..Case::new(report.name, request, report.items) }
            })
            .collect(),
    }
}

/// Returns the path of a request to an endpoint.
fn path(route: &Route, world: &World) -> String {
    let collection = collection_of(route.path).unwrap_or("discoveries");
    let id = match route.path {
        path if path.starts_with("/api/v1/topology/layouts/") || path.starts_with("/topology/") => LAB.uuid(),
        path if path.starts_with("/api/v1/topology/edges/") => world.edge.uuid(),
        path if path.ends_with("/verify") => world.locked.uuid(),
        path if path.contains("/share/") || path.contains("/shares/public/") => world.ids["shares"][0],
        path if path.starts_with("/api/daemons/") => Uuid::from_u128(0xdae1),
        _ if collection == "users" => world.viewer.uuid(),
        "/api/v1/tags/{id}" if route.method == "DELETE" => world.common_tag.uuid(),
        _ => {
            let ids = world.ids.get(collection).map_or(&[][..], Vec::as_slice);
            // The parts of the first host are needed: another one is updated, and then deleted.
            let is_kept = collection == "hosts" && !["PUT", "PATCH", "DELETE"].contains(&route.method);
            let is_merged = route.path.contains("{other}");
            let is_deleted = collection != "hosts" && route.method == "DELETE";
            let place = if is_kept || is_merged { 0 } else { 1 + usize::from(is_deleted) };
            ids.get(place).or(ids.first()).copied().unwrap_or_default()
        }
    };
    // Small hosts; each is merged once.
    let other = Uuid::from_u128(if route.method == "PUT" { 1_000 } else { 1_001 });
    route.path_of(&id.to_string(), &other.to_string())
}

/// Returns an id of a list of records to delete. Most records do not exist where there are few.
fn deleted(route: &Route, world: &World, number: usize) -> Uuid {
    let collection = collection_of(route.path).unwrap_or("hosts");
    if collection == "hosts" {
        return if number == 0 { LARGE_HOSTS[2].uuid() } else { Uuid::from_u128(1_100 + number as u128) };
    }
    let unknown = Uuid::from_u128(0xffff_0000 + number as u128);
    world.ids[collection].get(3 + number).copied().filter(|_| number < 998).unwrap_or(unknown)
}

/// Returns the queries of a list, with the number of records that each asks for.
fn lists(names: &str, route: &Route, world: &World) -> Vec<(&'static str, String, u64)> {
    let has = |name: &str| names.split(' ').any(|other| other == name);
    let is_link = route.path.ends_with("/links");
    let scope = if is_link { format!("&network_id={LAB}") } else { String::new() };
    let ids: Vec<String> =
        (0..1_000_u128).map(|number| Uuid::from_u128(1_000 + number).to_string()).collect();
    let ids = ids.join(",");
    let mut queries = vec![
        ("page", format!("?limit=1000{scope}"), 1_000),
        ("ids", format!("?limit=1000&ids={ids}{scope}"), 1_000),
        ("offset", format!("?limit=1000&offset=2147483647{scope}"), 1_000),
        ("whole", format!("?limit=0{scope}"), 10_000),
    ];
    if has("tag_ids") {
        queries.push(("tags", format!("?limit=1000&tag_ids={ids}{scope}"), 1_000));
    }
    if has("host_id") {
        queries.push(("of one host", format!("?limit=1000&host_id={}", LARGE_HOSTS[0]), 1_000));
        let collection = collection_of(route.path).unwrap();
        let parts: Vec<String> = world.ids[collection].iter().map(Uuid::to_string).collect();
        queries.push(("ids of one host", format!("?limit=1000&ids={}", parts.join(",")), 1_000));
    }
    if has("search") {
        let prefixes: Vec<String> = (0..100).map(|number| format!("10.0.{number}.0/24")).collect();
        let ports: Vec<String> = (0..100).map(|number| format!("{}-65535/Tcp", number + 1)).collect();
        let words = "a1 b2 c3 d4 e5 f6 g7 h8 i9 j0 small host ".repeat(2).replace(' ', "%20");
        queries.extend([
            (
                "order",
                "?limit=1000&group_by=network_id&order_by=interface_ip&order_direction=desc".to_owned(),
                1_000,
            ),
            ("prefixes", format!("?limit=1000&ip={}", prefixes.join(",")), 1_000),
            ("ports", format!("?limit=1000&port={}", ports.join(",")), 1_000),
            ("words", format!("?limit=1000&search={words}"), 1_000),
            ("subnets", format!("?limit=1000&subnet_id={ids}"), 1_000),
            ("without tags", format!("?limit=1000&tag_ids_none={ids}"), 1_000),
            ("fields", "?limit=1000&fields=id,services,ports,interfaces,if_entries".to_owned(), 1_000),
            ("name", format!("?name={}", "x".repeat(1_024)), 50),
        ]);
    }
    queries
}

/// Returns the queries of an endpoint that takes only certain parameters.
fn parameters(route: &Route, world: &World) -> Vec<(&'static str, String)> {
    let lab = format!("?network_id={LAB}");
    let ids: Vec<String> =
        (0..1_000_u128).map(|number| Uuid::from_u128(0x1_0000 + number).to_string()).collect();
    let ids = ids.join(",");
    let all = [
        ("plain", lab.clone()),
        ("expanded", format!("{lab}&collapse=false&expand={ids}")),
        ("tags", format!("{lab}&tag_ids={ids}")),
        ("subnets", format!("{lab}&view=l3&collapse=false")),
        ("nested", format!("{lab}&view=workloads&collapse=false")),
        ("many hosts", format!("?network_id={OFFICE}&collapse=false")),
    ];
    let past = [
        ("past", format!("{lab}&at=2036-08-14T12:00:00Z")),
        ("compared", format!("{lab}&compare={}&collapse=false", world.first_position)),
        (
            "many hosts compared",
            format!("?network_id={OFFICE}&compare={}&collapse=false", world.first_position),
        ),
    ];
    match route.path {
        "/api/v1/topology/graph" => all.iter().chain(&past).cloned().collect(),
        "/api/v1/topology/export" => {
            let of_format = |format: &str| format!("{lab}&view=workloads&collapse=false&format={format}");
            let mut all = all.to_vec();
            all.extend([
                ("mermaid", of_format("mermaid")),
                ("dot", of_format("dot")),
                ("graphml", of_format("graphml")),
                ("drawio", of_format("drawio")),
                ("json", of_format("json")),
            ]);
            all
        }
        // Its path names the network.
        "/topology/{id}" => {
            let of_lab = |query: &(&'static str, String)| {
                Some((query.0, format!("?{}", query.1.strip_prefix(&*lab)?.trim_start_matches('&'))))
            };
            all.iter().filter_map(of_lab).collect()
        }
        "/api/v1/changes/diff" => {
            let from = &world.first_position;
            vec![("all", format!("?from={from}")), ("network", format!("?from={from}&network_id={LAB}"))]
        }
        "/api/v1/topology/edges/{id}" => vec![("plain", lab)],
        "/api/v1/topology/locate" => {
            vec![("id", format!("{lab}&name={}", Uuid::from_u128(0x1_0000)))]
        }
        "/api/v1/topology/path" => {
            let [one, other] = [0x1_0000, 0x1_0001].map(Uuid::from_u128);
            vec![("many paths", format!("{lab}&from={one}&to={other}&k=16"))]
        }
        "/api/v1/topology/impact" => {
            vec![
                ("location", format!("{lab}&location=Basement")),
                ("all", format!("{lab}&location=Basement&limit=10000")),
            ]
        }
        "/api/v1/topology/fragile" => {
            vec![("all", format!("{lab}&leaves=true&pairs=true&limit=10000")), ("plain", lab)]
        }
        "/api/v1/topology/vlans" => vec![("all", format!("{lab}&limit=10000")), ("plain", lab)],
        "/api/v1/subnets/{id}/addresses" => {
            let of = |state: &str| format!("?state={state}&limit=10000");
            vec![("free", of("free")), ("used", of("used")), ("all", "?limit=10000".to_owned())]
        }
        "/api/v1/topology/blind-spots" => {
            vec![("plain", lab), ("many hosts", format!("?network_id={OFFICE}"))]
        }
        "/api/v1/changes" => vec![
            ("newest", "?limit=1000&order_direction=desc".to_owned()),
            ("oldest", "?limit=1000".to_owned()),
            // All entries are read, and none is on the page.
            ("without a match", format!("?limit=1000&actor={NOBODY}")),
            ("of a network", format!("?limit=1&network_id={OFFICE}&until=2036-08-14T12:00:00Z")),
        ],
        path if path.ends_with("/history") => vec![("whole", "?limit=1000".to_owned())],
        "/api/v1/hosts/{id}" => {
            vec![("plain", String::new()), ("past", "?at=2036-08-14T12:00:00Z".to_owned())]
        }
        _ => vec![("plain", String::new())],
    }
}

/// Returns what fills a body of this size, and whether the body stays valid.
fn fillings(size: usize) -> Vec<(&'static str, bool, String)> {
    // The rest of the body has some texts as well.
    let size = size - size / 12 - 4_000;
    let nested = size.min(100_000);
    vec![
        ("long text", true, json!("x".repeat(size - size / 20)).to_string()),
        ("many parts", true, format!("[{}0]", "[],".repeat(size / 4))),
        ("many fields", true, format!("{{{}\"k\":0}}", "\"k\":0,".repeat(size / 8))),
        ("nesting", false, format!("{}0{}", "[".repeat(nested / 2 - 10), "]".repeat(nested / 2 - 10))),
        ("slow", true, json!("x".repeat(8_000)).to_string()),
    ]
}

/// Adds an unknown field with this value to an object.
fn padded(object: &str, value: &str) -> String {
    let end = object.rfind('}').unwrap();
    let separator = if object[..end].ends_with('{') { "" } else { "," };
    format!("{}{separator}\"padding\":{value}}}", &object[..end])
}

/// Returns an object as text.
pub(super) fn text(value: &Value) -> String {
    value.to_string()
}
