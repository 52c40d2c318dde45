//! Valid bodies, the largest that an endpoint accepts among them.

use serde_json::{Value, json};
use uuid::Uuid;

use super::inputs::text;
use super::world::{LARGE_HOSTS, World};
use crate::common::{LAB, OFFICE, PASSWORD};
use crate::requests::routes::Route;

/// The length of the longest text of a host in bytes.
const TEXT: usize = 65_536;
/// The length of a body with many hosts in bytes.
const MANY_HOSTS: usize = 2 * 1024 * 1024;

/// A body with its name, and the number of its hosts, parts or ids.
type Valid = (&'static str, String, u64);

/// Returns valid bodies of the same kind. The number makes unique names different.
pub(super) fn fields(kind: &str, route: &Route, world: &World, number: usize) -> Vec<Valid> {
    let name = format!("{}{number}-{}", route.method, "n".repeat(60));
    let is_new = route.method == "POST";
    let plain = match kind {
        "host" => return hosts(&name, route),
        "bulk" => return bulks(number),
        "reported host" => return reported_hosts(number),
        "layout" => return layouts(),
        "split" => return splits(number),
        "vlans" => {
            let count = if number == 0 { 4_094 } else { 1 };
            let vlans: Vec<Value> =
                (1..=count).map(|number| json!({"vlan_number": number, "name": "v".repeat(60)})).collect();
            return vec![("plain", text(&json!({"vlans": vlans})), count)];
        }
        "reservation" => {
            // All of them are made in a subnet of 254 addresses.
            let count = if number == 0 { 200 } else { 1 };
            return vec![("plain", text(&json!({"count": count, "name": "n".repeat(100)})), count)];
        }
        "release" => {
            let addresses: Vec<String> =
                (1..=256).map(|place| format!("10.1.{}.{}", place / 256, place % 256)).collect();
            return vec![("plain", text(&json!({"addresses": addresses})), 256)];
        }
        "interface" => {
            let address = format!("10.7.{}.{number}", route.method.len());
            json!({"host_id": LARGE_HOSTS[0], "network_id": OFFICE, "ip_address": address})
        }
        "port" => {
            let number = 20_000 + number + 100 * route.method.len();
            json!({"host_id": LARGE_HOSTS[0], "network_id": OFFICE, "number": number, "protocol": "Udp"})
        }
        "service" => json!({
            "host_id": LARGE_HOSTS[0], "network_id": OFFICE, "name": "s".repeat(TEXT),
            "service_definition": "nginx", "bindings": [],
        }),
        "if-entry" => {
            let index = if is_new { 50_000 + number } else { 2 };
            json!({"host_id": LARGE_HOSTS[0], "network_id": OFFICE, "if_index": index, "if_descr": "d".repeat(TEXT)})
        }
        "organization" => json!({"name": name}),
        "network" => json!({"name": name, "tags": tags(world), "custom": custom()}),
        "tag" => json!({"name": name, "color": "#00ff7f", "description": "d".repeat(500)}),
        "subnet" => {
            let cidr = format!("10.{}.{number}.0/24", 100 + route.method.len());
            json!({"network_id": OFFICE, "name": name, "cidr": cidr, "tags": tags(world)})
        }
        // Updates do not take a password.
        "user" => json!({
            "email": format!("{}{number}@example.net", route.method.to_lowercase()),
            "permissions": "Viewer", "network_ids": [OFFICE], "password": is_new.then_some(PASSWORD),
        }),
        "user key" => json!({
            "name": name, "organization_id": world.organization, "user_id": world.owner,
            "permissions": "Viewer", "all_networks": true, "tags": tags(world),
        }),
        "daemon key" => json!({"name": name, "network_id": LAB, "tags": tags(world)}),
        "share" => json!({"name": name, "network_id": LAB, "redact": ["names"]}),
        "login" => json!({"email": world.email, "password": PASSWORD}),
        "password change" => json!({"current_password": PASSWORD, "new_password": PASSWORD}),
        "reversion" => json!({"position": world.position}),
        "referral" => json!({"referral_source": "other", "referral_source_other": "x".repeat(500)}),
        "registration" => json!({
            "daemon_id": Uuid::from_u128(0xdae9), "name": name, "version": "0.14.8",
            "capabilities": {"interfaced_subnet_ids": world.ids["subnets"]},
        }),
        "startup" => json!({"daemon_version": "0.14.8"}),
        "status" => json!({"version": "0.14.8", "ready_for_work": true}),
        "heartbeat" => json!({"name": name, "mode": "Push"}),
        "capabilities" => json!({"interfaced_subnet_ids": world.ids["subnets"]}),
        "progress" => json!({
            "session_id": world.ids["discoveries"][0], "daemon_id": Uuid::from_u128(0xdae1),
            "phase": "Scanning", "progress": 10, "error": "e".repeat(TEXT),
        }),
        "discovery" => json!({"network_id": OFFICE, "type": "Network"}),
        "stale deletion" => json!({"network_id": OFFICE}),
        "link" => {
            let end = |host: u128| json!({"host_id": Uuid::from_u128(0x1_0000 + host)});
            json!({"network_id": LAB, "source": end(40 + number as u128), "target": end(50)})
        }
        "share password" => json!({"password": PASSWORD}),
        other => panic!("unknown fields: {other}"),
    };
    vec![("plain", text(&plain), 1)]
}

/// Returns as many tags as a record may have.
fn tags(world: &World) -> &[Uuid] {
    &world.ids["tags"][5..105]
}

/// Returns the custom fields that take the most memory. Their JSON has about 16 KiB.
fn custom() -> Value {
    json!({"a": vec![0; 8_000]})
}

/// Returns a host, one with long texts, one with custom fields, and one with many parts.
fn hosts(name: &str, route: &Route) -> Vec<Valid> {
    let plain = json!({"network_id": OFFICE, "name": name});
    let mut long = plain.clone();
    for field in ["hostname", "description", "sys_name", "sys_descr", "sys_location", "sys_contact", "model"]
    {
        long[field] = json!("t".repeat(TEXT));
    }
    let parts = if route.method == "PATCH" { 0 } else { 1 };
    let mut with_custom = plain.clone();
    with_custom["custom"] = custom();
    let mut all =
        vec![("plain", text(&plain), 1), ("texts", text(&long), 1), ("custom", text(&with_custom), 1)];
    for (name, list, count) in [
        ("ports", "ports", 8_000),
        ("interfaces", "interfaces", 3_000),
        ("entries", "if_entries", 3_000),
        ("services", "services", 3_000),
    ] {
        let part = |number: u32| match list {
            "ports" => json!({"number": number, "protocol": "Tcp"}),
            "interfaces" => {
                json!({"ip_address": std::net::Ipv4Addr::from(0x0A20_0000 + number), "mac_address": null})
            }
            "services" => json!({"name": "s", "service_definition": "nginx"}),
            _ => json!({"if_index": number, "if_descr": "d"}),
        };
        let mut host = plain.clone();
        host[list] = (1..=count * parts).map(part).collect();
        all.push((name, text(&host), u64::from(count)));
    }
    all
}

/// Returns the host with this number, with a few parts.
fn lean(number: usize) -> Value {
    json!({
        "id": Uuid::from_u128(0x50_0000 + number as u128), "network_id": OFFICE,
        "name": format!("bulk-{number}"), "ports": [{"number": 443, "protocol": "Tcp"}],
    })
}

fn bulks(number: usize) -> Vec<Valid> {
    let small: Vec<Value> = (0..1_000).map(|place| lean(number * 1_000 + place)).collect();
    let long = json!({"network_id": OFFICE, "name": "long", "description": "t".repeat(TEXT)});
    let long: Vec<&Value> = (0..MANY_HOSTS / TEXT).map(|_| &long).collect();
    let with_custom = json!({"network_id": OFFICE, "name": "custom", "custom": custom()});
    let with_custom: Vec<&Value> = (0..MANY_HOSTS / 16_384).map(|_| &with_custom).collect();
    let mut all = vec![("plain", text(&json!({"hosts": small[..1]})), 1)];
    if number == 0 {
        all.push(("many hosts", text(&json!({"hosts": small})), 1_000));
        all.push(("separate hosts", text(&json!({"hosts": small, "atomic": false})), 1_000));
        all.push(("long hosts", text(&json!({"hosts": long})), long.len() as u64));
        let count = with_custom.len() as u64;
        all.push(("custom fields", text(&json!({"hosts": with_custom})), count));
    }
    all
}

/// Returns imports: query, media type, body and the number of hosts.
pub(super) fn rows() -> Vec<(&'static str, &'static str, &'static str, String, u64)> {
    const LINES: &str = "application/x-ndjson";
    let lines: String = (0..4_000).map(|number| text(&lean(9_000 + number)) + "\n").collect();
    let long = text(&json!({"network_id": OFFICE, "name": "long", "description": "t".repeat(TEXT)})) + "\n";
    let ports: Vec<Value> = (1..=20_000).map(|number| json!({"number": number, "protocol": "Tcp"})).collect();
    let crowded = text(&json!({"network_id": OFFICE, "name": "crowded", "ports": ports})) + "\n";
    // Each line is completed from the stored host that it names.
    let of_large = text(&json!({"id": LARGE_HOSTS[1], "network_id": OFFICE, "name": "small"})) + "\n";
    let unknown_tag = json!({
        "id": LARGE_HOSTS[1], "network_id": OFFICE, "name": "small", "tags": [Uuid::from_u128(0x62_0000)],
    });
    let refused_of_large = text(&unknown_tag) + "\n";
    vec![
        ("hosts", "?dry_run=true", LINES, lines.clone(), 4_000),
        ("stored hosts", "", LINES, lines.clone(), 4_000),
        ("stored hosts again", "", LINES, lines, 4_000),
        ("lines of a large host", "?dry_run=true", LINES, of_large.repeat(1_000), 1_000),
        ("refused lines of a large host", "", LINES, refused_of_large.repeat(1_000), 1_000),
        ("long hosts", "?dry_run=true", LINES, long.repeat(32), 32),
        ("crowded host", "?dry_run=true", LINES, crowded, 1),
        ("refused lines", "?dry_run=true", LINES, "x\n".repeat(100_000), 100_000),
        ("empty lines", "?dry_run=true", LINES, "\n".repeat(1_000_000), 1),
        ("one line", "?dry_run=true", LINES, " ".repeat(MANY_HOSTS), 1),
    ]
}

fn reported_hosts(number: usize) -> Vec<Valid> {
    let id = Uuid::from_u128(0x60_0000);
    let plain = json!({"host": {"id": id, "network_id": OFFICE, "name": "reported"}});
    let mut crowded = plain.clone();
    crowded["ports"] = (1..=8_000)
        .map(|number| json!({"id": Uuid::from_u128(0x61_0000 + number), "number": number, "protocol": "Tcp"}))
        .collect();
    let mut all = vec![("plain", text(&plain), 1)];
    if number == 0 {
        all.push(("ports", text(&crowded), 8_000));
        // The second report meets what the first has stored.
        all.push(("ports again", text(&crowded), 8_000));
    }
    all
}

fn layouts() -> Vec<Valid> {
    let position = |number: u128| json!({"id": Uuid::from_u128(number), "x": 1.5, "y": -2.5});
    let few = json!({"positions": [position(1)]});
    let many: Vec<Value> = (1..=10_000).map(position).collect();
    vec![("plain", text(&few), 1), ("many positions", text(&json!({"positions": many})), 10_000)]
}

fn splits(number: usize) -> Vec<Valid> {
    let part = |kind: u128, number: usize| Uuid::from_u128((1 << 64) + (kind << 32) + number as u128);
    let ports: Vec<Uuid> = (0..100).map(|place| part(2, 300 + number * 100 + place)).collect();
    vec![("plain", text(&json!({"name": "n".repeat(TEXT / 2), "ports": ports})), 100)]
}
