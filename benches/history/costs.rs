//! Times of writes, with and without history.

use std::sync::Arc;

use toposcope::Inventory;
use toposcope::store::{MemoryStore, SledStore, Store};

use crate::ground::{CREATION, Ground, Outcome, UPDATE, median};

pub(crate) async fn measure() -> Outcome<bool> {
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
