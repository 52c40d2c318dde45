//! The filters of the list of hosts.

use std::collections::BTreeSet;
use std::net::IpAddr;

use fastrand::Rng;
use toposcope::model::{Cidr, TagId, Timestamp};

use super::*;
use crate::backend::Backend;
use crate::requests::Choose;

const ADDRESSES: [&str; 11] = [
    "10.0.0.1",
    "10.0.1.2",
    "10.1.0.1",
    "10.15.0.1",
    "10.100.0.1",
    "2001:db8::1",
    "2001:db8:1::1",
    "2001:db80::1",
    "fe80::1",
    "::1",
    "::ffff:10.1.0.9",
];
const MACS: [&str; 5] = [
    "00:1B:21:00:00:01",
    "00:1B:21:AA:00:02",
    "00:1B:22:00:00:03",
    "AC:DE:48:00:11:22",
    "00:1B:21:FF:FE:00:11:22",
];
const NAMES: [&str; 8] = [
    "Switch-01 core",
    "Łódź Büro",
    "printer",
    "core.example.net",
    "日本 router",
    "switch 02",
    "Європа ёлка",
    "ΞΕΝΟΔΟΧΕΙΟ Straße",
];
const SUBNETS: [&str; 2] = ["00000000-0000-4000-8000-00000000005a", "00000000-0000-4000-8000-00000000005b"];
const SOURCES: [&str; 3] = ["Manual", "System", "Unknown"];
const DEFINITIONS: [&str; 3] = ["Nginx", "nginx", "Proxmox VE"];

/// A random host, as a client sends it.
fn random_host(random: &mut Rng, tags: &[TagId]) -> Value {
    let mut some = |count: usize, part: &dyn Fn(&mut Rng, usize) -> Value| -> Value {
        let count = random.usize(..=count);
        (0..count).map(|index| part(random, index)).collect()
    };
    let interfaces = some(2, &|random, _| {
        let mac = random.bool().then(|| random.choose(&MACS));
        let subnet = random.bool().then(|| random.choose(&SUBNETS));
        let name = random.bool().then(|| random.choose(&["eth0", "Gi0/1"]));
        json!({"ip_address": random.choose(&ADDRESSES), "mac_address": mac, "subnet_id": subnet, "name": name})
    });
    let ports = some(
        2,
        &|random, index| json!({"number": random.choose(&[22, 443]) + index, "protocol": random.choose(&["Tcp", "Udp"])}),
    );
    let services =
        some(2, &|random, _| json!({"name": "s", "service_definition": random.choose(&DEFINITIONS)}));
    json!({
        "network_id": random.choose(&[OFFICE, LAB]),
        "name": random.choose(&NAMES),
        "hostname": random.choose(&[None, Some("a.example.net"), Some("b.example.org")]),
        "description": random.choose(&[None, Some("second floor")]),
        "hidden": random.bool(),
        "tags": random.some_of(&tags[..2]),
        "source": {"type": random.choose(&SOURCES)},
        "interfaces": interfaces,
        "ports": ports,
        "services": services,
    })
}

/// A filter: its parameter, a value, and the scan that it stands for.
type Filter = (&'static str, String, Box<dyn Fn(&Value) -> bool>);

fn list(host: &Value, name: &str) -> Vec<Value> {
    host[name].as_array().unwrap().clone()
}

/// Returns the values of a field of the parts of a host.
fn texts(host: &Value, parts: &str, field: &str) -> Vec<String> {
    list(host, parts).iter().filter_map(|part| part[field].as_str()).map(str::to_owned).collect()
}

fn random_filter(random: &mut Rng, tags: &[TagId], times: &[String]) -> Filter {
    match random.usize(..16) {
        0 => {
            let address = random.choose(&ADDRESSES).parse().unwrap();
            let most = if IpAddr::is_ipv4(&address) { 32 } else { 128 };
            let prefix = Cidr::containing(address, random.choose(&[0, 8, 16, 24, most]).min(most)).unwrap();
            let text = if prefix.prefix_length() == most { address.to_string() } else { prefix.to_string() };
            let is_within = move |text: &String| {
                let address: IpAddr = text.parse().unwrap();
                prefix.contains(address) || prefix.contains(address.to_canonical())
            };
            ("ip", text, Box::new(move |host| texts(host, "interfaces", "ip_address").iter().any(is_within)))
        }
        1 => {
            let whole = random.choose(&MACS);
            let prefix = &whole[..random.choose(&[2, 5, 8, 17])];
            let separator = random.choose(&["", "-", ":"]);
            let text = prefix.replace(':', separator);
            let text = if random.bool() { text.to_lowercase() } else { text };
            let begins = move |mac: &String| mac.starts_with(prefix);
            ("mac", text, Box::new(move |host| texts(host, "interfaces", "mac_address").iter().any(begins)))
        }
        2 => {
            let (first, more) = (random.choose(&[22, 23, 443, 444]), random.choose(&[0, 0, 1, 420]));
            let protocol = random.choose(&[None, Some("Tcp"), Some("uDp")]);
            let numbers = if more == 0 { first.to_string() } else { format!("{first}-{}", first + more) };
            let text = protocol.map_or(numbers.clone(), |protocol| format!("{numbers}/{protocol}"));
            let is_open = move |port: &Value| {
                let is_of =
                    |protocol: &str| port["protocol"].as_str().unwrap().eq_ignore_ascii_case(protocol);
                (first..=first + more).contains(&port["number"].as_i64().unwrap())
                    && protocol.is_none_or(is_of)
            };
            ("port", text, Box::new(move |host| list(host, "ports").iter().any(is_open)))
        }
        3 => {
            let name = random.choose(&DEFINITIONS);
            let text = name.replace(' ', "%20");
            let has = move |host: &Value| {
                texts(host, "services", "service_definition").iter().any(|own| own == name)
            };
            ("service_definition", text, Box::new(has))
        }
        4 => {
            let id = random.choose(&SUBNETS);
            (
                "subnet_id",
                id.to_owned(),
                Box::new(move |host| texts(host, "interfaces", "subnet_id").iter().any(|own| own == id)),
            )
        }
        5 => {
            let kind = random.choose(&SOURCES);
            ("source", kind.to_owned(), Box::new(move |host| host["source"]["type"] == kind))
        }
        6 => {
            let hidden = random.bool();
            let text = hidden.to_string();
            (
                "hidden",
                if random.bool() { text.to_uppercase() } else { text },
                Box::new(move |host| host["hidden"] == hidden),
            )
        }
        7 => {
            let network = random.choose(&[OFFICE, LAB]);
            ("network_id", network.to_string(), Box::new(move |host| host["network_id"] == json!(network)))
        }
        8 => {
            let tag = random.choose(&tags[..2]);
            ("tag_ids", tag.to_string(), Box::new(move |host| list(host, "tags").contains(&json!(tag))))
        }
        9 => {
            let tags = random.some_of(&tags[..2]);
            let none = tags.clone();
            let text = tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let found = move |host: &Value| !none.iter().any(|tag| list(host, "tags").contains(&json!(tag)));
            ("tag_ids_none", text, Box::new(found))
        }
        10 => {
            let tags = random.some_of(&tags[..2]);
            let all = tags.clone();
            let text = tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let found = move |host: &Value| all.iter().all(|tag| list(host, "tags").contains(&json!(tag)));
            ("tag_ids_all", text, Box::new(found))
        }
        11 => {
            let without = random.bool();
            let found = move |host: &Value| list(host, "tags").is_empty() == without;
            ("without_tags", without.to_string(), Box::new(found))
        }
        12 => {
            let name = random.choose(&NAMES);
            let text = if random.bool() { name.to_uppercase() } else { name.to_owned() };
            ("name", encoded(&text.replace(' ', "+")), Box::new(move |host| host["name"] == name))
        }
        13 => {
            let name = random.choose(&["a.example.net", "B.Example.ORG", "example.net"]);
            let found = move |host: &Value| host["hostname"].as_str() == Some(name.to_lowercase().as_str());
            ("hostname", name.to_owned(), Box::new(found))
        }
        14 => {
            let time = random.choose(times);
            let since: Timestamp = time.parse().unwrap();
            let found = move |host: &Value| {
                host["updated_at"].as_str().unwrap().parse::<Timestamp>().unwrap() >= since
            };
            ("updated_since", time, Box::new(found))
        }
        _ => {
            let (text, found) = random.choose(&SEARCHES);
            ("search", encoded(text), Box::new(found))
        }
    }
}

/// Encodes what a query string cannot contain.
fn encoded(text: &str) -> String {
    let encode =
        |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

fn is_named(host: &Value, names: &[usize]) -> bool {
    names.iter().any(|index| host["name"] == NAMES[*index])
}

fn has(host: &Value, field: &str, value: &str) -> bool {
    texts(host, "interfaces", field).iter().any(|own| own.starts_with(value))
}

fn ends(host: &Value, digits: &str) -> bool {
    texts(host, "interfaces", "mac_address").iter().any(|own| own.ends_with(digits))
}

/// Searches, with the hosts that they find.
type Search = (&'static str, fn(&Value) -> bool);

const SEARCHES: [Search; 38] = [
    ("SWITCH", |host| is_named(host, &[0, 5])),
    ("switch+01", |host| is_named(host, &[0])),
    ("01", |host| is_named(host, &[0])),
    ("core", |host| is_named(host, &[0, 3])),
    ("witch", |_| false),
    ("lodz+buro", |host| is_named(host, &[1])),
    ("b%C3%BCr", |host| is_named(host, &[1])),
    ("%E6%97%A5%E6%9C%AC", |host| is_named(host, &[4])),
    ("10.0.", |host| has(host, "ip_address", "10.0.")),
    ("10.1", |host| has(host, "ip_address", "10.1") || has(host, "ip_address", "::ffff:10.1")),
    ("10.1.", |host| has(host, "ip_address", "10.1.") || has(host, "ip_address", "::ffff:10.1.")),
    ("10.1.0.9", |host| has(host, "ip_address", "::ffff:10.1.0.9")),
    ("::ffff:10.1.0.9", |host| has(host, "ip_address", "::ffff:10.1.0.9")),
    ("001b.21aa.0002", |host| has(host, "mac_address", "00:1B:21:AA:00:02")),
    ("001b.21", |host| has(host, "mac_address", "00:1B:21")),
    ("00:02", |host| ends(host, "00:02")),
    ("11-22", |host| ends(host, "11:22")),
    ("1122", |host| ends(host, "11:22")),
    ("0011.22", |_| false),
    ("fe.example", |_| false),
    ("example.net", |host| is_named(host, &[3]) || host["hostname"] == "a.example.net"),
    ("10.1.0.1.", |host| has(host, "ip_address", "10.1.0.1")),
    ("2001:db8:", |host| has(host, "ip_address", "2001:db8:")),
    ("2001:db8::", |host| has(host, "ip_address", "2001:db8::")),
    ("fe80::1:", |host| has(host, "ip_address", "fe80::1")),
    ("00:1b:21:", |host| has(host, "mac_address", "00:1B:21:")),
    ("00-1b-2-", |_| false),
    ("європа", |host| is_named(host, &[6])),
    ("ЕЛКА", |host| is_named(host, &[6])),
    ("ξενοδοχείο", |host| is_named(host, &[7])),
    ("STRASSE", |host| is_named(host, &[7])),
    ("bu\u{308}r", |host| is_named(host, &[1])),
    ("::1", |host| has(host, "ip_address", "::1")),
    ("2001:db8", |host| has(host, "ip_address", "2001:db8")),
    ("00-1b-2", |host| has(host, "mac_address", "00:1B:2")),
    ("001b21", |host| has(host, "mac_address", "00:1B:21")),
    ("00:1b:21:aa", |host| has(host, "mac_address", "00:1B:21:AA")),
    ("second+fl", |host| host["description"] == "second floor"),
];

/// The numbers of comparisons: with hosts that were found, and of those with several filters.
#[derive(Default)]
struct Compared {
    found: usize,
    combined: usize,
}

impl Compared {
    /// Compares random filters and their combinations with a scan of these hosts, which are all.
    async fn compare(&mut self, fixture: &Fixture, random: &mut Rng, hosts: &[Value]) {
        let times = hosts.iter().map(|host| host["updated_at"].as_str().unwrap().to_owned());
        let times: Vec<String> = times.collect();
        let filters = (0..1 + random.usize(..3)).map(|_| random_filter(random, &fixture.home.tags, &times));
        let filters: Vec<Filter> = filters.collect();
        let names: BTreeSet<&str> = filters.iter().map(|(name, ..)| *name).collect();
        if names.len() < filters.len() {
            return;
        }
        let query: Vec<String> = filters.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        let expected = hosts.iter().filter(|host| filters.iter().all(|(.., matches)| matches(host)));
        let expected: BTreeSet<&str> = expected.map(|host| host["id"].as_str().unwrap()).collect();
        let query = query.join("&");
        let reply = fixture.list(&format!("limit=0&{query}")).await;
        let listed = reply.data().as_array().unwrap().iter().map(|host| host["id"].as_str().unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), expected, "{query}");
        assert_eq!(fixture.list(&format!("limit=1&{query}")).await.total(), expected.len() as u64);
        self.found += usize::from(!expected.is_empty());
        self.combined += usize::from(filters.len() > 1 && !expected.is_empty());
    }
}

/// Compares filters and their combinations with a scan of all hosts. Some comparisons follow changes of the hosts.
#[test]
fn filters_find_what_a_scan_finds() {
    run_new(async |fixture| {
        let (mut random, tags) = (Rng::with_seed(443), fixture.home.tags);
        let mut hosts = Vec::new();
        for _ in 0..60 {
            hosts.push(fixture.post(HOSTS, &random_host(&mut random, &tags)).await);
        }
        let rounds = Backend::current().effort(150, 3_000);
        let mut compared = Compared::default();
        for round in 0..rounds {
            if round % 10 == 0 {
                let index = random.usize(..hosts.len());
                let body = random_host(&mut random, &tags);
                let body = with(&body, "network_id", hosts[index]["network_id"].clone());
                let put = send_json("PUT", &path_of(HOSTS, &hosts[index]), &body);
                hosts[index] = fixture.ask(put).await.data().clone();
            }
            compared.compare(&fixture, &mut random, &hosts).await;
        }
        let Compared { found, combined } = compared;
        assert!(found > rounds / 4 && combined > rounds / 20, "{found} and {combined} of {rounds}");
    });
}

/// A change of hosts, given what is stored.
type Change = (&'static str, String, Value);

/// Returns the change of this number, or `None` after the last one. Each relies on the ones before.
fn change(number: usize, hosts: &[Value], tag: TagId, subnet: &Value) -> Option<Change> {
    const INTERFACES: &str = "/api/v1/interfaces";
    const PORTS: &str = "/api/v1/ports";
    const SERVICES: &str = "/api/v1/services";
    let owned = |host: &Value, part: Value| {
        with(&with(&part, "host_id", host["id"].clone()), "network_id", host["network_id"].clone())
    };
    // The parts that the changes create are found by these values.
    let part = |list: &str, field: &str, value: Value| {
        let parts = hosts.iter().flat_map(|host| host[list].as_array().unwrap());
        parts.clone().find(|part| part[field] == value).unwrap().clone()
    };
    let first = &hosts[0];
    let interface = |name: &str| part("interfaces", "name", json!(name));
    let port = || part("ports", "number", json!(4_444));
    let service = |name: &str| part("services", "name", json!(name));
    let in_subnet = json!({"ip_address": "10.15.0.1", "name": "new0", "mac_address": MACS[3]});
    Some(match number {
        0 => {
            ("POST", INTERFACES.to_owned(), owned(first, with(&in_subnet, "subnet_id", subnet["id"].clone())))
        }
        1 => {
            let part = interface("new0");
            (
                "PUT",
                path_of(INTERFACES, &part),
                with(&with(&part, "ip_address", "2001:db80::1"), "name", "new1"),
            )
        }
        2 => ("POST", PORTS.to_owned(), owned(first, json!({"number": 4_444, "protocol": "Udp"}))),
        3 => ("PUT", path_of(PORTS, &port()), owned(&hosts[1], port())),
        4 => ("DELETE", path_of(PORTS, &port()), Value::Null),
        5 => {
            let service = json!({"name": "new", "service_definition": "Nginx", "tags": [tag]});
            ("POST", SERVICES.to_owned(), owned(first, service))
        }
        6 => {
            let part = service("new");
            ("PUT", path_of(SERVICES, &part), with(&part, "service_definition", "Proxmox VE"))
        }
        7 => ("DELETE", path_of(SERVICES, &service("new")), Value::Null),
        8 => ("DELETE", path_of("/api/v1/subnets", subnet), Value::Null),
        9 => ("DELETE", path_of(INTERFACES, &interface("new1")), Value::Null),
        10 => ("DELETE", format!("/api/v1/tags/{tag}"), Value::Null),
        11 => ("DELETE", path_of(HOSTS, first), Value::Null),
        #[cfg(feature = "discovery")]
        12 => {
            let path = path_of(HOSTS, first);
            ("POST", format!("{path}/consolidate/{}", hosts[1]["id"].as_str().unwrap()), Value::Null)
        }
        #[cfg(feature = "discovery")]
        13 => {
            let rows = json!([{"ip_address": "10.100.0.77"}, {"ip_address": "2001:db8:1::77", "mac_address": "00:1B:22:AA:00:77"}]);
            let tables = json!({"addresses": {"complete": true, "rows": rows}});
            let device = json!({"sys_name": "reported", "serial_number": "SN-1", "tables": tables});
            let report = json!({
                "reporter": {"name": "collector", "version": "1"}, "observed_at": "2026-08-01T12:00:00Z",
                "devices": [device],
            });
            ("POST", format!("/api/v1/discovery/import?network_id={OFFICE}&format=report"), report)
        }
        _ => return None,
    })
}

#[test]
fn filters_find_what_a_scan_finds_after_every_kind_of_change() {
    run_new(async |fixture| {
        let (mut random, tags) = (Rng::with_seed(4_437), fixture.home.tags);
        for _ in 0..12 {
            let body = with(&random_host(&mut random, &tags), "network_id", OFFICE.to_string());
            fixture.post(HOSTS, &body).await;
        }
        // None of the addresses is in it, so that only the change below puts an interface there.
        let cidr = json!({"network_id": OFFICE, "name": "a subnet", "cidr": "203.0.113.0/24"});
        let subnet = fixture.post("/api/v1/subnets", &cidr).await;
        let in_subnet = format!("subnet_id={}", subnet["id"].as_str().unwrap());
        let mut compared = Compared::default();
        let mut hosts = fixture.list("limit=0").await.data().as_array().unwrap().clone();
        let mut number = 0;
        while let Some((method, path, body)) = change(number, &hosts, tags[0], &subnet) {
            let request = if body.is_null() { bare(method, &path) } else { send_json(method, &path, &body) };
            let request = if path.contains("/discovery/") {
                with_header(without_type(request), "content-type", "application/octet-stream")
            } else {
                request
            };
            fixture.ask(request).await.data();
            let after = fixture.list("limit=0").await.data().as_array().unwrap().clone();
            assert!(after != hosts, "{method} {path}");
            hosts = after;
            for _ in 0..Backend::current().effort(25, 250) {
                compared.compare(&fixture, &mut random, &hosts).await;
            }
            assert_eq!(fixture.list(&in_subnet).await.total(), u64::from(number < 8), "{method} {path}");
            number += 1;
        }
        assert!(compared.found > 10 * number, "{} after {number} changes", compared.found);
    });
}

/// Removes the media type of a request.
fn without_type(mut request: Request<String>) -> Request<String> {
    request.headers_mut().remove("content-type");
    request
}

#[test]
fn ipv4_mapped_addresses_are_found_by_both_forms() {
    run_new(async |fixture| {
        let mut host = host_body();
        host["interfaces"] = json!([{"ip_address": "::ffff:10.0.0.1"}]);
        fixture.post(HOSTS, &host).await;
        for (query, total) in [
            ("ip=10.0.0.1", 1),
            ("ip=10.0.0.2", 0),
            ("ip=0.0.0.0/0", 1),
            ("ip=::/0", 1),
            ("ip=::ffff:10.0.0.2", 0),
            ("search=10.0.0.1", 1),
            ("search=10.0.1", 0),
            ("ip=::ffff:10.0.0.1", 1),
            ("ip=::ffff:0:0/96", 1),
            ("search=::ffff:10.", 1),
        ] {
            assert_eq!(fixture.list(query).await.total(), total, "{query}");
        }
        host["interfaces"] = json!([{"ip_address": "10.0.0.7"}]);
        fixture.post(HOSTS, &host).await;
        for query in ["ip=::ffff:10.0.0.7", "ip=::ffff:10.0.0.6/127", "search=::ffff:10.0.0.7"] {
            assert_eq!(fixture.list(query).await.total(), 1, "{query}");
        }
    });
}

#[test]
fn several_values_of_a_filter_mean_any() {
    run_new(async |fixture| {
        for (name, port, address) in
            [("a", 22, "10.0.0.1"), ("b", 443, "2001:db8::1"), ("c", 80, "192.0.2.1")]
        {
            let mut host = with(&host_body(), "name", name);
            host["ports"] = json!([{"number": port, "protocol": "Tcp"}]);
            host["interfaces"] = json!([{"ip_address": address}]);
            fixture.post(HOSTS, &host).await;
        }
        for (query, total) in [
            ("port=22,443", 2),
            ("port=22&port=443/Tcp", 2),
            ("port=22,443/Udp", 1),
            ("port=80-443/tcp", 2),
            ("port=22-80,443", 3),
            ("name=A", 1),
            ("hostname=a", 0),
            ("without_tags=TRUE", 3),
            ("without_tags=false", 0),
            ("updated_since=2000-01-01T00:00:00Z", 3),
            ("updated_since=9999-01-01T00:00:00Z", 0),
            ("ip=10.0.0.0/8,2001:db8::/32", 2),
            ("ip=0.0.0.0/0", 2),
            ("source=Unknown,System", 0),
            ("source=Unknown,Manual", 3),
            ("port=22&ip=192.0.2.1", 0),
            ("port=", 3),
        ] {
            assert_eq!(fixture.list(query).await.total(), total, "{query}");
        }
    });
}

#[test]
fn malformed_filter_value_is_refused_with_its_field() {
    run_new(async |fixture| {
        for (field, values) in [
            ("ip", &["x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0"][..]),
            ("mac", &["0", "00:1", "00:1b-21", "001b.2", "00.1b", "gg"]),
            ("port", &["0", "65536", "x", "443/sctp", "443/", "-1", "+1", "2-1", "1-", "1-2-3", "1-65536"]),
            ("subnet_id", &["x"]),
            ("source", &["manual", "x"]),
            ("hidden", &["1", "yes"]),
            ("without_tags", &["0", "none"]),
            ("updated_since", &["x", "2026-01-01"]),
            ("tag_ids_all", &["x"]),
            ("tag_ids_none", &["x"]),
            ("search", &["--", "%20%20"]),
        ] {
            for value in values {
                let reply = fixture.list(&format!("{field}={value}")).await;
                assert_eq!(
                    *reply.refuses(400, "validation_invalid_format"),
                    json!({"field": field}),
                    "{value}"
                );
            }
        }
        let twice = fixture.list("hidden=true&hidden=true").await;
        assert_eq!(*twice.refuses(400, "validation_invalid_format"), json!({"field": "hidden"}));
        let short = fixture.list("search=a").await;
        assert_eq!(*short.refuses(400, "validation_min_length"), json!({"field": "search", "min": 2}));
        for (field, max) in [("search", 100), ("name", 1_024), ("hostname", 1_024)] {
            let long = fixture.list(&format!("{field}={}", "%C3%A4".repeat(max + 1))).await;
            assert_eq!(*long.refuses(400, "validation_max_length"), json!({"field": field, "max": max}));
            let longest = fixture.list(&format!("{field}={}", "%C3%A4".repeat(max))).await;
            assert_eq!(longest.total(), 0);
        }
        let many = fixture.list(&format!("port={}", ["1"; 101].join(","))).await;
        assert_eq!(*many.refuses(400, "validation_max_length"), json!({"field": "port", "max": 100}));
        for (field, max) in [("tag_ids_all", 100), ("tag_ids_none", 1_000)] {
            let many = vec![NOBODY.to_string(); max + 1].join(",");
            let reply = fixture.list(&format!("{field}={many}")).await;
            assert_eq!(*reply.refuses(400, "validation_max_length"), json!({"field": field, "max": max}));
        }
    });
}
