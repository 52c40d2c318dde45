//! The time from a commit to a reader of the history, and what readers cost those who write.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use toposcope::Inventory;
use toposcope::inventory::{self, ChangeQuery};
use toposcope::model::{Change, HostId};
use toposcope::store::MemoryStore;

use crate::ground::{Ground, Outcome, describe, median, timed};
use crate::host::Random;

/// The number of commits whose way to a reader is measured.
const COMMITS: usize = 300;

/// The number of hosts that one round updates, of writers, and of rounds.
const HOSTS: usize = 4_000;
const WRITERS: usize = 4;
const ROUNDS: usize = 7;

/// The numbers of readers of other organizations, which are at rest, of these organizations, and of readers of the written one.
const AT_REST: usize = 1_000;
const ORGANIZATIONS: usize = 50;
const FOLLOWING: usize = 10;

/// Prints the latency of readers and their cost.
pub(crate) async fn measure() -> Outcome<bool> {
    println!("| readers | measured | at most |\n|---|---|---|");
    let is_met = latency().await?;
    Ok(is_met & costs().await?)
}

/// Measures the time from the beginning of an update to its entry at a reader, both while nothing else is written.
async fn latency() -> Outcome<bool> {
    let ground = Ground::new(Inventory::new(Arc::new(MemoryStore::new()))).await?;
    let mut random = Random::new(3);
    let host = ground.inventory.hosts().create(&ground.caller, ground.host(&mut random, 0)?).await?.id;
    let mut watch = ground.inventory.watch(&ground.caller, Some(newest(&ground).await?));
    let (sender, mut received) = unbounded_channel();
    let reader = tokio::spawn(async move {
        for _ in 0..COMMITS {
            let change: Change = watch.next().await?;
            if sender.send((change.id, Instant::now())).is_err() {
                break;
            }
        }
        Ok(())
    });
    let mut times = Vec::new();
    for number in 0..COMMITS {
        // Every other update comes right after the one before it.
        tokio::time::sleep(Duration::from_millis(if number % 2 == 0 { 20 } else { 0 })).await;
        let start = Instant::now();
        describe(&ground.inventory, &ground.caller, host, number).await?;
        let (_, end) = received.recv().await.ok_or("the reader has ended")?;
        times.push(end - start);
    }
    timed(vec![reader]).await?;
    let typical = median(&mut times) / 1e3;
    let slow = times[times.len() * 99 / 100].as_secs_f64() * 1e3;
    println!("| from the update to the reader, median, ms | {typical:.2} | 10 |");
    println!("| the same, slowest of 100, ms | {slow:.2} | |");
    Ok(typical <= 10.0)
}

/// Returns the newest position.
async fn newest(ground: &Ground) -> Outcome<toposcope::model::ChangePosition> {
    let mut query = ChangeQuery::default();
    query.limit = Some(0);
    Ok(ground.inventory.changes(&ground.caller, &query).await?.next)
}

/// An inventory with hosts that are updated, and the readers of its organizations.
struct Followed {
    ground: Ground,
    ids: Vec<HostId>,
    readers: JoinSet<()>,
}

impl Followed {
    /// Creates the hosts, and begins readers of other organizations and of the written one.
    async fn new(at_rest: usize, following: usize) -> Outcome<Self> {
        let ground = Ground::new(Inventory::new(Arc::new(MemoryStore::new()))).await?;
        let mut random = Random::new(5);
        let mut ids = Vec::new();
        for number in 0..HOSTS {
            let host = ground.host(&mut random, number)?;
            ids.push(ground.inventory.hosts().create(&ground.caller, host).await?.id);
        }
        let mut followed = Self { ground, ids, readers: JoinSet::new() };
        for number in 0..ORGANIZATIONS {
            let other = Ground::new(followed.ground.inventory.clone()).await?;
            for _ in (number..at_rest).step_by(ORGANIZATIONS) {
                followed.follow(&other).await?;
            }
        }
        for _ in 0..following {
            let Ground { inventory, caller, network } = &followed.ground;
            let written = Ground { inventory: inventory.clone(), caller: caller.clone(), network: *network };
            followed.follow(&written).await?;
        }
        Ok(followed)
    }

    /// Begins a reader.
    async fn follow(&mut self, ground: &Ground) -> Outcome<()> {
        let mut watch = ground.inventory.watch(&ground.caller, Some(newest(ground).await?));
        self.readers.spawn(async move { while watch.next().await.is_ok() {} });
        Ok(())
    }

    /// Updates each host once. Returns the time.
    async fn round(&self, round: usize) -> Outcome<Duration> {
        let writers = self.ids.chunks(HOSTS / WRITERS).map(|ids| {
            let (inventory, caller, ids) =
                (self.ground.inventory.clone(), self.ground.caller.clone(), ids.to_vec());
            tokio::spawn(async move {
                for id in ids {
                    describe(&inventory, &caller, id, round).await?;
                }
                Ok::<(), inventory::Error>(())
            })
        });
        Ok(timed(writers.collect()).await?.0)
    }
}

/// Compares the throughput of writers with and without readers, in turns.
async fn costs() -> Outcome<bool> {
    let without = Followed::new(0, 0).await?;
    let at_rest = Followed::new(AT_REST, 0).await?;
    let following = Followed::new(0, FOLLOWING).await?;
    let mut times = [const { Vec::new() }; 3];
    for round in 0..ROUNDS {
        for (followed, times) in [&without, &at_rest, &following].into_iter().zip(&mut times) {
            times.push(followed.round(round).await?);
        }
    }
    let [without, at_rest, following] = times.each_mut().map(|times| median(times));
    let mut is_met = true;
    for (name, time, bar) in [
        ("1,000 of organizations at rest: throughput lost, %", at_rest, 5.0),
        ("ten of the written organization: throughput lost, %", following, 20.0),
    ] {
        let lost = 100.0 * (1.0 - without / time);
        is_met &= lost <= bar;
        println!("| {name} | {lost:.1} | {bar} |");
    }
    Ok(is_met)
}
