//! The program of the example `daemon`, with a service in this process and a farm in place of a network.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toposcope::access::Caller;
use toposcope::client::{Client, HttpService, RequestBody};
use toposcope::collect::sweep::{LiveSign, Probes};
use toposcope::collect::{AllowList, Gate, Pace};
use toposcope::inventory::{HostQuery, NewDaemonApiKey, NewDiscovery};
use toposcope::model::{Discovery, DiscoveryPhase, DiscoveryType, Network, NetworkId, Subnet, SubnetId};
use toposcope::{Api, Inventory, MemoryStore};
use tower::service_fn;

use crate::again;
use crate::daemon_program::daemon::Daemon;
use crate::daemon_program::work::{Reach, Settings};
use crate::farm::{Farm, Fault};
use crate::polite::polite_gate;
use crate::support::{COMMUNITY, community, ip};
use crate::sweep::Found;

/// The pace of daemons, whose sweeps would wait for a slower one most of the time.
const PACE: Pace = Pace::new(100_000, 100_000, 100_000);

/// A farm as the network of a daemon.
#[derive(Clone)]
struct FarmReach {
    farm: Farm,
    probes: Found,
}

impl FarmReach {
    fn new(farm: &Farm) -> Self {
        let signs = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| (address, LiveSign::Echo));
        Self { farm: farm.clone(), probes: Found::paced("192.0.2.0/24", PACE, &signs) }
    }
}

impl Reach for FarmReach {
    async fn gate(&self, allowed: AllowList) -> io::Result<Gate> {
        Ok(polite_gate(self.farm.clone(), allowed, PACE))
    }

    fn probes(&self) -> impl Probes {
        self.probes.clone()
    }
}

/// A service with an inventory in memory.
struct Service {
    inventory: Inventory,
    caller: Caller,
    network: NetworkId,
    key: String,
    /// Whether requests fail.
    is_down: Arc<AtomicBool>,
}

impl Service {
    async fn new() -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let caller = Caller::system(organization);
        let network = inventory.networks().create(&caller, Network::new("Office")).await.unwrap().id;
        let new = NewDaemonApiKey::new(network, "collector");
        let key = inventory.daemon_api_keys().create(&caller, new).await.unwrap().plaintext().to_owned();
        Self { inventory, caller, network, key, is_down: Arc::default() }
    }

    fn client(&self) -> Client<impl HttpService + use<>> {
        let (api, is_down) = (Api::builder(self.inventory.clone()).build(), Arc::clone(&self.is_down));
        let service = service_fn(move |request: http::Request<RequestBody>| {
            let (mut api, is_down) = (api.clone(), is_down.load(Ordering::Relaxed));
            async move {
                if is_down {
                    return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
                }
                tower::Service::call(&mut api, request).await.map_err(|never| match never {})
            }
        });
        Client::new(service).with_api_key(&self.key).unwrap()
    }

    /// Runs a daemon for some time.
    async fn run(&self, farm: &Farm, within: &str, file: &Path, time: Duration) {
        let settings = Settings::new("collector".to_owned(), within, Vec::new(), community()).unwrap();
        let daemon = Daemon::new(self.client(), FarmReach::new(farm), settings, file.to_owned());
        if let Ok(failure) = timeout(time, daemon.unwrap().run()).await {
            panic!("{failure}");
        }
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

    async fn discovery(&self, discovery: &Discovery) -> Discovery {
        self.inventory.discovery_jobs().get(&self.caller, discovery.id).await.unwrap()
    }

    async fn hosts(&self) -> u64 {
        self.inventory.hosts().list(&self.caller, &HostQuery::default()).await.unwrap().total
    }
}

/// The time in which a daemon does its first work.
const FIRST_WORK: Duration = Duration::from_secs(120);

#[tokio::test(start_paused = true)]
async fn daemon_does_its_work_within_its_own_limits() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    let file = folder.path().join("daemon.json");
    service.run(&farm, "192.0.2.0/30", &file, FIRST_WORK).await;
    let work = service.inventory.discovery_jobs().all(&service.caller).await.unwrap();
    assert_eq!(work.len(), 2, "its own host, and the network");
    assert!(
        work.iter().all(|work| work.phase == DiscoveryPhase::Complete && work.progress == 100),
        "{work:?}"
    );
    // Its own host, and the two devices that it may ask.
    assert_eq!((service.hosts().await, farm.count(ip("192.0.2.3"))), (3, 0));
    // A subnet of the service does not widen the limits, but narrows them.
    let wide = service.order(service.subnet("192.0.2.0/24").await).await;
    service.run(&farm, "192.0.2.0/30", &file, FIRST_WORK).await;
    assert_eq!(service.discovery(&wide).await.phase, DiscoveryPhase::Complete);
    assert_eq!((service.hosts().await, farm.count(ip("192.0.2.3"))), (3, 0));
    let other = service.order(service.subnet("198.51.100.0/24").await).await;
    service.run(&farm, "192.0.2.0/24", &file, FIRST_WORK).await;
    let other = service.discovery(&other).await;
    assert_eq!(other.phase, DiscoveryPhase::Failed);
    assert!(farm.sent().iter().all(|(_, to)| to.to_string().starts_with("192.0.2.")));
    assert!(other.error.unwrap().starts_with("No address is in use that this daemon may ask."));
    let state = std::fs::read(&file).unwrap();
    assert!(!state.windows(COMMUNITY.len()).any(|bytes| bytes == COMMUNITY));
}

#[tokio::test(start_paused = true)]
async fn daemon_obeys_cancelling() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        farm.change(ip(address), |agent| agent.faults.push(Fault::Takes(Duration::from_millis(450))));
    }
    let file = folder.path().join("daemon.json");
    let cancel = async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let work = service.inventory.discovery_jobs().all(&service.caller).await.unwrap();
            let is_scan = |work: &&Discovery| {
                work.discovery_type == DiscoveryType::Network && work.phase == DiscoveryPhase::Scanning
            };
            if let Some(scan) = work.iter().find(is_scan) {
                service.inventory.discovery_jobs().cancel(&service.caller, scan.id).await.unwrap();
                tokio::time::sleep(Duration::from_secs(6)).await;
                return (scan.id, farm.sent().len());
            }
        }
    };
    let running = service.run(&farm, "192.0.2.0/24", &file, FIRST_WORK);
    let ((id, sent), ()) = futures_util::future::join(cancel, running).await;
    assert!(sent > 0, "it had begun");
    assert_eq!(farm.sent().len(), sent, "nothing is sent any more");
    let cancelled = service.inventory.discovery_jobs().get(&service.caller, id).await.unwrap();
    assert_eq!(cancelled.phase, DiscoveryPhase::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn daemon_survives_restarts_of_both_sides() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        farm.change(ip(address), |agent| agent.faults.push(Fault::Takes(Duration::from_millis(450))));
    }
    let file = folder.path().join("daemon.json");
    // The service is not there at first, and goes away while the daemon works.
    service.is_down.store(true, Ordering::Relaxed);
    let restarts = async {
        for is_down in [false, true, false] {
            tokio::time::sleep(Duration::from_secs(17)).await;
            service.is_down.store(is_down, Ordering::Relaxed);
        }
    };
    futures_util::future::join(restarts, service.run(&farm, "192.0.2.0/24", &file, FIRST_WORK * 3)).await;
    assert_eq!(service.hosts().await, 4);
    // The daemon ends while it works, and gets the same work again.
    let order = service.order(service.subnet("192.0.2.0/24").await).await;
    service.run(&farm, "192.0.2.0/24", &file, Duration::from_secs(7)).await;
    assert!(service.discovery(&order).await.is_open());
    service.run(&farm, "192.0.2.0/24", &file, FIRST_WORK).await;
    let done = service.discovery(&order).await;
    assert_eq!((done.phase, done.attempts), (DiscoveryPhase::Complete, 2));
    assert_eq!(
        service.inventory.daemons().all(&service.caller).await.unwrap().len(),
        1,
        "it is the same daemon"
    );
    // A service with an empty store knows neither the daemon nor the devices that the daemon remembers.
    let other = Service::new().await;
    other.run(&farm, "192.0.2.0/24", &file, FIRST_WORK).await;
    assert_eq!(other.inventory.daemons().all(&other.caller).await.unwrap().len(), 1);
    let order = other.order(other.subnet("192.0.2.0/24").await).await;
    other.run(&farm, "192.0.2.0/24", &file, FIRST_WORK).await;
    assert_eq!(other.discovery(&order).await.phase, DiscoveryPhase::Complete);
    assert_eq!(other.hosts().await, 4);
}

#[tokio::test(start_paused = true)]
async fn several_daemons_serve_one_network() {
    let (service, farm, folder) = (Service::new().await, again::network(), tempfile::tempdir().unwrap());
    let files = ["one", "two", "three"].map(|name| folder.path().join(name));
    let running = files.iter().map(|file| service.run(&farm, "192.0.2.0/24", file, FIRST_WORK));
    futures_util::future::join_all(running).await;
    let work = service.inventory.discovery_jobs().all(&service.caller).await.unwrap();
    assert!(work.iter().all(|work| work.phase == DiscoveryPhase::Complete), "{work:?}");
    assert_eq!(service.inventory.daemons().all(&service.caller).await.unwrap().len(), 3);
}
