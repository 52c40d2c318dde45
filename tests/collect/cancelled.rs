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

/// Crawls to the end, and notes the names of the devices whose reports were stored.
async fn crawl(farm: &Farm, collected: &Collected, stored: &Mutex<Vec<String>>) {
    let gate = gate(farm, "127.1.0.0/16");
    let seed = [address(0).into()];
    let mut crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            collected.add(&device.report).await.unwrap();
            stored.lock().unwrap().push(device.report.devices[0].sys_name.clone().unwrap());
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
    let whole = polled(crawl(&farm(), &Collected::new().await.unwrap(), &Mutex::default()), u64::MAX).await;
    assert!(whole > 2 * DEVICES as u64, "{whole}");
    let seed = number("TOPOSCOPE_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("TOPOSCOPE_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for moment in 0..number("TOPOSCOPE_CANCEL_MOMENTS").unwrap_or(15) {
        let (farm, collected, stored) = (farm(), Collected::new().await.unwrap(), Mutex::default());
        let tasks = Handle::current().metrics().num_alive_tasks();
        polled(crawl(&farm, &collected, &stored), random.u64(1..whole)).await;
        let sent = farm.sent().len();
        sleep(Duration::from_secs(1)).await;
        assert!(Handle::current().metrics().num_alive_tasks() <= tasks, "{moment}: tasks go on");
        let before = hosts(&collected).await;
        for name in stored.lock().unwrap().iter() {
            assert!(before.contains_key(name), "{moment}: {name} was stored");
        }
        assert_eq!(farm.sent().len(), sent, "{moment}: packets after the end");
        // The next crawl completes the inventory, in which each device is still the same host.
        crawl(&farm, &collected, &Mutex::default()).await;
        let after = hosts(&collected).await;
        assert_eq!(after.len(), DEVICES, "{moment}");
        assert!(before.iter().all(|(name, id)| after.get(name) == Some(id)), "{moment}");
        assert_eq!(collected.cables().await.unwrap(), network.truth(), "{moment}");
    }
}
