//! Interrupted work: after a restart of the daemon or the server, with a rotated key, and without any progress.

use toposcope::model::DaemonId;

use super::*;
use crate::backend::run_with;
use crate::common::bare;

const MINUTE: Duration = Duration::from_secs(60);

impl Scene {
    /// Announces that a daemon has started.
    async fn start(&self, id: DaemonId) {
        self.post(&format!("/api/daemons/{id}/startup"), json!({"daemon_version": "0.14.8"})).await.data();
    }

    /// Creates a scene whose daemon scans. Returns the session too.
    async fn scanning() -> (Self, Value) {
        let scene = Self::with_daemon().await;
        let own = scene.work(DAEMON).await;
        scene.report(DAEMON, &own, "Complete").await;
        let scan = scene.work(DAEMON).await;
        scene.report(DAEMON, &scan, "Scanning").await;
        assert_eq!(scene.work(DAEMON).await, Value::Null, "it is busy");
        (scene, scan)
    }

    /// Replaces the server by a new one on the same store, as after a restart.
    fn restart(&mut self) {
        self.fixture.inventory = self.fixture.inventory_in(self.fixture.store.clone());
        self.fixture.server = self.fixture.configured(|builder| builder);
    }
}

#[test]
fn daemon_that_starts_again_in_a_scan_gets_the_scan_again() {
    run_with(Scene::scanning, async |(scene, scan)| {
        scene.pass(Duration::from_secs(2));
        scene.start(DAEMON).await;
        let queued = scene.discovery(&scan).await;
        assert_eq!((&queued["phase"], &queued["handed_out_at"]), (&json!("Pending"), &Value::Null));
        scene.pass(Duration::from_secs(8));
        assert_eq!(scene.work(DAEMON).await["session_id"], scan["session_id"]);
        assert_eq!(scene.discovery(&scan).await["attempts"], 2);
    });
}

#[test]
fn daemon_that_registers_again_in_a_scan_gets_the_scan_again() {
    run_with(Scene::scanning, async |(scene, scan)| {
        scene.register(DAEMON).await;
        assert_eq!(scene.work(DAEMON).await["session_id"], scan["session_id"]);
    });
}

#[test]
fn daemon_that_was_only_cut_off_goes_on_with_its_scan() {
    run_with(Scene::scanning, async |(scene, scan)| {
        // A daemon that finds its server again announces itself, and keeps scanning meanwhile.
        scene.start(DAEMON).await;
        assert_eq!(scene.ask(DAEMON, json!({"ready_for_work": false})).await, json!([null, false]));
        scene.report(DAEMON, &scan, "Scanning").await;
        let going_on = scene.discovery(&scan).await;
        assert_eq!((&going_on["phase"], &going_on["progress"]), (&json!("Scanning"), &json!(10)));
        assert_eq!(scene.work(DAEMON).await, Value::Null, "it has no second session");
        scene.report(DAEMON, &scan, "Complete").await;
        assert_eq!(scene.discovery(&scan).await["phase"], "Complete");
    });
}

#[test]
fn session_that_another_daemon_took_is_not_taken_back() {
    run_with(Scene::scanning, async |(scene, scan)| {
        scene.register(OTHER).await;
        for _ in 0..2 {
            let own = scene.work(OTHER).await;
            scene.report(OTHER, &own, "Complete").await;
        }
        scene.pass(5 * MINUTE);
        assert_eq!(scene.work(OTHER).await["session_id"], scan["session_id"]);
        scene.start(DAEMON).await;
        scene.report(DAEMON, &scan, "Complete").await;
        let taken = scene.discovery(&scan).await;
        assert_eq!((&taken["daemon_id"], &taken["phase"]), (&json!(OTHER), &json!("Pending")));
    });
}

#[test]
fn rotated_key_does_not_lock_a_daemon_out() {
    run_with(Scene::scanning, async |(mut scene, scan)| {
        let keys = scene.get("/api/v1/auth/daemon").await;
        let id = keys[0]["id"].as_str().unwrap().to_owned();
        let rotate = bare("POST", &format!("/api/v1/auth/daemon/{id}/rotate"));
        let rotated = scene.fixture.send(with_key(rotate, &scene.fixture.key)).await.data().clone();
        let work = format!("/api/daemons/{DAEMON}/request-work");
        scene.post(&work, json!({})).await.refuses(401, "auth_not_authenticated");
        scene.key = rotated["key"].as_str().unwrap().to_owned();
        scene.pass(Duration::from_secs(5));
        scene.start(DAEMON).await;
        scene.pass(Duration::from_secs(5));
        assert_eq!(scene.work(DAEMON).await["session_id"], scan["session_id"]);
    });
}

#[test]
fn work_goes_on_after_a_restart_of_the_server() {
    run_with(Scene::scanning, async |(mut scene, scan)| {
        let next = scene.queue(json!({"network_id": OFFICE})).await;
        scene.restart();
        scene.report(DAEMON, &scan, "Scanning").await;
        assert_eq!(scene.discovery(&scan).await["phase"], "Scanning");
        scene.report(DAEMON, &scan, "Complete").await;
        assert_eq!(scene.work(DAEMON).await["session_id"], next["id"]);
    });
}

#[test]
fn session_without_an_update_is_handed_out_again_and_then_fails() {
    run_with(Scene::scanning, async |(scene, scan)| {
        for attempt in 2..=3 {
            for _ in 0..4 {
                // The daemon asks, and states no progress.
                scene.pass(MINUTE);
                assert_eq!(scene.ask(DAEMON, json!({})).await, json!([null, false]));
            }
            scene.pass(MINUTE);
            assert_eq!(scene.work(DAEMON).await["session_id"], scan["session_id"]);
            assert_eq!(scene.discovery(&scan).await["attempts"], attempt);
            scene.report(DAEMON, &scan, "Scanning").await;
        }
        let next = scene.queue(json!({"network_id": OFFICE})).await;
        scene.pass(5 * MINUTE);
        assert_eq!(scene.work(DAEMON).await["session_id"], next["id"]);
        let failed = scene.discovery(&scan).await;
        assert_eq!((&failed["phase"], &failed["error"]), (&json!("Failed"), &json!("no_progress")));
        assert!(failed["finished_at"].is_string());
    });
}

#[test]
fn work_on_which_its_daemon_dies_three_times_fails() {
    run_with(Scene::scanning, async |(scene, scan)| {
        for _ in 0..2 {
            scene.start(DAEMON).await;
            assert_eq!(scene.work(DAEMON).await["session_id"], scan["session_id"]);
            scene.report(DAEMON, &scan, "Scanning").await;
        }
        scene.start(DAEMON).await;
        let failed = scene.discovery(&scan).await;
        assert_eq!((&failed["phase"], &failed["error"]), (&json!("Failed"), &json!("daemon_restarted")));
        assert_eq!(scene.work(DAEMON).await, Value::Null);
    });
}

#[test]
fn daemon_that_starts_again_is_not_told_of_an_old_cancellation() {
    run_with(Scene::scanning, async |(scene, scan)| {
        let cancel = format!("/api/v1/discoveries/{}/cancel", scan["session_id"].as_str().unwrap());
        scene.post_with(&scene.fixture.key, &cancel, json!({})).await.data();
        scene.start(DAEMON).await;
        assert_eq!(scene.ask(DAEMON, json!({})).await, json!([null, false]));
        let cancelled = scene.discovery(&scan).await;
        assert_eq!((&cancelled["phase"], &cancelled["is_cancelling"]), (&json!("Cancelled"), &json!(false)));
    });
}

#[test]
fn daemon_key_lists_the_subnets_of_its_network_only() {
    run_with(Scene::new, async |scene| {
        let lab = scene.daemon_key(LAB).await;
        for (key, cidr) in [(&scene.key, "192.0.2.0/24"), (&lab, "198.51.100.0/24")] {
            let body = json!({"network_id": NOBODY, "name": cidr, "cidr": cidr});
            scene.post_with(key, "/api/v1/subnets", body).await.data();
        }
        let as_owner = scene.get(&format!("/api/v1/subnets?network_id={OFFICE}")).await;
        assert_eq!(as_owner.as_array().unwrap().len(), 1);
        for target in ["/api/v1/subnets", "/api/v1/subnets?limit=0", "/api/v1/subnets?limit=1"] {
            let reply = scene.fixture.send(with_key(bare("GET", target), &scene.key)).await;
            assert_eq!(*reply.data(), as_owner, "{target}");
            assert_eq!(reply.total(), 1);
        }
        let target = format!("/api/v1/subnets?network_id={LAB}");
        let reply = scene.fixture.send(with_key(bare("GET", &target), &scene.key)).await;
        assert_eq!(*reply.data(), json!([]), "the filter cannot widen the scope");
        for target in ["/api/v1/hosts", "/api/v1/networks", "/api/v1/discoveries", "/api/v1/daemons"] {
            let refused = scene.fixture.send(with_key(bare("GET", target), &scene.key)).await;
            refused.refuses(403, "auth_user_context_required");
        }
    });
}

#[test]
fn discovery_of_subnets_can_be_done_with_the_daemon_key_alone() {
    run_with(Scene::with_daemon, async |scene| {
        for _ in 0..2 {
            let own = scene.work(DAEMON).await;
            scene.report(DAEMON, &own, "Complete").await;
        }
        let body = json!({"network_id": OFFICE, "name": "s", "cidr": "192.0.2.0/24"});
        let subnet = scene.post("/api/v1/subnets", body).await.data()["id"].clone();
        scene.queue(json!({"network_id": OFFICE, "subnet_ids": [subnet]})).await;
        let work = scene.work(DAEMON).await;
        assert_eq!(work["discovery_type"]["subnet_ids"], json!([subnet]));
        let listed = scene.fixture.send(with_key(bare("GET", "/api/v1/subnets"), &scene.key)).await;
        assert_eq!((&listed.data()[0]["id"], &listed.data()[0]["cidr"]), (&subnet, &json!("192.0.2.0/24")));
    });
}
