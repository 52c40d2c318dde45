//! Two hosts that are one device become one.

use toposcope::model::Permission;
use uuid::Uuid;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, host};

fn consolidate(id: &str, other: &str, key: &str) -> Request<String> {
    let path = format!("/api/v1/hosts/{id}/consolidate/{other}");
    with_key(bare("POST", &path), key)
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn everything_of_the_other_host_moves_and_its_id_is_gone() {
    run_with(Fixture::with_one_host, async |fixture| {
        let imported = import_report(&fixture, &report_of(switch(1, &["192.0.2.1"]), FIRST)).await;
        let other = imported["hosts"][0]["id"].as_str().unwrap();
        let reply = fixture.send(consolidate(&id(1).to_string(), other, &fixture.key)).await;
        let kept = reply.data().clone();
        assert_eq!((&kept["id"], &kept["serial_number"]), (&json!(id(1)), &json!("SN-0001")));
        assert_eq!(kept["interfaces"][0]["ip_address"], "192.0.2.1");
        let stored = fixture.server.get_with(&fixture.key, &format!("/api/v1/hosts/{}", id(1))).await;
        assert_eq!((stored.data(), stored.header("etag")), (&kept, reply.header("etag")));
        assert_eq!(hosts(&fixture).await, [kept]);
        let claims = format!("/api/v1/hosts/{}/claims", id(1));
        assert_eq!(fixture.server.get_with(&fixture.key, &claims).await.data().as_array().unwrap().len(), 3);
        let again = fixture.send(consolidate(&id(1).to_string(), other, &fixture.key)).await;
        again.refuses(404, "entity_not_found");
    });
}

#[test]
fn host_that_has_changed_since_it_was_read_keeps_the_other_one() {
    run_with(Fixture::new, async |fixture| {
        fixture.put([host(1, OFFICE), host(2, OFFICE)]).await;
        let [one, other] = [1, 2].map(|number| id(number).to_string());
        let request = || consolidate(&one, &other, &fixture.key);
        fixture
            .send(with_header(request(), "if-match", "\"other\""))
            .await
            .refuses(412, "precondition_failed");
        assert_eq!(hosts(&fixture).await.len(), 2);
        let read = fixture.server.get_with(&fixture.key, &format!("/api/v1/hosts/{one}")).await;
        fixture.send(with_header(request(), "if-match", read.header("etag"))).await.data();
        assert_eq!(hosts(&fixture).await.len(), 1);
    });
}

#[test]
fn consolidation_requires_two_accessible_hosts_of_one_network() {
    run_with(Fixture::new, async |fixture| {
        fixture.put([host(1, OFFICE), host(2, LAB), host(3, OFFICE)]).await;
        fixture.put_abroad(host(9, ELSEWHERE)).await;
        let before = hosts(&fixture).await;
        let send =
            async |one: String, other: String, key: &str| fixture.send(consolidate(&one, &other, key)).await;
        let [first, in_lab, third, abroad] = [1, 2, 3, 9].map(|number| id(number).to_string());
        for (one, other) in [(&first, &abroad), (&abroad, &first), (&first, &NOBODY.to_string())] {
            send(one.clone(), other.clone(), &fixture.key).await.refuses(404, "entity_not_found");
        }
        let mismatch = send(first.clone(), in_lab.clone(), &fixture.key).await;
        mismatch.refuses(400, "entity_network_mismatch");
        let same = send(first.clone(), first.clone(), &fixture.key).await;
        assert_eq!(same.json["params"]["field"], "other", "{}", same.json);
        for (one, other, field) in [("x", first.as_str(), "id"), (first.as_str(), "x", "other")] {
            let reply = send(one.to_owned(), other.to_owned(), &fixture.key).await;
            assert_eq!(reply.refuses(400, "validation_invalid_format")["field"], field);
        }
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        send(first.clone(), third.clone(), &viewer).await.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        send(first.clone(), third.clone(), &stranger).await.refuses(403, "entity_access_denied");
        let daemon = daemon_key(&fixture, OFFICE).await;
        send(first.clone(), third.clone(), &daemon).await.refuses(403, "auth_user_context_required");
        assert_eq!(hosts(&fixture).await, before);
        let member = fixture.key(Permission::Member, &[OFFICE]).await;
        send(first, third, &member).await.data();
        assert_eq!(hosts(&fixture).await.len(), 2);
    });
}
