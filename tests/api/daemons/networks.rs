//! A daemon reads and writes only its key's network, whatever its requests say.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::HostQuery;
use toposcope::model::{DaemonId, NetworkId, Permission};

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, bare, host};
use crate::requests::routes::{Access, routes};

/// Returns everything on the networks other than the office that a daemon could change.
async fn elsewhere(scene: &Scene) -> String {
    let fixture = &scene.fixture;
    let networks = [(fixture.home.organization.id, LAB), (fixture.abroad.organization.id, ELSEWHERE)];
    let mut stored = String::new();
    for (organization, network) in networks {
        let caller = Caller::new(organization, NOBODY.into(), Permission::Owner, Scope::only([network]));
        let inventory = &fixture.inventory;
        for document in inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap().documents {
            stored.push_str(std::str::from_utf8(&document).unwrap());
        }
        let all = toposcope::inventory::ListQuery::default();
        stored.push_str(&format!("{:?}", inventory.subnets().list(&caller, &all).await.unwrap().records));
        let daemons = inventory.daemons().list(&caller, &all).await.unwrap().records;
        let discoveries = inventory.discovery_jobs().list(&caller, &all).await.unwrap().records;
        stored.push_str(&format!("{daemons:?} {discoveries:?}"));
    }
    stored
}

/// The ids of records that are not on the daemon's network.
struct Foreign {
    network: NetworkId,
    key: String,
    daemon: DaemonId,
    session: Value,
    host: Value,
    subnet: Value,
}

impl Foreign {
    async fn new(scene: &Scene, network: NetworkId, daemon: DaemonId) -> Self {
        let key = scene.daemon_key(network).await;
        let registered = scene.post_with(&key, "/api/daemons/register", registration(daemon)).await;
        let host = registered.data()["host_id"].clone();
        let work = scene.post_with(&key, &format!("/api/daemons/{daemon}/request-work"), json!({})).await;
        let session = work.data()[0]["session_id"].clone();
        let body = json!({"network_id": network, "name": "s", "cidr": "10.0.0.0/8"});
        let subnet = scene.post_with(&key, "/api/v1/subnets", body).await.data()["id"].clone();
        Self { network, key, daemon, session, host, subnet }
    }

    /// Returns a request to each endpoint for daemons that names these records wherever it can.
    fn requests(&self) -> Vec<(String, Value)> {
        let Self { network, daemon, session, host, subnet, .. } = self;
        let capabilities = json!({"has_docker_socket": true, "interfaced_subnet_ids": [subnet]});
        vec![
            (
                "/api/daemons/register".to_owned(),
                json!({"daemon_id": daemon, "network_id": network, "name": "x", "capabilities": capabilities}),
            ),
            (format!("/api/daemons/{daemon}/startup"), json!({"daemon_version": "9.9.9"})),
            (format!("/api/daemons/{daemon}/request-work"), json!({"version": "9.9.9", "name": "x"})),
            (format!("/api/daemons/{daemon}/heartbeat"), json!({"name": "x", "mode": "Pull"})),
            (format!("/api/daemons/{daemon}/update-capabilities"), capabilities),
            (
                "/api/v1/vlans/discovery".to_owned(),
                json!({"network_id": network, "vlans": [{"vlan_number": 10, "name": "x"}]}),
            ),
            (
                "/api/v1/subnets".to_owned(),
                json!({"id": subnet, "network_id": network, "name": "x", "cidr": "172.16.0.0/12"}),
            ),
            (
                "/api/v1/hosts/discovery".to_owned(),
                json!({
                    "host": {"id": host, "network_id": network, "name": "x"},
                    "interfaces": [{"ip_address": "10.0.0.1", "subnet_id": subnet, "network_id": network, "host_id": host}],
                }),
            ),
            (
                "/api/v1/discovery/import?format=report".to_owned(),
                json!({
                    "reporter": {"name": "x"}, "observed_at": "2026-08-01T12:00:00Z",
                    "devices": [{"id": host, "sys_name": "scanner", "tables": {"addresses": {"rows": [{"ip_address": "10.0.0.1"}]}}}],
                }),
            ),
            (
                format!("/api/v1/discovery/{}/update", session.as_str().unwrap()),
                json!({"session_id": session, "daemon_id": daemon, "network_id": network, "phase": "Complete"}),
            ),
        ]
    }
}

#[test]
fn no_request_of_a_daemon_changes_another_network() {
    run_with(Scene::with_daemon, async |scene| {
        let mut manual = host(1, LAB);
        manual.name = "manual".to_owned();
        scene.fixture.put([manual]).await;
        let foreign = [
            Foreign::new(&scene, LAB, DaemonId::from_u128(0xdae3)).await,
            Foreign::new(&scene, ELSEWHERE, DaemonId::from_u128(0xdae4)).await,
        ];
        let before = elsewhere(&scene).await;
        for foreign in &foreign {
            let requests = foreign.requests();
            let admits = |access| matches!(access, Access::Daemon | Access::CallerOrDaemon(_));
            let endpoints = routes().iter().filter(|route| admits(route.access));
            let (read, written): (Vec<_>, Vec<_>) = endpoints.partition(|route| route.method == "GET");
            assert_eq!(requests.len(), written.len(), "a request to each endpoint");
            for route in read {
                let reply = scene.fixture.send(with_key(bare("GET", route.path), &scene.key)).await;
                let listed = reply.data().as_array().unwrap();
                assert!(
                    listed.iter().all(|record| record["network_id"] == OFFICE.to_string()),
                    "{}",
                    route.path
                );
            }
            for (path, body) in requests {
                let reply = scene.post(&path, body).await;
                let is_named = path.starts_with("/api/daemons/") && !path.ends_with("register");
                assert_eq!(reply.status, if is_named { 404 } else { 200 }, "{path}: {}", reply.json);
                assert_eq!(elsewhere(&scene).await, before, "{path}");
                let text = reply.json.to_string();
                for id in [&foreign.subnet, &foreign.host] {
                    assert!(!text.contains(id.as_str().unwrap()), "{path}: {text}");
                }
            }
        }
        for host in scene.get(&format!("/api/v1/hosts?network_id={OFFICE}")).await.as_array().unwrap() {
            assert!(host["interfaces"].as_array().unwrap().iter().all(|part| part["subnet_id"].is_null()));
        }
        for daemon in scene.get(&format!("/api/v1/daemons?network_id={OFFICE}")).await.as_array().unwrap() {
            assert_eq!(daemon["capabilities"]["interfaced_subnet_ids"], json!([]));
        }
        // The owners of these records still have them.
        for Foreign { key, daemon, .. } in &foreign {
            let work = scene.post_with(key, &format!("/api/daemons/{daemon}/request-work"), json!({})).await;
            assert_eq!(type_of(&work.data()[0]), "Network");
        }
    });
}

#[test]
fn daemon_of_another_key_does_not_exist() {
    run_with(Scene::with_daemon, async |scene| {
        let other = scene.daemon_key(OFFICE).await;
        for (operation, body) in [
            ("startup", json!({"daemon_version": "1"})),
            ("request-work", json!({})),
            ("update-capabilities", json!({})),
        ] {
            let path = format!("/api/daemons/{DAEMON}/{operation}");
            let reply = scene.post_with(&other, &path, body).await;
            assert_eq!(*reply.refuses(404, "entity_not_found"), json!({"entity": "Daemon", "id": DAEMON}));
        }
        let registered = scene.post_with(&other, "/api/daemons/register", registration(DAEMON)).await;
        let id = registered.data()["daemon"]["id"].clone();
        assert_ne!(id, json!(DAEMON));
        let again = scene.post_with(&other, "/api/daemons/register", registration(DAEMON)).await;
        assert_eq!(again.data()["daemon"]["id"], id);
    });
}

#[test]
fn daemon_of_a_deleted_key_is_taken_over_by_the_next_key() {
    run_with(Scene::with_daemon, async |scene| {
        let keys = scene.fixture.inventory.daemon_api_keys().all(&scene.fixture.system()).await.unwrap();
        let next = scene.daemon_key(OFFICE).await;
        scene.fixture.inventory.daemon_api_keys().delete(&scene.fixture.system(), keys[0].id).await.unwrap();
        let gone = scene.post(&format!("/api/daemons/{DAEMON}/request-work"), json!({})).await;
        gone.refuses(401, "auth_not_authenticated");
        let registered = scene.post_with(&next, "/api/daemons/register", registration(DAEMON)).await;
        assert_eq!(registered.data()["daemon"]["id"], json!(DAEMON));
        let work = scene.post_with(&next, &format!("/api/daemons/{DAEMON}/request-work"), json!({})).await;
        assert_eq!(type_of(&work.data()[0]), "SelfReport");
    });
}

#[test]
fn capabilities_keep_only_subnets_of_the_network() {
    run_with(Scene::with_daemon, async |scene| {
        let mut ids = vec![];
        for network in [OFFICE, LAB] {
            let body = json!({"network_id": network, "name": "s", "cidr": "10.0.0.0/8"});
            let created = scene.post_with(&scene.fixture.key, "/api/v1/subnets", body).await;
            ids.push(created.data()["id"].clone());
        }
        let path = format!("/api/daemons/{DAEMON}/update-capabilities");
        let body =
            json!({"has_docker_socket": true, "interfaced_subnet_ids": [ids[1], ids[0], NOBODY, ids[0]]});
        assert_eq!(*scene.post(&path, body).await.data(), Value::Null);
        let daemon = scene.get(&format!("/api/v1/daemons/{DAEMON}")).await;
        let expected = json!({"has_docker_socket": true, "interfaced_subnet_ids": [ids[0]]});
        assert_eq!(daemon["capabilities"], expected);
        let many = json!({"interfaced_subnet_ids": vec![NOBODY; 1001]});
        let max = json!({"field": "interfaced_subnet_ids", "max": 1000});
        assert_eq!(*scene.post(&path, many).await.refuses(400, "validation_max_length"), max);
    });
}
