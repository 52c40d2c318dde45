//! The cost of the history, and the times of reading it.
//!
//! `cargo bench --bench history` compares creations and updates of hosts with those of an inventory without history, in one run, on
//! the memory and the folder store, with one writer and with 64. It then makes up a history of `ENTRIES` entries (an environment
//! variable, by default 100,000) and prints the medians of reading it. It fails if a bar is missed. `TMPDIR` names the folder of the stores:
//! on a disk that synchronizes slowly, one in memory takes minutes instead of an hour.

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
                    let rename = |host: &mut Host| {
                        host.description = Some("changed".to_owned());
                        Ok(())
                    };
                    inventory.hosts().update(&caller, id, rename).await?;
                }
                Ok(())
            })
        });
        let (update, _) = timed(updates.collect()).await?;
        Ok([creation, update].map(|time| time / HOSTS as u32))
    }
}

/// Waits for all tasks. Returns the time and what they return.
async fn timed<T>(tasks: Vec<JoinHandle<Result<T, inventory::Error>>>) -> Outcome<(Duration, Vec<T>)> {
    let start = Instant::now();
    let mut returned = Vec::new();
    for task in tasks {
        returned.push(task.await??);
    }
    Ok((start.elapsed(), returned))
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

/// A store with hosts, each of which was changed several times.
struct Changed {
    ground: Ground,
    store: Arc<SledStore>,
    small: NetworkId,
    ids: Vec<HostId>,
}

/// Creates a thousand hosts, and changes one of them this number of times.
async fn changed(path: &Path, has_history: bool, changes: usize) -> Outcome<Changed> {
    let store = Arc::new(SledStore::builder(path).open().await?);
    let inventory = Inventory::new(Arc::clone(&store) as Arc<dyn Store>);
    let inventory = if has_history { inventory } else { inventory.without_history() };
    let ground = Ground::new(inventory).await?;
    let (inventory, caller) = (&ground.inventory, &ground.caller);
    let small = inventory.networks().create(caller, Network::new("Small")).await?.id;
    let mut ids = Vec::new();
    for number in 0..1_000 {
        let network = if number % 100 == 0 { small } else { ground.network };
        let host = inventory.hosts().create(caller, Host::new(network, format!("host {number}"))).await?;
        ids.push(host.id);
    }
    let mut random = Random::new(7);
    for number in 0..changes {
        let id = ids[(random.next() % 1_000) as usize];
        let change = |host: &mut Host| {
            host.description = Some(format!("change {number}"));
            Ok(())
        };
        inventory.hosts().update(caller, id, change).await?;
    }
    Ok(Changed { ground, store, small, ids })
}

/// Prints what entries take on the disk, beyond what the same changes take without a history, and beside the JSON of their fields,
/// compressed. Returns whether it is within the bar.
async fn disk(name: &str, changes: usize, bar: f64) -> Outcome<bool> {
    let folder = tempfile::tempdir()?;
    let mut sizes = Vec::new();
    let mut fields = Vec::new();
    for has_history in [false, true] {
        let path = folder.path().join(has_history.to_string());
        let Changed { ground: Ground { inventory, caller, .. }, store, .. } =
            changed(&path, has_history, changes).await?;
        let mut query = limited(1_000);
        let mut is_finished = !has_history;
        while !is_finished {
            let page = inventory.changes(&caller, &query).await?;
            for change in &page.changes {
                serde_json::to_writer(&mut fields, &change.fields)?;
            }
            is_finished = !page.has_more;
            query.after = Some(page.next);
        }
        store.close().await?;
        SledStore::compact(&path).await?;
        sizes.push(size_of(&path)?);
    }
    // The folder has two copies of everything.
    let compressed: usize = fields.chunks(32 * 1024).map(|part| 2 * lz4_flex::compress(part).len()).sum();
    let count = (changes + 1_000) as f64;
    let [all, fields] = [sizes[1] as f64 - sizes[0] as f64, compressed as f64].map(|bytes| bytes / count);
    let each = all - fields;
    println!("| {name} ({all:.0} with them) | {each:.0} | {bar} |");
    Ok(each <= bar)
}

/// Makes up a history, and reads it.
async fn readings() -> Outcome<bool> {
    let entries: usize = std::env::var("ENTRIES").ok().map_or(Ok(100_000), |number| number.parse())?;
    println!("| entries | bytes of disk each | at most |\n|---|---|---|");
    let mut is_met = disk("not joined, beside the fields", 1_000, 400.0).await?;
    is_met &= disk("joined, beside the fields", entries, 80.0).await?;
    let folder = tempfile::tempdir()?;
    let before = memory::memory("RssAnon:")?;
    let start = Instant::now();
    let Changed { ground, store, small, ids } = changed(&folder.path().join("store"), true, entries).await?;
    println!("\n{entries} entries in {:.0} s", start.elapsed().as_secs_f64());
    let (inventory, caller) = (&ground.inventory, &ground.caller);
    let [fresh, runs] = [count(&*store, "change").await?, count(&*store, "change_run").await?];
    println!("{fresh} records of commits, {runs} runs");
    let memory = memory::memory("RssAnon:")?.saturating_sub(before);
    println!("{} bytes of memory an entry, with the cache of bodies", memory / entries as u64);
    let viewer =
        Caller::new(caller.organization_id(), UserId::from_u128(7), Permission::Viewer, Scope::only([small]));
    let oldest = inventory.changes(caller, &limited(1)).await?.next;
    let middle = middle(&ground, entries / 2).await?;
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
    let [week, day] = [70_000, 10_000].map(|ago| entries.saturating_sub(ago));
    let (week, day) = (self::middle(&ground, week).await?, self::middle(&ground, day).await?);
    for (name, at, host, page, diff) in [
        ("a day ago, by 10,000 entries", day, 10.0, 100.0, 20.0),
        ("in the middle", middle.clone(), 10.0, 100.0, 3_000.0),
        ("a week ago, by 70,000 entries", week, 10.0, 100.0, 3_000.0),
    ] {
        let at = Moment::Position(at);
        is_met &= row(&format!("a host {name}"), host, async || {
            inventory.host_at(caller, ids[3], &at).await.map(drop)
        })
        .await?;
        let mut list = HostQuery::default();
        (list.limit, list.at) = (Some(50), Some(at.clone()));
        is_met &= row(&format!("page of 50 hosts {name}"), page, async || {
            inventory.hosts().list(caller, &list).await.map(drop)
        })
        .await?;
        let query = DiffQuery::new(at.clone());
        is_met &=
            row(&format!("diff since {name}"), diff, async || inventory.diff(caller, &query).await.map(drop))
                .await?;
    }
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
