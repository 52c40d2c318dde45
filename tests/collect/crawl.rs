//! Crawls of networks in memory.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use toposcope::collect::crawl::{Crawl, CrawlError, CrawlEvent, CrawlFailureReason, CrawlOptions};
use toposcope::collect::snmp::{AskError, ObjectId, SnmpValue};

use crate::farm::{Agent, Farm, Fault, Variables};
use crate::support::{COMMUNITY, community, gate, ip, variables};

/// Adds an own address, and neighbors with a management address each.
pub(crate) fn with_neighbors(name: &str, own: &[&str], neighbors: &[&str]) -> Variables {
    let mut variables = variables(neighbors.len() as u32 + 1);
    let bytes = |text: &str| SnmpValue::Bytes(text.as_bytes().into());
    let octets = |text: &str| match ip(text) {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(_) => panic!("only IPv4 here"),
    };
    variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 5, 0], bytes(name));
    for address in own {
        let index = octets(address).map(u32::from);
        let row = |column: u32| [&[1, 3, 6, 1, 2, 1, 4, 20, 1, column][..], &index].concat();
        variables.insert(row(1), SnmpValue::IpAddress(octets(address)));
        variables.insert(row(2), SnmpValue::Integer(1));
        variables.insert(row(3), SnmpValue::IpAddress([255, 255, 255, 0]));
    }
    for (position, address) in neighbors.iter().enumerate() {
        let port = position as u32 + 1;
        let remote = [1, 0, 8802, 1, 1, 2, 1, 4];
        let row = |column: u32| [&remote[..], &[1, 1, column, 0, port, 1]].concat();
        variables.insert(row(4), SnmpValue::Integer(7));
        variables.insert(row(5), bytes(address));
        variables.insert(row(6), SnmpValue::Integer(7));
        variables.insert(row(7), bytes("a port"));
        let index = octets(address).map(u32::from);
        let row = |column: u32| [&remote[..], &[2, 1, column, 0, port, 1, 1, 4], &index].concat();
        variables.insert(row(3), SnmpValue::Integer(2));
        variables.insert(row(4), SnmpValue::Integer(1));
    }
    variables
}

pub(crate) fn agent(name: &str, own: &[&str], neighbors: &[&str]) -> Agent {
    Agent::new(COMMUNITY, with_neighbors(name, own, neighbors))
}

pub(crate) fn begin(farm: &Farm, seeds: &[&str], options: CrawlOptions) -> Crawl {
    let gate = gate(farm, "192.0.2.0/24");
    let seeds = seeds.iter().map(|seed| ip(seed));
    Crawl::begin(&gate, seeds, |_| community(), options).unwrap()
}

/// Returns the name of the only device.
async fn name_of_the_device(agent: Agent) -> Option<String> {
    let farm = Farm::with([(ip("192.0.2.1"), agent)]);
    let mut crawl = begin(&farm, &["192.0.2.1"], CrawlOptions::default());
    let Some(CrawlEvent::Device(device)) = crawl.next().await else { panic!("there is a device") };
    device.report.devices[0].sys_name.clone()
}

#[tokio::test(start_paused = true)]
async fn device_without_a_name_has_that_of_its_first_answer_or_its_address() {
    let dying = agent("switch", &["192.0.2.1"], &[]).faulty([Fault::DiesAfter(1)]);
    assert_eq!(name_of_the_device(dying).await.as_deref(), Some("switch"));
    let mut nameless = agent("", &["192.0.2.1"], &[]);
    nameless.variables.remove([1, 3, 6, 1, 2, 1, 1, 5, 0].as_slice());
    assert_eq!(name_of_the_device(nameless).await.as_deref(), Some("192.0.2.1"));
}

/// Returns the addresses of the devices, those that failed, and those that were read under another address.
pub(crate) async fn finished(mut crawl: Crawl) -> (BTreeSet<IpAddr>, BTreeSet<IpAddr>, BTreeSet<IpAddr>) {
    let (mut devices, mut failed, mut repeated) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(event) = crawl.next().await {
        match event {
            CrawlEvent::Device(device) => assert!(devices.insert(device.address)),
            CrawlEvent::Failed(failure) => assert!(failed.insert(failure.address)),
            CrawlEvent::Repeated(address) => assert!(repeated.insert(address)),
            _ => {}
        }
    }
    assert_eq!(crawl.progress().devices, devices.len());
    assert_eq!(crawl.progress().failed, failed.len());
    (devices, failed, repeated)
}

pub(crate) fn addresses(texts: &[&str]) -> BTreeSet<IpAddr> {
    texts.iter().map(|text| ip(text)).collect()
}

#[tokio::test(start_paused = true)]
async fn neighbors_are_followed_within_the_allow_list() {
    let farm = Farm::with([
        (ip("192.0.2.1"), agent("a", &["192.0.2.1"], &["192.0.2.2", "127.0.0.1", "198.51.100.9"])),
        (ip("192.0.2.2"), agent("b", &["192.0.2.2"], &["192.0.2.1", "192.0.2.3", "192.0.2.66"])),
        (ip("192.0.2.3"), agent("c", &["192.0.2.3"], &["192.0.2.2"])),
        (ip("198.51.100.9"), agent("d", &["198.51.100.9"], &["192.0.2.1"])),
    ]);
    let (devices, failed, repeated) = finished(begin(&farm, &["192.0.2.1"], CrawlOptions::default())).await;
    assert_eq!(devices, addresses(&["192.0.2.1", "192.0.2.2", "192.0.2.3"]));
    assert_eq!((failed, repeated), (addresses(&["192.0.2.66"]), BTreeSet::new()));
    assert_eq!(farm.count(ip("198.51.100.9")) + farm.count(ip("127.0.0.1")), 0);
}

#[tokio::test(start_paused = true)]
async fn device_is_read_under_one_of_its_addresses() {
    let own = ["192.0.2.1", "192.0.2.11", "192.0.2.111"];
    let router = || agent("router", &own, &[]);
    let farm = Farm::with([
        (ip("192.0.2.1"), router()),
        (ip("192.0.2.11"), router()),
        (ip("192.0.2.111"), router()),
        // The same model with the same name, and with another name.
        (ip("192.0.2.2"), agent("router", &["192.0.2.2"], &[])),
        (ip("192.0.2.3"), agent("other", &["192.0.2.3", "192.0.2.1"], &[])),
    ]);
    let seeds = ["192.0.2.1", "192.0.2.11", "192.0.2.111", "192.0.2.2", "192.0.2.3"];
    let (devices, failed, repeated) = finished(begin(&farm, &seeds, CrawlOptions::default())).await;
    assert_eq!(devices.intersection(&addresses(&own)).count(), 1, "{devices:?}");
    // The others have answered before the device was read.
    assert_eq!(repeated, addresses(&own).difference(&devices).copied().collect());
    assert!(devices.is_superset(&addresses(&["192.0.2.2", "192.0.2.3"])) && devices.len() == 3);
    assert!(failed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn limits_and_exceptions_hold() {
    let farm = Farm::with((1..=9).map(|number| {
        let (own, next) = (format!("192.0.2.{number}"), format!("192.0.2.{}", number + 1));
        (ip(&own), agent(&format!("device {number}"), &[&own], &[&next]))
    }));
    let read = async |options| finished(begin(&farm, &["192.0.2.1"], options)).await.0;

    let mut options = CrawlOptions::default();
    options.depth = 3;
    assert_eq!(read(options).await.len(), 4);

    let mut options = CrawlOptions::default();
    options.devices = 5;
    assert_eq!(read(options).await.len(), 5);

    let mut options = CrawlOptions::default();
    options.skipped_addresses.insert(ip("192.0.2.3"));
    assert_eq!(read(options).await, addresses(&["192.0.2.1", "192.0.2.2"]));

    let mut options = CrawlOptions::default();
    options.skipped_object_ids.push(ObjectId::new([1, 3, 6, 1, 4, 1, 8072]));
    assert_eq!(read(options).await, BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn seed_outside_of_the_allow_list_is_an_error() {
    let farm = Farm::default();
    let gate = gate(&farm, "192.0.2.0/24");
    for (seeds, error) in [
        (vec![ip("198.51.100.1")], CrawlError::SeedNotAllowed(ip("198.51.100.1"))),
        (vec![], CrawlError::NoSeed),
    ] {
        let crawl = Crawl::begin(&gate, seeds, |_| community(), CrawlOptions::default());
        assert_eq!(crawl.unwrap_err(), error);
    }
    assert!(farm.sent().is_empty());
}

#[tokio::test(start_paused = true)]
async fn crawl_stops_when_it_is_dropped_and_while_it_is_not_polled() {
    let neighbors: Vec<String> = (2..=200).map(|number| format!("192.0.2.{number}")).collect();
    let neighbors: Vec<&str> = neighbors.iter().map(String::as_str).collect();
    let mut agents = vec![(ip("192.0.2.1"), agent("core", &["192.0.2.1"], &neighbors))];
    for address in &neighbors {
        agents.push((ip(address), agent(&format!("device {address}"), &[address], &["192.0.2.1"])));
    }
    for polls in [1, 2, 30] {
        let farm = Farm::with(agents.clone());
        let mut options = CrawlOptions::default();
        options.workers = 8;
        let mut crawl = begin(&farm, &["192.0.2.1"], options);
        for _ in 0..polls {
            crawl.next().await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(600)).await;
        let asked = farm.sent().iter().map(|(_, address)| *address).collect::<BTreeSet<_>>().len();
        assert!(asked <= polls + 3 * 8, "{asked}");
        drop(crawl);
        let sent = farm.sent().len();
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(farm.sent().len(), sent);
    }
}

#[tokio::test(start_paused = true)]
async fn crawl_that_is_dropped_at_any_time_sends_nothing_more() {
    for step in 0..100 {
        let farm = Farm::with((1..=9).map(|number| {
            let (own, next) = (format!("192.0.2.{number}"), format!("192.0.2.{}", number + 1));
            (ip(&own), agent(&format!("device {number}"), &[&own], &[&next]).faulty([Fault::DropsEvery(9)]))
        }));
        let crawl = finished(begin(&farm, &["192.0.2.1"], CrawlOptions::default()));
        let _ = tokio::time::timeout(Duration::from_millis(37 * step), crawl).await;
        let sent = farm.sent().len();
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(farm.sent().len(), sent, "{step}");
    }
}

#[tokio::test(start_paused = true)]
async fn addresses_that_do_not_answer_do_not_hold_up_the_others() {
    let neighbors: Vec<String> = (2..=60).map(|number| format!("192.0.2.{number}")).collect();
    let dead: Vec<&str> = neighbors.iter().map(String::as_str).collect();
    let last = [&dead[..], &["192.0.2.100"]].concat();
    let farm = Farm::with([
        (ip("192.0.2.1"), agent("core", &["192.0.2.1"], &last)),
        (ip("192.0.2.100"), agent("last", &["192.0.2.100"], &["192.0.2.101"])),
    ]);
    let (devices, failed, _) = finished(begin(&farm, &["192.0.2.1"], CrawlOptions::default())).await;
    assert_eq!((devices.len(), failed.len()), (2, 60));
}

#[tokio::test(start_paused = true)]
async fn all_faults_in_one_network_lose_no_device() {
    let cases = crate::faults::cases();
    let names: Vec<String> = (0..cases.len()).map(|number| format!("192.0.2.{}", number + 10)).collect();
    let neighbors: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut agents = vec![(ip("192.0.2.1"), agent("core", &["192.0.2.1"], &neighbors))];
    for (address, (name, faults, ..)) in neighbors.iter().zip(cases) {
        agents.push((ip(address), agent(name, &[address], &["192.0.2.1"]).faulty(faults)));
    }
    let (devices, failed, _) =
        finished(begin(&Farm::with(agents), &["192.0.2.1"], CrawlOptions::default())).await;
    assert_eq!((devices.len(), failed.len()), (neighbors.len() + 1, 0));
}

#[tokio::test(start_paused = true)]
async fn reasons_of_failures_have_a_sentence_without_secrets() {
    let farm = Farm::with([(ip("192.0.2.1"), Agent::new(b"another community", variables(1)))]);
    let mut crawl = begin(&farm, &["192.0.2.1"], CrawlOptions::default());
    let Some(CrawlEvent::Failed(failure)) = crawl.next().await else { panic!("nothing answers") };
    assert!(matches!(failure.reason, CrawlFailureReason::NotAnswered(AskError::Silent)));
    assert_eq!(failure.reason.to_string(), "there was no answer");
    assert!(!format!("{failure:?} {crawl:?}").contains("ourselves"));
    assert!(crawl.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn neighbors_are_asked_before_the_rest_of_a_device_was_read() {
    let first = agent("first", &["192.0.2.1"], &["192.0.2.2"]).faulty([Fault::Takes(Duration::from_secs(1))]);
    let farm =
        Farm::with([(ip("192.0.2.1"), first), (ip("192.0.2.2"), agent("second", &["192.0.2.2"], &[]))]);
    let (devices, ..) = finished(begin(&farm, &["192.0.2.1"], CrawlOptions::default())).await;
    assert_eq!(devices, addresses(&["192.0.2.1", "192.0.2.2"]));
    let sent = farm.sent();
    let times = |address| sent.iter().filter(move |(_, to)| *to == ip(address)).map(|(time, _)| *time);
    assert!(times("192.0.2.2").max() < times("192.0.2.1").max(), "the neighbor did not wait");
}

#[tokio::test(start_paused = true)]
async fn edge_of_the_subnet_of_a_device_is_not_asked_as_its_neighbor() {
    let mut first = agent("first", &["192.0.2.9"], &["192.0.2.11", "192.0.2.10"]);
    let mask = vec![1, 3, 6, 1, 2, 1, 4, 20, 1, 3, 192, 0, 2, 9];
    first.variables.insert(mask, SnmpValue::IpAddress([255, 255, 255, 252]));
    let second = |address: &str| (ip(address), agent(address, &[address], &[]));
    let farm = Farm::with([(ip("192.0.2.9"), first), second("192.0.2.10"), second("192.0.2.11")]);
    let (devices, ..) = finished(begin(&farm, &["192.0.2.9"], CrawlOptions::default())).await;
    assert_eq!(devices, addresses(&["192.0.2.9", "192.0.2.10"]));
    assert_eq!(farm.count(ip("192.0.2.11")), 0);
}

#[tokio::test(start_paused = true)]
async fn address_that_has_answered_belongs_to_the_device_whatever_it_states() {
    for stated in [&[][..], &["10.0.0.1"], &["192.0.2.1", "10.0.0.1"]] {
        let farm = Farm::with([(ip("192.0.2.1"), agent("a", stated, &[]))]);
        let mut crawl = begin(&farm, &["192.0.2.1"], CrawlOptions::default());
        let Some(CrawlEvent::Device(device)) = crawl.next().await else { panic!("there is a device") };
        let table = device.report.devices[0].tables.addresses.as_ref().unwrap();
        let rows: Vec<IpAddr> = table.rows.iter().map(|row| row.ip_address).collect();
        let expected = addresses(&[&["192.0.2.1"], stated].concat());
        assert_eq!((rows.len(), rows.into_iter().collect()), (expected.len(), expected));
        assert_eq!(table.complete, !stated.is_empty(), "{stated:?}");
    }
}
