//! Whole networks of the farm, from one address to all their cables.

use std::time::Duration;

use async_snmp::{AuthProtocol, PrivProtocol};
use toposcope::collect::crawl::{Crawl, CrawlOptions};
use toposcope::collect::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use crate::farm::collected::Collected;
use crate::farm::line::Line;
use crate::farm::network::{NAMES, NamedCable, Network, address};
use crate::farm::{Farm, FarmUser};
use crate::support::{COMMUNITY, community, gate};

const ALLOWED: &str = "127.1.0.0/16";

/// Reads a network from its first device, and compares the links with its cables.
async fn compare(network: &Network, farm: &Farm, secrets: Vec<SnmpSecret>) {
    let mut options = CrawlOptions::default();
    options.depth = 1_000;
    let seed = [address(0).into()];
    let mut crawl = Crawl::begin(&gate(farm, ALLOWED), seed, move |_| secrets.clone(), options).unwrap();
    let collected = Collected::new().await.unwrap();
    let others = collected.add_all(&mut crawl).await.unwrap();
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
    let [authentication, privacy] = ["the authentication", "the private key"];
    let farm_user = FarmUser::new(
        "reader",
        Some((AuthProtocol::Sha256, authentication)),
        Some((PrivProtocol::Aes128, privacy)),
    );
    let user = SnmpUser::new("reader")
        .authentication(SnmpAuthentication::Sha256, authentication)
        .privacy(SnmpPrivacy::Aes128, privacy);
    compare(&network, &Farm::of(&network, &[], Some(&farm_user)), vec![SnmpSecret::v3(user)]).await;
}

#[tokio::test(start_paused = true)]
async fn cables_are_found_on_a_line_that_loses_delays_and_duplicates_packets() {
    let network = Network::named("campus", 30).unwrap();
    let line = Line::new(0.05, 0.1, Duration::from_millis(1), Duration::from_millis(100));
    compare(&network, &Farm::of(&network, COMMUNITY, None).on(line), community()).await;
}
