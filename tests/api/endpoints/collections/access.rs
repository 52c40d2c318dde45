//! Levels, sessions, networks and organizations.

use super::*;
use crate::common::{LAB, LEVELS, NOBODY};

#[test]
fn each_operation_needs_its_level() {
    for_each(async |scene| {
        let [read, create, change] = scene.kind.levels;
        let record = scene.create(1).await;
        for level in LEVELS {
            let client = client(&scene.fixture, level, &[OFFICE]).await;
            let reads = [get(scene.kind.path), get(&scene.item(&record))].map(|request| (read, request));
            let writes = scene.writes(&record).into_iter().map(|request| {
                let is_creation = request.method() == "POST" && request.uri().path() == scene.kind.path;
                (if is_creation { create } else { change }, request)
            });
            for (needed, request) in reads.into_iter().chain(writes) {
                let case = format!("{} {} by {level}", request.method(), request.uri());
                let reply = scene.send_as(&client, request).await;
                let is_refused = reply.json["code"] == "auth_permission_denied";
                assert_eq!(is_refused, level < needed, "{case}: {}", reply.json);
            }
        }
    });
}

#[test]
fn writes_accept_a_key_unless_they_need_a_session() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        for request in scene.writes(&record) {
            let case = format!("{} {}", request.method(), request.uri());
            // Keys create networks, and only persons change them.
            let creates_network = request.uri().path() == "/api/v1/networks";
            let reply = scene.fixture.send(with_key(request, &scene.owner.key)).await;
            if scene.kind.needs_session && !creates_network {
                reply.refuses(403, "auth_user_context_required");
            } else {
                assert_ne!(reply.status, 403, "{case}");
            }
        }
        let reply = scene.fixture.send(with_session(get(scene.kind.path), &scene.owner.session)).await;
        assert_eq!(reply.status, 200);
        scene.fixture.send(get(scene.kind.path)).await.refuses(401, "auth_not_authenticated");
    });
}

#[test]
fn records_of_another_organization_do_not_exist() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let user = scene.fixture.user(&scene.fixture.abroad, Permission::Owner, &[]).await;
        let key = key_for(&user, Permission::Owner, &scene.fixture.abroad.networks);
        let key = scene.fixture.issue(key).await;
        let session = scene.fixture.sign_in(&user).await;
        let other = Client { key, session };
        let writes = scene.writes(&record).into_iter();
        for request in writes.filter(|request| request.method() != "POST").chain([get(&scene.item(&record))])
        {
            let reply = scene.send_as(&other, request).await;
            assert_eq!(*reply.refuses(404, "entity_not_found"), scene.params(&record));
        }
        if scene.kind.can_bulk_delete {
            let reply = scene.send_as(&other, scene.bulk_delete(&json!([record["id"]]))).await;
            assert_eq!(*reply.data(), json!({"deleted_count": 0, "requested_count": 1}));
        }
        let target = format!("{}?ids={}", scene.kind.path, record["id"].as_str().unwrap());
        assert_eq!(scene.send_as(&other, get(&target)).await.total(), 0);
        assert_eq!(*scene.send(get(&scene.item(&record))).await.data(), record);
    });
}

#[test]
fn records_on_networks_that_are_not_granted_are_denied() {
    for_each_that(
        |kind| kind.has_network || kind.entity == "Network",
        async |scene| {
            let record = scene.create(1).await;
            let network = if scene.kind.has_network {
                OFFICE.to_string()
            } else {
                record["id"].as_str().unwrap().to_owned()
            };
            let denied = json!({"entity": "Network", "id": network});
            let member = client(&scene.fixture, Permission::Member, &[LAB]).await;
            let mut requests = vec![get(&scene.item(&record))];
            if scene.kind.has_network {
                let writes = scene.writes(&record).into_iter();
                requests.extend(writes.filter(|request| !request.uri().path().ends_with("bulk-delete")));
            }
            for request in requests {
                let reply = scene.send_as(&member, request).await;
                assert_eq!(*reply.refuses(403, "entity_access_denied"), denied);
            }
            let ids = format!("{}?ids={}", scene.kind.path, record["id"].as_str().unwrap());
            assert_eq!(scene.send_as(&member, get(&ids)).await.total(), 0);
            if scene.kind.has_network {
                let path = format!("{}?network_id={OFFICE}", scene.kind.path);
                assert_eq!(scene.send_as(&member, get(&path)).await.total(), 0);
                let reply = scene.send_as(&member, scene.bulk_delete(&json!([record["id"]]))).await;
                assert_eq!(reply.data()["deleted_count"], 0);
            }
        },
    );
}

#[test]
fn network_of_a_record_must_be_of_the_organization_and_cannot_change() {
    for_each_that(
        |kind| kind.has_network,
        async |scene| {
            let record = scene.create(1).await;
            for network in [LAB, NOBODY.into(), scene.fixture.abroad.networks[0]] {
                let reply = scene.put(&record, &with(&record, "network_id", network.to_string())).await;
                let entity = json!({"entity": scene.kind.entity});
                assert_eq!(*reply.refuses(400, "entity_network_mismatch"), entity);
            }
            for network in [NOBODY.into(), scene.fixture.abroad.networks[0]] {
                let body = with(&scene.kind.body(2).unwrap(), "network_id", network.to_string());
                let reply = scene.send(send_json("POST", scene.kind.path, &body)).await;
                if scene.kind.entity == "Daemon API Key" {
                    let denied = json!({"entity": "Network", "id": network});
                    assert_eq!(*reply.refuses(403, "entity_access_denied"), denied);
                } else {
                    let invalid = json!({"entity": "Network", "field": "network_id"});
                    assert_eq!(*reply.refuses(400, "entity_reference_invalid"), invalid);
                }
            }
        },
    );
}

#[test]
fn references_in_lists_must_be_of_the_organization() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let lists = [
            ("tags", "Tag", scene.fixture.abroad.tags[0]),
            ("network_ids", "Network", scene.fixture.abroad.networks[0].uuid().into()),
        ];
        for (field, entity, foreign) in lists {
            let Some(known) = record.get(field).and_then(Value::as_array) else { continue };
            for id in [NOBODY, foreign.uuid()] {
                let list: Vec<Value> = known.iter().cloned().chain([json!(id)]).collect();
                let invalid = json!({"entity": entity, "field": format!("{field}.{}", known.len())});
                let reply = scene.put(&record, &with(&record, field, list.clone())).await;
                assert_eq!(*reply.refuses(400, "entity_reference_invalid"), invalid);
                let body = with(&scene.kind.body(2).unwrap(), field, list);
                let reply = scene.send(send_json("POST", scene.kind.path, &body)).await;
                assert_eq!(*reply.refuses(400, "entity_reference_invalid"), invalid);
            }
        }
    });
}
