//! The queue of work: who gets what, and when.

use std::collections::BTreeSet;
use std::sync::Arc;

use toposcope::model::DaemonId;

use super::*;
use crate::backend::{run_on_threads, run_with};
use crate::common::{bare, with_header};

const MINUTE: Duration = Duration::from_secs(60);
const MICROSECOND: Duration = Duration::from_micros(1);

#[test]
fn registration_queues_a_report_of_the_host_and_then_a_scan() {
    run_with(Scene::new, async |scene| {
        let registered = scene.register(DAEMON).await;
        assert_eq!(registered["daemon"]["id"], DAEMON.to_string());
        assert_eq!(registered["daemon"]["network_id"], OFFICE.to_string());
        let host = scene.get(&format!("/api/v1/hosts/{}", registered["host_id"].as_str().unwrap())).await;
        assert_eq!((&host["name"], &host["source"]["type"]), (&json!("scanner"), &json!("Discovery")));

        let first = scene.work(DAEMON).await;
        assert_eq!(first["discovery_type"], json!({"type": "SelfReport", "host_id": registered["host_id"]}));
        assert_eq!((&first["phase"], &first["progress"]), (&json!("Pending"), &json!(0)));
        assert_eq!(type_of(&scene.work(DAEMON).await), "Network");
        assert_eq!(scene.ask(DAEMON, json!({})).await, json!([null, false]));
    });
}

#[test]
fn second_registration_keeps_the_daemon_and_its_work() {
    run_with(Scene::with_daemon, async |scene| {
        let work = scene.work(DAEMON).await;
        let before = scene.get(&format!("/api/v1/daemons/{DAEMON}")).await;
        scene.pass(MINUTE);
        let mut body = registration(DAEMON);
        body["name"] = json!("renamed");
        let again = scene.post("/api/daemons/register", body).await.data().clone();
        assert_eq!(again["daemon"]["host_id"], before["host_id"]);
        assert_eq!(
            (&again["daemon"]["name"], &again["daemon"]["created_at"]),
            (&json!("renamed"), &before["created_at"])
        );
        assert_eq!(scene.work(DAEMON).await["session_id"], work["session_id"], "it has started again");
        assert_eq!(type_of(&scene.work(DAEMON).await), "Network");
        assert_eq!(scene.work(DAEMON).await, Value::Null);
        assert_eq!(scene.discovery(&work).await["daemon_id"], DAEMON.to_string());
        assert_eq!(scene.get("/api/v1/hosts").await.as_array().unwrap().len(), 1);
    });
}

#[test]
fn daemon_that_states_progress_keeps_its_work() {
    run_with(Scene::with_daemon, async |scene| {
        let (own, scan) = (scene.work(DAEMON).await, scene.work(DAEMON).await);
        scene.register(OTHER).await;
        let others = [scene.work(OTHER).await, scene.work(OTHER).await];
        for _ in 0..5 {
            scene.report(DAEMON, &own, "Started").await;
            scene.report(DAEMON, &scan, "Scanning").await;
            for session in &others {
                scene.report(OTHER, session, "Scanning").await;
            }
            scene.pass(5 * MINUTE - MICROSECOND);
            assert_eq!(scene.work(DAEMON).await, Value::Null);
            assert_eq!(scene.work(OTHER).await, Value::Null);
        }
        assert_eq!(scene.discovery(&scan).await["daemon_id"], DAEMON.to_string());
    });
}

#[test]
fn vanished_daemon_loses_its_scan_to_the_next() {
    run_with(Scene::with_daemon, async |scene| {
        let own = scene.work(DAEMON).await;
        let scan = scene.work(DAEMON).await;
        scene.report(DAEMON, &scan, "Scanning").await;
        scene.pass(5 * MINUTE - MICROSECOND);
        scene.register(OTHER).await;
        assert_eq!(type_of(&scene.work(OTHER).await), "SelfReport", "the other's own");
        assert_eq!(type_of(&scene.work(OTHER).await), "Network", "the other's own");
        assert_eq!(scene.work(OTHER).await, Value::Null);
        scene.pass(MICROSECOND);
        let taken = scene.work(OTHER).await;
        assert_eq!(taken["session_id"], scan["session_id"]);
        assert_eq!((&taken["daemon_id"], &taken["phase"]), (&json!(OTHER), &json!("Pending")));
        assert_eq!(scene.work(OTHER).await, Value::Null, "the report of the vanished daemon's host");
        let vanished = scene.get(&format!("/api/v1/daemons/{DAEMON}")).await;
        assert_eq!(vanished["is_unreachable"], true);

        // It comes back, and has lost the scan for good.
        scene.report(DAEMON, &scan, "Complete").await;
        assert_eq!(scene.discovery(&scan).await["phase"], "Pending");
        scene.pass(5 * MINUTE);
        assert_eq!(scene.work(DAEMON).await["session_id"], own["session_id"]);
        let back = scene.get(&format!("/api/v1/daemons/{DAEMON}")).await;
        assert_eq!(back["is_unreachable"], false);
    });
}

#[test]
fn findings_of_a_daemon_count_as_contact() {
    run_with(Scene::with_daemon, async |scene| {
        scene.work(DAEMON).await;
        let scan = scene.work(DAEMON).await;
        scene.register(OTHER).await;
        for _ in 0..2 {
            let own = scene.work(OTHER).await;
            scene.report(OTHER, &own, "Complete").await;
        }
        let subnet = json!({"network_id": OFFICE, "name": "s", "cidr": "192.0.2.0/24"});
        let host = json!({"host": {"id": NOBODY, "network_id": OFFICE, "name": "h"}});
        for (path, body) in [("/api/v1/subnets", subnet), ("/api/v1/hosts/discovery", host)] {
            scene.pass(5 * MINUTE - MICROSECOND);
            let request = with_key(send_json("POST", path, &body), &scene.key);
            let named = with_header(request, "x-daemon-id", DAEMON.to_string());
            assert_eq!(scene.fixture.send(named).await.status, 200);
            assert_eq!(scene.work(OTHER).await, Value::Null, "{path}");
        }
        assert_eq!(scene.discovery(&scan).await["daemon_id"], DAEMON.to_string());
        scene.pass(5 * MINUTE - MICROSECOND);
        assert_eq!(scene.work(OTHER).await, Value::Null);
        scene.pass(MICROSECOND);
        assert_eq!(scene.work(OTHER).await["session_id"], scan["session_id"]);
    });
}

#[test]
fn scanning_daemon_gets_no_work_unless_it_is_ready() {
    run_with(Scene::with_daemon, async |scene| {
        let own = scene.work(DAEMON).await;
        scene.report(DAEMON, &own, "Scanning").await;
        assert_eq!(scene.work(DAEMON).await, Value::Null);
        assert_eq!(scene.ask(DAEMON, json!({"ready_for_work": false})).await[0], Value::Null);
        let scan = scene.ask(DAEMON, json!({"ready_for_work": true})).await;
        assert_eq!(type_of(&scan[0]), "Network");
        scene.report(DAEMON, &own, "Complete").await;
        let ended = scene.discovery(&own).await;
        assert_eq!((&ended["phase"], ended["finished_at"].is_string()), (&json!("Complete"), true));
    });
}

#[test]
fn progress_is_stored_until_the_session_ends() {
    run_with(Scene::with_daemon, async |scene| {
        let work = scene.work(DAEMON).await;
        let id = work["session_id"].as_str().unwrap();
        // The id in the path does not count.
        let path = format!("/api/v1/discovery/{DAEMON}/update");
        let mut body = json!({
            "session_id": id, "daemon_id": DAEMON, "network_id": LAB, "phase": "Scanning", "progress": 40,
            "error": null, "started_at": "2026-08-14T12:00:00.123456789Z", "finished_at": null,
        });
        scene.post(&path, body.clone()).await.data();
        let stored = scene.discovery(&work).await;
        assert_eq!((&stored["phase"], &stored["progress"]), (&json!("Scanning"), &json!(40)));
        assert_eq!(stored["started_at"], "2026-08-14T12:00:00.123456Z");
        assert_eq!(stored["network_id"], OFFICE.to_string());
        (body["phase"], body["error"]) = (json!("Failed"), json!("no route to host"));
        scene.post(&path, body.clone()).await.data();
        let failed = scene.discovery(&work).await;
        assert_eq!((&failed["phase"], &failed["error"]), (&json!("Failed"), &json!("no route to host")));
        body["phase"] = json!("Complete");
        scene.post(&path, body.clone()).await.data();
        assert_eq!(scene.discovery(&work).await, failed);
        (body["phase"], body["progress"]) = (json!("Resting"), json!(101));
        scene.post(&path, body.clone()).await.refuses(400, "validation_invalid_format");
        body["phase"] = json!("Scanning");
        scene.post(&path, body).await.refuses(400, "validation_out_of_range");
    });
}

#[test]
fn progress_of_sessions_that_are_not_the_daemons_stores_nothing() {
    run_with(Scene::with_daemon, async |scene| {
        scene.register(OTHER).await;
        let (own, foreign) = (scene.work(DAEMON).await, scene.work(OTHER).await);
        let queued = scene.queue(json!({"network_id": OFFICE})).await;
        let other_key = scene.daemon_key(OFFICE).await;
        let before = scene.get("/api/v1/discoveries").await;
        for (key, session, daemon) in [
            (&scene.key, json!(NOBODY), DAEMON),
            (&scene.key, foreign["session_id"].clone(), DAEMON),
            (&scene.key, own["session_id"].clone(), NOBODY.into()),
            (&scene.key, queued["id"].clone(), DAEMON),
            (&other_key, own["session_id"].clone(), DAEMON),
        ] {
            let body = json!({"session_id": session, "daemon_id": daemon, "phase": "Complete"});
            let path = format!("/api/v1/discovery/{NOBODY}/update");
            assert_eq!(*scene.post_with(key, &path, body).await.data(), Value::Null);
        }
        assert_eq!(scene.get("/api/v1/discoveries").await, before);
    });
}

/// How a daemon confirms that work has stopped.
enum Confirmation {
    /// An update with this phase.
    Update(&'static str),
    /// It is ready for work.
    Readiness,
    /// It states nothing for 5 minutes.
    Silence,
}

#[test]
fn cancellation_is_repeated_until_the_daemon_confirms_it_and_before_further_work() {
    use Confirmation::{Readiness, Silence, Update};
    for (sent, confirmation) in [
        // It has ended before the daemon was sent the cancellation.
        (0, Update("Complete")),
        (1, Update("Cancelled")),
        (3, Update("Cancelled")),
        (1, Update("Failed")),
        (1, Readiness),
        (3, Readiness),
        (2, Silence),
    ] {
        run_with(Scene::with_daemon, async |scene| {
            let own = scene.work(DAEMON).await;
            let cancel = format!("/api/v1/discoveries/{}/cancel", own["session_id"].as_str().unwrap());
            let cancelled = scene.post_with(&scene.fixture.key, &cancel, json!({})).await.data().clone();
            assert_eq!(
                (&cancelled["phase"], &cancelled["is_cancelling"]),
                (&json!("Cancelled"), &json!(true))
            );
            assert_eq!(scene.post_with(&scene.fixture.key, &cancel, json!({})).await.data(), &cancelled);
            // All answers but the last are lost.
            for _ in 0..sent {
                scene.report(DAEMON, &own, "Scanning").await;
                assert_eq!(scene.ask(DAEMON, json!({"ready_for_work": false})).await, json!([null, true]));
                assert_eq!(scene.discovery(&own).await["is_cancelling"], true);
            }
            match confirmation {
                Update(phase) => scene.report(DAEMON, &own, phase).await,
                Readiness => {}
                Silence => {
                    scene.pass(5 * MINUTE - MICROSECOND);
                    assert_eq!(scene.ask(DAEMON, json!({})).await, json!([null, true]));
                    scene.pass(MICROSECOND);
                }
            }
            let status =
                if matches!(confirmation, Readiness) { json!({"ready_for_work": true}) } else { json!({}) };
            let scan = scene.ask(DAEMON, status).await;
            assert_eq!((type_of(&scan[0]), &scan[1]), ("Network", &json!(false)));
            let confirmed = scene.discovery(&own).await;
            assert_eq!(
                (&confirmed["phase"], &confirmed["is_cancelling"]),
                (&json!("Cancelled"), &json!(false))
            );
            assert_eq!(confirmed["finished_at"], cancelled["finished_at"]);
            assert_eq!(confirmed.get("cancellation_sent_at"), None);
        });
    }
}

#[test]
fn ready_daemon_is_sent_a_cancellation_once() {
    run_with(Scene::with_daemon, async |scene| {
        let own = scene.work(DAEMON).await;
        let cancel = format!("/api/v1/discoveries/{}/cancel", own["session_id"].as_str().unwrap());
        scene.post_with(&scene.fixture.key, &cancel, json!({})).await.data();
        let ready = || json!({"ready_for_work": true});
        assert_eq!(scene.ask(DAEMON, ready()).await, json!([null, true]), "it may not have begun yet");
        assert_eq!(type_of(&scene.ask(DAEMON, ready()).await[0]), "Network");
    });
}

#[test]
fn work_that_is_cancelled_in_the_queue_is_never_handed_out() {
    run_with(Scene::with_daemon, async |scene| {
        for discovery in scene.get("/api/v1/discoveries").await.as_array().unwrap() {
            let cancel = format!("/api/v1/discoveries/{}/cancel", discovery["id"].as_str().unwrap());
            let cancelled = scene.post_with(&scene.fixture.key, &cancel, json!({})).await;
            assert_eq!(cancelled.data()["is_cancelling"], false);
        }
        assert_eq!(scene.ask(DAEMON, json!({})).await, json!([null, false]));
    });
}

#[test]
fn deleted_daemon_leaves_its_scan_to_others() {
    run_with(Scene::with_daemon, async |scene| {
        let (own, scan) = (scene.work(DAEMON).await, scene.work(DAEMON).await);
        let delete = bare("DELETE", &format!("/api/v1/daemons/{DAEMON}"));
        assert_eq!(*scene.fixture.send(with_key(delete, &scene.fixture.key)).await.data(), json!({}));
        let gone = scene.post(&format!("/api/daemons/{DAEMON}/request-work"), json!({})).await;
        assert_eq!(*gone.refuses(404, "entity_not_found"), json!({"entity": "Daemon", "id": DAEMON}));
        assert_eq!(scene.discovery(&own).await["phase"], "Cancelled");
        scene.pass(MINUTE);
        scene.register(OTHER).await;
        assert_eq!(scene.work(OTHER).await["session_id"], scan["session_id"]);
    });
}

#[test]
fn queue_and_number_of_daemons_are_bounded() {
    run_with(Scene::with_daemon, async |scene| {
        for _ in 2..100 {
            scene.queue(json!({"network_id": OFFICE})).await;
        }
        let body = json!({"network_id": OFFICE});
        let refused = scene.post_with(&scene.fixture.key, "/api/v1/discoveries", body).await;
        assert_eq!(*refused.refuses(409, "quota_exceeded"), json!({"entity": "Discovery", "limit": 100}));
        let refused = scene.post("/api/daemons/register", registration(OTHER)).await;
        assert_eq!(*refused.refuses(409, "quota_exceeded"), json!({"entity": "Discovery", "limit": 100}));
        assert_eq!(scene.post("/api/daemons/register", registration(DAEMON)).await.status, 200);

        let key = scene.daemon_key(LAB).await;
        for number in 0..100 {
            let id = DaemonId::from_u128(0xdae_0000 + number);
            scene.post_with(&key, "/api/daemons/register", registration(id)).await.data();
            for _ in 0..2 {
                let work = format!("/api/daemons/{id}/request-work");
                let session = scene.post_with(&key, &work, json!({})).await.data()[0]["session_id"].clone();
                let update = json!({"session_id": session, "daemon_id": id, "phase": "Complete"});
                scene.post_with(&key, &format!("/api/v1/discovery/{id}/update"), update).await.data();
            }
        }
        let refused = scene.post_with(&key, "/api/daemons/register", registration(OTHER)).await;
        assert_eq!(*refused.refuses(409, "quota_exceeded"), json!({"entity": "Daemon", "limit": 100}));
    });
}

#[tokio::test]
async fn only_the_latest_ended_sessions_are_kept() {
    let scene = Scene::new().await;
    for number in 0..510 {
        scene.pass(MINUTE);
        let id = scene.queue(json!({"network_id": OFFICE})).await["id"].clone();
        let cancel = format!("/api/v1/discoveries/{}/cancel", id.as_str().unwrap());
        let cancelled = scene.post_with(&scene.fixture.key, &cancel, json!({})).await;
        assert_eq!(cancelled.status, 200, "{number}");
    }
    let list = scene.fixture.server.get_with(&scene.fixture.key, "/api/v1/discoveries?limit=1").await;
    assert_eq!(list.total(), 501, "the oldest go when the next is queued");
}

#[test]
fn daemons_that_ask_at_the_same_time_get_different_work() {
    run_on_threads(async || {
        let scene = Arc::new(Scene::new().await);
        let daemons: Vec<DaemonId> = (0..4).map(|number| DaemonId::from_u128(0xdae_0000 + number)).collect();
        for daemon in &daemons {
            scene.register(*daemon).await;
            for _ in 0..2 {
                scene.work(*daemon).await;
            }
        }
        for _ in 0..20 {
            scene.queue(json!({"network_id": OFFICE})).await;
        }
        let ask = |daemon: DaemonId| {
            let scene = Arc::clone(&scene);
            async move {
                let mut sessions = vec![];
                for _ in 0..8 {
                    let session = scene.work(daemon).await["session_id"].clone();
                    sessions.extend(session.as_str().map(str::to_owned));
                }
                sessions
            }
        };
        let asking: Vec<_> = daemons.iter().map(|daemon| tokio::spawn(ask(*daemon))).collect();
        let mut handed_out = vec![];
        for asked in asking {
            handed_out.extend(asked.await.unwrap());
        }
        let distinct: BTreeSet<&String> = handed_out.iter().collect();
        assert_eq!((handed_out.len(), distinct.len()), (20, 20));
    });
}

#[test]
fn registration_beyond_the_work_of_a_key_leaves_no_host() {
    run_with(Scene::new, async |scene| {
        // Each daemon has two discoveries, and the daemons of a key at most 50.
        for number in 1..=25 {
            scene.register(DaemonId::from_u128(number)).await;
        }
        for number in 26..30 {
            let refused =
                scene.post("/api/daemons/register", registration(DaemonId::from_u128(number))).await;
            refused.refuses(409, "quota_exceeded");
        }
        assert_eq!(scene.get("/api/v1/hosts?limit=0").await.as_array().unwrap().len(), 25);
    });
}
