//! The space that entries take in a folder.

use std::path::Path;
use std::sync::Arc;

use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::store::SledStore;

use crate::ground::{Changed, Outcome, changed, fill, limited, opened};

/// The numbers of organizations of a folder whose entries are not joined, and of hosts of each. An organization has an entry for the creation
/// and one for a change of each, fewer than are joined.
const ORGANIZATIONS: [usize; 2] = [16, 64];
const HOSTS: usize = 240;

/// Prints the space of entries that are not joined, and of joined ones.
pub(crate) async fn measure() -> Outcome<bool> {
    println!("| entries | bytes of disk each | at most |\n|---|---|---|");
    let mut folders = Vec::new();
    for organizations in ORGANIZATIONS {
        folders.push(
            measured(async |path, has_history| {
                let (store, inventory) = opened(path, has_history).await?;
                let mut callers = Vec::new();
                for _ in 0..organizations {
                    callers.push(fill(&inventory, HOSTS, HOSTS).await?.ground.caller);
                }
                Ok((store, inventory, callers))
            })
            .await?,
        );
    }
    let mut is_met = row("not joined, beside the fields", &folders, 400.0);
    folders.clear();
    let entries = crate::readings::entries()?;
    for changes in [entries / 4, entries] {
        folders.push(
            measured(async |path, has_history| {
                let Changed { ground, store, .. } = changed(path, has_history, changes).await?;
                Ok((store, ground.inventory, vec![ground.caller]))
            })
            .await?,
        );
    }
    is_met &= row("joined, beside the fields", &folders, 80.0);
    Ok(is_met)
}

/// The space that the entries of a folder take.
struct Space {
    entries: usize,
    /// The size beyond that of a folder with the same changes and without a history, in bytes.
    bytes: f64,
    /// The size of the JSON of all fields, compressed, in bytes.
    fields: f64,
}

/// Fills two folders, one with a history, and compares them.
async fn measured(
    fill: impl AsyncFn(&Path, bool) -> Outcome<(Arc<SledStore>, Inventory, Vec<Caller>)>,
) -> Outcome<Space> {
    let folder = tempfile::tempdir()?;
    let (mut sizes, mut entries, mut fields) = (Vec::new(), 0, Vec::new());
    for has_history in [false, true] {
        let path = folder.path().join(has_history.to_string());
        let (store, inventory, callers) = fill(&path, has_history).await?;
        for caller in callers.iter().filter(|_| has_history) {
            entries += read_fields(&inventory, caller, &mut fields).await?;
        }
        drop(inventory);
        store.close().await?;
        SledStore::compact(&path).await?;
        sizes.push(size_of(&path)? as f64);
    }
    // The folder has two copies of everything.
    let compressed: usize = fields.chunks(32 * 1024).map(|part| 2 * lz4_flex::compress(part).len()).sum();
    Ok(Space { entries, bytes: sizes[1] - sizes[0], fields: compressed as f64 })
}

/// Appends the fields of all entries. Returns the number of the entries.
async fn read_fields(inventory: &Inventory, caller: &Caller, fields: &mut Vec<u8>) -> Outcome<usize> {
    let (mut query, mut entries) = (limited(1_000), 0);
    loop {
        let page = inventory.changes(caller, &query).await?;
        entries += page.changes.len();
        for change in &page.changes {
            serde_json::to_writer(&mut *fields, &change.fields)?;
        }
        if !page.has_more {
            return Ok(entries);
        }
        query.after = Some(page.next);
    }
}

/// Prints what an entry takes beside its fields: the slope between two sizes, because a folder grows by whole segments, and a part of each is
/// room. Returns whether it is within the bar.
fn row(name: &str, folders: &[Space], bar: f64) -> bool {
    let [small, large] = folders else { return false };
    let count = (large.entries - small.entries) as f64;
    let [all, fields] = [large.bytes - small.bytes, large.fields - small.fields].map(|bytes| bytes / count);
    let each = all - fields;
    println!("| {name} ({all:.0} with them) | {each:.0} | {bar} |");
    each <= bar
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
