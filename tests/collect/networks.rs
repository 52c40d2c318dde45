//! Whole networks of the farm, from one address to all their cables.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toposcope::async_trait;
use toposcope::collect::SnmpSecret;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlMemory, CrawlOptions};
use toposcope::discovery::Report;
use toposcope::inventory::{DiscoverOptions, ErrorKind, HostQuery};
use toposcope::model::{Host, Neighbor};
use toposcope::store::{Batch, MemoryStore, Name, Store, StoreError, Wrapper};

use crate::again;
use crate::farm::collected::{Collected, REPORTS_AT_ONCE};
use crate::farm::line::Line;
use crate::farm::network::{NAMES, NamedCable, Network, address};
use crate::farm::{Farm, reader};
use crate::support::{COMMUNITY, community, gate, report_of};

const ALLOWED: &str = "127.1.0.0/16";

/// Reads a network from its first device, and compares the links with its cables.
async fn compare(network: &Network, farm: &Farm, secrets: Vec<SnmpSecret>) {
    let mut options = CrawlOptions::default();
    options.depth = 1_000;
    let seed = [address(0).into()];
    let mut crawl = Crawl::begin(&gate(farm, ALLOWED), seed, move |_| secrets.clone(), options).unwrap();
    let collected = Collected::new().await.unwrap();
    let (_, others) = collected.add_all(&mut crawl, REPORTS_AT_ONCE).await.unwrap();
    assert_eq!(crawl.progress().devices, network.devices.len(), "{others:?}");
    let (found, truth) = (collected.cables().await.unwrap(), network.truth());
    assert_eq!(found.difference(&truth).collect::<Vec<_>>(), Vec::<&NamedCable>::new(), "invented");
    assert_eq!(truth.difference(&found).collect::<Vec<_>>(), Vec::<&NamedCable>::new(), "missing");
    assert_eq!(farm.counters().foreign, 0);
}

#[tokio::test(start_paused = true)]
async fn cables_of_each_network_are_found() {
    for name in NAMES {
        let network = Network::named(name, 30).unwrap();
        compare(&network, &Farm::of(&network, COMMUNITY, None), community()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn cables_are_found_by_version_3() {
    let network = Network::named("fabric", 8).unwrap();
    let (user, secret) = reader();
    compare(&network, &Farm::of(&network, &[], Some(&user)), vec![secret]).await;
}

#[tokio::test(start_paused = true)]
async fn cables_are_found_on_a_line_that_loses_delays_and_duplicates_packets() {
    let network = Network::named("campus", 30).unwrap();
    let line = Line::new(0.05, 0.1, Duration::from_millis(1), Duration::from_millis(100));
    compare(&network, &Farm::of(&network, COMMUNITY, None).on(line), community()).await;
}

/// Returns the ports of each host by names, with the names of their neighbors.
async fn neighbors(collected: &Collected) -> BTreeMap<String, Vec<(Option<String>, Option<String>)>> {
    let page = collected.inventory.hosts().list(&collected.caller, &HostQuery::default()).await.unwrap();
    let hosts = page.hosts().unwrap();
    let name = |neighbor: Neighbor| {
        let is_neighbor = |host: &&Host| match neighbor {
            Neighbor::Host(id) => host.id == id,
            Neighbor::IfEntry(id) => host.if_entries.iter().any(|entry| entry.id == id),
        };
        let host = hosts.iter().find(is_neighbor).unwrap();
        let port = host.if_entries.iter().find(|entry| neighbor == Neighbor::IfEntry(entry.id));
        format!("{} {:?}", host.name, port.and_then(|entry| entry.if_name.as_deref()))
    };
    let ports = |host: &Host| {
        let ports = host.if_entries.iter().map(|entry| (entry.if_name.clone(), entry.neighbor.map(name)));
        (host.name.clone(), ports.collect())
    };
    hosts.iter().map(ports).collect()
}

#[tokio::test(start_paused = true)]
async fn reports_at_once_have_the_result_of_one_after_the_other() {
    let network = Network::named("campus", 80).unwrap();
    let farm = Farm::of(&network, COMMUNITY, None);
    let (gate, seed) = (gate(&farm, ALLOWED), [address(0).into()]);
    let mut crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    let mut reports = Vec::new();
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            reports.push(device.report);
        }
    }
    let one_by_one = Collected::new().await.unwrap();
    for report in &reports {
        one_by_one.add(report).await.unwrap();
    }
    let expected = neighbors(&one_by_one).await;
    assert_eq!(expected.len(), 80);
    for at_once in [1, 7, 80] {
        let collected = Collected::new().await.unwrap();
        for reports in reports.chunks(at_once) {
            let options = DiscoverOptions::new(collected.network);
            let discovery = collected.inventory.discovery();
            let answers =
                discovery.reconcile_all(&collected.caller, reports.to_vec(), options).await.unwrap();
            let names = answers.iter().map(|answer| answer.hosts[0].name.clone()).collect::<Vec<_>>();
            let reported = reports.iter().map(|report| report.devices[0].sys_name.clone().unwrap());
            assert_eq!(names, reported.collect::<Vec<_>>());
        }
        assert_eq!(neighbors(&collected).await, expected, "{at_once}");
        assert_eq!(collected.cables().await.unwrap(), network.truth(), "{at_once}");
        // All are as they were reported, so that the same reports change nothing.
        assert_eq!(collected.add_several(reports.clone()).await.unwrap(), 0);
    }
}

/// A store that fails once to store hosts.
#[derive(Debug, Default)]
struct FailsOnce {
    store: MemoryStore,
    /// The number of commits with hosts before the one that fails.
    fails_after: u64,
    commits: AtomicU64,
}

impl FailsOnce {
    fn after(fails_after: u64) -> Self {
        Self { fails_after, ..Self::default() }
    }
}

#[async_trait]
impl Wrapper for FailsOnce {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let has_host = batch.writes().iter().any(|write| write.key().kind == Name::new("host"));
        if has_host && self.commits.fetch_add(1, Ordering::Relaxed) == self.fails_after {
            return Err(StoreError::unavailable("the disk is full"));
        }
        self.store.commit(batch).await
    }
}

#[tokio::test]
async fn reports_before_one_that_fails_have_answers_and_the_others_can_be_sent_again() {
    let collected = Collected::on(FailsOnce::after(2)).await.unwrap();
    let mut reports: Vec<Report> = ["a", "b", "c", "d"].map(report_of).into();
    let options = DiscoverOptions::new(collected.network);
    let send = async |reports| {
        collected.inventory.discovery().reconcile_all(&collected.caller, reports, options).await
    };
    let failed = send(reports.clone()).await.unwrap_err();
    let names: Vec<&str> = failed.answers.iter().map(|answer| answer.hosts[0].name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(matches!(failed.error.kind(), ErrorKind::StoreUnavailable), "{}", failed.error);
    let hosts = async || {
        collected.inventory.hosts().list(&collected.caller, &HostQuery::default()).await.unwrap().total
    };
    assert_eq!(hosts().await, 2);
    send(reports.split_off(names.len())).await.unwrap();
    assert_eq!(hosts().await, 4);
}

#[tokio::test(start_paused = true)]
async fn neighbors_that_could_not_be_stored_are_stored_after_the_error() {
    let (devices, _) = again::crawled(&again::network(), CrawlMemory::default()).await;
    let reports: Vec<Report> = devices.into_iter().map(|device| device.report).collect();
    let mut results = Vec::new();
    // Each of the three hosts is stored, and then its neighbors.
    for fails_after in [u64::MAX, 3] {
        let collected = Collected::on(FailsOnce::after(fails_after)).await.unwrap();
        let options = DiscoverOptions::new(collected.network);
        let discovery = collected.inventory.discovery();
        let result = discovery.reconcile_all(&collected.caller, reports.clone(), options).await;
        assert_eq!(result.err().map(|failed| failed.answers.len()), (fails_after == 3).then_some(2));
        results.push(neighbors(&collected).await);
    }
    assert!(results[0].values().flatten().any(|(_, neighbor)| neighbor.is_some()), "{results:?}");
    assert_eq!(results[0], results[1]);
}

#[tokio::test(start_paused = true)]
async fn events_that_are_there_come_together() {
    let network = Network::named("campus", 30).unwrap();
    let farm = Farm::of(&network, COMMUNITY, None);
    let (gate, seed) = (gate(&farm, ALLOWED), [address(0).into()]);
    let mut crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    let (mut events, mut together) = (0, 0);
    loop {
        let some = crawl.next_events(5).await;
        if some.is_empty() {
            break;
        }
        assert!(some.len() <= 5);
        (events, together) = (events + some.len(), together.max(some.len()));
        // Meanwhile, devices are read.
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
    assert_eq!((events, together), (30, 5));
    assert!(crawl.next_events(5).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn crawl_goes_on_while_reports_are_stored() {
    let network = Network::named("campus", 30).unwrap();
    let farm = Farm::of(&network, COMMUNITY, None);
    let (gate, seed) = (gate(&farm, ALLOWED), [address(0).into()]);
    let mut crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    assert_eq!(crawl.next_events(1).await.len(), 1);
    let storing = tokio::time::sleep(Duration::from_secs(600));
    let ((), events) = crawl.next_events_during(storing, 20).await;
    assert_eq!(events.len(), 20, "no more than were asked for");
    // Events that have not come are not waited for.
    let began = Instant::now();
    let ((), mut events) = crawl.next_events_during(std::future::ready(()), 20).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    let mut rest = 0;
    while rest < 9 {
        rest += events.len();
        events = crawl.next_events(20).await;
    }
    assert_eq!((rest, events.len()), (9, 0));
}
