//! The tables that a host reports.

use toposcope::model::Permission;
use uuid::Uuid;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, get, host};

/// Imports a switch, and returns the path of its claims.
async fn imported(fixture: &Fixture) -> String {
    let report = report_of(switch(1, &["192.0.2.1", "192.0.2.2"]), FIRST);
    let answer = import_report(fixture, &report).await;
    format!("/api/v1/hosts/{}/claims", answer["hosts"][0]["id"].as_str().unwrap())
}

async fn claims(fixture: &Fixture, target: &str) -> Vec<Value> {
    fixture.server.get_with(&fixture.key, target).await.data().as_array().unwrap().clone()
}

#[test]
fn claims_are_listed_by_kind() {
    run_with(Fixture::new, async |fixture| {
        let path = imported(&fixture).await;
        let all = claims(&fixture, &path).await;
        let kinds: Vec<&str> = all.iter().map(|claim| claim["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["if_entries", "addresses", "lldp"]);
        for claim in &all {
            assert_eq!(claim["observed_at"], json!(time(FIRST)));
            assert_eq!((&claim["complete"], &claim["network_id"]), (&json!(true), &json!(OFFICE)));
            assert_eq!(claim["reporter"], json!({"name": "collector", "version": "1"}));
            let kind = claim["kind"].as_str().unwrap();
            let of_kind = claims(&fixture, &format!("{path}?kind={kind}")).await;
            assert_eq!(of_kind, std::slice::from_ref(claim));
        }
        assert_eq!(all[1]["rows"].as_array().unwrap().len(), 2);
        assert_eq!(claims(&fixture, &format!("{path}?kind=")).await, all);
        for kind in ["fdb", "arp", "stp", "lag", "ports", "cdp"] {
            assert_eq!(claims(&fixture, &format!("{path}?kind={kind}")).await, Vec::<Value>::new());
        }
    });
}

#[test]
fn parts_have_the_time_they_were_seen_and_the_scans_that_missed_them() {
    run_with(Fixture::new, async |fixture| {
        let path = imported(&fixture).await;
        for (day, missed) in [(2, 1), (3, 2), (4, 3)] {
            let at = format!("2026-08-{day:02}T12:00:00Z");
            import_report(&fixture, &report_of(switch(1, &["192.0.2.1"]), &at)).await;
            let addresses = claims(&fixture, &format!("{path}?kind=addresses")).await;
            let claim = &addresses[0];
            assert_eq!(
                (&claim["observed_at"], claim["rows"].as_array().unwrap().len()),
                (&json!(time(&at)), 1)
            );
            let seen: Vec<(&Value, &Value)> = claim["parts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|part| (&part["last_seen_at"], &part["missed_scans"]))
                .collect();
            let (present, absent) = ((json!(time(&at)), json!(0)), (json!(time(FIRST)), json!(missed)));
            assert_eq!(seen, [(&present.0, &present.1), (&absent.0, &absent.1)]);
        }
    });
}

#[test]
fn host_without_discoveries_has_no_claims() {
    run_with(Fixture::with_one_host, async |fixture| {
        let path = format!("/api/v1/hosts/{}/claims", Uuid::from_u128(1));
        assert_eq!(claims(&fixture, &path).await, Vec::<Value>::new());
    });
}

#[test]
fn claims_are_refused_like_the_host() {
    run_with(Fixture::new, async |fixture| {
        let path = imported(&fixture).await;
        fixture.put_abroad(host(9, ELSEWHERE)).await;
        for id in [Uuid::from_u128(9), NOBODY] {
            let target = format!("/api/v1/hosts/{id}/claims");
            let reply = fixture.server.get_with(&fixture.key, &target).await;
            assert_eq!(*reply.refuses(404, "entity_not_found"), json!({"entity": "Host", "id": id}));
        }
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        let denied = fixture.server.get_with(&stranger, &path).await;
        let expected = json!({"entity": "Network", "id": OFFICE});
        assert_eq!(*denied.refuses(403, "entity_access_denied"), expected);
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        assert_eq!(fixture.server.get_with(&viewer, &path).await.status, 200);
        let daemon = daemon_key(&fixture, OFFICE).await;
        fixture.server.get_with(&daemon, &path).await.refuses(403, "auth_user_context_required");
        fixture.send(get(&path)).await.refuses(401, "auth_not_authenticated");
        let bad = fixture.server.get_with(&fixture.key, &format!("{path}?kind=bonds")).await;
        assert_eq!(bad.refuses(400, "validation_invalid_format")["field"], "kind");
        let unknown = fixture.server.get_with(&fixture.key, &format!("{path}?limit=1")).await;
        unknown.refuses(400, "validation_unknown_parameter");
        let no_id = fixture.server.get_with(&fixture.key, "/api/v1/hosts/x/claims").await;
        assert_eq!(no_id.refuses(400, "validation_invalid_format")["field"], "id");
    });
}
