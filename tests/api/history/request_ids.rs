//! Ids of requests, which the host application sets as an extension, in the history.

use http::{Request, StatusCode};
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::model::{Permission, UserId};
use toposcope::service::RequestId;

use crate::backend::run;
use crate::common::{
    Fixture, HOSTS, OFFICE, bare, get, host, send_json, with_caller, with_header, with_key, with_session,
};

/// Sends a request with an id, and returns the ids with which its changes are recorded, as the holder of a key sees them.
async fn recorded(fixture: &Fixture, key: &str, mut request: Request<String>, id: &str) -> Vec<Value> {
    let before = fixture.newest(key).await;
    request.extensions_mut().insert(RequestId::new(id));
    let reply = fixture.send(request).await;
    assert!(reply.status.is_success(), "{id}: {:?}", reply.json);
    let entries = fixture.changes_as(key, &format!("after={before}")).await.entries();
    entries.iter().map(|entry| entry["request_id"].clone()).collect()
}

#[test]
fn changes_of_every_way_in_are_recorded_with_the_id_of_the_request() {
    run(async || {
        let fixture = Fixture::with_one_host().await;
        let (organization, key) = (fixture.home.organization.id, fixture.owner_key(&fixture.home).await);
        let user = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let session = fixture.sign_in(&user).await;
        let caller = Caller::new(organization, UserId::from_u128(9), Permission::Admin, Scope::all());
        let tag = |name: &str| send_json("POST", "/api/v1/tags", &json!({"name": name}));
        let bulk = json!({"hosts": [host(20, OFFICE), host(21, OFFICE)]});
        let line = serde_json::to_string(&host(30, OFFICE)).unwrap();
        let import = bare("POST", "/api/v1/hosts/import").map(|_| line);
        let ndjson = with_header(import, "content-type", "application/x-ndjson");
        let last = host(20, OFFICE).id;
        for (id, request, count) in [
            ("caller of the host application", with_caller(tag("one"), caller), 1),
            ("session", with_session(tag("two"), &session), 1),
            ("key", with_key(tag("three"), &key), 1),
            ("bulk", with_key(send_json("POST", "/api/v1/hosts/bulk", &bulk), &key), 2),
            ("import", with_key(ndjson, &key), 1),
            (
                "update",
                with_key(send_json("PATCH", &format!("{HOSTS}/{last}"), &json!({"name": "new"})), &key),
                1,
            ),
            ("deletion", with_key(bare("DELETE", &format!("{HOSTS}/{last}")), &key), 1),
        ] {
            assert_eq!(recorded(&fixture, &key, request, id).await, vec![json!(id); count], "{id}");
        }
    });
}

#[test]
fn list_of_a_request_with_an_id_is_sent_to_its_end() {
    run(async || {
        let fixture = Fixture::with((1..=600).map(|id| host(id, OFFICE))).await;
        let mut request = with_key(get("/api/v1/hosts?limit=0"), &fixture.key);
        request.extensions_mut().insert(RequestId::new("whole list"));
        let reply = fixture.send(request).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.data().as_array().map(Vec::len), Some(600));
    });
}
