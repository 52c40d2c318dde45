//! The time that a policy may take, and how often it is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::inventory::{ApplicationError, ErrorKind, Policy, ProposedChange};
use toposcope::model::{Host, HostId};

use crate::common::{Fixture, OFFICE, Server, ample, send_json, with_header, with_key};

/// Answers after some time, and counts how often it is asked.
struct Slow {
    time: Duration,
    asked: AtomicUsize,
}

impl Slow {
    fn new(millis: u64) -> Arc<Self> {
        Arc::new(Self { time: Duration::from_millis(millis), asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

#[async_trait]
impl Policy for Slow {
    async fn check(&self, _change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        sleep(self.time).await;
        Ok(())
    }
}

fn draft(name: &str) -> Value {
    json!({"network_id": OFFICE, "name": name})
}

#[tokio::test(start_paused = true)]
async fn slow_policy_ends_a_request_of_many_hosts_in_time() {
    let fixture = Fixture::new().await;
    let hosts: Vec<Value> = (0..1_000).map(|number| draft(&format!("host {number}"))).collect();
    let slow = Slow::new(4_900);
    let server = Server::new(fixture.inventory.clone().with_policy(Arc::clone(&slow)), ample());
    let begun = Instant::now();
    for (is_atomic, count) in [(true, 1_000), (false, 1_000), (false, 2)] {
        let body = json!({"hosts": hosts[..count], "atomic": is_atomic});
        let request = with_key(send_json("POST", "/api/v1/hosts/bulk", &body), &fixture.key);
        server.send(request).await.refuses(503, "store_unavailable");
        assert_eq!(slow.asked(), 2, "{is_atomic}");
    }
    let lines = hosts.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let import =
        with_key(send_json("POST", "/api/v1/hosts/import", &Value::Null), &fixture.key).map(|_| lines);
    server.send(with_header(import, "content-type", "application/x-ndjson")).await;
    assert_eq!(slow.asked(), 2);
    // 5 seconds for the first host, and 50 ms for the second, of each of four requests.
    assert_eq!(begun.elapsed().as_millis() / 100, 4 * 5_050 / 100);
    assert_eq!(fixture.list("limit=0").await.data(), &json!([]));
}

#[tokio::test(start_paused = true)]
async fn policy_that_takes_50_ms_for_each_host_is_fast_enough() {
    let fixture = Fixture::new().await;
    let slow = Slow::new(50);
    let server = Server::new(fixture.inventory.clone().with_policy(Arc::clone(&slow)), ample());
    let hosts: Vec<Value> = (0..300).map(|number| draft(&format!("host {number}"))).collect();
    let body = json!({"hosts": hosts});
    let stored = server.send(with_key(send_json("POST", "/api/v1/hosts/bulk", &body), &fixture.key)).await;
    assert_eq!((stored.data().as_array().unwrap().len(), slow.asked()), (300, 300));
}

/// Renames a host by many requests at once. Returns the number of successes, and the kinds of the errors.
async fn rename_at_once(
    inventory: &Inventory,
    caller: &Caller,
    id: HostId,
    count: usize,
) -> (usize, Vec<ErrorKind>) {
    let mut tasks = JoinSet::new();
    for number in 0..count {
        let (inventory, caller) = (inventory.clone(), caller.clone());
        tasks.spawn(async move {
            let rename = move |host: &mut Host| {
                host.name = format!("name {number}");
                Ok(())
            };
            inventory.hosts().update(&caller, id, rename).await
        });
    }
    let results = tasks.join_all().await;
    let stored = results.iter().filter(|result| result.is_ok()).count();
    (stored, results.into_iter().filter_map(|result| Some(result.err()?.kind().clone())).collect())
}

#[tokio::test(start_paused = true)]
async fn changes_of_one_record_at_once_ask_at_most_twice_each() {
    let fixture = Fixture::with_one_host().await;
    let slow = Slow::new(10);
    let inventory = fixture.inventory.clone().with_policy(Arc::clone(&slow));
    let renamed = rename_at_once(&inventory, &fixture.system(), HostId::from_u128(1), 100).await;
    assert_eq!(renamed, (100, vec![]));
    assert!(slow.asked() <= 199);
}

#[tokio::test(start_paused = true)]
async fn change_that_is_decided_again_waits_at_most_30_seconds_for_others() {
    let fixture = Fixture::with_one_host().await;
    let slow = Slow::new(2_000);
    let inventory = fixture.inventory.clone().with_policy(Arc::clone(&slow));
    let begun = Instant::now();
    let (stored, errors) = rename_at_once(&inventory, &fixture.system(), HostId::from_u128(1), 30).await;
    assert_eq!(stored + errors.len(), 30);
    assert!((15..=18).contains(&stored), "{stored}");
    assert!(errors.iter().all(|kind| matches!(kind, ErrorKind::Conflict { .. })), "{errors:?}");
    assert!(begun.elapsed() <= Duration::from_secs(35), "{:?}", begun.elapsed());
}
