//! Creation, update and deletion.

use std::time::Duration;

use super::*;
use crate::common::{NOBODY, at, without};

/// Returns the required fields of a record.
fn least(scene: &Scene, record: &Value) -> Value {
    scene.kind.required.iter().map(|field| ((*field).to_owned(), record[*field].clone())).collect()
}

#[test]
fn created_record_has_the_fields_of_its_body_and_is_found() {
    for_each_that(
        |kind| kind.body(1).is_some(),
        async |scene| {
            let body = without(&scene.kind.body(1).unwrap(), "password");
            let record = scene.create(1).await;
            for (field, value) in body.as_object().unwrap() {
                assert_eq!(record[field], *value, "{field} of a {}", scene.kind.entity);
            }
            assert_eq!((&record["created_at"], &record["updated_at"]), (&json!(at(0)), &json!(at(0))));
            let listed = scene.send(get(scene.kind.path)).await;
            assert!(listed.data().as_array().unwrap().contains(&record));
        },
    );
}

#[test]
fn location_of_a_new_record_leads_to_it() {
    for_each_that(
        |kind| kind.body(1).is_some(),
        async |scene| {
            let reply = scene.send(send_json("POST", scene.kind.path, &scene.kind.body(1).unwrap())).await;
            let created = reply.data().get("api_key").unwrap_or(reply.data());
            let found = scene.send(get(reply.header("location"))).await;
            assert_eq!(found.data()["id"], created["id"]);
        },
    );
}

#[test]
fn update_changes_the_given_field_and_keeps_what_is_left_out() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let update = async |body: &Value| {
            scene.fixture.clock.advance(Duration::from_secs(1));
            let mut updated = scene.put(&record, body).await.data().clone();
            assert_eq!(*scene.send(get(&scene.item(&record))).await.data(), updated);
            assert_ne!(updated["updated_at"], record["updated_at"]);
            updated["updated_at"] = record["updated_at"].clone();
            updated
        };
        for (field, value) in &scene.kind.changes {
            let changed = with(&record, field, value.clone());
            assert_eq!(update(&changed).await, changed, "{field} of a {}", scene.kind.entity);
            let back = with(&least(scene, &record), field, record[*field].clone());
            assert_eq!(update(&back).await, record, "{field} of a {}", scene.kind.entity);
        }
    });
}

#[test]
fn null_clears_a_nullable_field_and_keeps_any_other() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        for (field, _) in &scene.kind.changes {
            if scene.kind.required.contains(field) {
                continue;
            }
            let body = with(&least(scene, &record), field, Value::Null);
            let updated = scene.put(&record, &body).await.data()[field].clone();
            let is_cleared = scene.kind.nullable.contains(field);
            let expected = if is_cleared { &Value::Null } else { &record[*field] };
            assert_eq!(updated, *expected, "{field} of a {}", scene.kind.entity);
        }
    });
}

#[test]
fn empty_list_empties_a_field() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        for field in scene.kind.lists() {
            let body = with(&least(scene, &record), field, json!([]));
            assert_eq!(scene.put(&record, &body).await.data()[field], json!([]));
        }
    });
}

#[test]
fn update_that_changes_nothing_keeps_updated_at() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        scene.fixture.clock.advance(Duration::from_secs(1));
        for body in [&record, &least(scene, &record)] {
            assert_eq!(*scene.put(&record, body).await.data(), record, "{}", scene.kind.entity);
        }
    });
}

#[test]
fn fields_that_only_the_server_sets_are_ignored() {
    for_each(async |scene| {
        let ignored =
            ["id", "created_at", "updated_at", "last_used", "key", "api_access", "requires_password"];
        let spoil = |body: &Value| {
            ignored.iter().fold(body.clone(), |body, field| with(&body, field, NOBODY.to_string()))
        };
        if let Some(body) = scene.kind.body(1) {
            let reply = scene.send(send_json("POST", scene.kind.path, &spoil(&body))).await;
            assert!(!reply.data().to_string().contains(&NOBODY.to_string()));
        }
        let record = scene.create(2).await;
        assert_eq!(*scene.put(&record, &spoil(&record)).await.data(), record);
    });
}

#[test]
fn missing_required_field_is_named() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        for field in scene.kind.required {
            let body = without(&least(scene, &record), field);
            for body in [&body, &with(&body, field, Value::Null)] {
                let reply = scene.put(&record, body).await;
                assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": field}));
            }
        }
        // Keys of users are created for the caller, and need no tags.
        let optional: &[&str] =
            if scene.kind.entity == "User API Key" { &["organization_id", "user_id", "tags"] } else { &[] };
        let required = scene.kind.required.iter().filter(|field| !optional.contains(field));
        for (field, body) in required.filter_map(|field| Some((field, scene.kind.body(2)?))) {
            let reply = scene.send(send_json("POST", scene.kind.path, &without(&body, field))).await;
            assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": field}));
        }
    });
}

#[test]
fn texts_have_their_lengths() {
    let rows = [
        ("name", "", "validation_empty"),
        ("name", " \t", "validation_empty"),
        ("name", &"ä".repeat(101), "validation_max_length"),
        ("description", &"ä".repeat(501), "validation_max_length"),
    ];
    for_each(async |scene| {
        let record = scene.create(1).await;
        for (field, text, code) in rows.iter().filter(|(field, ..)| record.get(*field).is_some()) {
            let reply = scene.put(&record, &with(&record, field, *text)).await;
            assert_eq!(reply.refuses(400, code)["field"], *field, "{}", scene.kind.entity);
            let Some(body) = scene.kind.body(2) else { continue };
            let reply = scene.send(send_json("POST", scene.kind.path, &with(&body, field, *text))).await;
            assert_eq!(reply.refuses(400, code)["field"], *field, "{}", scene.kind.entity);
        }
        if scene.kind.has_name {
            let body = with(&record, "name", format!("  {} ", "ä".repeat(100)));
            assert_eq!(scene.put(&record, &body).await.data()["name"], "ä".repeat(100));
        }
    });
}

#[test]
fn deleted_record_is_not_found_a_second_time() {
    for_each_that(
        |kind| kind.can_delete,
        async |scene| {
            let record = scene.create(1).await;
            let delete = || bare("DELETE", &scene.item(&record));
            assert_eq!(*scene.send(delete()).await.data(), json!({}));
            for request in
                [delete(), get(&scene.item(&record)), send_json("PUT", &scene.item(&record), &record)]
            {
                let reply = scene.send(request).await;
                assert_eq!(*reply.refuses(404, "entity_not_found"), scene.params(&record));
            }
        },
    );
}

#[test]
fn bulk_deletion_counts_what_it_deletes_and_skips_the_rest() {
    for_each_that(
        |kind| kind.can_bulk_delete,
        async |scene| {
            let records = [scene.create(1).await, scene.create(2).await];
            let ids = json!([records[0]["id"], records[1]["id"], NOBODY, records[0]["id"]]);
            for deleted in [2, 0] {
                let reply = scene.send(scene.bulk_delete(&ids)).await;
                assert_eq!(*reply.data(), json!({"deleted_count": deleted, "requested_count": 4}));
            }
            scene.send(get(&scene.item(&records[0]))).await.refuses(404, "entity_not_found");
            for (body, code) in [
                (json!([]), "validation_empty"),
                (json!(vec![NOBODY; 1_001]), "validation_max_length"),
                (json!(["x"]), "validation_invalid_format"),
                (json!({}), "validation_malformed_json"),
            ] {
                scene.send(scene.bulk_delete(&body)).await.refuses(400, code);
            }
            let most = scene.send(scene.bulk_delete(&json!(vec![NOBODY; 1_000]))).await;
            assert_eq!(*most.data(), json!({"deleted_count": 0, "requested_count": 1_000}));
        },
    );
}

#[test]
fn names_of_tags_and_networks_and_addresses_of_subnets_are_unique() {
    for_each_that(
        |kind| ["Tag", "Network", "Subnet"].contains(&kind.entity),
        async |scene| {
            let field = if scene.kind.has_network { "cidr" } else { "name" };
            let [first, second] = [scene.create(1).await, scene.create(2).await];
            let taken = first[field].as_str().unwrap().to_uppercase();
            let params = |name: &Value| json!({"entity": scene.kind.entity, "name": name, "id": first["id"]});
            let reply = scene.put(&second, &with(&second, field, taken.clone())).await;
            assert_eq!(*reply.refuses(409, "entity_already_exists"), params(&json!(taken)));
            let reply = scene.send(send_json("POST", scene.kind.path, &scene.kind.body(1).unwrap())).await;
            assert_eq!(*reply.refuses(409, "entity_already_exists"), params(&first[field]));
        },
    );
}
