//! Inventories with hosts, and the writes that are measured.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::inventory::{self, ChangeQuery};
use toposcope::model::{Host, HostId, Network, NetworkId};
use toposcope::store::{SledStore, Store};

use crate::host::{Random, benchmark_host};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of hosts that each writer of a run creates and then updates, in all.
const HOSTS: usize = 1_920;

/// The bars: times with the history by times without it.
pub(crate) const CREATION: f64 = 1.7;
pub(crate) const UPDATE: f64 = 1.3;

/// An inventory with one network.
pub(crate) struct Ground {
    pub(crate) inventory: Inventory,
    pub(crate) caller: Caller,
    pub(crate) network: NetworkId,
}

impl Ground {
    pub(crate) async fn new(inventory: Inventory) -> Outcome<Self> {
        let caller = Caller::system(inventory.organizations().create("Example").await?.id);
        let network = inventory.networks().create(&caller, Network::new("Office")).await?.id;
        Ok(Self { inventory, caller, network })
    }

    pub(crate) fn host(&self, random: &mut Random, number: usize) -> Outcome<Host> {
        let mut host = benchmark_host(random, number, self.network)?;
        host.tags = Vec::new();
        host.interfaces.iter_mut().for_each(|interface| interface.subnet_id = None);
        Ok(host)
    }

    /// Creates hosts and updates each, with `writers` tasks. Returns the time of a creation and of an update.
    pub(crate) async fn write(&self, seed: u64, writers: usize) -> Outcome<[Duration; 2]> {
        let mut random = Random::new(seed);
        let hosts =
            (0..HOSTS).map(|number| self.host(&mut random, number)).collect::<Outcome<Vec<Host>>>()?;
        let creations = hosts.chunks(HOSTS / writers).map(|hosts| {
            let (inventory, caller, hosts) = (self.inventory.clone(), self.caller.clone(), hosts.to_vec());
            tokio::spawn(async move {
                let mut ids = Vec::new();
                for host in hosts {
                    ids.push(inventory.hosts().create(&caller, host).await?.id);
                }
                Ok(ids)
            })
        });
        // A host gets its id when it is created.
        let (creation, ids) = timed(creations.collect()).await?;
        let updates = ids.into_iter().map(|ids| {
            let (inventory, caller) = (self.inventory.clone(), self.caller.clone());
            tokio::spawn(async move {
                for id in ids {
                    describe(&inventory, &caller, id, 0).await?;
                }
                Ok(())
            })
        });
        let (update, _) = timed(updates.collect()).await?;
        Ok([creation, update].map(|time| time / HOSTS as u32))
    }
}

/// Updates one field of a host.
pub(crate) async fn describe(
    inventory: &Inventory,
    caller: &Caller,
    id: HostId,
    number: usize,
) -> Result<(), inventory::Error> {
    let describe = |host: &mut Host| {
        host.description = Some(format!("changed {number}"));
        Ok(())
    };
    inventory.hosts().update(caller, id, describe).await.map(drop)
}

/// Waits for all tasks. Returns the time and what they return.
pub(crate) async fn timed<T>(
    tasks: Vec<JoinHandle<Result<T, inventory::Error>>>,
) -> Outcome<(Duration, Vec<T>)> {
    let start = Instant::now();
    let mut returned = Vec::new();
    for task in tasks {
        returned.push(task.await??);
    }
    Ok((start.elapsed(), returned))
}

/// Returns the median in microseconds.
pub(crate) fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// A store with hosts, each of which was changed several times.
pub(crate) struct Changed {
    pub(crate) ground: Ground,
    pub(crate) store: Arc<SledStore>,
    pub(crate) small: NetworkId,
    pub(crate) ids: Vec<HostId>,
}

/// An organization with hosts, each of which was changed several times.
pub(crate) struct Filled {
    pub(crate) ground: Ground,
    small: NetworkId,
    ids: Vec<HostId>,
}

/// Opens a folder.
pub(crate) async fn opened(path: &Path, has_history: bool) -> Outcome<(Arc<SledStore>, Inventory)> {
    let store = Arc::new(SledStore::builder(path).open().await?);
    let inventory = Inventory::new(Arc::clone(&store) as Arc<dyn Store>);
    Ok((store, if has_history { inventory } else { inventory.without_history() }))
}

/// Creates a thousand hosts in a new folder, and changes one of them this number of times.
pub(crate) async fn changed(path: &Path, has_history: bool, changes: usize) -> Outcome<Changed> {
    let (store, inventory) = opened(path, has_history).await?;
    let Filled { ground, small, ids } = fill(&inventory, 1_000, changes).await?;
    Ok(Changed { ground, store, small, ids })
}

/// Creates hosts in a new organization, and changes one of them this number of times.
pub(crate) async fn fill(inventory: &Inventory, hosts: usize, changes: usize) -> Outcome<Filled> {
    let ground = Ground::new(inventory.clone()).await?;
    let caller = &ground.caller;
    let small = inventory.networks().create(caller, Network::new("Small")).await?.id;
    let mut ids = Vec::new();
    for number in 0..hosts {
        let network = if number % 100 == 0 { small } else { ground.network };
        let host = inventory.hosts().create(caller, Host::new(network, format!("host {number}"))).await?;
        ids.push(host.id);
    }
    let mut random = Random::new(7);
    for number in 0..changes {
        let id = ids[(random.next() % hosts as u64) as usize];
        let change = |host: &mut Host| {
            host.description = Some(format!("change {number}"));
            Ok(())
        };
        inventory.hosts().update(caller, id, change).await?;
    }
    Ok(Filled { ground, small, ids })
}

/// Returns the query of a page.
pub(crate) fn limited(limit: usize) -> ChangeQuery {
    let mut query = ChangeQuery::default();
    query.limit = Some(limit);
    query
}
