//! Hosts and subnets that daemons report.

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
fn unused_id_of_a_host_is_kept_and_its_next_report_replaces_it() {
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

        let path = format!("/api/v1/hosts/{}", id(7));
        let tagged = with_key(send_json("PUT", &path, &tagged(&created, &scene)), &scene.fixture.key);
        scene.fixture.send(tagged).await.data();
        scene.pass(Duration::from_secs(60));
        let second = json!({
            "host": {"id": id(7), "network_id": OFFICE, "name": "b", "tags": [NOBODY]},
            "interfaces": [{"id": id(10), "ip_address": "192.0.2.2"}],
        });
        let replaced = scene.post(REPORT, second).await.data().clone();
        assert_eq!((&replaced["name"], &replaced["description"]), (&json!("b"), &Value::Null));
        assert_eq!(replaced["created_at"], created["created_at"]);
        assert_ne!(replaced["updated_at"], created["updated_at"]);
        assert_eq!(replaced["tags"], json!([scene.fixture.home.tags[0]]), "a user's");
        assert_eq!(replaced["interfaces"][0]["id"], json!(id(10)));
        let entry = &replaced["if_entries"][0];
        assert_eq!((&entry["id"], &entry["interface_id"]), (&json!(id(9)), &Value::Null));
        assert_eq!(scene.get("/api/v1/hosts").await, json!([replaced]));
    });
}

/// Returns a host with a tag, which a user gives it.
fn tagged(host: &Value, scene: &Scene) -> Value {
    json!({"network_id": OFFICE, "name": host["name"], "tags": [scene.fixture.home.tags[0]]})
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
        let subnet_of = async |network: Uuid| {
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
        for (service, is_kept) in [(0x52, false), (0x53, true), (0x54, false)] {
            let body = json!({
                "host": {
                    "id": id(7), "name": "a", "network_id": OFFICE, "tags": [scene.fixture.home.tags[0]],
                    "virtualization": by(service),
                    "credential_assignments": [{"credential_id": NOBODY, "interface_ids": null}],
                },
                "interfaces": [
                    {"id": id(8), "ip_address": "192.0.2.1", "subnet_id": own},
                    {"id": id(9), "ip_address": "192.0.2.2", "subnet_id": other},
                    {"id": id(10), "ip_address": "192.0.2.3", "subnet_id": NOBODY},
                ],
                "services": [{
                    "id": id(11), "name": "s", "service_definition": "s", "tags": [NOBODY], "source": {"type": "System"},
                }],
                "if_entries": [{
                    "id": id(12), "if_index": 1, "if_descr": "", "neighbor": {"type": "Host", "id": id(2)},
                    "interface_id": NOBODY,
                }],
            });
            let stored = scene.post(REPORT, body).await.data().clone();
            assert_eq!(stored["virtualization"].is_object(), is_kept);
            let subnets: Vec<&Value> =
                stored["interfaces"].as_array().unwrap().iter().map(|part| &part["subnet_id"]).collect();
            assert_eq!(subnets, [&own, &Value::Null, &Value::Null]);
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

async fn subnet_in(scene: &Scene, network: Uuid) -> Value {
    let key = scene.daemon_key(network).await;
    scene.post_with(&key, SUBNETS, subnet(Uuid::nil(), "203.0.113.0/24")).await.data()["id"].clone()
}

async fn subnet_abroad(scene: &Scene) -> Value {
    subnet_in(scene, ELSEWHERE).await
}
