//! Crawls of a network whose answers arrive damaged, late, repeatedly, and from other addresses.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
use toposcope::collect::{Datagram, SnmpSecret, Transport, TransportFuture};

use crate::farm::Farm;
use crate::farm::line::Line;
use crate::farm::network::{Network, address};
use crate::farm::reader;
use crate::polite::Politeness;
use crate::support::{COMMUNITY, community};

const DEVICES: usize = 5;

/// The time that the crawls of these networks take at most, in virtual time.
const MAX_TIME: Duration = Duration::from_secs(4 * 3_600);

/// A transport that damages answers.
#[derive(Debug)]
struct Hostile {
    farm: Farm,
    state: Arc<Mutex<HostileState>>,
}

#[derive(Debug)]
struct HostileState {
    random: fastrand::Rng,
    /// The datagrams that arrive next.
    waiting: VecDeque<Datagram>,
    /// Former datagrams, some of which arrive again.
    former: Vec<Datagram>,
}

impl Hostile {
    fn new(farm: &Farm, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let state = HostileState { random, waiting: VecDeque::new(), former: Vec::new() };
        Self { farm: farm.clone(), state: Arc::new(Mutex::new(state)) }
    }
}

impl HostileState {
    /// Takes a datagram, and adds what arrives in its place.
    fn take(&mut self, datagram: Datagram) {
        let Self { random, .. } = self;
        let mut damaged = datagram.clone();
        let place = random.usize(..damaged.bytes.len().max(1));
        match random.u8(..24) {
            0 => damaged.bytes.truncate(place),
            1 => damaged
                .bytes
                .iter_mut()
                .skip(place)
                .take(random.usize(1..5))
                .for_each(|byte| *byte = random.u8(..)),
            // A length that no datagram has.
            2 => drop(damaged.bytes.splice(place..place, [0x84, 0xFF, 0xFF, 0xFF, 0xFF])),
            3 => damaged.bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(2_000)),
            4 => damaged.from = SocketAddr::new([198, 51, 100, 7].into(), damaged.from.port()),
            5 => damaged.from = SocketAddr::new(address(random.usize(..DEVICES)).into(), damaged.from.port()),
            6 => damaged.from.set_port(random.u16(1..)),
            7 => self.waiting.push_back(datagram.clone()),
            8 => self.waiting.extend(self.former.last().cloned()),
            9 => self.waiting.extend(self.former.first().cloned()),
            10 => damaged.bytes.clear(),
            _ => {}
        }
        self.waiting.push_back(damaged);
        self.former.push(datagram);
    }
}

impl Transport for Hostile {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        self.farm.send(to, datagram)
    }

    fn receive(&self) -> TransportFuture<'_, Datagram> {
        Box::pin(async move {
            loop {
                if let Some(next) = self.state.lock().unwrap().waiting.pop_front() {
                    return Ok(next);
                }
                let datagram = self.farm.receive().await?;
                self.state.lock().unwrap().take(datagram);
            }
        })
    }
}

/// Crawls to the end, and returns the addresses that were read and those that were not.
async fn crawled(farm: &Farm, seed: u64, secret: &SnmpSecret) -> BTreeSet<IpAddr> {
    // It checks each packet.
    let gate = Politeness::of("127.1.0.0/24").gate(Hostile::new(farm, seed));
    let secrets = vec![secret.clone()];
    let seeds = (0..DEVICES).map(|number| address(number).into());
    let mut crawl = Crawl::begin(&gate, seeds, move |_| secrets.clone(), CrawlOptions::default()).unwrap();
    let (mut addresses, begun) = (BTreeSet::new(), Instant::now());
    loop {
        let event = timeout(MAX_TIME.saturating_sub(begun.elapsed()), crawl.next()).await;
        let Some(event) = event.unwrap_or_else(|_| panic!("seed {seed} does not end")) else { break };
        let address = match event {
            CrawlEvent::Device(device) => device.address,
            CrawlEvent::Failed(failure) => failure.address,
            CrawlEvent::Skipped(address) | CrawlEvent::Repeated(address) => address,
            other => panic!("{other:?}"),
        };
        assert!(addresses.insert(address), "seed {seed}: {address} has two events");
    }
    addresses
}

#[tokio::test(start_paused = true)]
async fn crawl_of_a_hostile_network_ends_with_an_event_for_each_address() {
    let network = Network::named("campus", DEVICES).unwrap();
    let (user, secret) = reader();
    let secrets = [(None, community().remove(0)), (Some(&user), secret)];
    for seed in 0..24 {
        let (user, secret) = &secrets[seed as usize % 2];
        let line = Line::new(0.02, 0.1, Duration::ZERO, Duration::from_millis(400));
        let farm = Farm::of(&network, COMMUNITY, *user).on(line);
        let addresses = crawled(&farm, seed, secret).await;
        for number in 0..DEVICES {
            assert!(addresses.contains(&address(number).into()), "seed {seed}: {addresses:?}");
        }
    }
}
