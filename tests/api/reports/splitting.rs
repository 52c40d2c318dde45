//! A host that is two devices becomes two.

use toposcope::model::Permission;
use uuid::Uuid;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, host, send_json};

fn split(id: &str, body: &Value, key: &str) -> Request<String> {
    with_key(send_json("POST", &format!("/api/v1/hosts/{id}/split"), body), key)
}

#[test]
fn selected_parts_move_to_a_new_host() {
    run_with(Fixture::new, async |fixture| {
        let report = report_of(switch(1, &["192.0.2.1", "192.0.2.9"]), FIRST);
        let imported = import_report(&fixture, &report).await;
        let id = imported["hosts"][0]["id"].as_str().unwrap();
        let path = format!("/api/v1/hosts/{id}");
        let before = fixture.server.get_with(&fixture.key, &path).await;
        let interfaces = before.data()["interfaces"].as_array().unwrap();
        let moved = interfaces.iter().find(|part| part["ip_address"] == "192.0.2.9").unwrap()["id"].clone();
        let body = json!({"interfaces": [moved], "name": "second", "serial_number": "SN-0001"});
        let request = with_header(split(id, &body, &fixture.key), "if-match", "\"other\"");
        fixture.send(request).await.refuses(412, "precondition_failed");
        assert_eq!(hosts(&fixture).await.len(), 1);

        let tag = before.header("etag").to_owned();
        let reply = fixture.send(with_header(split(id, &body, &fixture.key), "if-match", &tag)).await;
        let new = reply.data().clone();
        assert_eq!((&new["name"], &new["serial_number"]), (&json!("second"), &json!("SN-0001")));
        assert_eq!(new["interfaces"][0]["id"], moved);
        let stored = format!("/api/v1/hosts/{}", new["id"].as_str().unwrap());
        let stored = fixture.server.get_with(&fixture.key, &stored).await;
        assert_eq!((stored.data(), stored.header("etag")), (&new, reply.header("etag")));
        let kept = fixture.server.get_with(&fixture.key, &path).await;
        assert_eq!(kept.data()["interfaces"].as_array().unwrap().len(), 1);
        assert!(kept.data().get("serial_number").is_none());
    });
}

#[test]
fn invalid_splits_name_the_field_and_change_nothing() {
    run_with(Fixture::new, async |fixture| {
        let imported = import_report(&fixture, &report_of(switch(1, &["192.0.2.1"]), FIRST)).await;
        let id = imported["hosts"][0]["id"].as_str().unwrap();
        let before = hosts(&fixture).await;
        let part = |list: &str| before[0][list][0]["id"].clone();
        let all = json!({"interfaces": [part("interfaces")], "if_entries": [part("if_entries")]});
        for (body, code, field) in [
            (json!({}), "validation_empty", "interfaces"),
            (json!({"interfaces": []}), "validation_empty", "interfaces"),
            (all, "validation_max_length", "interfaces"),
            (json!({"ports": [NOBODY]}), "entity_reference_invalid", "ports.0"),
            (json!({"if_entries": [part("if_entries"), NOBODY]}), "entity_reference_invalid", "if_entries.1"),
            (json!({"services": ["x"]}), "validation_invalid_format", "services.0"),
            (json!({"interfaces": "x"}), "validation_invalid_format", "interfaces"),
            (json!({"name": 7, "interfaces": [part("interfaces")]}), "validation_invalid_format", "name"),
        ] {
            let reply = fixture.send(split(id, &body, &fixture.key)).await;
            assert_eq!(reply.refuses(400, code)["field"], field, "{body}");
        }
        assert_eq!(hosts(&fixture).await, before);
    });
}

#[test]
fn split_requires_a_member_with_access() {
    run_with(Fixture::new, async |fixture| {
        fixture.put([host(1, OFFICE)]).await;
        fixture.put_abroad(host(9, ELSEWHERE)).await;
        let body = json!({"interfaces": [NOBODY]});
        let own = Uuid::from_u128(1).to_string();
        for id in [Uuid::from_u128(9), NOBODY] {
            fixture.send(split(&id.to_string(), &body, &fixture.key)).await.refuses(404, "entity_not_found");
        }
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        fixture.send(split(&own, &body, &viewer)).await.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        fixture.send(split(&own, &body, &stranger)).await.refuses(403, "entity_access_denied");
    });
}
