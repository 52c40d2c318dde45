//! Deletions that also erase the history of the record.

use serde_json::{Value, json};
use toposcope::model::Permission;

use super::CHANGES;
use crate::backend::run;
use crate::common::{Fixture, HOSTS, OFFICE, bare, get, send_json, with_header, with_key, with_session};

const TAGS: &str = "/api/v1/tags";

#[test]
fn deletion_that_erases_leaves_entries_that_say_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let as_owner = |request| fixture.send(with_session(request, &session));
        let host = json!({"network_id": OFFICE, "name": "secret"});
        for (collection, body) in [(HOSTS, host), (TAGS, json!({"name": "secret", "color": "Blue"}))] {
            let made = as_owner(send_json("POST", collection, &body)).await.data().clone();
            let path = format!("{collection}/{}", made["id"].as_str().unwrap());
            as_owner(bare("DELETE", &format!("{path}?erase=maybe")))
                .await
                .refuses(400, "validation_invalid_format");

            as_owner(bare("DELETE", &format!("{path}?erase=true"))).await.data();
            as_owner(get(&path)).await.refuses(404, "entity_not_found");
            let entries = as_owner(get(&format!("{path}/history"))).await.entries();
            let actions: Vec<&str> = entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
            assert_eq!(actions, ["created", "deleted"]);
            for entry in entries {
                assert_eq!((&entry["name"], &entry["is_erased"]), (&json!(""), &json!(true)));
                assert_eq!(entry["fields"], json!({}));
            }
            // Again, because an erasure may fail half-way.
            as_owner(bare("DELETE", &format!("{path}?erase=true"))).await.data();
        }
        let all = as_owner(get(&format!("{CHANGES}?limit=1000"))).await;
        assert!(!all.json.to_string().contains("secret"));
    });
}

#[test]
fn history_of_a_record_that_is_gone_is_erased_by_deleting_it_again() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let as_owner = |request| fixture.send(with_session(request, &session));
        let made = as_owner(send_json("POST", TAGS, &json!({"name": "secret", "color": "Blue"})))
            .await
            .data()
            .clone();
        let path = format!("{TAGS}/{}", made["id"].as_str().unwrap());
        as_owner(bare("DELETE", &path)).await.data();
        as_owner(bare("DELETE", &path)).await.refuses(404, "entity_not_found");
        let erase = bare("DELETE", &format!("{path}?erase=true"));
        let tagged = with_header(erase.clone(), "If-Match", "\"tag\"");
        as_owner(tagged).await.refuses(412, "precondition_failed");
        assert!(as_owner(get(&format!("{path}/history"))).await.json.to_string().contains("secret"));
        as_owner(erase).await.data();
        assert!(!as_owner(get(&format!("{path}/history"))).await.json.to_string().contains("secret"));
        let unknown = format!("{TAGS}/{}?erase=true", uuid::Uuid::from_u128(77));
        as_owner(bare("DELETE", &unknown)).await.refuses(404, "entity_not_found");
    });
}

#[test]
fn only_an_owner_with_a_session_erases_and_nothing_is_deleted_otherwise() {
    run(async || {
        let fixture = Fixture::new().await;
        let admin = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let admin = fixture.sign_in(&admin).await;
        let of_others = fixture.user(&fixture.abroad, Permission::Owner, &[]).await;
        let of_others = fixture.sign_in(&of_others).await;
        let made = send_json("POST", TAGS, &json!({"name": "kept", "color": "Blue"}));
        let made: Value = fixture.send(with_key(made, &fixture.key)).await.data().clone();
        let path = format!("{TAGS}/{}", made["id"].as_str().unwrap());
        let erase = bare("DELETE", &format!("{path}?erase=true"));
        let senders = [
            (with_key(erase.clone(), &fixture.key), 403, "auth_permission_denied"),
            (
                with_key(erase.clone(), &fixture.key_for_all_networks().await),
                403,
                "auth_user_context_required",
            ),
            (with_session(erase.clone(), &admin), 403, "auth_permission_denied"),
            (with_session(erase.clone(), &of_others), 404, "entity_not_found"),
            (erase, 401, "auth_not_authenticated"),
        ];
        for (request, status, code) in senders {
            fixture.send(request).await.refuses(status, code);
        }
        assert_eq!(fixture.send(with_key(get(&path), &fixture.key)).await.data()["name"], json!("kept"));
        let history = fixture.send(with_key(get(&format!("{path}/history")), &fixture.key)).await;
        assert_eq!(history.told(), ["created kept"]);
    });
}
