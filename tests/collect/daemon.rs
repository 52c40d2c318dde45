//! The program of the example `daemon`, with a service in this process and a farm in place of a network.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{self, Either};
use tokio::sync::watch;
use toposcope::access::Caller;
use toposcope::client::{Client, HttpService, RequestBody};
use toposcope::collect::sweep::{LiveSign, Probes};
use toposcope::collect::{AllowList, Gate, Pace};
use toposcope::inventory::{HostQuery, NewDiscovery};
use toposcope::model::{Discovery, DiscoveryPhase, DiscoveryType, NetworkId, Subnet, SubnetId};
use toposcope::{Api, Inventory};
use tower::service_fn;

use crate::again;
use crate::daemon_program::daemon::Daemon;
use crate::daemon_program::work::{Reach, Settings};
use crate::farm::{Farm, Fault};
use crate::polite::Politeness;
use crate::service::Served;
use crate::support::{COMMUNITY, IF_TABLE, community, ip, variables};
use crate::sweep::Found;

/// The pace of daemons, whose sweeps would wait for a slower one most of the time.
const PACE: Pace = Pace::new(100_000, 100_000, 100_000);

/// A farm as the network of a daemon.
#[derive(Clone)]
struct FarmReach {
    farm: Farm,
    politeness: Politeness,
    probes: Found,
}

impl FarmReach {
    fn new(farm: &Farm) -> Self {
        let signs = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| (address, LiveSign::Echo));
        let politeness = Politeness::new("192.0.2.0/24".parse().unwrap(), PACE);
        let probes = Found::with(&politeness, &signs);
        Self { farm: farm.clone(), politeness, probes }
    }
}

impl Reach for FarmReach {
    async fn gate(&self, allowed: AllowList) -> io::Result<Gate> {
        Ok(self.politeness.within(allowed).gate(self.farm.clone()))
    }

    fn probes(&self) -> impl Probes {
        self.probes.clone()
    }
}

/// Maximum number of requests to a service in a test, after which it fails.
const MAX_REQUESTS: usize = 2_000;

/// A service with an inventory in memory.
struct Service {
    inventory: Inventory,
    caller: Caller,
    network: NetworkId,
    key: String,
    /// The number of requests so far, with those that failed.
    requests: watch::Sender<usize>,
    /// The number of the next requests that fail.
    failing: Arc<AtomicUsize>,
}

impl Service {
    async fn new() -> Self {
        let Served { inventory, caller, network, key } = Served::new().await;
        let (requests, _) = watch::channel(0);
        Self { inventory, caller, network, key, requests, failing: Arc::default() }
    }

    fn client(&self) -> Client<impl HttpService + use<>> {
        let api = Api::builder(self.inventory.clone()).build();
        let (requests, failing) = (self.requests.clone(), Arc::clone(&self.failing));
        let service = service_fn(move |request: http::Request<RequestBody>| {
            let (mut api, requests, failing) = (api.clone(), requests.clone(), Arc::clone(&failing));
            async move {
                let fewer = |count: usize| count.checked_sub(1);
                let fails = failing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok();
                let answer = match fails {
                    true => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
                    false => Ok(tower::Service::call(&mut api, request).await.unwrap()),
                };
                requests.send_modify(|count| *count += 1);
                // Those who wait for the request act before the daemon has the answer.
                tokio::task::yield_now().await;
                answer
            }
        });
        Client::new(service).with_api_key(&self.key).unwrap()
    }

    /// Waits until a condition holds. Only the requests of daemons change the state of the service, so it is checked after each of them.
    async fn until(&self, mut holds: impl AsyncFnMut() -> bool) {
        let mut requests = self.requests.subscribe();
        while !holds().await {
            requests.changed().await.unwrap();
            let count = *requests.borrow_and_update();
            assert!(count < MAX_REQUESTS, "it does not hold after {count} requests: {:?}", self.work().await);
        }
    }

    /// Waits until no work is left.
    async fn until_idle(&self) {
        self.until(async || self.work().await.iter().all(|work| work.phase.is_final())).await;
    }

    /// Runs a daemon until something has happened, and ends it at that moment.
    async fn run(&self, farm: &Farm, within: &str, file: &Path, until: impl Future<Output = ()>) {
        let settings = Settings::new("collector".to_owned(), within, Vec::new(), community()).unwrap();
        let daemon = Daemon::new(self.client(), FarmReach::new(farm), settings, file.to_owned());
        let mut daemon = daemon.unwrap();
        if let Either::Left((failure, _)) = future::select(pin!(daemon.run()), pin!(until)).await {
            panic!("{failure}");
        }
    }

    /// Runs a new daemon until it has done the work that it gets when it registers.
    async fn run_first(&self, farm: &Farm, within: &str, file: &Path) {
        let registered = async || !self.inventory.daemons().all(&self.caller).await.unwrap().is_empty();
        let done = async {
            self.until(registered).await;
            self.until_idle().await;
        };
        self.run(farm, within, file, done).await;
    }

    /// Returns the subnet with these addresses, which may be one that the devices have.
    async fn subnet(&self, cidr: &str) -> SubnetId {
        let known = self.inventory.subnets().all(&self.caller).await.unwrap();
        if let Some(known) = known.iter().find(|subnet| subnet.cidr.to_string() == cidr) {
            return known.id;
        }
        let subnet = Subnet::new(self.network, cidr, cidr.parse().unwrap());
        self.inventory.subnets().create(&self.caller, subnet).await.unwrap().id
    }

    async fn order(&self, subnet: SubnetId) -> Discovery {
        let mut new = NewDiscovery::new(self.network);
        new.subnet_ids = Some(vec![subnet]);
        self.inventory.discovery_jobs().create(&self.caller, new).await.unwrap()
    }

    async fn work(&self) -> Vec<Discovery> {
        self.inventory.discovery_jobs().all(&self.caller).await.unwrap()
    }

    async fn discovery(&self, discovery: &Discovery) -> Discovery {
        self.inventory.discovery_jobs().get(&self.caller, discovery.id).await.unwrap()
    }

    /// Returns the scan of the network that is going on.
    async fn scan(&self) -> Option<Discovery> {
        self.work().await.into_iter().find(|work| {
            work.discovery_type == DiscoveryType::Network && work.phase == DiscoveryPhase::Scanning
        })
    }

    async fn hosts(&self) -> u64 {
        self.inventory.hosts().list(&self.caller, &HostQuery::default()).await.unwrap().total
    }
}

#[tokio::test(start_paused = true)]
async fn daemon_does_its_work_within_its_own_limits() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    let file = folder.path().join("daemon.json");
    service.run_first(&farm, "192.0.2.0/30", &file).await;
    let work = service.work().await;
    assert_eq!(work.len(), 2, "its own host, and the network");
    assert!(
        work.iter().all(|work| work.phase == DiscoveryPhase::Complete && work.progress == 100),
        "{work:?}"
    );
    // Its own host, and the two devices that it may ask.
    assert_eq!((service.hosts().await, farm.count(ip("192.0.2.3"))), (3, 0));
    // A subnet of the service does not widen the limits, but narrows them.
    let wide = service.order(service.subnet("192.0.2.0/24").await).await;
    service.run(&farm, "192.0.2.0/30", &file, service.until_idle()).await;
    assert_eq!(service.discovery(&wide).await.phase, DiscoveryPhase::Complete);
    assert_eq!((service.hosts().await, farm.count(ip("192.0.2.3"))), (3, 0));
    let other = service.order(service.subnet("198.51.100.0/24").await).await;
    service.run(&farm, "192.0.2.0/24", &file, service.until_idle()).await;
    let other = service.discovery(&other).await;
    assert_eq!(other.phase, DiscoveryPhase::Failed);
    assert!(farm.sent().iter().all(|(_, to)| to.to_string().starts_with("192.0.2.")));
    assert!(other.error.unwrap().starts_with("No address is in use that this daemon may ask."));
    let state = std::fs::read(&file).unwrap();
    assert!(!state.windows(COMMUNITY.len()).any(|bytes| bytes == COMMUNITY));
}

/// Returns devices that take minutes to read, so that reports of progress come before the end.
fn slow_network() -> Farm {
    let farm = again::network();
    let interfaces = |(id, _): &(Vec<u32>, _)| id.starts_with(IF_TABLE);
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        farm.change(ip(address), |agent| {
            agent.faults.push(Fault::Takes(Duration::from_millis(450)));
            agent.variables.extend(variables(800).into_iter().filter(interfaces));
        });
    }
    farm
}

#[tokio::test(start_paused = true)]
async fn daemon_obeys_cancelling_at_once() {
    for failing in [0, 3] {
        let (service, farm, folder) = (Service::new().await, slow_network(), tempfile::tempdir().unwrap());
        let file = folder.path().join("daemon.json");
        let cancelling = async {
            service.until(async || service.scan().await.is_some()).await;
            let scan = service.scan().await.unwrap();
            service.inventory.discovery_jobs().cancel(&service.caller, scan.id).await.unwrap();
            let is_sent = |scan: &Discovery| !scan.is_cancelling || scan.cancellation_sent_at.is_some();
            service.until(async || is_sent(&service.discovery(&scan).await)).await;
            // The service may be away when the daemon tells it that the work has stopped.
            service.failing.store(failing, Ordering::Relaxed);
            let told = *service.requests.borrow();
            service.until(async || *service.requests.borrow() > told).await;
            let sent = farm.sent().len();
            assert!(sent > 0, "it had begun");
            service.until(async || *service.requests.borrow() > told + failing + 3).await;
            assert_eq!(farm.sent().len(), sent, "nothing is sent any more");
            assert_eq!(service.discovery(&scan).await.phase, DiscoveryPhase::Cancelled);
        };
        service.run(&farm, "192.0.2.0/24", &file, cancelling).await;
    }
}

#[tokio::test(start_paused = true)]
async fn daemon_survives_restarts_of_both_sides() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    let file = folder.path().join("daemon.json");
    // The service is not there at first, and goes away when the first device is stored.
    service.failing.store(3, Ordering::Relaxed);
    let restarts = async {
        service.until(async || service.hosts().await >= 2).await;
        service.failing.store(4, Ordering::Relaxed);
        service.until_idle().await;
    };
    service.run(&farm, "192.0.2.0/24", &file, restarts).await;
    assert_eq!((service.hosts().await, service.failing.load(Ordering::Relaxed)), (4, 0));
    // The daemon ends while it works, and gets the same work again.
    let order = service.order(service.subnet("192.0.2.0/24").await).await;
    let started = service.until(async || service.discovery(&order).await.phase == DiscoveryPhase::Started);
    service.run(&farm, "192.0.2.0/24", &file, started).await;
    assert!(service.discovery(&order).await.is_open());
    service.run(&farm, "192.0.2.0/24", &file, service.until_idle()).await;
    let done = service.discovery(&order).await;
    assert_eq!((done.phase, done.attempts), (DiscoveryPhase::Complete, 2));
    assert_eq!(
        service.inventory.daemons().all(&service.caller).await.unwrap().len(),
        1,
        "it is the same daemon"
    );
    // A service with an empty store knows neither the daemon nor the devices that the daemon remembers.
    let other = Service::new().await;
    other.run_first(&farm, "192.0.2.0/24", &file).await;
    assert_eq!(other.inventory.daemons().all(&other.caller).await.unwrap().len(), 1);
    let order = other.order(other.subnet("192.0.2.0/24").await).await;
    other.run(&farm, "192.0.2.0/24", &file, other.until_idle()).await;
    assert_eq!(other.discovery(&order).await.phase, DiscoveryPhase::Complete);
    assert_eq!(other.hosts().await, 4);
}

#[tokio::test(start_paused = true)]
async fn several_daemons_serve_one_network() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    let files = ["one", "two", "three"].map(|name| folder.path().join(name));
    let all_registered = async || service.inventory.daemons().all(&service.caller).await.unwrap().len() == 3;
    let running = files.iter().map(|file| {
        let done = async {
            service.until(&all_registered).await;
            service.until_idle().await;
        };
        service.run(&farm, "192.0.2.0/24", file, done)
    });
    future::join_all(running).await;
    let work = service.work().await;
    assert!(work.iter().all(|work| work.phase == DiscoveryPhase::Complete), "{work:?}");
    // Each has reported its own host.
    let own = work.iter().filter(|work| work.discovery_type != DiscoveryType::Network);
    assert_eq!((own.count(), service.inventory.daemons().all(&service.caller).await.unwrap().len()), (3, 3));
}
