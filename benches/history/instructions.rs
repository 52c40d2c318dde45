//! Instructions of writes, with and without history, counted by valgrind.
//!
//! Unlike times, the counts do not depend on the load of the machine.

use std::process::Command;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use toposcope::Inventory;
use toposcope::model::{Host, HostId};
use toposcope::store::MemoryStore;

use crate::ground::{CREATION, Ground, Outcome, UPDATE, describe};
use crate::host::Random;

/// First argument of the counted process, followed by the write and whether there is a history.
pub(crate) const COUNTED: &str = "counted";

/// Number of writes before counting starts, and of the counted ones.
const WARM_UP: usize = 500;
const WRITES: usize = 1_000;

/// Prints the instructions of a creation and of an update in memory, if valgrind is there. Returns whether the bars are met.
pub(crate) fn measure() -> Outcome<bool> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("Instructions are not counted: valgrind is not installed.\n");
        return Ok(true);
    }
    println!("| write in memory | instructions without | with | ratio | at most |\n|---|---|---|---|---|");
    let mut is_met = true;
    for (write, bar) in [("creation", CREATION), ("update", UPDATE)] {
        let [without, with] = [counted(write, "without")?, counted(write, "with")?];
        let ratio = with as f64 / without as f64;
        is_met &= ratio <= bar;
        println!("| {write} | {without} | {with} | {ratio:.2} | {bar} |");
    }
    println!();
    Ok(is_met)
}

/// Returns the average number of instructions of a write.
fn counted(write: &str, history: &str) -> Outcome<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*::instructions::write_counted")
        .arg(std::env::current_exe()?)
        .args([COUNTED, write, history])
        .output()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let total = report.lines().find_map(|line| line.split_once("Collected : "));
    let total: u64 = total.filter(|_| output.status.success()).ok_or(report.clone())?.1.trim().parse()?;
    if total == 0 {
        return Err("valgrind did not find the function to count".into());
    }
    Ok(total / WRITES as u64)
}

/// Runs in the counted process.
pub(crate) fn be_counted(write: &str, history: &str) -> Outcome<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let inventory = Inventory::new(Arc::new(MemoryStore::new()));
    let inventory = if history == "with" { inventory } else { inventory.without_history() };
    let ground = runtime.block_on(Ground::new(inventory))?;
    let mut random = Random::new(1);
    let hosts = (0..WARM_UP + WRITES).map(|number| ground.host(&mut random, number));
    let mut hosts = hosts.collect::<Outcome<Vec<Host>>>()?;
    let counted_hosts = hosts.split_off(WARM_UP);
    let ids = create(&runtime, &ground, hosts)?;
    if write == "creation" {
        return write_counted(|| create(&runtime, &ground, counted_hosts).map(drop));
    }
    let counted_ids = create(&runtime, &ground, counted_hosts)?;
    update(&runtime, &ground, ids)?;
    write_counted(|| update(&runtime, &ground, counted_ids))
}

/// The function that valgrind counts, found by its name. Setup is excluded.
#[inline(never)]
fn write_counted(write: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    write()
}

fn create(runtime: &Runtime, ground: &Ground, hosts: Vec<Host>) -> Outcome<Vec<HostId>> {
    let Ground { inventory, caller, .. } = ground;
    runtime.block_on(async {
        let mut ids = Vec::new();
        for host in hosts {
            ids.push(inventory.hosts().create(caller, host).await?.id);
        }
        Ok(ids)
    })
}

fn update(runtime: &Runtime, ground: &Ground, ids: Vec<HostId>) -> Outcome<()> {
    runtime.block_on(async {
        for id in ids {
            describe(&ground.inventory, &ground.caller, id, 0).await?;
        }
        Ok(())
    })
}
