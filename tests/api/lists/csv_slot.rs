//! The slot of a whole list in CSV.

use tokio::task::{JoinSet, yield_now};
use toposcope::service::Api;
use tower::ServiceExt;

use crate::common::{Fixture, Hook, OFFICE, Server, ample, get, host, with_header, with_key};

const WHOLE: &str = "/api/v1/hosts?limit=0";

/// A CSV of whole hosts reads the list twice, since its header names their custom fields.
#[tokio::test]
async fn list_that_is_read_twice_keeps_its_slot_between() {
    let fixture = Fixture::with((1..=300).map(|id| host(id, OFFICE))).await;
    let store = Hook::yielding();
    let inventory = fixture.inventory_with(&store);
    let server = Server::built(Api::builder(inventory).whole_lists_at_once(1, 1), ample());
    let used = |server: &Server| {
        let figures = server.api.figures();
        figures.slots.iter().find(|slots| slots.name == "whole_lists").unwrap().used
    };
    let ask = with_header(with_key(get(WHOLE), &fixture.key), "accept", "text/csv");
    let csv = tokio::spawn(server.api.clone().oneshot(ask));
    while used(&server) == 0 {
        yield_now().await;
    }
    let mut others = JoinSet::new();
    for _ in 0..20 {
        let (api, key) = (server.api.clone(), fixture.key.clone());
        others.spawn(async move {
            loop {
                let response = api.clone().oneshot(with_key(get(WHOLE), &key)).await.unwrap();
                if response.status() == 200 {
                    return response;
                }
            }
        });
    }
    assert_eq!(csv.await.unwrap().unwrap().status(), 200);
    others.abort_all();
}
