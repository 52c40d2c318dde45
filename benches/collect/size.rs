//! The memory of a collector, with the farm in another process.

use std::io::{self, BufRead, BufReader, Write};
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};

use toposcope::collect::crawl::{Crawl, CrawlOptions};
use toposcope::collect::{Gate, Pace, SnmpSecret, UdpTransport};

use crate::Outcome;
use crate::farm::line::Line;
use crate::ground::{COMMUNITY, Ground, crawl_of, devices};
use crate::memory::{forget_peak, memory};

/// First argument of the process that serves the farm.
pub(crate) const FARM: &str = "farm";

/// The bars, in bytes.
const PEAK: u64 = 200_000_000;
const OF_A_WAITING_DEVICE: u64 = 20_000;

/// Maximum number of addresses that wait in the second measurement.
const MAX_WAITING: usize = 50_000;

/// Serves the farm until the standard input ends.
pub(crate) fn serve() -> Outcome<()> {
    let ground = Ground::serve(Line::default())?;
    println!("{}", ground.farm.port());
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// A process that serves the farm.
struct Served {
    process: Child,
    port: u16,
}

impl Served {
    fn start() -> Outcome<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(FARM)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or("the farm is silent")?;
        BufReader::new(output).read_line(&mut line)?;
        Ok(Self { process, port: line.trim().parse()? })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

pub(crate) async fn measure() -> Outcome<bool> {
    println!("\n| memory of the collector | devices | bytes | bar | s |\n|---|---|---|---|---|");
    // Memory that was freed before would be used again without growth.
    let before = memory("VmRSS:")?;
    let is_met = of_waiting_addresses(before).await?;
    Ok(of_a_crawl(before).await? && is_met)
}

/// Measures the growth of the process by a crawl whose reports are dropped, with its memory for the next crawl.
async fn of_a_crawl(before: u64) -> Outcome<bool> {
    let served = Served::start()?;
    let mut is_met = true;
    for remembers in [false, true] {
        forget_peak()?;
        let start = std::time::Instant::now();
        let secrets = vec![SnmpSecret::v2c(COMMUNITY)];
        let mut crawl = crawl_of(served.port, secrets, 128, remembers.then(Default::default)).await?;
        while crawl.next().await.is_some() {}
        let (peak, seconds) = (memory("VmHWM:")?.saturating_sub(before), start.elapsed().as_secs_f64());
        let name = if remembers { "crawl that remembers devices" } else { "crawl" };
        println!("| {name} | {} | {peak} | {PEAK} | {seconds:.1} |", crawl.progress().devices);
        is_met &= peak <= PEAK && crawl.progress().devices == devices();
    }
    Ok(is_met)
}

/// Measures the growth of the process by addresses that wait to be asked.
async fn of_waiting_addresses(before: u64) -> Outcome<bool> {
    let gate = Gate::new(UdpTransport::open().await?, "10.0.0.0/8".parse()?, Pace::default());
    let seeds = (0..MAX_WAITING).map(|number| IpAddr::from([10, 1, (number >> 8) as u8, number as u8]));
    let seeds: Vec<IpAddr> = seeds.filter(|seed| gate.allows(*seed)).collect();
    let crawl = Crawl::begin(&gate, seeds.iter().copied(), |_| Vec::new(), CrawlOptions::default())?;
    let each = memory("VmRSS:")?.saturating_sub(before) / seeds.len() as u64;
    drop(crawl);
    println!("| an address that waits | {} | {each} | {OF_A_WAITING_DEVICE} | |", seeds.len());
    Ok(each <= OF_A_WAITING_DEVICE)
}
