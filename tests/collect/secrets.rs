//! The order in which a crawl tries secrets.

use std::net::IpAddr;
use std::time::Duration;

use async_snmp::AuthProtocol;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlMemory, CrawlOptions};
use toposcope::collect::snmp::SnmpValue;
use toposcope::collect::{SnmpAuthentication, SnmpSecret, SnmpSecrets, SnmpUser};

use crate::crawl::with_neighbors;
use crate::farm::{Agent, Farm, FarmEngine, FarmUser, Fault};
use crate::support::{COMMUNITY, gate, ip};

const PASSWORD: &str = "the authentication";

fn engine() -> FarmEngine {
    FarmEngine::new(b"farm", FarmUser::new("reader", Some((AuthProtocol::Sha256, PASSWORD)), None))
}

fn user(name: &str) -> SnmpSecret {
    SnmpSecret::v3(SnmpUser::new(name).authentication(SnmpAuthentication::Sha256, PASSWORD))
}

/// Returns a device that speaks SNMPv2c with this community.
fn device(name: &str, own: &[&str], neighbors: &[&str], community: &[u8]) -> Agent {
    Agent::new(community, with_neighbors(name, own, neighbors))
}

async fn crawl(farm: &Farm, secrets: impl SnmpSecrets, memory: CrawlMemory) -> (Vec<IpAddr>, CrawlMemory) {
    let gate = gate(farm, "192.0.2.0/24");
    let mut options = CrawlOptions::default();
    options.workers = 1;
    let crawl = Crawl::begin(&gate, [ip("192.0.2.1")], secrets, options).unwrap();
    let mut crawl = crawl.with_memory(memory);
    let mut devices = Vec::new();
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            devices.push(device.address);
        }
    }
    (devices, crawl.memory().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn at_most_four_secrets_are_tried_and_users_before_communities() {
    let farm = Farm::with([(ip("192.0.2.1"), device("a", &["192.0.2.1"], &[], b"the fifth"))]);
    let secrets = |_| {
        let communities = ["the third", "the fourth", "the fifth"].map(SnmpSecret::v2c);
        communities.into_iter().chain([user("one"), user("two")]).collect()
    };
    let (devices, _) = crawl(&farm, secrets, CrawlMemory::default()).await;
    assert!(devices.is_empty());
    assert!(farm.has_seen(b"the third") && farm.has_seen(b"the fourth") && !farm.has_seen(b"the fifth"));
}

#[tokio::test(start_paused = true)]
async fn community_to_which_others_have_answered_is_tried_first() {
    let farm = Farm::with([
        (ip("192.0.2.1"), device("a", &["192.0.2.1"], &["192.0.2.2"], b"the third")),
        (ip("192.0.2.2"), device("b", &["192.0.2.2"], &[], b"the third")),
    ]);
    let secrets = |_| ["the first", "the second", "the third"].map(SnmpSecret::v2c).into();
    let (devices, memory) = crawl(&farm, secrets, CrawlMemory::default()).await;
    assert_eq!(devices.len(), 2);
    let tried = |farm: &Farm| farm.times_seen(b"the first");
    assert_eq!(tried(&farm), 3, "only the first device is asked with it, and three times");
    // The next crawl begins with the secret to which each address has answered.
    let (devices, _) = crawl(&farm, secrets, memory).await;
    assert_eq!((devices.len(), tried(&farm)), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn community_to_which_an_address_has_answered_is_tried_before_users() {
    let farm = Farm::with([(ip("192.0.2.1"), device("a", &["192.0.2.1"], &[], COMMUNITY))]);
    let secrets = |_| vec![user("reader"), SnmpSecret::v2c(COMMUNITY)];
    let (_, memory) = crawl(&farm, secrets, CrawlMemory::default()).await;
    let before = farm.sent().len();
    let first = farm.times_seen(COMMUNITY);
    let (devices, memory) = crawl(&farm, secrets, memory).await;
    assert_eq!(devices.len(), 1);
    // Each packet of the second crawl has the community.
    assert_eq!(farm.times_seen(COMMUNITY) - first, farm.sent().len() - before);
    // Another list, in which the place is that of a user: users come first again.
    let (devices, _) = crawl(&farm, |_| vec![SnmpSecret::v2c(COMMUNITY), user("reader")], memory).await;
    assert_eq!(devices.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn address_that_has_answered_a_user_is_never_sent_a_community() {
    let mut both = device("a", &["192.0.2.1", "192.0.2.9"], &["192.0.2.9"], &[]).v3(engine());
    both.community = COMMUNITY.to_vec();
    let mut other = both.clone();
    other.variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 5, 0], SnmpValue::Bytes(b"b".as_slice().into()));
    let farm = Farm::with([(ip("192.0.2.1"), both), (ip("192.0.2.9"), other)]);
    let secrets = |address| {
        // The other address of the device is not known to the application as one that speaks SNMPv3.
        let community = SnmpSecret::v2c(COMMUNITY);
        if address == ip("192.0.2.9") { vec![community] } else { vec![community, user("reader")] }
    };
    let (devices, memory) = crawl(&farm, secrets, CrawlMemory::default()).await;
    assert_eq!(devices, [ip("192.0.2.1")]);
    assert!(!farm.has_seen(COMMUNITY));
    // Nor is it when the application has no user any more, or the password is another one.
    let (devices, memory) = crawl(&farm, |_| vec![SnmpSecret::v2c(COMMUNITY)], memory).await;
    assert!(devices.is_empty());
    let wrong = SnmpUser::new("someone").authentication(SnmpAuthentication::Sha256, "another password");
    let wrong = SnmpSecret::v3(wrong);
    let secrets = move |_| vec![SnmpSecret::v2c(COMMUNITY), wrong.clone()];
    assert!(crawl(&farm, secrets, memory).await.0.is_empty());
    assert!(!farm.has_seen(COMMUNITY));
}

#[tokio::test(start_paused = true)]
async fn address_that_has_refused_a_known_user_is_sent_no_community_whatever_it_refuses_next() {
    let mut agent = device("a", &["192.0.2.1"], &[], &[]).v3(engine());
    agent.community = COMMUNITY.to_vec();
    let farm = Farm::with([(ip("192.0.2.1"), agent)]);
    let wrong = SnmpUser::new("reader").authentication(SnmpAuthentication::Sha256, "another password");
    let wrong = SnmpSecret::v3(wrong);
    let secrets = move |_| vec![wrong.clone(), user("nobody"), SnmpSecret::v2c(COMMUNITY)];
    let (devices, _) = crawl(&farm, secrets, CrawlMemory::default()).await;
    assert!(devices.is_empty());
    assert!(!farm.has_seen(COMMUNITY));
}

#[tokio::test(start_paused = true)]
async fn device_without_version_3_is_found_by_its_community_in_spite_of_its_faults() {
    for fault in [Fault::AnswersFrom(ip("192.0.2.77")), Fault::Takes(Duration::from_millis(3_500))] {
        let device = device("a", &["192.0.2.1"], &[], COMMUNITY).faulty([fault.clone()]);
        let farm = Farm::with([(ip("192.0.2.1"), device)]);
        let secrets = |_| vec![user("reader"), SnmpSecret::v2c(COMMUNITY)];
        let (devices, _) = crawl(&farm, secrets, CrawlMemory::default()).await;
        assert_eq!(devices, [ip("192.0.2.1")], "{fault:?}");
    }
}
