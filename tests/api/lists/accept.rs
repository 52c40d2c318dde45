//! The representation of a list, which the `Accept` header decides about.

use http::HeaderValue;
use tower::ServiceExt;

use crate::backend::run;
use crate::common::{Fixture, OFFICE, get, host, with_key};

/// Returns the media type of a whole list for a client that sends these `Accept` headers.
async fn media_type(fixture: &Fixture, accept: &[&str]) -> String {
    let mut request = with_key(get("/api/v1/hosts?limit=0"), &fixture.key);
    for value in accept {
        request.headers_mut().append("accept", HeaderValue::from_str(value).unwrap());
    }
    let response = fixture.server.api.clone().oneshot(request).await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["vary"]), (200, &"Accept".parse().unwrap()));
    response.headers()["content-type"].to_str().unwrap().to_owned()
}

#[test]
fn preferred_media_type_is_the_representation_of_a_whole_list() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put([host(1, OFFICE)]).await;
        const JSON: &str = "application/json";
        const LINES: &str = "application/x-ndjson";
        let cases: [(&[&str], &str); 22] = [
            (&[], JSON),
            (&[""], JSON),
            (&["*/*"], JSON),
            (&["text/html"], JSON),
            (&["application/x-ndjson"], LINES),
            (&["Application/X-NDJSON; charset=utf-8"], LINES),
            (&["application/x-ndjson;q=0.5"], LINES),
            (&["application/x-ndjson;q=0"], JSON),
            (&["application/x-ndjson;q=0.000, */*"], JSON),
            // The heavier one, wherever it stands.
            (&["application/json;q=0.5, application/x-ndjson"], LINES),
            (&["application/x-ndjson;q=0.8, application/json;q=0.9"], JSON),
            (&["application/json; Q=0.1", "application/x-ndjson; Q=0.2"], LINES),
            (&["application/x-ndjson;q=0.5, */*"], JSON),
            (&["application/x-ndjson;q=0.5, */*;q=0.1"], LINES),
            // Of two types with the same weight, the named one wins.
            (&["*/*, application/x-ndjson"], LINES),
            (&["application/*, application/json;q=0.9"], LINES),
            // Of two named types, the first wins.
            (&["application/json, application/x-ndjson"], JSON),
            (&["application/x-ndjson, application/json"], LINES),
            // A type that is not acceptable, unless nothing is.
            (&["application/json;q=0, */*;q=0.1"], LINES),
            (&["application/json;q=0"], JSON),
            (&["*/*;q=0"], JSON),
            // A weight that is none.
            (&["application/x-ndjson;q=many, application/json;q=0.9"], LINES),
        ];
        for (accept, expected) in cases {
            assert_eq!(media_type(&fixture, accept).await, expected, "{accept:?}");
        }
    });
}
