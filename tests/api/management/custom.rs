//! Custom fields of hosts and networks.

use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use toposcope::inventory::{ErrorKind, HostQuery, ListQuery};
use toposcope::model::{Custom, Host, Network, Tag};
use tower::ServiceExt;

use toposcope::access::Caller;

use super::*;
use crate::common::{Server, ample, host, with_session};

const NETWORKS: &str = "/api/v1/networks";

fn draft(custom: &Value) -> Value {
    json!({"network_id": OFFICE, "name": "a", "custom": custom})
}

/// A server whose hosts and networks are indexed by these custom fields.
fn indexed(fixture: &Fixture, fields: &[&str]) -> Server {
    Server::new(fixture.inventory.clone().with_custom_index(fields.iter().copied()), ample())
}

#[test]
fn custom_fields_are_stored_as_given_and_left_out_where_there_are_none() {
    run_new(async |fixture| {
        let custom = json!({"asset_tag": "A-17", "rack.unit": 4, "spare": false, "owner": {"team": ["net"]}});
        let created = fixture.post(HOSTS, &draft(&custom)).await;
        assert_eq!(created["custom"], custom);
        let path = path_of(HOSTS, &created);
        assert_eq!(fixture.read(&path).await, created);
        for none in [json!({}), Value::Null, json!({"a": null})] {
            let created = fixture.post(HOSTS, &draft(&none)).await;
            assert_eq!(created.get("custom"), None, "{none}");
        }
        // Unknown fields of a host are ignored as before.
        let unknown = json!({"network_id": OFFICE, "name": "a", "asset_tag": "A-17"});
        assert_eq!(fixture.post(HOSTS, &unknown).await.get("asset_tag"), None);
    });
}

#[test]
fn update_replaces_custom_fields_and_patch_merges_them() {
    run_new(async |fixture| {
        let created = fixture.post(HOSTS, &draft(&json!({"a": 1, "b": {"c": 2, "d": 3}}))).await;
        let path = path_of(HOSTS, &created);
        let change = async |method: &str, body: Value| {
            let reply = fixture.ask(send_json(method, &path, &body)).await;
            reply.data().get("custom").cloned().unwrap_or_default()
        };
        let patched = change("PATCH", json!({"custom": {"a": null, "b": {"c": null}, "e": "f"}})).await;
        assert_eq!(patched, json!({"b": {"d": 3}, "e": "f"}));
        let update = |custom: Value| json!({"network_id": OFFICE, "name": "a", "custom": custom});
        assert_eq!(change("PUT", json!({"network_id": OFFICE, "name": "z"})).await, patched);
        assert_eq!(change("PUT", update(json!({"g": 1}))).await, json!({"g": 1}));
        assert_eq!(change("PUT", update(json!({}))).await, Value::Null);
        assert_eq!(change("PATCH", json!({"custom": {"a": 1}})).await, json!({"a": 1}));
        assert_eq!(change("PATCH", json!({"custom": null})).await, Value::Null);
    });
}

#[test]
fn networks_have_custom_fields() {
    run_new(async |fixture| {
        let body = json!({"name": "Annex", "custom": {"cost_center": 4711, "x": null}});
        let created = fixture.post(NETWORKS, &body).await;
        assert_eq!(created["custom"], json!({"cost_center": 4711}));
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let path = path_of(NETWORKS, &created);
        let change = async |method: &str, body: Value| {
            let request = with_session(send_json(method, &path, &body), &session);
            let reply = fixture.send(request).await;
            reply.data().get("custom").cloned().unwrap_or_default()
        };
        assert_eq!(change("PUT", json!({"name": "Annex 2"})).await, json!({"cost_center": 4711}));
        let patch = json!({"custom": {"cost_center": null, "site": "B"}});
        assert_eq!(change("PATCH", patch).await, json!({"site": "B"}));
        assert_eq!(change("PUT", json!({"name": "Annex", "custom": null})).await, Value::Null);
        let wrong = json!({"name": "Other", "custom": {"Site": 1}});
        let refused = fixture.ask(send_json("POST", NETWORKS, &wrong)).await;
        assert_eq!(refused.refuses(400, "validation_invalid_format")["field"], "custom.Site");
    });
}

#[test]
fn limits_of_custom_fields_are_checked_before_anything_is_stored() {
    run_new(async |fixture| {
        let many: Map<String, Value> = (0..65).map(|number| (format!("f{number}"), json!(1))).collect();
        let large = json!({"a": "x".repeat(16_384)});
        let long = "a".repeat(65);
        let rows = [
            (json!(many), "validation_max_length", json!({"field": "custom", "max": 64})),
            (large, "validation_max_length", json!({"field": "custom", "max": 16_384})),
            (json!({"A": 1}), "validation_invalid_format", json!({"field": "custom.A"})),
            (json!({"": 1}), "validation_invalid_format", json!({"field": "custom."})),
            (json!([]), "validation_invalid_format", json!({"field": "custom"})),
            (json!("x"), "validation_invalid_format", json!({"field": "custom"})),
        ];
        for (custom, code, params) in rows {
            let refused = fixture.ask(send_json("POST", HOSTS, &draft(&custom))).await;
            assert_eq!(*refused.refuses(400, code), params);
            let hosts = json!({"hosts": [draft(&json!({"a": 1})), draft(&custom)]});
            let refused = fixture.ask(send_json("POST", "/api/v1/hosts/bulk", &hosts)).await;
            let field = format!("hosts.1.{}", params["field"].as_str().unwrap());
            assert_eq!(refused.refuses(400, code)["field"], field);
        }
        let refused = fixture.ask(send_json("POST", HOSTS, &draft(&json!({long: 1})))).await;
        refused.refuses(400, "validation_invalid_format");
        // A name twice, which a JSON value cannot have.
        let text = format!(r#"{{"network_id": "{OFFICE}", "name": "a", "custom": {{"a": 1, "a": 2}}}}"#);
        let refused = fixture.ask(send_json("POST", HOSTS, &Value::Null).map(|_| text)).await;
        refused.refuses(400, "validation_invalid_format");
        assert_eq!(fixture.list("").await.total(), 0);
        let most: Map<String, Value> = (0..64).map(|number| (format!("f{number}"), json!(1))).collect();
        fixture.post(HOSTS, &draft(&json!(most))).await;
    });
}

#[test]
fn exported_custom_fields_can_be_imported() {
    run_new(async |fixture| {
        let custom = json!({"asset_tag": "A-17", "n": 1.5});
        fixture.post(HOSTS, &draft(&custom)).await;
        let types: &[&str] = if cfg!(feature = "csv") {
            &["application/x-ndjson", "text/csv"]
        } else {
            &["application/x-ndjson"]
        };
        for (count, media_type) in types.iter().enumerate() {
            let export = with_header(get("/api/v1/hosts?limit=0"), "accept", media_type);
            let exported = fixture.server.api.clone().oneshot(with_key(export, &fixture.key)).await.unwrap();
            let text = exported.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8(text.into()).unwrap();
            assert!(text.contains("A-17"), "{text}");
            let import = send_json("POST", "/api/v1/hosts/import", &Value::Null).map(|_| text);
            let report = fixture.ask(with_header(import, "content-type", media_type)).await;
            let imported = report.data()["imported"].as_u64().unwrap();
            assert!(imported >= 1, "{}", report.json);
            let hosts = fixture.read("/api/v1/hosts?limit=0").await;
            let hosts = hosts.as_array().unwrap();
            assert!(hosts.len() > count && hosts.iter().all(|host| host["custom"] == custom), "{hosts:#?}");
        }
    });
}

#[test]
fn hosts_are_found_and_ordered_by_indexed_custom_fields() {
    run_new(async |fixture| {
        let server = indexed(&fixture, &["asset_tag", "rack"]);
        fixture.inventory.clone().with_custom_index(["asset_tag", "rack"]).upgrade().await.unwrap();
        let ask = async |request| server.send(with_key(request, &fixture.key)).await;
        for (name, custom) in [
            ("one", json!({"asset_tag": "A-17", "rack": 10})),
            ("two", json!({"asset_tag": "A-18", "rack": 9})),
            ("three", json!({"asset_tag": "a-17", "rack": "9"})),
            ("four", json!({"asset_tag": true, "other": "A-17"})),
        ] {
            let body = json!({"network_id": OFFICE, "name": name, "custom": custom});
            ask(send_json("POST", HOSTS, &body)).await.data();
        }
        let names = async |query: &str| {
            let reply = ask(get(&format!("/api/v1/hosts?{query}"))).await;
            let hosts = reply.data().as_array().unwrap();
            hosts.iter().map(|host| host["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (query, expected) in [
            ("custom.asset_tag=A-17", vec!["one"]),
            ("custom.asset_tag=A-1", vec![]),
            ("custom.asset_tag=true", vec!["four"]),
            ("custom.rack=9&order_by=name&order_direction=desc", vec!["two", "three"]),
            ("custom.rack=9&custom.asset_tag=a-17", vec!["three"]),
            ("custom.rack=9&order_by=name", vec!["three", "two"]),
            ("order_by_custom=rack", vec!["four", "two", "one", "three"]),
            ("order_by_custom=rack&order_direction=desc", vec!["three", "one", "two", "four"]),
        ] {
            assert_eq!(names(query).await, expected, "{query}");
        }
        let first = ask(get("/api/v1/hosts?order_by_custom=rack&limit=2&cursor=")).await;
        let cursor = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        assert_eq!(names(&format!("order_by_custom=rack&limit=2&cursor={cursor}")).await, ["one", "three"]);

        // A change moves the host in the index.
        let id = ask(get("/api/v1/hosts?name=one")).await.data()[0]["id"].as_str().unwrap().to_owned();
        let patch = json!({"custom": {"asset_tag": "B-1"}});
        ask(send_json("PATCH", &format!("{HOSTS}/{id}"), &patch)).await.data();
        assert_eq!(names("custom.asset_tag=A-17").await, Vec::<String>::new());
        assert_eq!(names("custom.asset_tag=B-1").await, ["one"]);
    });
}

#[test]
fn filters_by_other_custom_fields_are_refused() {
    run_new(async |fixture| {
        let server = indexed(&fixture, &["asset_tag"]);
        let ask = async |query: &str| {
            server.send(with_key(get(&format!("/api/v1/hosts?{query}")), &fixture.key)).await
        };
        for (query, field) in [("custom.rack=1", "custom.rack"), ("order_by_custom=rack", "order_by_custom")]
        {
            let refused = ask(query).await;
            assert_eq!(*refused.refuses(400, "validation_unknown_parameter"), json!({"field": field}));
            let sentence = refused.json["error"].as_str().unwrap();
            assert!(sentence.contains("not indexed; ask the operator"), "{sentence}");
        }
        let long = format!("custom.asset_tag={}", "x".repeat(1_025));
        let both = "order_by_custom=asset_tag&order_by=name";
        for unnamed in ["custom=1", "custom.=1"] {
            let refused = ask(unnamed).await;
            assert_eq!(refused.refuses(400, "validation_invalid_format")["field"], "custom");
        }
        ask(&long).await.refuses(400, "validation_max_length");
        let refused = ask(both).await;
        refused.refuses(400, "validation_invalid_format");
        let sentence = refused.json["error"].as_str().unwrap();
        assert!(sentence.contains("cannot be combined with `order_by`"), "{sentence}");
        ask("custom.asset_tag=a&custom.asset_tag=b").await.refuses(400, "validation_invalid_format");
        let tags = server.send(with_key(get("/api/v1/tags?custom.asset_tag=1"), &fixture.key)).await;
        tags.refuses(400, "validation_unknown_parameter");
    });
}

#[test]
fn wrong_spelling_of_a_custom_field_is_refused_with_the_right_one() {
    run_new(async |fixture| {
        let server = indexed(&fixture, &["unit"]);
        let ask = async |target: &str| server.send(with_key(get(target), &fixture.key)).await;
        let (filter, order) = ("`custom.asset_tag=A-17`", "`order_by_custom=asset_tag`");
        let (format, unknown) = ("validation_invalid_format", "validation_unknown_parameter");
        let long = format!("custom_{}", "x".repeat(1_000));
        for (query, field, code, right) in [
            ("order_by=custom.unit", "order_by", format, order),
            ("order_by=custom.", "order_by", format, order),
            ("order_by_custom=custom.unit", "order_by_custom", format, order),
            ("order_by_custom=Unit", "order_by_custom", format, order),
            ("custom.custom.unit=3", "custom.custom.unit", format, filter),
            ("custom.Unit=3", "custom", format, filter),
            ("custom=3", "custom", format, filter),
            ("custom_unit=3", "custom_unit", unknown, filter),
            ("custom%5Bunit%5D=3", "custom[unit]", unknown, filter),
            (&*format!("{long}=3"), &*long, unknown, filter),
        ] {
            for list in [HOSTS, NETWORKS] {
                let refused = ask(&format!("{list}?{query}")).await;
                assert_eq!(*refused.refuses(400, code), json!({"field": field}), "{query}");
                let sentence = refused.json["error"].as_str().unwrap();
                assert!(sentence.contains(right) && sentence.chars().count() <= 200, "{query}: {sentence}");
            }
        }
        for query in ["order_by=custom.unit", "custom_unit=3", "order_by=unit"] {
            let refused = ask(&format!("/api/v1/tags?{query}")).await;
            assert_eq!(refused.status, 400);
            let sentence = refused.json["error"].as_str().unwrap();
            assert!(!sentence.contains("asset_tag"), "tags have no custom fields: {sentence}");
        }
    });
}

#[test]
fn new_index_is_answered_with_503_until_stored_hosts_are_indexed() {
    run_new(async |fixture| {
        let custom = Custom::from([("rack".to_owned(), json!(7))]);
        fixture.put([Host { custom, ..host(1, OFFICE) }, host(2, OFFICE)]).await;
        let inventory = fixture.inventory.clone().with_custom_index(["rack"]);
        let server = Server::new(inventory.clone(), ample());
        let ask = async || server.send(with_key(get("/api/v1/hosts?custom.rack=7"), &fixture.key)).await;
        let early = ask().await;
        early.refuses(503, "store_unavailable");
        assert_eq!(early.number("retry-after"), 1);
        assert!(inventory.upgrade().await.unwrap() >= 2);
        assert_eq!(ask().await.ids(), [1]);
        assert_eq!(inventory.upgrade().await.unwrap(), 0);

        // A process that does not index the field ends the index.
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
        let again = fixture.inventory.clone().with_custom_index(["rack"]);
        let mut query = HostQuery::default();
        query.custom.insert("rack".to_owned(), "7".to_owned());
        assert!(again.hosts().list(&fixture.system(), &query).await.is_err());
        assert_eq!(again.upgrade().await.unwrap(), 2);
        assert_eq!(again.hosts().list(&fixture.system(), &query).await.unwrap().total, 1);
    });
}

/// Creates networks with these names and custom fields in an organization.
async fn create_networks(inventory: &toposcope::Inventory, caller: &Caller, networks: &[(&str, Value)]) {
    for (name, custom) in networks {
        let mut network = Network::new(*name);
        network.custom = serde_json::from_value(custom.clone()).unwrap();
        inventory.networks().create(caller, network).await.unwrap();
    }
}

#[test]
fn networks_are_found_and_ordered_by_indexed_custom_fields() {
    run_new(async |fixture| {
        let inventory = fixture.inventory.clone().with_custom_index(["site", "floor"]);
        inventory.upgrade().await.unwrap();
        let server = Server::new(inventory.clone(), ample());
        let key = fixture.key_for_all_networks().await;
        let ask = async |request| server.send(with_key(request, &key)).await;
        let networks = [
            ("one", json!({"site": "B", "floor": 10, "x": "B"})),
            ("two", json!({"site": "b", "floor": 9})),
            ("three", json!({"site": true, "floor": "9"})),
            ("four", json!({"site": "B"})),
        ];
        create_networks(&inventory, &fixture.system(), &networks).await;
        let foreign = Caller::system(fixture.abroad.organization.id);
        create_networks(&inventory, &foreign, &[("foreign", json!({"site": "B"}))]).await;
        let names = async |query: &str| {
            let reply = ask(get(&format!("{NETWORKS}?{query}"))).await;
            let networks = reply.data().as_array().unwrap();
            networks.iter().map(|network| network["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (query, expected) in [
            ("custom.site=B&order_by=name", vec!["four", "one"]),
            ("custom.site=true", vec!["three"]),
            ("custom.site=x", vec![]),
            ("custom.floor=9&order_by=name", vec!["three", "two"]),
            ("custom.floor=9&custom.site=b", vec!["two"]),
            ("custom.site=B&order_by_custom=floor", vec!["four", "one"]),
            ("custom.site=B&order_by_custom=floor&order_direction=desc", vec!["one", "four"]),
        ] {
            assert_eq!(names(query).await, expected, "{query}");
        }
        let all = names("order_by_custom=floor").await;
        assert_eq!(all[all.len() - 3..], ["two", "one", "three"]);
        let first =
            ask(get(&format!("{NETWORKS}?order_by_custom=floor&limit=1&cursor=&order_direction=desc"))).await;
        let cursor = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        let rest = format!("order_by_custom=floor&limit=1&order_direction=desc&cursor={cursor}");
        assert_eq!(names(&rest).await, ["one"]);
        let other =
            get(&format!("{NETWORKS}?order_by_custom=site&limit=1&order_direction=desc&cursor={cursor}"));
        ask(other).await.refuses(400, "validation_invalid_format");

        // A change moves the network in the index, and the deletion of a tag keeps it there.
        let tag = inventory.tags().create(&fixture.system(), Tag::new("site tag")).await.unwrap();
        let mut query = ListQuery::default();
        query.custom.insert("site".to_owned(), "b".to_owned());
        let found = inventory.networks().list(&fixture.system(), &query).await.unwrap().records;
        let change = |network: &mut Network| {
            network.custom.insert("site".to_owned(), json!("C"));
            network.tags = vec![tag.id];
            Ok(())
        };
        inventory.networks().update(&fixture.system(), found[0].id, change).await.unwrap();
        assert_eq!(names("custom.site=b").await, Vec::<String>::new());
        inventory.tags().delete(&fixture.system(), tag.id).await.unwrap();
        assert_eq!(names("custom.site=C").await, ["two"]);
    });
}

#[test]
fn networks_stored_before_an_index_are_answered_with_503_until_they_are_indexed() {
    run_new(async |fixture| {
        create_networks(&fixture.inventory, &fixture.system(), &[("old", json!({"site": "B"}))]).await;
        let inventory = fixture.inventory.clone().with_custom_index(["site"]);
        let server = Server::new(inventory.clone(), ample());
        let key = fixture.key_for_all_networks().await;
        let ask = async || server.send(with_key(get(&format!("{NETWORKS}?custom.site=B")), &key)).await;
        let early = ask().await;
        early.refuses(503, "store_unavailable");
        assert_eq!(early.number("retry-after"), 1);
        assert_eq!(inventory.upgrade().await.unwrap(), 1, "networks without custom fields stay as they are");
        assert_eq!(ask().await.data()[0]["name"], "old");
        assert_eq!(inventory.upgrade().await.unwrap(), 0);
    });
}

#[test]
fn lists_of_other_records_have_no_custom_fields_and_name_what_they_refuse() {
    run_new(async |fixture| {
        let server = indexed(&fixture, &["site"]);
        let ask = async |target: &str| server.send(with_key(get(target), &fixture.key)).await;
        for (query, field) in [("custom.rack=1", "custom.rack"), ("order_by_custom=rack", "order_by_custom")]
        {
            let refused = ask(&format!("{NETWORKS}?{query}")).await;
            assert_eq!(*refused.refuses(400, "validation_unknown_parameter"), json!({"field": field}));
        }
        let both = format!("{NETWORKS}?order_by_custom=site&order_by=name");
        ask(&both).await.refuses(400, "validation_invalid_format");
        for list in ["/api/v1/subnets", "/api/v1/tags", "/api/v1/ports"] {
            for query in ["custom.site=1", "order_by_custom=site"] {
                ask(&format!("{list}?{query}")).await.refuses(400, "validation_unknown_parameter");
            }
        }
        let inventory = fixture.inventory.clone().with_custom_index(["site"]);
        inventory.upgrade().await.unwrap();
        let mut query = ListQuery::default();
        query.custom.insert("site".to_owned(), "B".to_owned());
        let refused = inventory.tags().list(&fixture.system(), &query).await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid { field, .. } if field == "custom.site"));
        let mut query = ListQuery::default();
        query.order_by_custom = Some("site".to_owned());
        let refused = inventory.subnets().list(&fixture.system(), &query).await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid { field, .. } if field == "order_by_custom"));
    });
}
