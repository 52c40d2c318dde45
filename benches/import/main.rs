//! Import of a real inventory, and requests that put many hosts.
//!
//! It measures the time of the import in process and over HTTP, and its memory beyond the memory of the store.
//!
//! `cargo bench --bench import` puts 100,000 benchmark hosts in requests of 1,000, into memory and into a folder in
//! cargo's target directory, each case three times. Then it imports `../shared/data/inventory.jsonl.gz`, or the gzipped
//! JSON lines at the path in `TOPOSCOPE_INVENTORY`, once and several times with new ids; `-- 20` sets the number of
//! times. `-- bulk` and `-- lines` select one of them, `-- http` the import over HTTP, and `-- custom` the same inventory with
//! custom fields: the import and pages of it.

#![allow(
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

mod bulk;
mod custom;
#[path = "../support/host.rs"]
mod host;
mod http;

use std::error::Error;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use toposcope::access::Caller;

use tokio::io::{AsyncRead, ReadBuf};
use toposcope::inventory::{Import, ImportReport, Inventory};
use toposcope::store::MemoryStore;

fn main() -> Result<(), Box<dyn Error>> {
    let number: Option<u32> = std::env::args().find_map(|argument| argument.parse().ok());
    let has = |name: &str| std::env::args().any(|argument| argument == name);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if has(bulk::CHILD) {
        return runtime.block_on(bulk::run(number.ok_or("the number of the case is missing")? as usize));
    }
    if !has("lines") && !has("http") && !has("custom") {
        bulk::measure()?;
    }
    if has("bulk") {
        return Ok(());
    }
    let Some(file) = inventory_file() else {
        println!("skipped: no inventory found; set TOPOSCOPE_INVENTORY to a file of gzipped JSON lines");
        return Ok(());
    };
    let unpacked = Command::new("gzip").arg("-dc").arg(&file).output()?;
    if !unpacked.status.success() {
        return Err(format!("gzip cannot unpack {}", file.display()).into());
    }
    if has("custom") {
        return runtime.block_on(custom::measure(&unpacked.stdout));
    }
    runtime.block_on(http::measure(&unpacked.stdout))?;
    if has("http") {
        return Ok(());
    }
    println!(
        "| times over | hosts | MB | s | user s | system s | RSS per MB read, quarter by quarter | peak above the end, MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for times in [1, number.unwrap_or(20)] {
        runtime.block_on(measure(&unpacked.stdout, times))?;
    }
    Ok(())
}

async fn measure(lines: &[u8], times: u32) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Benchmark").await?;
    let repeated = Repeated::new(lines, times);
    let total = lines.len() as u64 * u64::from(times);
    let spent = Arc::clone(&repeated.spent);
    let at_start = memory("VmRSS:")?;
    let mut marks = Vec::new();
    let mark = |report: &ImportReport| {
        if report.bytes * 4 >= total * (marks.len() as u64 + 1) {
            let grown = memory("VmRSS:").unwrap_or_default() - at_start;
            marks.push(format!("{:.2}", grown / (report.bytes as f64 / 1e6)));
        }
    };
    let (user, system) = processor_seconds()?;
    let start = Instant::now();
    let report = inventory
        .hosts()
        .import(
            &Caller::system(organization.id),
            repeated,
            Import::new().create_missing_networks().on_progress(mark),
        )
        .await?;
    let seconds = start.elapsed().as_secs_f64() - spent.load(Ordering::Relaxed) as f64 / 1e6;
    let above = memory("VmHWM:")? - memory("VmRSS:")?;
    let (user_after, system_after) = processor_seconds()?;
    println!(
        "| {times} | {} | {:.0} | {seconds:.2} | {:.2} | {:.2} | {} | {above:.0} |",
        report.imported,
        report.bytes as f64 / 1e6,
        user_after - user,
        system_after - system,
        marks.join(", "),
    );
    if report.refused > 0 {
        return Err(report.to_string().into());
    }
    Ok(())
}

/// Returns the user and kernel time of this process, in seconds. Most of the kernel time is spent on clearing new
/// memory.
fn processor_seconds() -> Result<(f64, f64), Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = status.rsplit_once(") ").ok_or("the system does not report this figure")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    Ok((fields[11].parse::<f64>()? / 100.0, fields[12].parse::<f64>()? / 100.0))
}

/// Returns a memory figure of this process from `/proc`, in megabytes.
fn memory(field: &str) -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .ok_or("the system does not report this figure")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

fn inventory_file() -> Option<PathBuf> {
    let named = std::env::var_os("TOPOSCOPE_INVENTORY").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/inventory.jsonl.gz");
    Some(named.unwrap_or(beside)).filter(|file| file.exists())
}

/// A reader that repeats the same lines with new ids each time. It keeps a single copy of them in memory.
#[derive(Debug)]
struct Repeated {
    lines: Vec<u8>,
    /// Position of the last eight digits of each id, and their original value.
    ids: Vec<(usize, u32)>,
    round: u32,
    rounds: u32,
    position: usize,
    /// Time spent on new ids, in microseconds. It is not part of the import.
    spent: Arc<AtomicU64>,
}

impl Repeated {
    fn new(lines: &[u8], rounds: u32) -> Self {
        let is_id = |text: &[u8]| {
            text.len() == 38 && text[0] == b'"' && text[37] == b'"' && text[9] == b'-' && text[24] == b'-'
        };
        let digits = |text: &[u8]| {
            std::str::from_utf8(&text[29..37]).ok().and_then(|text| u32::from_str_radix(text, 16).ok())
        };
        let windows = lines.windows(38).enumerate().filter(|(_, text)| is_id(text));
        let ids = windows.filter_map(|(place, text)| Some((place + 29, digits(text)?))).collect();
        Self { lines: lines.to_vec(), ids, round: 0, rounds, position: 0, spent: Arc::default() }
    }

    fn next_round(&mut self) {
        self.round += 1;
        self.position = 0;
        let start = Instant::now();
        // Adding the same number to all ids preserves the references between them.
        let step = self.round.wrapping_mul(0x9E37_79B1);
        for (place, number) in &self.ids {
            let fresh = number.wrapping_add(step);
            for (digit, shift) in (0..8).rev().enumerate() {
                self.lines[*place + digit] = b"0123456789abcdef"[(fresh >> (4 * shift) & 15) as usize];
            }
        }
        self.spent.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
    }
}

impl AsyncRead for Repeated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.position == self.lines.len() && self.round + 1 < self.rounds {
            self.next_round();
        }
        let rest = &self.lines[self.position..];
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..taken]);
        self.position += taken;
        Poll::Ready(Ok(()))
    }
}
