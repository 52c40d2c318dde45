//! A served network, and crawls of it.

use std::time::{Duration, Instant};

use toposcope::collect::crawl::{Crawl, CrawlMemory, CrawlOptions, CrawlProgress};
use toposcope::collect::{AllowList, Gate, Pace, SnmpSecret, UdpTransport};

use crate::Outcome;
use crate::farm::FarmUser;
use crate::farm::agents::Agents;
use crate::farm::collected::{Collected, REPORTS_AT_ONCE};
use crate::farm::counters::Counters;
use crate::farm::line::Line;
use crate::farm::network::{Network, address};
use crate::farm::socket::SocketFarm;
use crate::memory::{forget_peak, memory};

pub(crate) const COMMUNITY: &[u8] = b"farm";

/// The head of the table of rows.
pub(crate) const HEAD: &str = "| what | devices | s | bar, s | of these links | processor, s | peak, MB | packets | a device | cables | found | invented | most a second: all | /24 | device | elsewhere |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

/// The number of devices of the bars.
const DEVICES_OF_BARS: usize = 10_000;

const ALLOWED: &str = "127.1.0.0/16";

/// The pace of the bars.
const PACE: Pace = Pace::new(100, 20_000, 20_000);

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns the number of devices of the run.
pub(crate) fn devices() -> usize {
    number("DEVICES").unwrap_or(DEVICES_OF_BARS)
}

/// Returns the part of a bar that the run may take.
pub(crate) fn in_proportion(seconds: f64) -> f64 {
    seconds * devices() as f64 / DEVICES_OF_BARS as f64
}

/// A network that is served on a socket.
pub(crate) struct Ground {
    pub(crate) network: Network,
    pub(crate) farm: SocketFarm,
    secrets: Vec<SnmpSecret>,
    workers: usize,
}

/// A crawl that has ended, with all its reports stored.
pub(crate) struct Row {
    pub(crate) crawled: Duration,
    /// The time in which the links of the reports were found.
    pub(crate) linked: Duration,
    pub(crate) progress: CrawlProgress,
    pub(crate) missing: usize,
    pub(crate) invented: usize,
    pub(crate) written: u64,
    /// The time of processors that the process has used, with the farm.
    processor: f64,
    /// The most memory of the process, with the farm and the inventory, in bytes.
    peak: u64,
}

impl Ground {
    pub(crate) fn serve(line: Line) -> Outcome<Self> {
        Self::with(line, None, vec![SnmpSecret::v2c(COMMUNITY)])
    }

    pub(crate) fn with(line: Line, user: Option<&FarmUser>, secrets: Vec<SnmpSecret>) -> Outcome<Self> {
        let network = Network::named("campus", devices()).ok_or("there is no campus")?;
        let mut agents = Agents::default();
        agents.line = line;
        network.add_to(&mut agents, COMMUNITY, user);
        let farm = SocketFarm::serve(agents, 0)?;
        Ok(Self { network, farm, secrets, workers: number("WORKERS").unwrap_or(128) })
    }

    /// Sets the number of devices that are read at a time, unless the environment does.
    pub(crate) fn with_workers(self, workers: usize) -> Self {
        Self { workers: number("WORKERS").unwrap_or(workers), ..self }
    }

    /// Begins a crawl from the first device.
    pub(crate) async fn crawl(&self, memory: Option<CrawlMemory>) -> Outcome<Crawl> {
        crawl_of(self.farm.port(), self.secrets.clone(), self.workers, memory).await
    }

    /// Crawls the network, stores all reports, and compares the links with the cables.
    pub(crate) async fn measure(&self, collected: &Collected, crawl: &mut Crawl) -> Outcome<Row> {
        forget_peak()?;
        let (start, processor) = (Instant::now(), processor_seconds()?);
        let (written, _) = collected.add_all(crawl, number("REPORTS").unwrap_or(REPORTS_AT_ONCE)).await?;
        let crawled = start.elapsed();
        let found = collected.cables().await?;
        let linked = start.elapsed() - crawled;
        let truth = self.network.truth();
        let missing = truth.difference(&found).count();
        let invented = found.difference(&truth).count();
        let (processor, peak) = (processor_seconds()? - processor, memory("VmHWM:")?);
        Ok(Row { crawled, linked, progress: crawl.progress(), missing, invented, written, processor, peak })
    }

    /// Prints a row. Returns whether it meets its bar.
    pub(crate) fn print(&self, name: &str, row: &Row, before: &Counters, bar: f64) -> bool {
        let counters = self.farm.counters();
        let (packets, peaks) = (counters.packets() - before.packets(), counters.peaks());
        let cables = self.network.cables.len();
        let seconds = (row.crawled + row.linked).as_secs_f64();
        println!(
            "| {name} | {} | {seconds:.1} | {bar:.1} | {:.1} | {:.1} | {} | {packets} | {:.1} | {cables} | {:.2} % | {} | {} | {} | {} | {} |",
            row.progress.devices,
            row.linked.as_secs_f64(),
            row.processor,
            row.peak / 1_000_000,
            packets as f64 / self.network.devices.len() as f64,
            (cables - row.missing) as f64 * 100.0 / cables as f64,
            row.invented,
            peaks.all,
            peaks.subnet,
            peaks.address,
            counters.foreign,
        );
        let limits = [PACE.all, PACE.subnet, PACE.device].map(|limit| limit as usize);
        let peaks = [peaks.all, peaks.subnet, peaks.address];
        let is_polite = peaks.iter().zip(limits).all(|(peak, limit)| *peak <= limit) && counters.foreign == 0;
        let is_whole = row.missing + row.invented == 0 && row.progress.devices == self.network.devices.len();
        seconds <= bar && is_whole && is_polite
    }
}

/// Returns the time of processors that this process has used.
fn processor_seconds() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program may have spaces. Times are in hundredths of a second.
    let fields = status.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    let times = fields.map(str::parse::<f64>).collect::<Result<Vec<_>, _>>()?;
    Ok(times.iter().sum::<f64>() / 100.0)
}

/// Begins a crawl of the farm at a port.
pub(crate) async fn crawl_of(
    port: u16,
    secrets: Vec<SnmpSecret>,
    workers: usize,
    memory: Option<CrawlMemory>,
) -> Outcome<Crawl> {
    let mut options = CrawlOptions::default();
    (options.workers, options.port, options.devices) = (workers, port, devices());
    let gate = Gate::new(UdpTransport::open().await?, ALLOWED.parse::<AllowList>()?, PACE);
    let crawl = Crawl::begin(&gate, [address(0).into()], move |_| secrets.clone(), options)?;
    Ok(match memory {
        Some(memory) => crawl.with_memory(memory),
        None => crawl,
    })
}
