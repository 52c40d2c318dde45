//! Crawls that are cancelled at random moments.
//!
//! `TOPOSCOPE_CANCEL_MOMENTS` (default 15) sets the number of moments, and `TOPOSCOPE_SEED` the seed, which is printed.

use std::collections::BTreeMap;
use std::env;
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
use toposcope::inventory::HostQuery;
use toposcope::model::HostId;

use crate::farm::Farm;
use crate::farm::collected::Collected;
use crate::farm::line::Line;
use crate::farm::network::{Network, address};
use crate::support::{COMMUNITY, community, gate};

const DEVICES: usize = 9;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|value| value.parse().unwrap())
}

/// Crawls to the end, stores at most some reports at once, and notes the names of their devices then.
async fn crawl(farm: &Farm, collected: &Collected, stored: &Mutex<Vec<String>>, at_once: usize) {
    let gate = gate(farm, "127.1.0.0/16");
    let seed = [address(0).into()];
    let mut crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    let mut events = crawl.next_events(at_once).await;
    while !events.is_empty() {
        let (mut reports, mut names) = (Vec::new(), Vec::new());
        for event in events {
            if let CrawlEvent::Device(device) = event {
                names.extend(device.report.devices[0].sys_name.clone());
                reports.push(device.report);
            }
        }
        let storing;
        (storing, events) = crawl.next_events_during(collected.add_several(reports), at_once).await;
        storing.unwrap();
        stored.lock().unwrap().extend(names);
        if events.is_empty() {
            events = crawl.next_events(at_once).await;
        }
    }
}

/// Polls a future a number of times at most, and drops it. Returns the number of times.
async fn polled(future: impl Future<Output = ()>, most: u64) -> u64 {
    let (mut future, mut polls) = (pin!(future), 0);
    std::future::poll_fn(|context| {
        if polls == most {
            return Poll::Ready(());
        }
        polls += 1;
        future.as_mut().poll(context)
    })
    .await;
    polls
}

async fn hosts(collected: &Collected) -> BTreeMap<String, HostId> {
    let page = collected.inventory.hosts().list(&collected.caller, &HostQuery::default()).await.unwrap();
    page.hosts().unwrap().into_iter().map(|host| (host.name, host.id)).collect()
}

#[tokio::test(start_paused = true)]
async fn crawl_cancelled_at_a_random_moment_leaves_nothing_running_and_all_that_was_reported() {
    let network = Network::named("campus", DEVICES).unwrap();
    let line = || Line::new(0.05, 0.05, Duration::ZERO, Duration::from_millis(100));
    let farm = || Farm::of(&network, COMMUNITY, None).on(line());
    let (collected, stored) = (Collected::new().await.unwrap(), Mutex::default());
    let whole = polled(crawl(&farm(), &collected, &stored, 1), u64::MAX).await;
    assert!(whole > 2 * DEVICES as u64, "{whole}");
    let seed = number("TOPOSCOPE_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("TOPOSCOPE_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for moment in 0..number("TOPOSCOPE_CANCEL_MOMENTS").unwrap_or(15) {
        let (farm, collected, stored) = (farm(), Collected::new().await.unwrap(), Mutex::default());
        let tasks = Handle::current().metrics().num_alive_tasks();
        let at_once = random.usize(1..=DEVICES);
        polled(crawl(&farm, &collected, &stored, at_once), random.u64(1..whole)).await;
        let sent = farm.sent().len();
        sleep(Duration::from_secs(1)).await;
        assert!(Handle::current().metrics().num_alive_tasks() <= tasks, "{moment}: tasks go on");
        let before = hosts(&collected).await;
        for name in stored.lock().unwrap().iter() {
            assert!(before.contains_key(name), "{moment}: {name} was stored");
        }
        assert_eq!(farm.sent().len(), sent, "{moment}: packets after the end");
        // The next crawl completes the inventory, in which each device is still the same host.
        crawl(&farm, &collected, &Mutex::default(), at_once).await;
        let after = hosts(&collected).await;
        assert_eq!(after.len(), DEVICES, "{moment}");
        assert!(before.iter().all(|(name, id)| after.get(name) == Some(id)), "{moment}");
        assert_eq!(collected.cables().await.unwrap(), network.truth(), "{moment}");
    }
}
