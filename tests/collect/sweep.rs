//! Sweeps of prefixes, with probes in memory and in virtual time, and on loopback addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
use toposcope::collect::snmp::{SnmpAgent, SnmpValue};
use toposcope::collect::sweep::{LiveAddress, LiveSign, Probes, Sweep, SweepError, SystemProbes};
use toposcope::collect::{Pace, TransportFuture};

use crate::crawl::with_neighbors;
use crate::farm::{Agent, Farm};
use crate::polite::Politeness;
use crate::support::{COMMUNITY, community, gate, ip};

/// Probes that find some addresses, and note the time and the address of each packet.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    signs: BTreeMap<IpAddr, LiveSign>,
    politeness: Politeness,
    refuses_echo: bool,
    sent: Arc<Mutex<Vec<(Instant, IpAddr)>>>,
    /// The number of probes at present, and the largest number.
    present: Arc<Mutex<(usize, usize)>>,
}

impl Found {
    /// Returns probes whose packets count together with those of a gate with the same limits.
    pub(crate) fn with(politeness: &Politeness, signs: &[(&str, LiveSign)]) -> Self {
        Self {
            signs: signs.iter().map(|(address, sign)| (ip(address), *sign)).collect(),
            politeness: politeness.clone(),
            refuses_echo: false,
            sent: Arc::default(),
            present: Arc::default(),
        }
    }

    async fn send(&self, address: IpAddr, sign: LiveSign) -> io::Result<bool> {
        self.politeness.check(address);
        self.sent.lock().unwrap().push((Instant::now(), address));
        {
            let (present, most) = &mut *self.present.lock().unwrap();
            *present += 1;
            *most = (*most).max(*present);
        }
        let is_found = self.signs.get(&address) == Some(&sign);
        sleep(Duration::from_millis(if is_found { 3 } else { 900 })).await;
        self.present.lock().unwrap().0 -= 1;
        Ok(is_found)
    }
}

impl Probes for Found {
    fn without_echo(&self) -> Option<io::ErrorKind> {
        self.refuses_echo.then_some(io::ErrorKind::PermissionDenied)
    }

    fn echo(&self, address: IpAddr) -> TransportFuture<'_, bool> {
        Box::pin(self.send(address, LiveSign::Echo))
    }

    fn connect(&self, to: SocketAddr) -> TransportFuture<'_, bool> {
        Box::pin(self.send(to.ip(), LiveSign::Tcp(to.port())))
    }

    fn neighbors(&self) -> Vec<IpAddr> {
        let cached = self.signs.iter().filter(|(_, sign)| **sign == LiveSign::NeighborTable);
        cached.map(|(address, _)| *address).collect()
    }
}

async fn live(mut sweep: Sweep) -> BTreeMap<IpAddr, LiveSign> {
    let mut found = BTreeMap::new();
    while let Some(LiveAddress { address, sign, .. }) = sweep.next().await {
        assert!(found.insert(address, sign).is_none(), "{address} is found once");
    }
    found
}

#[tokio::test(start_paused = true)]
async fn addresses_are_found_by_each_sign() {
    let signs = [
        ("192.0.2.1", LiveSign::Echo),
        ("192.0.2.77", LiveSign::Tcp(22)),
        ("192.0.2.78", LiveSign::Tcp(443)),
        ("192.0.2.254", LiveSign::NeighborTable),
        // Outside of the prefix, and not to be probed.
        ("192.0.2.255", LiveSign::Echo),
        ("198.51.100.1", LiveSign::Echo),
    ];
    let politeness = Politeness::of("192.0.2.0/24");
    let (probes, gate) = (Found::with(&politeness, &signs), politeness.gate(Farm::default()));
    let prefixes = ["192.0.2.0/24", "192.0.2.64/26"].map(|prefix| prefix.parse().unwrap());
    let found = live(Sweep::begin(&gate, prefixes, probes.clone()).unwrap()).await;
    let expected = signs[..4].iter().map(|(address, sign)| (ip(address), *sign));
    assert_eq!(found, expected.collect());
    let sent = probes.sent.lock().unwrap();
    let addresses: BTreeSet<IpAddr> = sent.iter().map(|(_, address)| *address).collect();
    assert_eq!(addresses.len(), 254);
    assert!(!addresses.contains(&ip("192.0.2.0")) && !addresses.contains(&ip("192.0.2.255")));
    // Each sign ends the probing of its address: one packet, two packets, and four packets.
    assert_eq!(sent.len(), 1 + 2 + 4 * 252);
}

#[tokio::test(start_paused = true)]
async fn sweep_without_icmp_says_so_and_uses_tcp() {
    let signs = [("192.0.2.1", LiveSign::Echo), ("192.0.2.2", LiveSign::Tcp(80))];
    let politeness = Politeness::of("192.0.2.0/24");
    let probes = Found { refuses_echo: true, ..Found::with(&politeness, &signs) };
    let gate = politeness.gate(Farm::default());
    let sweep = Sweep::begin(&gate, ["192.0.2.0/29".parse().unwrap()], probes).unwrap();
    assert_eq!(sweep.without_echo(), Some(io::ErrorKind::PermissionDenied));
    assert_eq!(live(sweep).await, BTreeMap::from([(ip("192.0.2.2"), LiveSign::Tcp(80))]));
}

#[tokio::test(start_paused = true)]
async fn sweep_keeps_pace_and_number_of_probes_and_allow_list() {
    let allowed = "10.0.0.0/23, 10.0.4.7/32".parse().unwrap();
    let politeness = Politeness::new(allowed, Pace::new(20, 1_000, 700));
    let (probes, gate) = (Found::with(&politeness, &[]), politeness.gate(Farm::default()));
    let sweep = Sweep::begin(&gate, ["10.0.0.0/21".parse().unwrap()], probes.clone()).unwrap();
    assert!(live(sweep).await.is_empty());
    assert_eq!(probes.present.lock().unwrap().1, 256);
    let sent = probes.sent.lock().unwrap();
    let addresses: BTreeSet<IpAddr> = sent.iter().map(|(_, address)| *address).collect();
    assert_eq!(addresses.len(), 510 + 1);
    assert!(addresses.iter().all(|address| gate.allows(*address)));
}

#[tokio::test(start_paused = true)]
async fn sweeps_that_are_too_large_or_outside_are_errors() {
    let politeness = Politeness::of("10.0.0.0/8, 2001:db8::/32");
    let gate = politeness.gate(Farm::default());
    let begin = |prefixes: &[&str]| {
        let prefixes = prefixes.iter().map(|prefix| prefix.parse().unwrap());
        Sweep::begin(&gate, prefixes.collect::<Vec<_>>(), Found::with(&politeness, &[])).map(drop)
    };
    assert_eq!(begin(&["10.0.0.0/16"]), Ok(()));
    assert_eq!(begin(&["2001:db8::/112"]), Ok(()));
    for prefixes in [&["10.0.0.0/15"][..], &["10.0.0.0/16", "10.9.0.0/32"], &["2001:db8::/64"], &["::/0"]] {
        assert_eq!(begin(prefixes), Err(SweepError::TooLarge), "{prefixes:?}");
    }
    let outside = "192.0.2.0/24".parse().unwrap();
    assert_eq!(begin(&["192.0.2.0/24"]), Err(SweepError::NotAllowed(outside)));
}

#[tokio::test(start_paused = true)]
async fn sweep_that_is_dropped_sends_nothing_more() {
    let politeness = Politeness::of("192.0.2.0/24");
    let probes = Found::with(&politeness, &[("192.0.2.9", LiveSign::Echo)]);
    let gate = politeness.gate(Farm::default());
    let mut sweep = Sweep::begin(&gate, ["192.0.2.0/24".parse().unwrap()], probes.clone()).unwrap();
    assert_eq!(sweep.next().await.unwrap().address, ip("192.0.2.9"));
    drop(sweep);
    let sent = probes.sent.lock().unwrap().len();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(probes.sent.lock().unwrap().len(), sent);
}

#[tokio::test]
async fn system_probes_find_loopback_addresses() {
    // A listener that accepts nothing: only its queue of connections shows it.
    let listener = TcpListener::bind("127.1.9.1:0").unwrap();
    let probes = SystemProbes::open();
    assert!(probes.connect(listener.local_addr().unwrap()).await.unwrap());
    // Refused connections show that an address is in use, too.
    assert!(probes.connect("127.1.9.2:1".parse().unwrap()).await.unwrap());
    match probes.without_echo() {
        None => {
            for address in ["127.1.9.3", "127.1.9.4"] {
                assert!(probes.echo(ip(address)).await.unwrap(), "{address}");
            }
        }
        Some(reason) => println!("skipped: the system refuses a socket for ICMP: {reason}"),
    }
    let gate = gate(&Farm::default(), "127.1.9.0/24");
    let found = live(Sweep::begin(&gate, ["127.1.9.8/30".parse().unwrap()], probes).unwrap()).await;
    assert_eq!(found.into_keys().collect::<Vec<_>>(), [ip("127.1.9.9"), ip("127.1.9.10")]);
}

/// Returns the addresses that a crawl reads.
async fn crawled(crawl: Crawl) -> BTreeSet<IpAddr> {
    let (mut crawl, mut devices) = (crawl, BTreeSet::new());
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            assert!(devices.insert(device.address));
        }
    }
    devices
}

#[tokio::test(start_paused = true)]
async fn crawl_follows_next_hops_and_sweeps_subnets_if_it_is_told_to() {
    let mut first = with_neighbors("a", &["192.0.2.1"], &[]);
    // `ipCidrRouteType`: a route by way of another router.
    let route = [1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 6, 10, 0, 0, 0, 255, 0, 0, 0, 0, 192, 0, 2, 2];
    first.insert(route.to_vec(), SnmpValue::Integer(4));
    let device = |name: &str, own: &str| Agent::new(COMMUNITY, with_neighbors(name, &[own], &[]));
    let farm = Farm::with([
        (ip("192.0.2.1"), Agent::new(COMMUNITY, first)),
        (ip("192.0.2.2"), device("b", "192.0.2.2")),
        (ip("192.0.2.3"), device("c", "192.0.2.3")),
    ]);
    let begin_within = |politeness: &Politeness, options: CrawlOptions| {
        let gate = politeness.gate(farm.clone());
        Crawl::begin(&gate, [ip("192.0.2.1")], |_| community(), options).unwrap()
    };
    let begin = |options| begin_within(&Politeness::of("192.0.2.0/24"), options);
    let all = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(ip);
    assert_eq!(crawled(begin(CrawlOptions::default())).await, BTreeSet::from([all[0]]));
    let mut options = CrawlOptions::default();
    options.follows_next_hops = true;
    assert_eq!(crawled(begin(options)).await, BTreeSet::from([all[0], all[1]]));
    let signs = [("192.0.2.2", LiveSign::Echo), ("192.0.2.3", LiveSign::NeighborTable)];
    let politeness = Politeness::of("192.0.2.0/24");
    let probes = Found::with(&politeness, &signs);
    let crawl = begin_within(&politeness, CrawlOptions::default()).with_sweeps(probes.clone());
    assert_eq!(crawled(crawl).await, BTreeSet::from(all));
    // Its prefix is swept once, although each of the three devices has it.
    assert_eq!(probes.sent.lock().unwrap().len(), 1 + 4 * 253);
}

/// Returns an agent that has its own addresses with a mask, and no neighbors.
fn masked(name: &str, own: &[&str], mask: [u8; 4]) -> Agent {
    let mut variables = with_neighbors(name, own, &[]);
    let column = [1, 3, 6, 1, 2, 1, 4, 20, 1, 3];
    for (_, value) in variables.iter_mut().filter(|(id, _)| id.starts_with(&column)) {
        *value = SnmpValue::IpAddress(mask);
    }
    Agent::new(COMMUNITY, variables)
}

/// Sweeps the subnets of one device, and of the others behind them, all with one mask. Returns the addresses of the devices, and those
/// that were probed.
async fn swept(own: &[&str], mask: [u8; 4], live: &[&str]) -> (BTreeSet<IpAddr>, BTreeSet<IpAddr>) {
    let other = |address: &&str| (ip(address), masked(address, &[address], mask));
    let seed = own[0];
    let farm = Farm::with(live.iter().map(other).chain([(ip(seed), masked("hub", own, mask))]));
    let politeness = Politeness::of("10.0.0.0/16");
    let signs: Vec<_> = live.iter().map(|address| (*address, LiveSign::Echo)).collect();
    let probes = Found::with(&politeness, &signs);
    let crawl =
        Crawl::begin(&politeness.gate(farm), [ip(seed)], |_| community(), CrawlOptions::default()).unwrap();
    let devices = crawled(crawl.with_sweeps(probes.clone())).await;
    let probed = probes.sent.lock().unwrap().iter().map(|(_, address)| *address).collect();
    (devices, probed)
}

#[tokio::test(start_paused = true)]
async fn both_addresses_of_a_prefix_of_31_bits_are_swept() {
    let (devices, probed) = swept(&["10.0.0.4"], [255, 255, 255, 254], &["10.0.0.5"]).await;
    let both = BTreeSet::from(["10.0.0.4", "10.0.0.5"].map(ip));
    assert_eq!((devices, probed), (both.clone(), both));
}

#[tokio::test(start_paused = true)]
async fn each_of_many_prefixes_of_30_bits_is_swept() {
    // More than count as subnets whose first and last addresses get no packets.
    let text = |subnet: usize, host: usize| format!("10.0.{}.{}", subnet / 64, subnet % 64 * 4 + host);
    let (own, others): (Vec<String>, Vec<String>) =
        (0..100).map(|subnet| (text(subnet, 1), text(subnet, 2))).unzip();
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let (devices, probed) = swept(&own, [255, 255, 255, 252], &others).await;
    assert_eq!(devices.len(), 1 + others.len());
    assert!(others.iter().all(|address| probed.contains(&ip(address))));
    let is_edge = |address: &IpAddr| match address {
        IpAddr::V4(address) => [0, 3].contains(&(address.octets()[3] % 4)),
        IpAddr::V6(_) => false,
    };
    assert!(!probed.iter().any(is_edge));
}

#[tokio::test(start_paused = true)]
async fn subnets_outside_of_the_allow_list_leave_room_for_those_within() {
    // Two subnets of 65,536 addresses elsewhere, and one whose first 256 addresses the allow-list has.
    let own = ["172.16.0.1", "172.17.0.1", "10.0.0.1"];
    let mut hub = with_neighbors("hub", &own, &[]);
    let column = [1, 3, 6, 1, 2, 1, 4, 20, 1, 3];
    for (_, value) in hub.iter_mut().filter(|(id, _)| id.starts_with(&column)) {
        *value = SnmpValue::IpAddress([255, 255, 0, 0]);
    }
    let found = Agent::new(COMMUNITY, with_neighbors("found", &["10.0.0.9"], &[]));
    let farm = Farm::with([(ip("10.0.0.1"), Agent::new(COMMUNITY, hub)), (ip("10.0.0.9"), found)]);
    let politeness = Politeness::of("10.0.0.0/24");
    let probes = Found::with(&politeness, &[("10.0.0.9", LiveSign::Echo)]);
    let gate = politeness.gate(farm);
    let crawl = Crawl::begin(&gate, [ip("10.0.0.1")], |_| community(), CrawlOptions::default()).unwrap();
    let devices = crawled(crawl.with_sweeps(probes.clone())).await;
    assert_eq!(devices, BTreeSet::from(["10.0.0.1", "10.0.0.9"].map(ip)));
    let probed: BTreeSet<IpAddr> = probes.sent.lock().unwrap().iter().map(|(_, address)| *address).collect();
    assert_eq!(probed.len(), 254);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "packets in a second")]
async fn probe_beyond_the_pace_fails_the_test() {
    let politeness = Politeness::new("192.0.2.0/24".parse().unwrap(), Pace::new(20, 10, 10));
    let faster = gate(&Farm::default(), "192.0.2.0/24");
    let prefix = "192.0.2.0/24".parse().unwrap();
    live(Sweep::begin(&faster, [prefix], Found::with(&politeness, &[])).unwrap()).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "packets in a second")]
async fn packets_of_a_transport_and_of_probes_count_together() {
    // The gate of the probes has a pace of its own, and neither sends more than two packets in a second.
    let politeness = Politeness::new("192.0.2.0/24".parse().unwrap(), Pace::new(2, 100, 100));
    let (transport, probing) = (politeness.gate(Farm::default()), gate(&Farm::default(), "192.0.2.0/24"));
    let sweep = Sweep::begin(&probing, ["192.0.2.1/32".parse().unwrap()], Found::with(&politeness, &[]));
    let asked = SnmpAgent::find(&transport, SocketAddr::new(ip("192.0.2.1"), 161), community());
    let _ = tokio::join!(asked, live(sweep.unwrap()));
}
