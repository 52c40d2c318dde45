//! Time to open a folder, after it was closed and after its process was killed.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::child::Opened;
use crate::folder::{Folder, copy_to};
use crate::record::InMemory;

const ROUNDS: usize = 5;

/// State in which the folder was left.
#[derive(Clone, Copy, Debug)]
enum Left {
    Closed,
    /// Also evicted from the system's page cache, as after a reboot.
    ClosedLongAgo,
    /// Killed while a tenth of the records was being rewritten.
    Killed,
}

pub(crate) fn measure(runtime: &Runtime, folder: &Folder, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    println!("| hosts | left | opened in, s: median | worst | memory while opening, MB | then, MB |");
    println!("|---|---|---|---|---|---|");
    for size in sizes {
        eprintln!("opening {size} hosts: loading");
        let place = folder.place(&format!("opening-{size}"));
        runtime
            .block_on(async { copy_to(&InMemory::load(*size).await?, &place).await.map_err(Box::from) })
            .map_err(|error: Box<dyn Error>| error)?;
        for left in [Left::Closed, Left::ClosedLongAgo, Left::Killed] {
            measure_left(&place, *size, left)?;
        }
    }
    println!();
    Ok(())
}

fn measure_left(place: &Path, size: usize, left: Left) -> Result<(), Box<dyn Error>> {
    let (mut times, mut peak, mut grown) = (Vec::new(), 0, 0);
    // The first round finds the folder in another state and does not count.
    for round in 0..=ROUNDS {
        eprintln!("opening {size} hosts, {left:?}: round {round} of {ROUNDS}");
        let mut opened = Opened::new(place)?;
        if round > 0 {
            times.push(opened.time);
            (peak, grown) = (peak.max(opened.peak), opened.grown);
        }
        match left {
            Left::Closed => opened.close()?,
            Left::ClosedLongAgo => {
                opened.close()?;
                forget(place)?;
            }
            Left::Killed => {
                opened.rewrite(size / 10)?;
                opened.kill()?;
            }
        }
    }
    times.sort_unstable();
    let name = match left {
        Left::Closed => "closed",
        Left::ClosedLongAgo => "closed, files not in memory",
        Left::Killed => "killed",
    };
    let seconds = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64);
    println!(
        "| {size} | {name} | {:.2} | {:.2} | {:.0} | {:.0} |",
        seconds(times.get(times.len() / 2)),
        seconds(times.last()),
        peak as f64 / 1e6,
        grown as f64 / 1e6,
    );
    Ok(())
}

/// Evicts the files of a folder from the system's page cache by means of `dd`.
fn forget(folder: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            forget(&entry.path())?;
            continue;
        }
        let mut file = std::ffi::OsString::from("if=");
        file.push(entry.path());
        let status =
            Command::new("dd").arg(file).args(["iflag=nocache", "count=0", "status=none"]).status()?;
        if !status.success() {
            return Err("dd cannot have the system forget a file".into());
        }
    }
    Ok(())
}
