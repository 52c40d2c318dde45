//! The space that entries take in a folder.

use std::path::Path;

use toposcope::store::SledStore;

use crate::ground::{Changed, Ground, Outcome, changed, limited};

/// Prints the space of entries that are not joined, and of joined ones.
pub(crate) async fn measure() -> Outcome<bool> {
    println!("| entries | bytes of disk each | at most |\n|---|---|---|");
    let is_met = row("not joined, beside the fields", 1_000, 400.0).await?;
    Ok(is_met & row("joined, beside the fields", crate::readings::entries()?, 80.0).await?)
}

/// Prints what entries take on the disk, beyond what the same changes take without a history, and beside the JSON of their fields,
/// compressed. Returns whether it is within the bar.
async fn row(name: &str, changes: usize, bar: f64) -> Outcome<bool> {
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
