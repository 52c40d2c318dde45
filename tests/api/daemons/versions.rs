//! Exchanges of daemons of several versions: what they send arrives, and they can read the answers.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;
use uuid::Uuid;

use super::readers::read;
use super::*;
use crate::backend::run_with;
use crate::common::with_header;

const SAMPLES: [&str; 3] =
    [include_str!("samples/0.13.json"), include_str!("samples/0.16.json"), include_str!("samples/0.17.json")];

/// An exchange: a request, and what the daemon reads of the answer.
#[derive(Deserialize)]
struct Exchange {
    path: String,
    body: Value,
    #[serde(default = "success")]
    status: u16,
    reads: String,
    /// The names of ids in later requests, by their places in the answer.
    #[serde(default)]
    learns: HashMap<String, String>,
}

fn success() -> u16 {
    200
}

#[derive(Deserialize)]
struct Sample {
    version: String,
    sends_version: bool,
    exchanges: Vec<Exchange>,
}

impl Scene {
    /// Sends a request as a daemon of a version.
    async fn post_as(&self, version: &str, path: &str, body: &Value) -> Reply {
        let request = with_header(send_json("POST", path, body), "x-daemon-version", version);
        let request = with_header(request, "x-daemon-id", DAEMON.to_string());
        self.fixture.send(with_key(request, &self.key)).await
    }

    /// Replays a sample, and returns the answer to the report of the host.
    async fn replay(&self, sample: &Sample) -> Value {
        let mut known: HashMap<String, String> = HashMap::new();
        let mut host = Value::Null;
        for exchange in &sample.exchanges {
            let fill = |text: &str| {
                known
                    .iter()
                    .fold(text.to_owned(), |text, (name, id)| text.replace(&format!("{{{name}}}"), id))
            };
            let path = fill(&exchange.path);
            let body: Value = serde_json::from_str(&fill(&exchange.body.to_string())).unwrap();
            let reply = match sample.sends_version {
                true => self.post_as(&sample.version, &path, &body).await,
                false => {
                    let request =
                        with_header(send_json("POST", &path, &body), "x-daemon-id", DAEMON.to_string());
                    self.fixture.send(with_key(request, &self.key)).await
                }
            };
            assert_eq!(reply.status.as_u16(), exchange.status, "{} {path}: {}", sample.version, reply.json);
            read(&exchange.reads, &reply.json);
            for (name, place) in &exchange.learns {
                let id = reply.json.pointer(place).and_then(Value::as_str);
                known.insert(name.clone(), id.unwrap_or_else(|| panic!("{path} has no {place}")).to_owned());
            }
            if exchange.reads.ends_with("host") {
                host = reply.data().clone();
            }
        }
        host
    }
}

#[test]
fn daemons_of_each_version_are_understood_and_can_read_the_answers() {
    run_with(Scene::new, async |scene| {
        for sample in SAMPLES {
            let sample: Sample = serde_json::from_str(sample).unwrap();
            scene.replay(&sample).await;
        }
        let hosts = scene.get("/api/v1/hosts?limit=0").await;
        let hosts = hosts.as_array().unwrap();
        // The two newer daemons run on one machine.
        assert_eq!(hosts.len(), 2, "{hosts:?}");
        for host in hosts {
            assert_eq!(host["network_id"], OFFICE.to_string());
            assert_eq!(host["services"][0]["bindings"][0]["port_id"], host["ports"][0]["id"]);
        }
        let subnets = scene.get("/api/v1/subnets?limit=0").await;
        let cidrs: Vec<&Value> = subnets.as_array().unwrap().iter().map(|subnet| &subnet["cidr"]).collect();
        for cidr in ["192.0.2.0/28", "192.0.2.16/28", "127.0.0.0/8"] {
            assert!(cidrs.contains(&&json!(cidr)), "{cidr} is not in {cidrs:?}");
        }
        for discovery in scene.get("/api/v1/discoveries").await.as_array().unwrap() {
            let is_whole = discovery["type"] == "Unified" || discovery["type"] == "SelfReport";
            assert_eq!(discovery["phase"], if is_whole { "Complete" } else { "Pending" });
        }
    });
}

#[test]
fn interfaces_vlans_and_neighbors_of_newer_daemons_arrive() {
    for sample in &SAMPLES[1..] {
        let sample: Sample = serde_json::from_str(sample).unwrap();
        run_with(Scene::new, async |scene| {
            let answer = scene.replay(&sample).await;
            let host = scene.get(&format!("/api/v1/hosts/{}", answer["id"].as_str().unwrap())).await;
            assert_eq!(host["chassis_id"], json!({"subtype": "MacAddress", "value": "00:1B:21:00:16:04"}));
            assert_eq!(answer["chassis_id"], "00:1B:21:00:16:04");
            let interfaces = host["interfaces"].as_array().unwrap();
            let addresses: Vec<&Value> =
                interfaces.iter().map(|interface| &interface["ip_address"]).collect();
            assert_eq!(addresses, [&json!("127.0.0.1"), &json!("192.0.2.20")]);
            let entries = host["if_entries"].as_array().unwrap();
            assert_eq!(entries.len(), 2, "a row without an index is left out");
            let eth0 = &entries[1];
            assert_eq!((&eth0["if_index"], &eth0["if_name"]), (&json!(2), &json!("eth0")));
            assert_eq!(eth0["interface_id"], interfaces[1]["id"]);
            assert_eq!(eth0["vlans"], json!({"untagged": 10, "tagged": [20]}));
            assert_eq!(eth0["lldp_chassis_id"]["value"], "00:1A:2B:00:11:00");
            assert_eq!(eth0["lldp_port_id"], json!({"subtype": "InterfaceName", "value": "Gi0/24"}));
            let binding = &host["services"][0]["bindings"][1];
            assert_eq!((&binding["type"], &binding["interface_id"]), (&json!("Port"), &interfaces[1]["id"]));
            assert_eq!(answer["services"][0]["bindings"][1]["ip_address_id"], interfaces[1]["id"]);
            let daemon = &scene.get("/api/v1/daemons").await[0];
            assert_eq!(daemon["capabilities"]["interfaced_subnet_ids"].as_array().unwrap().len(), 2);
        });
    }
}

#[test]
fn networks_have_the_name_that_the_daemon_uses() {
    run_with(Scene::new, async |scene| {
        let subnet = |name: &str, cidr: &str| {
            let mut body = json!({"name": cidr, "cidr": cidr, "source": {"type": "Discovery"}});
            body[name] = json!(LAB);
            body
        };
        for (version, sent, cidr, read) in [
            ("0.14.8", "network_id", "192.0.2.0/28", "network_id"),
            ("0.17.21", "network_id", "192.0.2.16/28", "network_id"),
            ("0.17.22", "site_id", "192.0.2.32/28", "site_id"),
            ("0.16.0", "site_id", "192.0.2.48/28", "site_id"),
            ("1.2.3", "site_id", "192.0.2.64/28", "site_id"),
            ("of tomorrow", "network_id", "192.0.2.80/28", "network_id"),
        ] {
            let reply = scene.post_as(version, "/api/v1/subnets", &subnet(sent, cidr)).await;
            assert_eq!(reply.data()[read], OFFICE.to_string(), "{version}: {}", reply.json);
            let other = if read == "site_id" { "network_id" } else { "site_id" };
            assert_eq!(reply.data().get(other), None, "{version}");
        }
    });
}

/// Returns a report of a host with a row of its table of interfaces.
#[allow(clippy::needless_pass_by_value, reason = "tests pass literals")]
fn with_entry(version: &str, entry: Value) -> Value {
    let host = json!({"id": Uuid::from_u128(0x77), "name": "switch", "hostname": "switch.example.net"});
    match version {
        "0.16.2" => {
            json!({"host": host, "ip_addresses": [], "interfaces": [entry], "ports": [], "services": []})
        }
        _ => json!({"host": host, "interfaces": [], "if_entries": [entry], "ports": [], "services": []}),
    }
}

#[test]
fn ids_of_chassis_and_ports_may_be_text_or_objects() {
    let mac = json!({"subtype": "MacAddress", "value": "00:1A:2B:00:11:00"});
    let address = json!({"subtype": "NetworkAddress", "value": "192.0.2.7"});
    for (given, chassis, port) in [
        (json!("00:1A:2B:00:11:00"), mac.clone(), mac.clone()),
        (json!("192.0.2.7"), address.clone(), address),
        (
            json!(" core-1 "),
            json!({"subtype": "LocallyAssigned", "value": "core-1"}),
            json!({"subtype": "InterfaceName", "value": "core-1"}),
        ),
        (mac.clone(), mac.clone(), mac),
        (
            json!({"subtype": "OfTomorrow", "value": 7}),
            json!({"subtype": "LocallyAssigned", "value": "7"}),
            json!({"subtype": "LocallyAssigned", "value": "7"}),
        ),
        (json!(""), Value::Null, Value::Null),
        (json!(7), Value::Null, Value::Null),
        (Value::Null, Value::Null, Value::Null),
    ] {
        for version in ["0.14.13", "0.16.2"] {
            run_with(Scene::new, async |scene| {
                let mut entry = json!({"id": Uuid::from_u128(0x78), "if_index": 1});
                (entry["lldp_chassis_id"], entry["lldp_port_id"]) = (given.clone(), given.clone());
                let reply =
                    scene.post_as(version, "/api/v1/hosts/discovery", &with_entry(version, entry)).await;
                assert_eq!(reply.status, 200, "{version}, {given}: {}", reply.json);
                let stored = scene.get("/api/v1/hosts").await[0]["if_entries"][0].clone();
                assert_eq!(stored["lldp_chassis_id"], chassis, "{version}, {given}");
                assert_eq!(stored["lldp_port_id"], port, "{version}, {given}");
            });
        }
    }
}

#[test]
fn odd_values_of_rows_do_not_cost_the_report() {
    run_with(Scene::new, async |scene| {
        for (given, name, stored) in [
            (json!({"if_descr": null}), "if_descr", json!("")),
            (json!({"admin_status": 2}), "admin_status", json!("Down")),
            (json!({"oper_status": 7}), "oper_status", json!("LowerLayerDown")),
            (json!({"oper_status": "OfTomorrow"}), "oper_status", Value::Null),
            (json!({"mac_address": "no address"}), "mac_address", Value::Null),
            (json!({"speed_bps": -1}), "speed_bps", Value::Null),
            (json!({"neighbor": {"type": "OfTomorrow"}}), "neighbor", Value::Null),
            (json!({"native_vlan_id": NOBODY, "vlan_ids": [NOBODY, 7, null]}), "vlans", Value::Null),
        ] {
            let mut entry = json!({"id": Uuid::from_u128(0x78), "if_index": 1});
            let members = given.as_object().unwrap().clone();
            entry.as_object_mut().unwrap().extend(members);
            let reply =
                scene.post_as("0.16.2", "/api/v1/hosts/discovery", &with_entry("0.16.2", entry)).await;
            assert_eq!(reply.status, 200, "{given}: {}", reply.json);
            let host = scene.get("/api/v1/hosts").await[0].clone();
            assert_eq!(host["if_entries"][0].get(name).unwrap_or(&Value::Null), &stored, "{given}");
            let delete =
                crate::common::bare("DELETE", &format!("/api/v1/hosts/{}", host["id"].as_str().unwrap()));
            scene.fixture.send(with_key(delete, &scene.fixture.key)).await.data();
        }
    });
}

#[test]
fn faults_are_named_as_the_daemon_names_the_lists() {
    run_with(Scene::new, async |scene| {
        let mut body = with_entry("0.16.2", json!({"id": NOBODY, "if_index": "one"}));
        let reply = scene.post_as("0.16.2", "/api/v1/hosts/discovery", &body).await;
        assert_eq!(reply.refuses(400, "validation_invalid_format")["field"], "interfaces.0.if_index");
        body["interfaces"] = json!([]);
        body["ip_addresses"] = json!([{"id": NOBODY, "ip_address": "nowhere"}]);
        let reply = scene.post_as("0.16.2", "/api/v1/hosts/discovery", &body).await;
        assert_eq!(reply.refuses(400, "validation_invalid_format")["field"], "ip_addresses.0.ip_address");
    });
}

/// Asserts that a host by SNMP is stored with its identity, and without the credentials in its origin.
async fn check_snmp_host(scene: &Scene, report: &Value, version: &str) {
    let reply = scene.post_as(version, "/api/v1/hosts/discovery", report).await;
    assert_eq!(reply.status, 200, "{}", reply.json);
    let (given, answer) = (&report["host"], reply.data());
    assert_eq!(answer["chassis_id"], given["chassis_id"], "daemons read the chassis id as text");
    let stored = scene.get(&format!("/api/v1/hosts/{}", answer["id"].as_str().unwrap())).await;
    assert_eq!(stored["chassis_id"]["value"], given["chassis_id"]);
    for name in ["sys_descr", "sys_object_id", "sys_location", "sys_contact"] {
        assert_eq!(stored[name], given[name], "{name}");
    }
    let rows = report["if_entries"].as_array().unwrap().len();
    assert_eq!(stored["if_entries"].as_array().unwrap().len(), rows);
    let text = stored.to_string();
    assert!(!text.contains("snmp_credentials") && !text.contains("a secret"), "{text}");
}

#[test]
fn host_by_snmp_is_stored_without_the_credentials_in_its_origin() {
    run_with(Scene::new, async |scene| {
        let report: Value = serde_json::from_str(include_str!("samples/snmp-host.json")).unwrap();
        check_snmp_host(&scene, &report, "0.14.13").await;
    });
}

#[test]
fn recorded_host_by_snmp_is_stored() {
    let beside =
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/live/cases/daemon-snmp-host.json");
    let path = env::var_os("TOPOSCOPE_SNMP_HOST").map_or_else(beside, PathBuf::from);
    let Ok(text) = fs::read(&path) else {
        let reason =
            format!("skipped: no report at {}; TOPOSCOPE_SNMP_HOST may name another file\n", path.display());
        std::io::stderr().write_all(reason.as_bytes()).unwrap();
        return;
    };
    let report: Value = serde_json::from_slice(&text).unwrap();
    run_with(Scene::new, async |scene| check_snmp_host(&scene, &report, "0.14.13").await);
}

#[test]
fn vlans_have_stable_ids_that_differ_between_networks() {
    run_with(Scene::new, async |scene| {
        let lab = scene.daemon_key(LAB).await;
        let report = json!({"network_id": LAB, "vlans": [
            {"vlan_number": 20, "name": "b"}, {"vlan_number": 10, "name": "a"}, {"vlan_number": 10, "name": "again"},
        ]});
        let first = scene.post("/api/v1/vlans/discovery", report.clone()).await.data().clone();
        let numbers: Vec<&Value> =
            first["vlans"].as_array().unwrap().iter().map(|vlan| &vlan["vlan_number"]).collect();
        assert_eq!(numbers, [&json!(10), &json!(20)]);
        assert_eq!(*scene.post("/api/v1/vlans/discovery", report.clone()).await.data(), first);
        let other = scene.post_with(&lab, "/api/v1/vlans/discovery", report).await.data().clone();
        assert_ne!(other["vlans"][0]["id"], first["vlans"][0]["id"]);
        for number in [json!(0), json!(4095), json!("10"), Value::Null] {
            let body =
                json!({"vlans": [{"vlan_number": 1, "name": ""}, {"vlan_number": number, "name": ""}]});
            let refused = scene.post("/api/v1/vlans/discovery", body).await;
            assert_eq!(refused.refuses(400, "validation_invalid_format")["field"], "vlans.1.vlan_number");
        }
        let many: Vec<Value> = (0..4_095).map(|_| json!({"vlan_number": 1, "name": ""})).collect();
        let refused = scene.post("/api/v1/vlans/discovery", json!({"vlans": many})).await;
        refused.refuses(400, "validation_max_length");
    });
}

#[test]
fn unknown_daemon_is_told_so_in_the_code_that_its_version_looks_for() {
    run_with(Scene::new, async |scene| {
        let params = json!({"entity": "Daemon", "id": DAEMON});
        for (version, code) in [
            ("0.13.6", "entity_not_found"),
            ("0.14.19", "entity_not_found"),
            ("0.15.0", "daemon_not_registered"),
            ("0.16.2", "daemon_not_registered"),
            ("0.17.22", "daemon_not_registered"),
            ("1.0.0", "daemon_not_registered"),
        ] {
            let body = json!({"name": "scanner", "version": version});
            let reply = scene.post_as(version, &format!("/api/daemons/{DAEMON}/request-work"), &body).await;
            assert_eq!(*reply.refuses(404, code), params, "{version}");
            // At startup, all versions register after this code.
            let body = json!({"daemon_version": version});
            let reply = scene.post_as(version, &format!("/api/daemons/{DAEMON}/startup"), &body).await;
            assert_eq!(*reply.refuses(404, "entity_not_found"), params, "{version}");
        }
    });
}

#[test]
fn type_of_work_is_one_that_the_daemon_can_do() {
    run_with(Scene::new, async |scene| {
        for (version, asked, expected) in [
            ("0.14.8", "Unified", "Network"),
            ("0.14.8", "Network", "Network"),
            ("0.14.8", "SelfReport", "SelfReport"),
            ("0.15.3", "Network", "Unified"),
            ("0.17.22", "Unified", "Unified"),
            ("0.17.22", "SelfReport", "Unified"),
            ("0.17.22", "Docker", "Unified"),
        ] {
            let mut registration = registration(DAEMON);
            registration["version"] = json!(version);
            scene.post_as(version, "/api/daemons/register", &registration).await.data();
            for discovery in scene.get("/api/v1/discoveries?limit=0").await.as_array().unwrap() {
                let cancel = format!("/api/v1/discoveries/{}/cancel", discovery["id"].as_str().unwrap());
                scene.post_with(&scene.fixture.key, &cancel, json!({})).await.data();
            }
            scene.queue(json!({"network_id": OFFICE, "daemon_id": DAEMON, "discovery_type": asked})).await;
            let body = json!({"name": "scanner", "version": version, "ready_for_work": true});
            let path = format!("/api/daemons/{DAEMON}/request-work");
            let mut work = scene.post_as(version, &path, &body).await.data().clone();
            if work[1] == true {
                work = scene.post_as(version, &path, &body).await.data().clone();
            }
            assert_eq!(type_of(&work[0]), expected, "{version}, {asked}: {work}");
        }
    });
}
