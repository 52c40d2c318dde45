//! Credentials that discoveries pass on to daemons.

use std::sync::Arc;

use toposcope::store::Store;

use super::*;
use crate::backend::run_with;
use crate::common::{bare, with_header};
use crate::in_turn::InTurn;

const COMMUNITY: &str = "a very secret community";
const MINUTE: Duration = Duration::from_secs(60);

fn credentials() -> Value {
    json!({
        "default_credential": {"version": "V2c", "community": COMMUNITY},
        "ip_overrides": [{"ip": "192.0.2.1", "credential": {"version": "V1", "community": COMMUNITY}}],
    })
}

impl Scene {
    /// Creates a scene on one instance, whose daemon has no work.
    async fn idle() -> Self {
        let mut scene = Self::new().await;
        scene.fixture = scene.fixture.on_one_instance();
        scene.register(DAEMON).await;
        for _ in 0..2 {
            let own = scene.work(DAEMON).await;
            scene.report(DAEMON, &own, "Complete").await;
        }
        scene
    }

    /// Queues a discovery with credentials.
    async fn queue_with_credentials(&self) -> Value {
        self.queue(json!({"network_id": OFFICE, "type": "Network", "snmp_credentials": credentials()})).await
    }

    /// Asks for work as a daemon of a version.
    async fn ask_as(&self, version: &str) -> Value {
        let path = format!("/api/daemons/{DAEMON}/request-work");
        let body = json!({"name": "scanner", "version": version, "ready_for_work": true});
        let request = with_header(send_json("POST", &path, &body), "x-daemon-version", version);
        self.fixture.send(with_key(request, &self.key)).await.data().clone()
    }

    /// Replaces the server by a new one on a store.
    fn serve(&mut self, store: Arc<dyn Store>) {
        self.fixture.inventory = self.fixture.inventory_in(store);
        self.fixture.server = self.fixture.configured(|builder| builder);
    }
}

#[test]
fn credentials_are_handed_out_with_the_work_and_never_shown() {
    run_with(Scene::idle, async |scene| {
        let queued = scene.queue_with_credentials().await;
        assert_eq!(queued["has_credentials"], true);
        let stored = scene.get(&format!("/api/v1/discoveries/{}", queued["id"].as_str().unwrap())).await;
        let listed = scene.get("/api/v1/discoveries").await;
        for shown in [&queued, &stored, &listed] {
            assert!(!shown.to_string().contains(COMMUNITY), "{shown}");
        }
        assert!(!format!("{:?}", scene.fixture.inventory).contains(COMMUNITY));
        let work = scene.work(DAEMON).await;
        assert_eq!(work["discovery_type"]["snmp_credentials"], credentials());
    });
}

#[test]
fn credentials_have_the_form_that_the_version_expects() {
    for version in ["0.15.0", "0.16.2", "0.17.22"] {
        run_with(Scene::idle, async |scene| {
            scene.queue_with_credentials().await;
            let work = scene.ask_as(version).await[0].clone();
            assert_eq!(type_of(&work), "Unified");
            let typed = |version: &str| json!({"type": "Snmp", "version": version, "community": COMMUNITY});
            let expected = json!([{
                "default_credential": typed("V2c"),
                "ip_overrides": [{"ip": "192.0.2.1", "credential": typed("V1")}],
            }]);
            assert_eq!(work["credential_mappings"], expected, "{version}");
        });
    }
}

#[test]
fn daemon_that_starts_again_gets_the_credentials_again() {
    run_with(Scene::idle, async |scene| {
        scene.queue_with_credentials().await;
        for _ in 0..2 {
            assert_eq!(scene.work(DAEMON).await["discovery_type"]["snmp_credentials"], credentials());
            scene
                .post(&format!("/api/daemons/{DAEMON}/startup"), json!({"daemon_version": "0.14.8"}))
                .await
                .data();
        }
    });
}

#[test]
fn discovery_type_may_be_a_name_or_an_object() {
    run_with(Scene::idle, async |scene| {
        let body = json!({"network_id": OFFICE, "name": "s", "cidr": "192.0.2.0/24"});
        let subnet = scene.post("/api/v1/subnets", body).await.data()["id"].clone();
        for (given, expected) in [
            (json!({"discovery_type": "SelfReport", "daemon_id": DAEMON}), "SelfReport"),
            (json!({"discovery_type": "Docker", "daemon_id": DAEMON}), "Docker"),
            (json!({"discovery_type": "Unified", "type": "Unified"}), "Unified"),
            (json!({"type": "Network"}), "Network"),
            (json!({}), "Network"),
            (
                json!({"discovery_type": {"type": "Unified", "subnet_ids": [subnet], "scan_settings": {}}}),
                "Unified",
            ),
            (json!({"discovery_type": {"type": "Network", "snmp_credentials": credentials()}}), "Network"),
        ] {
            let mut body = given.clone();
            body["network_id"] = json!(OFFICE);
            let queued = scene.queue(body).await;
            assert_eq!(queued["type"], expected, "{given}");
            let has_subnets = given["discovery_type"]["subnet_ids"].is_array();
            assert_eq!(queued["subnet_ids"].is_array(), has_subnets, "{given}");
            let has_credentials = given["discovery_type"]["snmp_credentials"].is_object();
            assert_eq!(queued.get("has_credentials").is_some(), has_credentials, "{given}");
        }
        for given in [
            json!({"discovery_type": "Network", "type": "SelfReport"}),
            json!({"discovery_type": "OfTomorrow"}),
            json!({"discovery_type": {"type": "OfTomorrow"}}),
            json!({"discovery_type": 7}),
        ] {
            let mut body = given.clone();
            body["network_id"] = json!(OFFICE);
            let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await;
            assert_eq!(
                refused.refuses(400, "validation_invalid_format")["field"],
                "discovery_type",
                "{given}"
            );
        }
    });
}

#[test]
fn faulty_credentials_are_refused_by_their_place_and_without_their_value() {
    run_with(Scene::idle, async |scene| {
        let long = "x".repeat(65 * 1024);
        let many: Vec<Value> = (0..1_001).map(|_| json!({"ip": "192.0.2.1"})).collect();
        for (given, field) in [
            (json!("text"), "snmp_credentials"),
            (json!({"default_credential": COMMUNITY}), "snmp_credentials.default_credential"),
            (json!({"default_credential": {}}), "snmp_credentials.default_credential.community"),
            (
                json!({"default_credential": {"community": ""}}),
                "snmp_credentials.default_credential.community",
            ),
            (
                json!({"default_credential": {"version": "V9", "community": COMMUNITY}}),
                "snmp_credentials.default_credential.version",
            ),
            (
                json!({"default_credential": {"version": "V3", "community": COMMUNITY}}),
                "snmp_credentials.default_credential.v3",
            ),
            (json!({"ip_overrides": [{"ip": "192.0.2.1"}]}), "snmp_credentials.ip_overrides.0.credential"),
            (
                json!({"ip_overrides": [{"ip": "nowhere", "credential": {"community": COMMUNITY}}]}),
                "snmp_credentials.ip_overrides.0.ip",
            ),
            (json!({"ip_overrides": many}), "snmp_credentials.ip_overrides"),
            (json!({"default_credential": {"community": long}}), "snmp_credentials"),
        ] {
            let body = json!({"network_id": OFFICE, "snmp_credentials": given});
            let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await;
            assert_eq!(refused.refuses(400, "validation_invalid_format")["field"], field);
            assert!(!refused.json.to_string().contains(COMMUNITY));
        }
        let body = json!({"network_id": OFFICE, "type": "Docker", "snmp_credentials": credentials()});
        let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await;
        assert_eq!(refused.refuses(400, "validation_invalid_format")["field"], "snmp_credentials");
    });
}

#[tokio::test]
async fn work_whose_credentials_are_gone_fails_at_once_in_a_store_of_one_process() {
    let mut scene = Scene::idle().await;
    let queued = scene.queue_with_credentials().await;
    scene.serve(scene.fixture.store.clone());
    let next = scene.queue(json!({"network_id": OFFICE})).await;
    assert_eq!(scene.work(DAEMON).await["session_id"], next["id"], "other work goes on");
    let failed = scene.get(&format!("/api/v1/discoveries/{}", queued["id"].as_str().unwrap())).await;
    assert_eq!((&failed["phase"], &failed["error"]), (&json!("Failed"), &json!("credentials_lost")));
}

#[tokio::test]
async fn work_whose_credentials_another_instance_holds_waits_a_minute_for_that_instance() {
    let mut scene = Scene::new().await;
    let store = &scene.fixture.store;
    let shared: Arc<dyn Store> = Arc::new(InTurn::new(vec![store.clone(), store.clone()]));
    scene.serve(Arc::clone(&shared));
    scene.register(DAEMON).await;
    for _ in 0..2 {
        let own = scene.work(DAEMON).await;
        scene.report(DAEMON, &own, "Complete").await;
    }
    let handed_out = scene.queue_with_credentials().await;
    let holder = scene.fixture.configured(|builder| builder);
    scene.serve(Arc::clone(&shared));
    assert_eq!(scene.work(DAEMON).await, Value::Null, "this instance does not hold them");
    scene.pass(MINUTE - Duration::from_secs(1));
    assert_eq!(scene.work(DAEMON).await, Value::Null);
    let other = std::mem::replace(&mut scene.fixture.server, holder);
    let work = scene.work(DAEMON).await;
    assert_eq!(work["session_id"], handed_out["id"]);
    assert_eq!(work["discovery_type"]["snmp_credentials"], credentials());
    scene.report(DAEMON, &work, "Complete").await;

    let lost = scene.queue_with_credentials().await;
    scene.fixture.server = other;
    assert_eq!(scene.work(DAEMON).await, Value::Null);
    scene.pass(MINUTE);
    assert_eq!(scene.work(DAEMON).await, Value::Null);
    let failed = scene.get(&format!("/api/v1/discoveries/{}", lost["id"].as_str().unwrap())).await;
    assert_eq!((&failed["phase"], &failed["error"]), (&json!("Failed"), &json!("credentials_lost")));
}

#[test]
fn credentials_are_held_for_a_bounded_number_of_discoveries() {
    run_with(Scene::idle, async |scene| {
        let mut open = vec![];
        for network in [OFFICE, LAB] {
            for _ in 0..50 {
                let body = json!({"network_id": network, "snmp_credentials": credentials()});
                open.push(scene.queue(body).await["id"].as_str().unwrap().to_owned());
            }
        }
        let body = json!({"network_id": LAB, "snmp_credentials": credentials()});
        let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body.clone()).await;
        assert_eq!(*refused.refuses(409, "quota_exceeded"), json!({"entity": "Discovery", "limit": 100}));
        scene.queue(json!({"network_id": LAB})).await;
        // Another organization has its own.
        let abroad = scene.fixture.owner_key(&scene.fixture.abroad).await;
        let foreign =
            json!({"network_id": scene.fixture.abroad.networks[0], "snmp_credentials": credentials()});
        scene.post_with(&abroad, "/api/v1/discoveries", foreign).await.data();
        // The credentials of a discovery that ends are dropped.
        scene
            .post_with(&scene.fixture.key, &format!("/api/v1/discoveries/{}/cancel", open[0]), json!({}))
            .await
            .data();
        scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await.data();
    });
}

#[test]
fn refused_discovery_leaves_no_credentials_behind() {
    run_with(Scene::idle, async |scene| {
        for _ in 0..101 {
            let body = json!({"network_id": OFFICE, "daemon_id": NOBODY, "snmp_credentials": credentials()});
            let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await;
            refused.refuses(400, "entity_reference_invalid");
        }
        scene.queue_with_credentials().await;
    });
}

#[test]
fn work_of_one_organization_is_out_of_reach_of_the_daemons_of_another() {
    run_with(Scene::idle, async |scene| {
        let queued = scene.queue_with_credentials().await;
        let body = json!({"network_id": OFFICE, "name": "s", "cidr": "192.0.2.0/24"});
        scene.post("/api/v1/subnets", body).await.data();
        let foreign = scene.daemon_key(scene.fixture.abroad.networks[0]).await;
        // The hostile daemon claims the id of the other, and floods.
        for _ in 0..20 {
            let work =
                scene.post_with(&foreign, &format!("/api/daemons/{DAEMON}/request-work"), json!({})).await;
            work.refuses(404, "entity_not_found");
            let start = json!({"daemon_version": "0.17.22"});
            let start = scene.post_with(&foreign, &format!("/api/daemons/{DAEMON}/startup"), start).await;
            start.refuses(404, "entity_not_found");
            let beat =
                scene.post_with(&foreign, &format!("/api/daemons/{DAEMON}/heartbeat"), json!({})).await;
            beat.refuses(404, "entity_not_found");
            let update = json!({"session_id": queued["id"], "daemon_id": DAEMON, "phase": "Failed"});
            scene.post_with(&foreign, &format!("/api/v1/discovery/{DAEMON}/update"), update).await.data();
        }
        let registered =
            scene.post_with(&foreign, "/api/daemons/register", registration(DAEMON)).await.data().clone();
        assert_ne!(registered["daemon"]["id"], DAEMON.to_string());
        let own = registered["daemon"]["id"].as_str().unwrap().to_owned();
        for _ in 0..4 {
            let work =
                scene.post_with(&foreign, &format!("/api/daemons/{own}/request-work"), json!({})).await;
            assert!(!work.json.to_string().contains(COMMUNITY), "{}", work.json);
            assert_ne!(work.data()[0]["session_id"], queued["id"]);
        }
        let listed = scene.fixture.send(with_key(bare("GET", "/api/v1/subnets"), &foreign)).await;
        assert_eq!(*listed.data(), json!([]));
        let work = scene.work(DAEMON).await;
        assert_eq!(work["session_id"], queued["id"], "the owner's daemon is not disturbed");
        assert_eq!(work["discovery_type"]["snmp_credentials"], credentials());
    });
}
