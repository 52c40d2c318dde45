//! The work of a daemon: collecting within its own limits.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use ipnet::IpNet;
use toposcope::client::{Client, ClientError, ClientErrorKind, HttpService, ReportOptions, RequestBody};
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlMemory, CrawlOptions};
use toposcope::collect::sweep::{Probes, Sweep, SystemProbes};
use toposcope::collect::{AllowList, Gate, Pace, SnmpSecret, UdpTransport};
use toposcope::discovery::Format;
use toposcope::discovery::report::{Device, Report, Reporter, WarningCode};
use toposcope::model::{HostId, Subnet, SubnetId, Timestamp};
use toposcope::wire::{DiscoveryReport, ListQuery};

use super::failure::Failure;
use super::note;

/// Bounds of the delay before a request is repeated.
const MIN_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Maximum number of devices that are reported before the progress is.
const EVENTS_AT_ONCE: usize = 16;

/// The network that a daemon reaches.
pub(crate) trait Reach: Clone + Send + Sync + 'static {
    /// Opens a gate for one work.
    fn gate(&self, allowed: AllowList) -> impl Future<Output = io::Result<Gate>> + Send;

    fn probes(&self) -> impl Probes;
}

/// The network of this machine.
#[derive(Clone)]
pub(crate) struct SystemReach;

impl Reach for SystemReach {
    async fn gate(&self, allowed: AllowList) -> io::Result<Gate> {
        Ok(Gate::new(UdpTransport::open().await?, allowed, Pace::default()))
    }

    fn probes(&self) -> impl Probes {
        SystemProbes::open()
    }
}

/// The limits and secrets that are the daemon's own.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) name: String,
    within: AllowList,
    prefixes: Vec<IpNet>,
    seeds: Vec<IpAddr>,
    secrets: Vec<SnmpSecret>,
}

impl Settings {
    /// Reads the prefixes, which are separated by commas.
    pub(crate) fn new(
        name: String,
        within: &str,
        seeds: Vec<IpAddr>,
        secrets: Vec<SnmpSecret>,
    ) -> Result<Self, Failure> {
        let allowed = within.parse::<AllowList>();
        let allowed = allowed.map_err(|error| Failure::usage(format_args!("--within: {error}")))?;
        let prefixes = within.split(',').filter_map(|prefix| {
            prefix.trim().parse().ok().or_else(|| prefix.trim().parse::<IpAddr>().ok().map(IpNet::from))
        });
        Ok(Self { name, prefixes: prefixes.collect(), within: allowed, seeds, secrets })
    }
}

/// One work.
pub(crate) struct Work<S, R> {
    pub(crate) client: Client<S>,
    pub(crate) reach: R,
    pub(crate) settings: Settings,
    pub(crate) memory: CrawlMemory,
}

impl<S: HttpService, R: Reach> Work<S, R> {
    /// Reports the name of the machine that the daemon runs on.
    pub(crate) async fn report_self(self, host: HostId) -> Result<CrawlMemory, String> {
        let mut device = Device::default();
        device.id = Some(host);
        device.hostname = Some(self.settings.name.clone());
        let mut report = Report::new(Reporter::new("daemon"), Timestamp::now());
        report.devices.push(device);
        self.import(&report).await?;
        Ok(self.memory)
    }

    /// Collects in some subnets, or wherever the daemon may. `progress` is in percent.
    pub(crate) async fn collect(
        self,
        subnets: Option<Vec<SubnetId>>,
        progress: &AtomicU8,
    ) -> Result<CrawlMemory, String> {
        let (within, prefixes) = match &subnets {
            None => (self.settings.within.clone(), self.settings.prefixes.clone()),
            Some(ids) => {
                let prefixes = self.prefixes_of(ids).await?;
                (self.settings.within.clone().narrowed(prefixes.iter().copied()), prefixes)
            }
        };
        let gate =
            self.reach.gate(within).await.map_err(|error| format!("No socket can be opened: {error}."))?;
        let seeds = self.seeds(&gate, &prefixes).await;
        if seeds.is_empty() {
            return Err(
                "No address is in use that this daemon may ask. Compare its --within with the subnets."
                    .to_owned(),
            );
        }
        let secrets = self.settings.secrets.clone();
        let crawl = Crawl::begin(&gate, seeds, move |_| secrets.clone(), CrawlOptions::default());
        let mut crawl = crawl.map_err(|error| error.to_string())?.with_memory(self.memory.clone());
        let mut events = crawl.next_events(EVENTS_AT_ONCE).await;
        while !events.is_empty() {
            let imported;
            (imported, events) = crawl.next_events_during(self.import_all(&events), EVENTS_AT_ONCE).await;
            for address in imported? {
                crawl.forget(address);
            }
            let counts = crawl.progress();
            let done = (counts.devices + counts.failed) * 99 / counts.asked.max(1);
            progress.fetch_max(u8::try_from(done.min(99)).unwrap_or(99), Ordering::Relaxed);
            if events.is_empty() {
                events = crawl.next_events(EVENTS_AT_ONCE).await;
            }
        }
        Ok(crawl.memory().cloned().unwrap_or_default())
    }

    /// Returns the prefixes of subnets of the daemon's network.
    async fn prefixes_of(&self, ids: &[SubnetId]) -> Result<Vec<IpNet>, String> {
        let wanted: BTreeSet<SubnetId> = ids.iter().copied().collect();
        let read = async || {
            let (mut prefixes, mut subnets) =
                (Vec::new(), self.client.records::<Subnet>(ListQuery::default()));
            while let Some(subnet) = subnets.next().await {
                let subnet = subnet?;
                if wanted.contains(&subnet.id) {
                    prefixes.extend(subnet.cidr.to_string().parse::<IpNet>());
                }
            }
            Ok(prefixes)
        };
        repeated(read).await.map_err(|error| error.to_string())
    }

    /// Returns the addresses to begin with: those of the arguments, and those of the prefixes that are in use.
    async fn seeds(&self, gate: &Gate, prefixes: &[IpNet]) -> Vec<IpAddr> {
        let mut seeds: Vec<IpAddr> = self.settings.seeds.clone();
        seeds.retain(|seed| gate.allows(*seed));
        for prefix in prefixes {
            match Sweep::begin(gate, [*prefix], self.reach.probes()) {
                Ok(mut sweep) => {
                    while let Some(live) = sweep.next().await {
                        seeds.push(live.address);
                    }
                }
                Err(error) => note(&format!("{prefix} is not swept: {error}.")),
            }
        }
        seeds
    }

    /// Reports devices, and returns the addresses of those that must be read again as a whole.
    async fn import_all(&self, events: &[CrawlEvent]) -> Result<Vec<IpAddr>, String> {
        let mut forgotten = Vec::new();
        for event in events {
            let CrawlEvent::Device(device) = event else { continue };
            let answer = self.import(&device.report).await?;
            if answer.warnings.iter().any(|warning| warning.code == WarningCode::TableUnknown) {
                forgotten.push(device.address);
            }
        }
        Ok(forgotten)
    }

    async fn import(&self, report: &Report) -> Result<DiscoveryReport, String> {
        let json = serde_json::to_vec(report).map_err(|error| error.to_string())?;
        let options = ReportOptions::default();
        let import = async || {
            let body = RequestBody::new(json.clone());
            self.client.import_report(Format::Report, body, &options).await
        };
        repeated(import).await.map_err(|error| error.to_string())
    }
}

/// Repeats a request while the service is not available.
pub(crate) async fn repeated<T>(
    mut request: impl AsyncFnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut delay = MIN_DELAY;
    loop {
        let error = match request().await {
            Err(error) if is_temporary(&error) => error,
            result => return result,
        };
        note(&format!("The service is not available: {error}"));
        tokio::time::sleep(error.retry_after().unwrap_or(delay).clamp(MIN_DELAY, MAX_DELAY)).await;
        delay = (delay * 2).min(MAX_DELAY);
    }
}

/// Returns whether the same request may succeed later.
fn is_temporary(error: &ClientError) -> bool {
    let is_busy = error.status().is_some_and(|status| status.as_u16() == 429 || status.is_server_error());
    error.kind() == ClientErrorKind::Transport || is_busy
}
