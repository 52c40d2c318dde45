//! `GET /api/v1/hosts?limit=0` as JSON Lines: its parameters, `HEAD`, and failures.

use http_body::Body;
use toposcope::store::StoreError;
use tower::ServiceExt;

use super::*;
use crate::common::{Fault, Hook, host};
use crate::lists::whole_list::Reading;

fn export(method: &str, query: &str, key: &str) -> Request<String> {
    let request = bare(method, &format!("{HOSTS}?limit=0{query}"));
    with_key(with_header(request, "accept", "application/x-ndjson"), key)
}

/// Returns the lines of an export.
async fn exported(fixture: &Fixture, query: &str) -> Vec<Value> {
    let request = export("GET", query, &fixture.key);
    let response = fixture.server.api.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let mut reading = Reading { body: response.into_body(), read: Vec::new() };
    while reading.read_on().await.unwrap() {}
    let text = String::from_utf8(reading.read).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_have_only_the_selected_fields() {
    run_new(async |fixture| {
        for count in [3, 300] {
            fixture.put((1..=count).map(|id| host(id, OFFICE))).await;
            let lines = exported(&fixture, "&fields=id,name").await;
            assert_eq!(lines.len() as u128, count);
            let listed = fixture.list("limit=0&fields=id,name").await;
            assert_eq!(json!(lines), *listed.data());
            assert_eq!(lines[0].as_object().unwrap().len(), 2);
        }
    });
}

#[test]
fn lines_begin_after_a_cursor() {
    run_new(async |fixture| {
        fixture.put((1..=300).map(|id| host(id, OFFICE))).await;
        let page = fixture.list("limit=100&order_by=name&cursor=").await;
        let cursor = page.json["meta"]["pagination"]["next_cursor"].as_str().unwrap();
        let rest = exported(&fixture, &format!("&order_by=name&cursor={cursor}")).await;
        let mut all = page.data().as_array().unwrap().clone();
        assert_eq!(rest.len(), 200);
        all.extend(rest);
        assert_eq!(json!(all), *fixture.list("limit=0&order_by=name").await.data());
    });
}

#[test]
fn head_of_lines_has_the_headers_of_get_and_no_body() {
    run_new(async |fixture| {
        for count in [3, 300] {
            fixture.put((1..=count).map(|id| host(id, OFFICE))).await;
            let send = async |method| {
                let request = export(method, "", &fixture.key);
                fixture.server.api.clone().oneshot(request).await.unwrap()
            };
            let (got, head) = (send("GET").await, send("HEAD").await);
            assert_eq!(head.status(), 200);
            for name in ["content-type", "vary", "etag"] {
                assert_eq!(head.headers().get(name), got.headers().get(name), "{name}");
            }
            let length = got.body().size_hint().exact().map(|length| length.to_string());
            let given =
                head.headers().get("content-length").map(|length| length.to_str().unwrap().to_owned());
            assert_eq!(given, length, "the length of a short list is known");
            assert!(head.body().is_end_stream());
        }
    });
}

#[test]
fn empty_list_is_no_line() {
    run_new(async |fixture| {
        assert_eq!(exported(&fixture, "").await, Vec::<Value>::new());
        assert_eq!(exported(&fixture, "&fields=name").await, Vec::<Value>::new());
    });
}

#[tokio::test]
async fn lines_are_aborted_when_the_store_fails() {
    let fixture = Fixture::with((1..=600).map(|id| host(id, OFFICE))).await;
    for query in ["", "&fields=name"] {
        let store = Hook::new();
        let server = fixture.server_with(&store);
        let mut reading = Reading::begin(server.api, export("GET", query, &fixture.key)).await;
        assert!(reading.read_on().await.unwrap());
        store.set_fault(Fault::List(|| StoreError::unavailable("down")));
        let error = loop {
            match reading.read_on().await {
                Ok(true) => {}
                Ok(false) => panic!("the lines end as if they were whole"),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(error, "the list cannot be read to its end");
        assert!(!reading.read_on().await.unwrap(), "nothing follows an error");
    }
}
