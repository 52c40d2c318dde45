//! Diffs, summaries, lists of the past, and reverting.

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Permission;

use super::CHANGES;
use crate::backend::{Backend, run};
use crate::common::{Fixture, HOSTS, LAB, NOBODY, OFFICE, Reply, get, send_json, with_header, with_key};
use crate::lists::whole_list::Reading;

impl Fixture {
    /// Sends a request with the key of an Owner.
    async fn as_owner(&self, request: Request<String>) -> Reply {
        self.send(with_key(request, &self.key)).await
    }

    /// Returns the `data` of what an Owner reads.
    async fn read_as_owner(&self, target: &str) -> Value {
        self.as_owner(get(target)).await.data().clone()
    }

    /// Creates a record as an Owner. Returns its path.
    async fn create_as_owner(&self, collection: &str, body: &Value) -> String {
        let record = self.as_owner(send_json("POST", collection, body)).await.data().clone();
        format!("{collection}/{}", record["id"].as_str().unwrap())
    }

    async fn newest_position(&self) -> String {
        self.newest(&self.key).await
    }
}

fn body(name: &str) -> Value {
    json!({"network_id": OFFICE, "name": name})
}

fn revert(path: &str, position: &str) -> Request<String> {
    send_json("POST", &format!("{path}/revert"), &json!({"position": position}))
}

#[test]
fn diff_summary_and_lists_show_what_has_changed() {
    run(async || {
        let fixture = Fixture::new().await;
        let kept = fixture.create_as_owner(HOSTS, &body("kept")).await;
        let removed = fixture.create_as_owner(HOSTS, &body("removed")).await;
        let from = fixture.newest_position().await;
        fixture.create_as_owner(HOSTS, &body("added")).await;
        fixture.as_owner(send_json("PATCH", &kept, &json!({"name": "renamed"}))).await.data();
        fixture.as_owner(send_json("DELETE", &removed, &Value::Null)).await.data();
        let diff = fixture.read_as_owner(&format!("{CHANGES}/diff?from={from}")).await;
        let hosts = &diff["hosts"];
        assert_eq!(
            (&hosts["added"][0]["name"], &hosts["removed"][0]["name"]),
            (&json!("added"), &json!("removed"))
        );
        assert_eq!(hosts["changed"][0]["fields"], json!({"name": {"before": "kept", "after": "renamed"}}));
        assert_eq!(hosts["counts"], json!({"added": 1, "removed": 1, "changed": 1}));
        assert_eq!(diff["truncated"], json!(false));
        let of_lab = fixture.read_as_owner(&format!("{CHANGES}/diff?from={from}&network_id={LAB}")).await;
        assert_eq!(of_lab["hosts"]["counts"], json!({"added": 0, "removed": 0, "changed": 0}));

        let summary = fixture.read_as_owner(&format!("{CHANGES}/summary?since={from}")).await;
        let counts: Vec<(&str, u64)> = summary["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| (count["action"].as_str().unwrap(), count["count"].as_u64().unwrap()))
            .collect();
        assert_eq!(counts, [("created", 1), ("deleted", 1), ("updated", 1)]);
        assert_eq!(summary["next"], Value::Null);

        let names = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap().to_owned()).collect()
        };
        let past = fixture.read_as_owner(&format!("{HOSTS}?at={from}&order_by=name")).await;
        assert_eq!(names(&past), ["kept", "removed"]);
        let found = fixture.read_as_owner(&format!("{HOSTS}?at={from}&search=removed")).await;
        assert_eq!(names(&found), ["removed"]);
        let page = fixture.as_owner(get(&format!("{HOSTS}?at={from}&limit=1"))).await;
        assert_eq!(page.json["meta"]["pagination"]["total_count"], json!(2));
        let whole = fixture.read_as_owner(&format!("{HOSTS}?at={from}&order_by=name&limit=0")).await;
        assert_eq!(names(&whole), ["kept", "removed"]);
        let present = fixture.read_as_owner(&format!("{HOSTS}?order_by=name")).await;
        assert_eq!(names(&present), ["added", "renamed"]);
    });
}

#[test]
fn viewer_of_one_network_sees_nothing_of_another() {
    run(async || {
        let fixture = Fixture::new().await;
        let from = fixture.newest_position().await;
        fixture.create_as_owner(HOSTS, &json!({"network_id": LAB, "name": "in the lab"})).await;
        let at = fixture.newest_position().await;
        let key = fixture.key(Permission::Viewer, &[OFFICE]).await;
        for target in [
            format!("{CHANGES}/diff?from={from}&to={at}"),
            format!("{CHANGES}/diff?from={from}&network_id={LAB}"),
            format!("{HOSTS}?at={at}"),
            format!("{CHANGES}/summary?since={from}&until={at}"),
        ] {
            let reply = fixture.send(with_key(get(&target), &key)).await;
            assert!(!reply.data().to_string().contains("lab"), "{target}");
            assert!(!reply.json.to_string().contains("Host"), "{target}");
        }
    });
}

#[test]
fn faults_of_moments_name_their_parameter() {
    run(async || {
        let fixture = Fixture::new().await;
        let position = fixture.newest_position().await;
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let theirs = fixture.newest(&abroad).await;
        for (target, field) in [
            (format!("{CHANGES}/diff?from={position}&to=x"), "to"),
            (format!("{CHANGES}/summary?since=x"), "since"),
            (format!("{HOSTS}?at=x"), "at"),
        ] {
            let reply = fixture.as_owner(get(&target)).await;
            assert_eq!(reply.refuses(400, "validation_invalid_format"), &json!({"field": field}), "{target}");
        }
        let reply = fixture.as_owner(get(&format!("{CHANGES}/diff"))).await;
        assert_eq!(reply.refuses(400, "validation_required"), &json!({"field": "from"}));
        for target in [
            format!("{CHANGES}/diff?from={theirs}"),
            format!("{CHANGES}/summary?until={theirs}"),
            format!("{HOSTS}?at={theirs}"),
            format!("{CHANGES}?after={theirs}"),
            format!("{CHANGES}/stream?after={theirs}"),
        ] {
            fixture.as_owner(get(&target)).await.refuses(410, "position_gone");
        }
        let early = "2000-01-01T00:00:00Z";
        for target in [format!("{HOSTS}?at={early}"), format!("{CHANGES}/diff?from={early}")] {
            fixture.as_owner(get(&target)).await.refuses(410, "position_gone");
        }
        fixture.as_owner(get(&format!("{CHANGES}/summary?since={early}"))).await.data();
    });
}

#[test]
fn reversion_follows_the_rules_of_updates_and_creations() {
    run(async || {
        let fixture = Fixture::new().await;
        let path = fixture.create_as_owner(HOSTS, &body("first")).await;
        let position = fixture.newest_position().await;
        let stale = fixture.as_owner(get(&path)).await.header("etag").to_owned();
        fixture.as_owner(send_json("PATCH", &path, &json!({"name": "second"}))).await.data();
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        fixture
            .send(with_key(revert(&path, &position), &viewer))
            .await
            .refuses(403, "auth_permission_denied");
        let member = fixture.key(Permission::Member, &[LAB]).await;
        fixture.send(with_key(revert(&path, &position), &member)).await.refuses(403, "entity_access_denied");
        let with_tag = |tag: &str| with_header(revert(&path, &position), "if-match", tag);
        fixture.as_owner(with_tag(&stale)).await.refuses(412, "precondition_failed");
        let reply = fixture.as_owner(with_tag("*")).await;
        assert_eq!(reply.data()["name"], "first");
        assert_eq!(reply.header("etag"), fixture.as_owner(get(&path)).await.header("etag"));
        fixture.as_owner(send_json("DELETE", &path, &Value::Null)).await.data();
        fixture.as_owner(with_tag("*")).await.refuses(412, "precondition_failed");
        assert_eq!(fixture.as_owner(revert(&path, &position)).await.data()["name"], "first");
        assert_eq!(fixture.read_as_owner(&path).await["name"], "first");
        let unknown = format!("{HOSTS}/{NOBODY}");
        fixture.as_owner(revert(&unknown, &position)).await.refuses(404, "entity_not_found");
        let reply = fixture.as_owner(revert(&path, "x")).await;
        assert_eq!(reply.refuses(400, "validation_invalid_format"), &json!({"field": "position"}));
    });
}

#[test]
fn tags_and_subnets_are_reverted() {
    run(async || {
        let fixture = Fixture::new().await;
        let subnet = json!({"network_id": OFFICE, "name": "lan", "cidr": "192.0.2.0/24"});
        for (collection, body) in [("/api/v1/tags", json!({"name": "red"})), ("/api/v1/subnets", subnet)] {
            let path = fixture.create_as_owner(collection, &body).await;
            let position = fixture.newest_position().await;
            fixture.as_owner(send_json("PATCH", &path, &json!({"name": "other"}))).await.data();
            assert_eq!(fixture.as_owner(revert(&path, &position)).await.data()["name"], body["name"]);
            fixture.as_owner(send_json("DELETE", &path, &Value::Null)).await.data();
            assert_eq!(fixture.as_owner(revert(&path, &position)).await.data()["name"], body["name"]);
            assert_eq!(fixture.read_as_owner(&path).await["name"], body["name"]);
        }
    });
}

/// A list that is being sent holds the slot of its caller.
#[tokio::test]
async fn one_list_of_the_past_is_made_for_a_caller_at_a_time() {
    let fixture = Backend::Memory.scope(Fixture::new()).await.on_one_instance();
    for number in 0..300 {
        fixture.create_as_owner(HOSTS, &body(&format!("host {number}"))).await;
    }
    let at = fixture.newest_position().await;
    let target = format!("{HOSTS}?at={at}&limit=1000");
    let server = fixture.configured(|builder| builder);
    let begun = Reading::begin(server.api.clone(), with_key(get(&target), &fixture.key)).await;
    let short = format!("{HOSTS}?at={at}&limit=1");
    server.get_with(&fixture.key, &short).await.refuses(429, "rate_limit_exceeded");
    let diff = format!("{CHANGES}/diff?from={at}");
    server.get_with(&fixture.key, &diff).await.refuses(429, "rate_limit_exceeded");
    if cfg!(feature = "topology") {
        let graph = format!("/api/v1/topology/graph?network_id={OFFICE}&compare={at}");
        server.get_with(&fixture.key, &graph).await.refuses(429, "rate_limit_exceeded");
    }
    server.get_with(&fixture.key, &format!("{HOSTS}?limit=1")).await.data();
    drop(begun);
    server.get_with(&fixture.key, &short).await.data();
}
