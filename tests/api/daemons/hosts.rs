//! Hosts and subnets that daemons report.

use toposcope::model::NetworkId;
use uuid::Uuid;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, host};

const REPORT: &str = "/api/v1/hosts/discovery";
const SUBNETS: &str = "/api/v1/subnets";

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn subnet(given: Uuid, cidr: &str) -> Value {
    json!({"id": given, "network_id": LAB, "name": cidr, "cidr": cidr, "source": {"type": "Manual"}})
}

#[test]
fn unused_id_of_a_host_is_kept_and_its_next_report_adds_to_it() {
    run_with(Scene::new, async |scene| {
        let first = json!({
            "host": {"id": id(7), "network_id": LAB, "name": "a", "description": "old", "source": {"type": "Manual"}},
            "interfaces": [{"id": id(8), "ip_address": "192.0.2.1"}],
            "if_entries": [{"id": id(9), "if_index": 1, "if_descr": "eth0", "interface_id": id(8)}],
        });
        let created = scene.post(REPORT, first).await.data().clone();
        assert_eq!((&created["id"], &created["network_id"]), (&json!(id(7)), &json!(OFFICE)));
        assert_eq!(created["source"], json!({"type": "Discovery", "metadata": []}));
        assert_eq!(created["interfaces"][0]["id"], json!(id(8)));

        scene.pass(Duration::from_secs(60));
        let second = json!({
            "host": {"id": id(7), "network_id": OFFICE, "name": "b", "tags": [NOBODY]},
            "interfaces": [{"id": id(10), "ip_address": "192.0.2.2"}],
        });
        let merged = scene.post(REPORT, second).await.data().clone();
        assert_eq!((&merged["name"], &merged["description"]), (&json!("b"), &json!("old")));
        assert_eq!(merged["created_at"], created["created_at"]);
        assert_ne!(merged["updated_at"], created["updated_at"]);
        assert_eq!(merged["tags"], json!([]));
        let ids: Vec<&Value> = list(&merged, "interfaces").iter().map(|part| &part["id"]).collect();
        assert_eq!(ids, [&json!(id(8)), &json!(id(10))]);
        let entry = &merged["if_entries"][0];
        assert_eq!((&entry["id"], &entry["interface_id"]), (&json!(id(9)), &json!(id(8))));
        assert_eq!(scene.get("/api/v1/hosts").await, json!([merged]));
    });
}

#[test]
fn custom_fields_are_neither_set_by_daemons_nor_told_to_them() {
    run_with(Scene::new, async |scene| {
        let host = json!({"id": id(7), "network_id": OFFICE, "name": "a", "custom": {"owner": "a daemon"}});
        let report = json!({"host": host, "interfaces": [{"id": id(8), "ip_address": "192.0.2.1"}]});
        scene.post(REPORT, report.clone()).await.data();
        let patch = json!({"custom": {"owner": "Ann"}});
        let path = format!("/api/v1/hosts/{}", id(7));
        let patched =
            scene.fixture.send(with_key(send_json("PATCH", &path, &patch), &scene.fixture.key)).await;
        assert_eq!(patched.data()["custom"], patch["custom"]);
        let answer = scene.post(REPORT, report).await.data().clone();
        assert_eq!((&answer["id"], answer.get("custom")), (&json!(id(7)), None));
        assert_eq!(scene.get(&path).await["custom"], patch["custom"]);
    });
}

fn list<'h>(host: &'h Value, name: &str) -> &'h [Value] {
    host[name].as_array().unwrap()
}

/// Returns a report of a web server, with this id and MAC address.
fn web_server(given: u128, mac: &str) -> Value {
    json!({
        "host": {"id": id(given), "name": "web", "network_id": OFFICE, "hostname": "web.example.net"},
        "interfaces": [{"id": id(given + 1), "ip_address": "192.0.2.1", "mac_address": mac}],
        "ports": [{"id": id(given + 2), "number": 443, "protocol": "Tcp"}],
        "services": [{
            "id": id(given + 3), "name": "nginx", "service_definition": "nginx", "source": {"type": "System"},
            "bindings": [{"type": "Port", "port_id": id(given + 2), "interface_id": id(given + 1)}],
        }],
    })
}

const MAC: &str = "00:1B:21:00:00:01";

#[test]
fn host_is_recognized_whatever_its_id_and_keeps_its_parts() {
    run_with(Scene::new, async |scene| {
        let first = scene.post(REPORT, web_server(0x10, MAC)).await.data().clone();
        scene.pass(Duration::from_secs(60));
        let mut second = web_server(0x20, MAC);
        second["interfaces"][0]["ip_address"] = json!("192.0.2.9");
        let merged = scene.post(REPORT, second).await.data().clone();
        assert_eq!(merged["id"], first["id"]);
        assert_eq!(list(&merged, "interfaces").len(), 2);
        assert_eq!((list(&merged, "ports").len(), list(&merged, "services").len()), (1, 1));
        let service = &merged["services"][0];
        assert_eq!((&merged["ports"][0]["id"], &service["id"]), (&json!(id(0x12)), &json!(id(0x13))));
        let bound: Vec<(&Value, &Value)> = list(service, "bindings")
            .iter()
            .map(|binding| (&binding["port_id"], &binding["interface_id"]))
            .collect();
        let (port, first, second) = (json!(id(0x12)), json!(id(0x11)), json!(id(0x21)));
        assert_eq!(bound, [(&port, &first), (&port, &second)]);
        assert_eq!(scene.get("/api/v1/hosts").await, json!([merged]));
    });
}

#[test]
fn report_of_equal_content_leaves_the_host_and_its_parts_as_they_are() {
    run_with(Scene::new, async |scene| {
        let first = scene.post(REPORT, web_server(0x10, MAC)).await.data().clone();
        scene.pass(Duration::from_secs(60));
        for given in [0x10, 0x20, 0x30] {
            assert_eq!(*scene.post(REPORT, web_server(given, MAC)).await.data(), first);
            scene.pass(Duration::from_secs(60));
        }
        assert_eq!(scene.get("/api/v1/hosts").await, json!([first]));
    });
}

#[test]
fn edits_of_users_survive_reports() {
    run_with(Scene::new, async |scene| {
        let created = scene.post(REPORT, web_server(0x10, MAC)).await.data().clone();
        let path = format!("/api/v1/hosts/{}", id(0x10));
        let mut edited = created;
        edited["name"] = json!("the web server");
        edited["tags"] = json!([scene.fixture.home.tags[0]]);
        edited["services"][0]["name"] = json!("proxy");
        edited["interfaces"] = json!([]);
        edited["services"][0]["bindings"][0]["interface_id"] = Value::Null;
        let edit = with_key(send_json("PUT", &path, &edited), &scene.fixture.key);
        let edited = scene.fixture.send(edit).await.data().clone();
        scene.pass(Duration::from_secs(60));
        let mut report = web_server(0x10, MAC);
        report["host"]["description"] = json!("new");
        let merged = scene.post(REPORT, report).await.data().clone();
        assert_eq!((&merged["name"], &merged["tags"]), (&edited["name"], &edited["tags"]));
        assert_eq!(merged["description"], "new");
        assert_eq!(merged["services"][0]["name"], "proxy");
        assert_eq!(merged["interfaces"], json!([]), "deleted by a user");
    });
}

#[test]
fn host_that_a_user_entered_keeps_what_the_user_set() {
    run_with(Scene::new, async |scene| {
        let mut manual = host(1, OFFICE);
        manual.hostname = Some("web.example.net".to_owned());
        manual.interfaces.push(crate::common::interface(2, &manual, [192, 0, 2, 1].into(), 0));
        scene.fixture.put([manual]).await;
        let before = scene.get("/api/v1/hosts").await[0].clone();
        let mut report = web_server(0x10, MAC);
        report["ports"] = json!([]);
        report["services"] = json!([]);
        report["host"]["hostname"] = json!("other.example.net");
        report["host"]["description"] = json!("filled");
        let merged = scene.post(REPORT, report).await.data().clone();
        for field in ["id", "name", "hostname", "source", "hidden"] {
            assert_eq!(merged[field], before[field], "{field}");
        }
        assert_eq!(merged["description"], "filled", "the report fills what the user left out");
        assert_eq!(scene.get("/api/v1/hosts").await, json!([merged]));
    });
}

#[test]
fn report_that_may_be_several_hosts_is_refused() {
    run_with(Scene::new, async |scene| {
        for (number, address) in [(1, "192.0.2.1"), (2, "192.0.2.2")] {
            let body = json!({
                "host": {"id": id(number), "name": "half", "network_id": OFFICE},
                "interfaces": [{"ip_address": address}],
            });
            scene.post(REPORT, body).await.data();
        }
        let before = scene.get("/api/v1/hosts").await;
        let whole = json!({
            "host": {"id": id(3), "name": "whole", "network_id": OFFICE},
            "interfaces": [{"ip_address": "192.0.2.1"}, {"ip_address": "192.0.2.2"}],
        });
        let reply = scene.post(REPORT, whole).await;
        let expected = json!({"entity": "Host", "name": "whole"});
        assert_eq!(*reply.refuses(409, "entity_already_exists"), expected);
        assert_eq!(scene.get("/api/v1/hosts").await, before);
    });
}

#[test]
fn neighbors_and_claims_follow_from_reported_entries() {
    run_with(Scene::new, async |scene| {
        let switch = |number: u8, neighbor: u8| {
            let chassis = |number: u8| json!({"subtype": "MacAddress", "value": format!("00:1B:21:00:01:{number:02X}")});
            json!({
                "host": {"id": id(number.into()), "name": "switch", "network_id": OFFICE, "chassis_id": chassis(number)},
                "if_entries": [{
                    "if_index": 1, "if_descr": "GigabitEthernet0/1", "if_name": "Gi0/1",
                    "lldp_chassis_id": chassis(neighbor),
                    "lldp_port_id": {"subtype": "InterfaceName", "value": "Gi0/1"},
                }],
            })
        };
        let first = scene.post(REPORT, switch(1, 2)).await.data().clone();
        assert_eq!(first["if_entries"][0]["neighbor"], Value::Null);
        let second = scene.post(REPORT, switch(2, 1)).await.data().clone();
        let entry = |host: &Value| json!({"type": "IfEntry", "id": host["if_entries"][0]["id"]});
        assert_eq!(second["if_entries"][0]["neighbor"], entry(&first));
        let first = scene.get(&format!("/api/v1/hosts/{}", id(1))).await;
        assert_eq!(first["if_entries"][0]["neighbor"], entry(&second));
        let claims = scene.get(&format!("/api/v1/hosts/{}/claims?kind=lldp", id(1))).await;
        assert_eq!(
            (&claims[0]["complete"], &claims[0]["reporter"]["name"]),
            (&json!(false), &json!("daemon"))
        );
    });
}

#[test]
fn equal_report_changes_nothing() {
    run_with(Scene::new, async |scene| {
        let body = json!({
            "host": {"id": id(7), "name": "a", "network_id": OFFICE},
            "ports": [{"id": id(8), "number": 443, "protocol": "Tcp"}],
        });
        let first = scene.post(REPORT, body.clone()).await.data().clone();
        scene.pass(Duration::from_secs(60));
        assert_eq!(*scene.post(REPORT, body).await.data(), first);
    });
}

#[test]
fn taken_id_of_a_host_is_replaced_always_by_the_same() {
    run_with(Scene::new, async |scene| {
        let mut in_lab = host(2, LAB);
        in_lab.source = toposcope::model::Source::Discovery { metadata: vec![] };
        scene.fixture.put([host(1, OFFICE), in_lab]).await;
        scene.fixture.put_abroad(host(3, ELSEWHERE)).await;
        for taken in [1, 2, 3] {
            let body = json!({"host": {"id": id(taken), "name": "new", "network_id": OFFICE}});
            let first = scene.post(REPORT, body.clone()).await.data().clone();
            assert_ne!(first["id"], json!(id(taken)));
            assert_eq!(scene.post(REPORT, body).await.data()["id"], first["id"]);
        }
        let hosts = scene.get("/api/v1/hosts?order_by=name").await;
        let names: Vec<&str> =
            hosts.as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["host", "host", "new", "new", "new"]);
    });
}

#[test]
fn references_outside_of_the_network_are_left_out() {
    run_with(Scene::new, async |scene| {
        let subnet_of = async |network: NetworkId| {
            let body = json!({"network_id": network, "name": "s", "cidr": "192.0.2.0/24"});
            scene.post_with(&scene.fixture.key, SUBNETS, body).await.data()["id"].clone()
        };
        let (own, other) = (subnet_of(OFFICE).await, subnet_of(LAB).await);
        let mut in_lab = host(2, LAB);
        in_lab.services.push(crate::common::service(0x52, &in_lab, "hypervisor"));
        let mut in_office = host(3, OFFICE);
        in_office.services.push(crate::common::service(0x53, &in_office, "hypervisor"));
        scene.fixture.put([in_lab, in_office]).await;
        let by = |service: u128| json!({"type": "Proxmox", "details": {"vm_id": null, "vm_name": null, "service_id": id(service)}});
        for (given, service, is_kept) in [(0x70, 0x52, false), (0x71, 0x53, true), (0x72, 0x54, false)] {
            let address = |last: u128| format!("192.0.2.{}", given + last);
            let body = json!({
                "host": {
                    "id": id(given), "name": "a", "network_id": OFFICE, "tags": [scene.fixture.home.tags[0]],
                    "virtualization": by(service),
                    "credential_assignments": [{"credential_id": NOBODY, "interface_ids": null}],
                },
                "interfaces": [
                    {"ip_address": address(0), "subnet_id": own},
                    {"ip_address": address(10), "subnet_id": other},
                    {"ip_address": "198.51.100.1", "subnet_id": NOBODY},
                ],
                "services": [{
                    "name": "s", "service_definition": "s", "tags": [NOBODY], "source": {"type": "System"},
                }],
                "if_entries": [{
                    "if_index": 1, "if_descr": "", "neighbor": {"type": "Host", "id": id(2)},
                    "interface_id": NOBODY,
                }],
            });
            let stored = scene.post(REPORT, body).await.data().clone();
            assert_eq!(stored["virtualization"].is_object(), is_kept);
            let subnets: Vec<&Value> =
                stored["interfaces"].as_array().unwrap().iter().map(|part| &part["subnet_id"]).collect();
            assert_eq!(subnets, [&own, &own, &Value::Null], "by their addresses");
            assert_eq!((&stored["tags"], &stored["credential_assignments"]), (&json!([]), &json!([])));
            let service = &stored["services"][0];
            assert_eq!((&service["tags"], &service["source"]["type"]), (&json!([]), &json!("Discovery")));
            let entry = &stored["if_entries"][0];
            assert_eq!((&entry["neighbor"], &entry["interface_id"]), (&Value::Null, &Value::Null));
        }
    });
}

#[test]
fn faulty_report_names_the_field_and_stores_nothing() {
    run_with(Scene::new, async |scene| {
        let host = json!({"id": id(7), "name": "a", "network_id": OFFICE});
        let faults = [
            (json!({}), "validation_required", "host"),
            (json!({"host": {"network_id": OFFICE}}), "validation_required", "host.name"),
            (json!({"host": {"name": "a", "id": "x"}}), "validation_invalid_format", "host.id"),
            (
                json!({"host": host, "interfaces": [{"ip_address": "x"}]}),
                "validation_invalid_format",
                "interfaces.0.ip_address",
            ),
            (
                json!({"host": host, "ports": [{"number": 0, "protocol": "Tcp"}]}),
                "validation_out_of_range",
                "ports.0.number",
            ),
            (json!({"host": []}), "validation_invalid_format", "host"),
        ];
        for (body, code, field) in faults {
            let reply = scene.post(REPORT, body).await;
            assert_eq!(reply.refuses(400, code)["field"], field);
        }
        assert_eq!(scene.get("/api/v1/hosts").await, json!([]));
    });
}

#[test]
fn known_addresses_return_the_stored_subnet() {
    run_with(Scene::new, async |scene| {
        let body = json!({"network_id": OFFICE, "name": "by a user", "cidr": "192.0.2.0/24"});
        let stored = scene.post_with(&scene.fixture.key, SUBNETS, body).await.data().clone();
        assert_eq!(*scene.post(SUBNETS, subnet(id(7), "192.0.2.0/24")).await.data(), stored);
        let new = scene.post(SUBNETS, subnet(id(7), "198.51.100.0/24")).await.data().clone();
        assert_eq!((&new["id"], &new["network_id"]), (&json!(id(7)), &json!(OFFICE)));
        assert_eq!(new["source"], json!({"type": "Discovery", "metadata": []}));
        // The discovered subnet has other addresses now.
        let moved = scene.post(SUBNETS, subnet(id(7), "198.51.100.0/25")).await.data().clone();
        assert_eq!((&moved["id"], &moved["created_at"]), (&new["id"], &new["created_at"]));
        let ids = [stored["id"].clone(), subnet_abroad(&scene).await, subnet_in(&scene, LAB).await];
        for taken in ids {
            let body = subnet(
                taken.as_str().unwrap().parse().unwrap(),
                &format!("10.{}.0.0/16", taken.as_str().unwrap().len()),
            );
            let given = scene.post(SUBNETS, body).await.data()["id"].clone();
            assert_ne!(given, taken);
            let delete = crate::common::bare("DELETE", &format!("{SUBNETS}/{}", given.as_str().unwrap()));
            scene.fixture.send(with_key(delete, &scene.fixture.key)).await.data();
        }
    });
}

async fn subnet_in(scene: &Scene, network: NetworkId) -> Value {
    let key = scene.daemon_key(network).await;
    scene.post_with(&key, SUBNETS, subnet(Uuid::nil(), "203.0.113.0/24")).await.data()["id"].clone()
}

async fn subnet_abroad(scene: &Scene) -> Value {
    subnet_in(scene, ELSEWHERE).await
}

#[test]
fn unknown_type_of_a_subnet_becomes_unknown_for_daemons_and_is_refused_for_users() {
    run_with(Scene::new, async |scene| {
        for (number, sent, stored) in [(0, "Other", "Unknown"), (1, "Lan", "Lan"), (2, "Unknown", "Unknown")]
        {
            let mut body = subnet(id(7 + number), &format!("10.{number}.0.0/16"));
            body["subnet_type"] = json!(sent);
            let reported = scene.post(SUBNETS, body.clone()).await.data().clone();
            assert_eq!(reported["subnet_type"], stored);
            let path = format!("{SUBNETS}/{}", reported["id"].as_str().unwrap());
            assert_eq!(scene.get(&path).await, reported);
            body["cidr"] = json!(format!("172.{}.0.0/16", 16 + number));
            let by_user = scene.post_with(&scene.fixture.key, SUBNETS, body).await;
            match sent {
                "Other" => {
                    let params = by_user.refuses(400, "validation_invalid_format");
                    assert_eq!(*params, json!({"field": "subnet_type"}));
                }
                _ => assert_eq!(by_user.data()["subnet_type"], stored),
            }
        }
        for wrong in [json!(7), json!(["Lan"])] {
            let mut body = subnet(id(20), "192.168.0.0/16");
            body["subnet_type"] = wrong;
            scene.post(SUBNETS, body).await.refuses(400, "validation_invalid_format");
        }
    });
}
