//! Crawls of networks in which a device states what concerns others: their addresses, their subnets, and the memory of all.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
use toposcope::collect::snmp::SnmpValue;

use crate::crawl::{addresses, agent, begin, finished};
use crate::farm::{Agent, Farm, Fault};
use crate::support::{COMMUNITY, community, gate, ip, variables};

#[tokio::test(start_paused = true)]
async fn device_with_a_copied_name_and_copied_addresses_hides_no_other() {
    // Both copies state the address of the router, and only one of them its own.
    for own in [&["192.0.2.66", "192.0.2.1"][..], &["192.0.2.1"]] {
        let mut copy = agent("router", own, &["192.0.2.1"]);
        copy.variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 3, 0], SnmpValue::TimeTicks(8_000_000));
        let farm =
            Farm::with([(ip("192.0.2.1"), agent("router", &["192.0.2.1"], &[])), (ip("192.0.2.66"), copy)]);
        let (devices, failed, _) =
            finished(begin(&farm, &["192.0.2.66", "192.0.2.1"], CrawlOptions::default())).await;
        assert_eq!(devices, addresses(&["192.0.2.66", "192.0.2.1"]));
        assert!(failed.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn copy_without_an_up_time_hides_no_device() {
    let up_time = [1, 3, 6, 1, 2, 1, 1, 3, 0];
    let own = ["192.0.2.66", "192.0.2.1"];
    // Whichever of them is read first.
    for seeds in [["192.0.2.66", "192.0.2.1"], ["192.0.2.1", "192.0.2.66"]] {
        let mut copy = agent("router", &own, &[]);
        copy.variables.remove(up_time.as_slice());
        let farm = Farm::with([(ip("192.0.2.1"), agent("router", &own, &[])), (ip("192.0.2.66"), copy)]);
        let (devices, ..) = finished(begin(&farm, &seeds, CrawlOptions::default())).await;
        assert_eq!(devices, addresses(&own));
    }
    // A device that states none is still read once.
    let mut nameless = agent("router", &own, &[]);
    nameless.variables.remove(up_time.as_slice());
    let farm = Farm::with(own.map(|address| (ip(address), nameless.clone())));
    let (devices, ..) = finished(begin(&farm, &own, CrawlOptions::default())).await;
    assert_eq!(devices.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn subnets_of_one_device_leave_the_addresses_of_others_alone() {
    // A thousand subnets of four addresses, whose first and last addresses no host should have.
    let subnets: Vec<String> =
        (0..1_000).map(|number| format!("192.0.{}.{}", number / 64, number % 64 * 4 + 1)).collect();
    let own: Vec<&str> = subnets.iter().map(String::as_str).collect();
    let neighbors = ["192.0.12.8", "192.0.13.8", "192.0.14.11", "192.0.15.0"];
    let mut liar = agent("liar", &own, &neighbors);
    let mask = [1, 3, 6, 1, 2, 1, 4, 20, 1, 3];
    for (id, value) in &mut liar.variables {
        if id.starts_with(&mask) {
            *value = SnmpValue::IpAddress([255, 255, 255, 252]);
        }
    }
    let agents = neighbors.iter().map(|address| (ip(address), agent(address, &[address], &[])));
    let farm = Farm::with(agents.chain([(ip("192.0.0.1"), liar)]));
    let gate = gate(&farm, "192.0.0.0/20");
    let seed = [ip("192.0.0.1")];
    let crawl = Crawl::begin(&gate, seed, |_| community(), CrawlOptions::default()).unwrap();
    let (devices, failed, _) = finished(crawl).await;
    assert_eq!(devices, addresses(&[&["192.0.0.1"], &neighbors[..]].concat()));
    assert!(failed.is_empty());
    // The first ones of the subnets count.
    assert!(!gate.allows(ip("192.0.0.8")) && gate.allows(ip("192.0.15.8")));
}

#[tokio::test(start_paused = true)]
async fn address_that_has_answered_is_no_edge_of_a_subnet() {
    let mut router = agent("router", &["192.0.2.9"], &[]);
    let mask = vec![1, 3, 6, 1, 2, 1, 4, 20, 1, 3, 192, 0, 2, 9];
    router.variables.insert(mask, SnmpValue::IpAddress([255, 255, 255, 252]));
    // It is still being read when the router states the subnet of which it would be the last address.
    let slow = agent("slow", &["192.0.2.11"], &[]).faulty([Fault::Takes(Duration::from_secs(1))]);
    let farm = Farm::with([(ip("192.0.2.9"), router), (ip("192.0.2.11"), slow)]);
    let gate = gate(&farm, "192.0.2.0/24");
    let seeds = [ip("192.0.2.11"), ip("192.0.2.9")];
    let mut options = CrawlOptions::default();
    options.workers = 1;
    let mut crawl = Crawl::begin(&gate, seeds, |_| community(), options).unwrap();
    let mut truncated = 0;
    while let Some(event) = crawl.next().await {
        let CrawlEvent::Device(device) = event else { panic!("{event:?}") };
        truncated += device.truncated.len();
    }
    assert_eq!((crawl.progress().devices, truncated), (2, 0));
    assert!(gate.allows(ip("192.0.2.11")) && !gate.allows(ip("192.0.2.8")));
}

#[tokio::test(start_paused = true)]
async fn devices_wait_for_each_other_if_their_tables_take_too_much_memory() {
    let own: Vec<String> = (1..=9).map(|number| format!("192.0.2.{number}")).collect();
    let seeds: Vec<&str> = own.iter().map(String::as_str).collect();
    let agent = |address: &&str| {
        let mut variables = variables(200);
        let name = SnmpValue::Bytes(address.as_bytes().into());
        variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 5, 0], name);
        (ip(address), Agent::new(COMMUNITY, variables))
    };
    for (table_bytes, most) in [(1, 1), (256 << 20, 9)] {
        let farm = Farm::with(seeds.iter().map(agent));
        let mut options = CrawlOptions::default();
        options.table_bytes = table_bytes;
        let mut crawl = begin(&farm, &seeds, options);
        while let Some(event) = crawl.next().await {
            let CrawlEvent::Device(device) = event else { panic!("{event:?}") };
            assert!(device.truncated.is_empty());
        }
        assert_eq!(crawl.progress().devices, 9);
        // Before it waits, a device gets a packet for each empty table, and one for the first table with variables.
        let (mut packets, mut runs) = (BTreeMap::<IpAddr, usize>::new(), Vec::new());
        for (_, address) in farm.sent() {
            let count = packets.entry(address).or_default();
            *count += 1;
            if *count > 8 && runs.last() != Some(&address) {
                runs.push(address);
            }
        }
        assert_eq!(runs.len() == 9, most == 1, "{}", runs.len());
    }
}

#[tokio::test(start_paused = true)]
async fn addresses_beyond_the_limit_are_counted_once() {
    let neighbors = ["192.0.2.2", "192.0.2.3", "192.0.2.77", "192.0.2.78", "198.51.100.1"];
    let farm = Farm::with(
        ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|own| (ip(own), agent(own, &[own], &neighbors))),
    );
    let mut options = CrawlOptions::default();
    options.targets = 3;
    let mut crawl = begin(&farm, &["192.0.2.1"], options);
    while crawl.next().await.is_some() {}
    assert_eq!((crawl.progress().devices, crawl.progress().left_out), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn time_of_waiting_for_memory_does_not_count() {
    let own: Vec<String> = (1..=6).map(|number| format!("192.0.2.{number}")).collect();
    let seeds: Vec<&str> = own.iter().map(String::as_str).collect();
    let slow = |address: &&str| {
        let mut variables = variables(100);
        variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 5, 0], SnmpValue::Bytes(address.as_bytes().into()));
        let agent = Agent::new(COMMUNITY, variables);
        (ip(address), agent.faulty([Fault::Takes(Duration::from_millis(400))]))
    };
    let farm = Farm::with(seeds.iter().map(slow));
    let mut options = CrawlOptions::default();
    options.table_bytes = 1;
    // One device takes about 10 seconds, and all of them one after the other a minute.
    options.walk = options.walk.with_time(Duration::from_secs(20));
    let (began, mut crawl) = (Instant::now(), begin(&farm, &seeds, options));
    while let Some(event) = crawl.next().await {
        let CrawlEvent::Device(device) = event else { panic!("{event:?}") };
        assert_eq!(device.truncated, []);
    }
    assert_eq!(crawl.progress().devices, seeds.len());
    assert!(began.elapsed() > Duration::from_secs(30), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn devices_that_have_answered_and_are_not_read_are_counted() {
    // All have one name, so that each waits until the one before was read.
    let own = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    let farm = Farm::with(own.map(|own| (ip(own), agent("switch", &[own], &[]))));
    let mut options = CrawlOptions::default();
    options.devices = 1;
    let mut crawl = begin(&farm, &own, options);
    while crawl.next().await.is_some() {}
    assert_eq!((crawl.progress().devices, crawl.progress().left_out), (1, 3));
}

const ALL: &[&str] = &["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];

/// Reads slow switches of one name, and returns the time that it takes, and the number of devices.
async fn time_of_namesakes(up_times: [u32; 4], own: [&'static [&'static str]; 4]) -> (Duration, usize) {
    let places = ALL.iter().zip(up_times.iter().zip(own));
    let farm = Farm::with(places.map(|(address, (up_time, own))| {
        let mut agent = agent("switch", own, &[]).faulty([Fault::Takes(Duration::from_millis(400))]);
        agent.variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 3, 0], SnmpValue::TimeTicks(*up_time));
        (ip(address), agent)
    }));
    let began = Instant::now();
    let (devices, failed, _) = finished(begin(&farm, ALL, CrawlOptions::default())).await;
    assert!(failed.is_empty());
    (began.elapsed(), devices.len())
}

#[tokio::test(start_paused = true)]
async fn devices_of_one_name_wait_for_each_other_only_while_they_may_be_the_same() {
    let own: [&[&str]; 4] = [&["192.0.2.1"], &["192.0.2.2"], &["192.0.2.3"], &["192.0.2.4"]];
    let same = 4_711;
    let (at_once, devices) = time_of_namesakes([same, 10_000, 20_000, 30_000], own).await;
    assert_eq!(devices, 4);
    // Until its own addresses are known, each may be another one. They are in the first half of the tables.
    let (after_addresses, devices) = time_of_namesakes([same; 4], own).await;
    assert_eq!(devices, 4);
    assert!(
        after_addresses > at_once && after_addresses < at_once * 7 / 2,
        "{at_once:?} {after_addresses:?}"
    );
    let (_, devices) = time_of_namesakes([same; 4], [ALL; 4]).await;
    assert_eq!(devices, 1);
}
