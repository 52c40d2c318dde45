//! Operations of users on daemons and their work.

use toposcope::model::Permission;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, bare, get};

const DISCOVERIES: &str = "/api/v1/discoveries";

#[test]
fn discovery_is_handed_out_with_what_it_was_queued_with() {
    run_with(Scene::with_daemon, async |scene| {
        for _ in 0..2 {
            scene.work(DAEMON).await;
        }
        let subnet = json!({"network_id": OFFICE, "name": "s", "cidr": "10.0.0.0/8"});
        let subnet =
            scene.post_with(&scene.fixture.key, "/api/v1/subnets", subnet).await.data()["id"].clone();
        let scan = scene.queue(json!({"network_id": OFFICE, "subnet_ids": [subnet]})).await;
        assert_eq!((&scan["type"], &scan["daemon_id"]), (&json!("Network"), &Value::Null));
        scene.pass(Duration::from_secs(1));
        scene.queue(json!({"network_id": OFFICE, "daemon_id": DAEMON, "type": "Docker"})).await;
        let session = scene.work(DAEMON).await;
        assert_eq!((&session["session_id"], &session["daemon_id"]), (&scan["id"], &json!(DAEMON)));
        let expected = json!({
            "type": "Network", "subnet_ids": [subnet], "host_naming_fallback": "BestService",
            "probe_raw_socket_ports": false, "snmp_credentials": {"default_credential": null, "ip_overrides": []},
        });
        assert_eq!(session["discovery_type"], expected);
        assert_eq!(type_of(&scene.work(DAEMON).await), "Docker");
        assert_eq!(scene.discovery(&session).await["daemon_id"], json!(DAEMON));
    });
}

#[test]
fn discovery_for_one_daemon_is_not_handed_to_another() {
    run_with(Scene::with_daemon, async |scene| {
        scene.register(OTHER).await;
        for daemon in [DAEMON, OTHER] {
            for _ in 0..2 {
                scene.work(daemon).await;
            }
        }
        scene.queue(json!({"network_id": OFFICE, "daemon_id": DAEMON})).await;
        assert_eq!(scene.work(OTHER).await, Value::Null);
        assert_eq!(type_of(&scene.work(DAEMON).await), "Network");
    });
}

#[test]
fn faulty_discovery_is_refused() {
    run_with(Scene::with_daemon, async |scene| {
        let in_lab = json!({"network_id": LAB, "name": "s", "cidr": "10.0.0.0/8"});
        let in_lab =
            scene.post_with(&scene.fixture.key, "/api/v1/subnets", in_lab).await.data()["id"].clone();
        let reference = |entity: &str, field: &str| json!({"entity": entity, "field": field});
        for (body, code, params) in [
            (json!({}), "validation_required", json!({"field": "network_id"})),
            (json!({"network_id": NOBODY}), "entity_reference_invalid", reference("Network", "network_id")),
            (
                json!({"network_id": ELSEWHERE}),
                "entity_reference_invalid",
                reference("Network", "network_id"),
            ),
            (
                json!({"network_id": LAB, "daemon_id": DAEMON}),
                "entity_reference_invalid",
                reference("Daemon", "daemon_id"),
            ),
            (
                json!({"network_id": OFFICE, "subnet_ids": [in_lab]}),
                "entity_reference_invalid",
                reference("Subnet", "subnet_ids.0"),
            ),
            (
                json!({"network_id": OFFICE, "subnet_ids": []}),
                "validation_empty",
                json!({"field": "subnet_ids"}),
            ),
            (
                json!({"network_id": OFFICE, "subnet_ids": vec![NOBODY; 1001]}),
                "validation_max_length",
                json!({"field": "subnet_ids", "max": 1000}),
            ),
            (
                json!({"network_id": OFFICE, "type": "SelfReport", "subnet_ids": [in_lab]}),
                "validation_invalid_format",
                json!({"field": "subnet_ids"}),
            ),
            (
                json!({"network_id": OFFICE, "type": "Everything"}),
                "validation_invalid_format",
                json!({"field": "type"}),
            ),
        ] {
            let reply = scene.post_with(&scene.fixture.key, DISCOVERIES, body).await;
            assert_eq!(*reply.refuses(reply.status.as_u16(), code), params);
            assert_eq!(reply.status, 400);
        }
        assert_eq!(scene.get(DISCOVERIES).await.as_array().unwrap().len(), 2);
    });
}

#[test]
fn daemons_and_discoveries_are_those_of_the_callers_networks() {
    run_with(Scene::with_daemon, async |scene| {
        let viewer = scene.fixture.key(Permission::Viewer, &[LAB]).await;
        let member = scene.fixture.key(Permission::Member, &[OFFICE]).await;
        let session = scene.work(DAEMON).await["session_id"].as_str().unwrap().to_owned();
        let (daemon, discovery) = (format!("/api/v1/daemons/{DAEMON}"), format!("{DISCOVERIES}/{session}"));
        let denied = json!({"entity": "Network", "id": OFFICE});
        for path in [&daemon, &discovery] {
            let reply = scene.fixture.server.get_with(&viewer, path).await;
            assert_eq!(*reply.refuses(403, "entity_access_denied"), denied);
        }
        for (path, count) in [("/api/v1/daemons", 1), (DISCOVERIES, 2)] {
            assert_eq!(scene.fixture.server.get_with(&viewer, path).await.total(), 0);
            assert_eq!(scene.fixture.server.get_with(&member, path).await.total(), count);
        }
        let cancel = format!("{discovery}/cancel");
        scene.post_with(&viewer, &cancel, json!({})).await.refuses(403, "auth_permission_denied");
        scene.post_with(&member, &cancel, json!({})).await.data();
        let other = scene.fixture.owner_key(&scene.fixture.abroad).await;
        for path in [&daemon, &discovery] {
            scene.fixture.server.get_with(&other, path).await.refuses(404, "entity_not_found");
        }
        let delete = with_key(bare("DELETE", &daemon), &viewer);
        scene.fixture.send(delete).await.refuses(403, "auth_permission_denied");
        let reply = scene.fixture.send(with_key(get(&daemon), &member)).await;
        assert!(reply.data()["api_key_id"].is_string());
    });
}

#[test]
fn network_is_deleted_with_its_discoveries_once_it_has_no_daemons() {
    run_with(Scene::with_daemon, async |scene| {
        let inventory = &scene.fixture.inventory;
        let work = scene.work(DAEMON).await;
        let hosts = scene.get("/api/v1/hosts").await;
        let id = hosts[0]["id"].as_str().unwrap().parse().unwrap();
        inventory.hosts().delete(&scene.fixture.system(), id).await.unwrap();
        let keys = inventory.daemon_api_keys().all(&scene.fixture.system()).await.unwrap();
        inventory.daemon_api_keys().delete(&scene.fixture.system(), keys[0].id).await.unwrap();
        let error = inventory.networks().delete(&scene.fixture.system(), OFFICE).await.unwrap_err();
        assert!(error.to_string().ends_with(": a record of type Daemon depends on it."), "{error}");
        let delete = bare("DELETE", &format!("/api/v1/daemons/{DAEMON}"));
        scene.fixture.send(with_key(delete, &scene.fixture.key)).await.data();
        inventory.networks().delete(&scene.fixture.system(), OFFICE).await.unwrap();
        let gone = format!("{DISCOVERIES}/{}", work["session_id"].as_str().unwrap());
        scene.fixture.server.get_with(&scene.fixture.key, &gone).await.refuses(404, "entity_not_found");
    });
}
