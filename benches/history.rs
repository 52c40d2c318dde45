//! The cost of the history, and the times of reading it.
//!
//! `cargo bench --bench history` compares creations and updates of hosts with those of an inventory without history, in one run, on
//! the memory and the folder store, with one writer and with 64. It then makes up a history of `ENTRIES` entries (an environment
//! variable, by default 100,000) and prints the medians of reading it. It fails if a bar is missed.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/host.rs"]
mod host;
#[path = "support/memory.rs"]
mod memory;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Random, benchmark_host};
use tokio::task::JoinHandle;
use toposcope::Inventory;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{self, ChangeQuery, DiffQuery, HostQuery, Moment, SummaryQuery};
use toposcope::model::{Host, HostId, Network, NetworkId, OrderDirection, Permission, UserId};
use toposcope::store::{MemoryStore, Name, Query, SledStore, Store};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of hosts that each writer of a run creates and then updates, in all.
const HOSTS: usize = 1_920;

/// The bars: times with the history by times without it.
const CREATION: f64 = 1.7;
const UPDATE: f64 = 1.3;

#[tokio::main]
async fn main() -> Outcome<ExitCode> {
    let mut is_met = costs().await?;
    is_met &= readings().await?;
    Ok(if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An inventory with one network.
struct Ground {
    inventory: Inventory,
    caller: Caller,
    network: NetworkId,
}

impl Ground {
    async fn new(inventory: Inventory) -> Outcome<Self> {
        let caller = Caller::system(inventory.organizations().create("Example").await?.id);
        let network = inventory.networks().create(&caller, Network::new("Office")).await?.id;
        Ok(Self { inventory, caller, network })
    }

    fn host(&self, random: &mut Random, number: usize) -> Outcome<Host> {
        let mut host = benchmark_host(random, number, self.network)?;
        host.tags = Vec::new();
        host.interfaces.iter_mut().for_each(|interface| interface.subnet_id = None);
        Ok(host)
    }

    /// Creates hosts and updates each, with `writers` tasks. Returns the time of a creation and of an update.
    async fn write(&self, seed: u64, writers: usize) -> Outcome<[Duration; 2]> {
        let mut random = Random::new(seed);
        let hosts =
            (0..HOSTS).map(|number| self.host(&mut random, number)).collect::<Outcome<Vec<Host>>>()?;
        let ids: Vec<HostId> = hosts.iter().map(|host| host.id).collect();
        let creations = hosts.chunks(HOSTS / writers).map(|hosts| {
            let (inventory, caller, hosts) = (self.inventory.clone(), self.caller.clone(), hosts.to_vec());
            tokio::spawn(async move {
                for host in hosts {
                    inventory.hosts().create(&caller, host).await?;
                }
                Ok(())
            })
        });
        let creation = timed(creations.collect()).await?;
        let updates = ids.chunks(HOSTS / writers).map(|ids| {
            let (inventory, caller, ids) = (self.inventory.clone(), self.caller.clone(), ids.to_vec());
            tokio::spawn(async move {
                for id in ids {
                    let rename = |host: &mut Host| {
                        host.description = Some("changed".to_owned());
                        Ok(())
                    };
                    inventory.hosts().update(&caller, id, rename).await?;
                }
                Ok(())
            })
        });
        let update = timed(updates.collect()).await?;
        Ok([creation, update].map(|time| time / HOSTS as u32))
    }
}

async fn timed(tasks: Vec<JoinHandle<Result<(), inventory::Error>>>) -> Outcome<Duration> {
    let start = Instant::now();
    for task in tasks {
        task.await??;
    }
    Ok(start.elapsed())
}

async fn costs() -> Outcome<bool> {
    let mut is_met = true;
    println!(
        "| store | writers | write | without, µs | with, µs | ratio | at most |\n|---|---|---|---|---|---|---|"
    );
    for store in ["memory", "folder"] {
        for writers in [1, 64] {
            let folder = tempfile::tempdir()?;
            let mut grounds = Vec::new();
            for has_history in [false, true] {
                let path = folder.path().join(if has_history { "with" } else { "without" });
                let store: Arc<dyn Store> = match store {
                    "memory" => Arc::new(MemoryStore::new()),
                    _ => Arc::new(SledStore::builder(path).open().await?),
                };
                let inventory = Inventory::new(store);
                let inventory = if has_history { inventory } else { inventory.without_history() };
                grounds.push(Ground::new(inventory).await?);
            }
            let mut times = [const { Vec::new() }; 4];
            for round in 0..5 {
                for (index, ground) in grounds.iter().enumerate() {
                    let [creation, update] = ground.write(round, writers).await?;
                    times[index].push(creation);
                    times[index + 2].push(update);
                }
            }
            for (write, index, bar) in [("creation", 0, CREATION), ("update", 2, UPDATE)] {
                let [without, with] = [index, index + 1].map(|index| median(&mut times[index]));
                let ratio = with / without;
                is_met &= ratio <= bar;
                println!("| {store} | {writers} | {write} | {without:.0} | {with:.0} | {ratio:.2} | {bar} |");
            }
        }
    }
    println!();
    Ok(is_met)
}

/// Returns the median in microseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Makes up a history, and reads it.
async fn readings() -> Outcome<bool> {
    let entries: usize = std::env::var("ENTRIES").ok().map_or(Ok(100_000), |number| number.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    let store = Arc::new(SledStore::builder(&path).open().await?);
    let ground = Ground::new(Inventory::new(Arc::clone(&store) as Arc<dyn Store>)).await?;
    let (inventory, caller) = (&ground.inventory, &ground.caller);
    let small = inventory.networks().create(caller, Network::new("Small")).await?.id;
    let mut ids = Vec::new();
    for number in 0..1_000 {
        let network = if number % 100 == 0 { small } else { ground.network };
        let host = inventory.hosts().create(caller, Host::new(network, format!("host {number}"))).await?;
        ids.push(host.id);
    }
    let (bytes, before) = (size_of(&path)?, memory::memory("RssAnon:")?);
    let mut random = Random::new(7);
    let start = Instant::now();
    for number in 0..entries {
        let id = ids[(random.next() % 1_000) as usize];
        let change = |host: &mut Host| {
            host.description = Some(format!("change {number}"));
            Ok(())
        };
        inventory.hosts().update(caller, id, change).await?;
    }
    println!("{entries} entries in {:.0} s", start.elapsed().as_secs_f64());
    let [fresh, runs] = [count(&*store, "change").await?, count(&*store, "change_run").await?];
    println!("{fresh} records of commits, {runs} runs");
    let per_entry = |after: u64, before: u64| after.saturating_sub(before) / entries as u64;
    println!(
        "disk {} and memory {} bytes an entry",
        per_entry(size_of(&path)?, bytes),
        per_entry(memory::memory("RssAnon:")?, before)
    );
    let viewer =
        Caller::new(caller.organization_id(), UserId::from_u128(7), Permission::Viewer, Scope::only([small]));
    let oldest = inventory.changes(caller, &limited(1)).await?.next;
    let middle = middle(&ground, entries / 2).await?;
    let mut is_met = true;
    memory::forget_peak()?;
    println!("\n| reading | median, ms | at most, ms |\n|---|---|---|");
    for (name, who, after) in [
        ("page of 100 at the beginning", caller, Some(&oldest)),
        ("page of 100 in the middle", caller, Some(&middle)),
        ("page of 100 of a small network's Viewer", &viewer, None),
    ] {
        let mut query = limited(100);
        query.after = after.cloned();
        is_met &= row(name, 2.0, async || inventory.changes(who, &query).await.map(drop)).await?;
    }
    let mut newest = limited(100);
    newest.order_direction = OrderDirection::Descending;
    is_met &= row("page of 100, the newest first", 2.0, async || {
        inventory.changes(caller, &newest).await.map(drop)
    })
    .await?;
    let mut of_host = limited(100);
    of_host.id = Some(ids[3].uuid());
    is_met &=
        row("history of a host", 5.0, async || inventory.changes(caller, &of_host).await.map(drop)).await?;
    let at = Moment::Position(middle.clone());
    is_met &=
        row("a host in the middle", 10.0, async || inventory.host_at(caller, ids[3], &at).await.map(drop))
            .await?;
    let mut list = HostQuery::default();
    (list.limit, list.at) = (Some(50), Some(at.clone()));
    is_met &= row("page of 50 hosts in the middle", 3_000.0, async || {
        inventory.hosts().list(caller, &list).await.map(drop)
    })
    .await?;
    let diff = DiffQuery::new(at.clone());
    is_met &= row("diff of the later half", 3_000.0, async || inventory.diff(caller, &diff).await.map(drop))
        .await?;
    let summary = SummaryQuery::default();
    is_met &=
        row("summary of all", 50.0, async || inventory.change_summary(caller, &summary).await.map(drop))
            .await?;
    println!("\nat most {} MiB of memory while reading", memory::memory("VmHWM:")? >> 20);
    Ok(is_met)
}

fn limited(limit: usize) -> ChangeQuery {
    let mut query = ChangeQuery::default();
    query.limit = Some(limit);
    query
}

/// Returns the position of an entry by its number.
async fn middle(ground: &Ground, number: usize) -> Outcome<toposcope::model::ChangePosition> {
    let mut query = limited(1_000);
    let mut left = number;
    loop {
        let page = ground.inventory.changes(&ground.caller, &query).await?;
        if page.changes.len() >= left || !page.has_more {
            return Ok(page.next);
        }
        left -= page.changes.len();
        query.after = Some(page.next);
    }
}

/// Prints the median of 11 readings. Returns whether it is within the bar.
async fn row(
    name: &str,
    bar: f64,
    mut read: impl AsyncFnMut() -> Result<(), inventory::Error>,
) -> Outcome<bool> {
    let mut times = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        read().await?;
        times.push(start.elapsed());
    }
    let median = median(&mut times) / 1e3;
    println!("| {name} | {median:.2} | {bar} |");
    Ok(median <= bar)
}

async fn count(store: &dyn Store, kind: &'static str) -> Outcome<u64> {
    let mut query = Query::new(Name::new(kind));
    query.limit = Some(0);
    Ok(store.list(&query).await?.total)
}

/// Returns the size of a folder's files, in bytes.
fn size_of(folder: &Path) -> Outcome<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}
