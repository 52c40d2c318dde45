//! Bodies that do not arrive to their end keep little memory from other organizations.

use bytes::Bytes;
use http::Request;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, yield_now};
use toposcope::access::{Caller, Scope};
use toposcope::model::{Network, NetworkId, Permission, UserId};
use toposcope::service::Api;
use toposcope::{Inventory, MemoryStore};
use tower::ServiceExt;

use super::measure::Arriving;
use crate::common::{ELSEWHERE, OFFICE, bare, with_caller, with_header};

const MIB: usize = 1024 * 1024;

/// A request whose body has not ended, and its future status.
struct Open {
    body: UnboundedSender<Bytes>,
    status: JoinHandle<u16>,
}

/// Begins to create a host with a body of this length, and leaves the end of the body out.
fn begin(api: &Api, caller: Caller, network: NetworkId, length: usize) -> Open {
    let host = json!({"network_id": network, "name": "new"}).to_string();
    let padded = format!("{host}{}", " ".repeat(length - host.len()));
    let (body, parts) = unbounded_channel();
    body.send(Bytes::from(padded)).unwrap();
    let request: Request<Arriving> = bare("POST", "/api/v1/hosts").map(|_| Arriving(parts));
    let request = with_caller(with_header(request, "content-type", "application/json"), caller);
    let api = api.clone();
    let status = tokio::spawn(async move { api.oneshot(request).await.unwrap().status().as_u16() });
    Open { body, status }
}

/// Lets all requests go as far as they can.
async fn settle() {
    for _ in 0..1_000 {
        yield_now().await;
    }
}

#[tokio::test]
async fn bodies_that_do_not_arrive_leave_three_quarters_to_other_organizations() {
    let inventory = Inventory::new(MemoryStore::new());
    let slow = inventory.organizations().create("Slow").await.unwrap().id;
    let other = inventory.organizations().create("Other").await.unwrap().id;
    inventory.networks().create_with_id(&Caller::system(slow), OFFICE, Network::new("Office")).await.unwrap();
    inventory
        .networks()
        .create_with_id(&Caller::system(other), ELSEWHERE, Network::new("Elsewhere"))
        .await
        .unwrap();
    // All bodies together take at most 8 MiB.
    let builder = Api::builder(inventory).rate_limit(None).body_limit(MIB).bulk_body_limit(MIB);
    let api = builder.report_body_limit(MIB).build();
    let caller = |organization, user| {
        Caller::new(organization, UserId::from_u128(user), Permission::Owner, Scope::all())
    };
    let mut held = Vec::new();
    for user in 0..20 {
        held.push(begin(&api, caller(slow, user), OFFICE, MIB / 2));
        settle().await;
    }
    let (refused, waiting): (Vec<Open>, Vec<Open>) =
        held.into_iter().partition(|open| open.status.is_finished());
    // The first 64 KiB of each are free.
    assert_eq!(waiting.len(), 4);
    for open in refused {
        assert_eq!(open.status.await.unwrap(), 429);
    }
    let served = [0, 1].map(|user| begin(&api, caller(other, user), ELSEWHERE, MIB - 1));
    settle().await;
    for Open { body, status } in served {
        assert!(!status.is_finished());
        drop(body);
        assert_eq!(status.await.unwrap(), 200);
    }
    for Open { body, status } in waiting {
        drop(body);
        assert_eq!(status.await.unwrap(), 200);
    }
    // No memory is held any more, and a single body may always arrive.
    let Open { body, status } = begin(&api, caller(slow, 7), OFFICE, MIB);
    drop(body);
    assert_eq!(status.await.unwrap(), 200);
}
