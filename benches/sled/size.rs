//! Disk space and memory per host.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tokio::runtime::Runtime;
use toposcope::store::{Entry, SledStore};

use crate::child::Opened;
use crate::folder::{Folder, disk_size};
use crate::host::Random;
use crate::record::{InMemory, put_all};

const REWRITTEN: usize = 3;

/// Sizes of an inventory: bytes on the disk after each step, and in memory.
#[derive(Debug)]
struct Sizes {
    loaded_in: f64,
    loaded: u64,
    closed: u64,
    rewritten: u64,
    opened: u64,
    read: u64,
}

pub(crate) fn measure(runtime: &Runtime, folder: &Folder, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    println!(
        "| hosts | loaded, s | KB a host on the disk: loaded | closed | all rewritten {REWRITTEN} times, closed | \
         MB of memory: opened | all read |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut in_memory: Vec<(f64, f64)> = Vec::new();
    for size in sizes {
        let place = folder.place(&format!("size-{size}"));
        let Sizes { loaded_in, loaded, closed, rewritten, opened, read } =
            measure_size(runtime, &place, *size)?;
        let a_host = |bytes: u64| bytes as f64 / 1e3 / *size as f64;
        println!(
            "| {size} | {loaded_in:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
            a_host(loaded),
            a_host(closed),
            a_host(rewritten),
            opened as f64 / 1e6,
            read as f64 / 1e6,
        );
        in_memory.push((*size as f64, opened as f64));
    }
    if let [(few, less), .., (many, more)] = in_memory[..] {
        let each = (more - less) / (many - few);
        println!(
            "\n{each:.0} bytes of memory a host, and {:.1} MB whatever their number.",
            (less - few * each) / 1e6
        );
    }
    println!();
    Ok(())
}

fn measure_size(runtime: &Runtime, place: &Path, size: usize) -> Result<Sizes, Box<dyn Error>> {
    eprintln!("sizes of {size} hosts: loading");
    let mut entries = runtime.block_on(InMemory::load(size))?.entries;
    let store = runtime.block_on(SledStore::open(place))?;
    let start = Instant::now();
    runtime.block_on(put_all(&store, &entries))?;
    let loaded_in = start.elapsed().as_secs_f64();
    let loaded = disk_size(place)?;
    runtime.block_on(store.close())?;
    let closed = disk_size(place)?;
    let mut opened = Opened::new(place)?;
    let (grown, read) = (opened.grown, opened.read()?);
    opened.close()?;
    let store = runtime.block_on(SledStore::open(place))?;
    let mut random = Random::new(13);
    for round in 1..=REWRITTEN {
        eprintln!("sizes of {size} hosts: rewriting, {round} of {REWRITTEN}");
        shuffle(&mut entries, &mut random);
        runtime.block_on(put_all(&store, &entries))?;
    }
    runtime.block_on(store.close())?;
    Ok(Sizes { loaded_in, loaded, closed, rewritten: disk_size(place)?, opened: grown, read })
}

fn shuffle(entries: &mut [Entry], random: &mut Random) {
    for place in (1..entries.len()).rev() {
        entries.swap(place, (random.next() % (place as u64 + 1)) as usize);
    }
}
