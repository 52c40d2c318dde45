//! The program's arguments.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use toposcope::collect::crawl::CrawlOptions;
use toposcope::collect::{AllowList, SnmpSecret};

use super::failure::Failure;
use super::secrets::{SECRETS_USAGE, SecretFlags, variable};
use super::served::{FARM_COMMUNITY, FARM_PREFIX, FARM_SEED, FarmChoice};

/// The number of devices of a farm, unless the arguments have another one.
const FARM_DEVICES: usize = 20;

const USAGE: &str = "\
Usage: cargo run --features collect --example collect -- [FLAG]… ADDRESS…
       cargo run --features collect --example collect -- --farm NAME [FLAG]…

  ADDRESS              an address to begin with; optional with --sweep
  --within CIDR        devices in this prefix may be asked, and no others; repeatable, or separated by commas [required]
";

const FURTHER_USAGE: &str = "\
  --arp                also ask the addresses in the ARP caches of devices
  --next-hops          also ask the next hops of routes
  --sweep CIDR         begin with the addresses of this prefix that are in use; repeatable
  --sweep-subnets      also sweep the subnets of the devices
  --depth N            the number of neighbors to follow from the first addresses [32]
  --data DIR           keep the inventory in this folder, and what the next crawl needs in DIR.crawl.json
  --watch TIME         crawl again after this time, such as 90s, 10m or 1h, until Ctrl-C
  --server URL         report to this service instead of an inventory of one's own (with the feature `client`)
  --server-key-env VAR the environment variable with a daemon key of the service
  --farm NAME          collect from agents in this process instead of a network: campus, fabric or ring (Linux)
  --devices N          the number of devices of the farm, at most 10,000 [20]
  --help               print this help
";

/// Returns the text for `--help`.
pub(crate) fn usage() -> String {
    [USAGE, SECRETS_USAGE, FURTHER_USAGE].concat()
}

/// The parsed command line.
pub(crate) struct Args {
    pub(crate) seeds: Vec<IpAddr>,
    pub(crate) within: AllowList,
    pub(crate) secrets: Vec<SnmpSecret>,
    pub(crate) follows_arp: bool,
    pub(crate) follows_next_hops: bool,
    pub(crate) sweeps: Vec<IpNet>,
    pub(crate) sweeps_subnets: bool,
    pub(crate) depth: Option<u32>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) watch: Option<Duration>,
    pub(crate) server: Option<ServerPlace>,
    /// The farm that is served in place of a network.
    pub(crate) farm: Option<FarmChoice>,
    /// The UDP port of the agents.
    pub(crate) port: u16,
}

/// A service that gets the reports.
pub(crate) struct ServerPlace {
    pub(crate) url: String,
    pub(crate) key: String,
}

/// The flags that are checked once all are known.
#[derive(Default)]
struct Flags {
    within: Vec<String>,
    secrets: SecretFlags,
    server: Option<String>,
    server_key: Option<String>,
    farm: Option<String>,
    devices: Option<usize>,
}

impl Args {
    /// Returns arguments without any further flags.
    pub(crate) fn new(seeds: Vec<IpAddr>, within: AllowList, secrets: Vec<SnmpSecret>) -> Self {
        Self {
            seeds,
            within,
            secrets,
            follows_arp: false,
            follows_next_hops: false,
            sweeps: Vec::new(),
            sweeps_subnets: false,
            depth: None,
            data: None,
            watch: None,
            server: None,
            farm: None,
            port: CrawlOptions::default().port,
        }
    }

    /// Parses the arguments; `None` if they ask for help.
    pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let mut arguments = arguments.map(|argument| {
            argument.into_string().map_err(|_| Failure::usage("An argument is not valid Unicode"))
        });
        let (mut seeds, mut sweeps, mut flags) = (Vec::new(), Vec::new(), Flags::default());
        let (mut follows_arp, mut follows_next_hops, mut sweeps_subnets) = (false, false, false);
        let (mut depth, mut data, mut watch) = (None, None, None);
        while let Some(argument) = arguments.next().transpose()? {
            let mut value = || {
                let value = arguments.next().transpose()?.filter(|value| !value.is_empty());
                value.ok_or_else(|| Failure::usage(format_args!("{argument} requires a value")))
            };
            if flags.secrets.take(&argument, &mut value)? {
                continue;
            }
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--within" => flags.within.push(value()?),
                "--arp" => follows_arp = true,
                "--next-hops" => follows_next_hops = true,
                "--sweep-subnets" => sweeps_subnets = true,
                "--sweep" => {
                    let prefix = value()?.parse();
                    let wrong = |_| Failure::usage("--sweep requires a prefix, such as 192.0.2.0/24");
                    sweeps.push(prefix.map_err(wrong)?);
                }
                "--data" => data = Some(PathBuf::from(value()?)),
                "--watch" => watch = Some(duration(&value()?)?),
                "--server" => flags.server = Some(value()?),
                "--server-key-env" => flags.server_key = Some(variable(&value()?)?),
                "--farm" => flags.farm = Some(value()?),
                "--devices" => {
                    let number = value()?.parse();
                    flags.devices = Some(number.map_err(|_| Failure::usage("--devices requires a number"))?);
                }
                "--depth" => {
                    let number = value()?.parse();
                    depth = Some(number.map_err(|_| Failure::usage("--depth requires a number"))?);
                }
                flag if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                address => {
                    let address = address.parse();
                    let what = || Failure::usage(format_args!("{argument} is not an address"));
                    seeds.push(address.map_err(|_| what())?);
                }
            }
        }
        let farm = flags.farm_choice()?;
        if farm.is_some() {
            if !seeds.is_empty() || !sweeps.is_empty() || !flags.within.is_empty() {
                return Err(Failure::usage("--farm has addresses of its own"));
            }
            if flags.secrets != SecretFlags::default() {
                return Err(Failure::usage("--farm has a community of its own"));
            }
            seeds.push(FARM_SEED.into());
            flags.within.push(FARM_PREFIX.to_owned());
        }
        if seeds.is_empty() && sweeps.is_empty() {
            return Err(Failure::usage("An ADDRESS is required, or --sweep"));
        }
        let server = flags.server_place()?;
        if server.is_some() && data.is_some() {
            return Err(Failure::usage(
                "--data and --server exclude each other: the service keeps the inventory",
            ));
        }
        let within = flags.within.join(",").parse();
        let within = within.map_err(|error| Failure::usage(format_args!("--within: {error}")))?;
        let secrets = match &farm {
            Some(_) => vec![SnmpSecret::v2c(FARM_COMMUNITY)],
            None => flags.secrets.secrets()?,
        };
        let args = Self::new(seeds, within, secrets);
        Ok(Some(Self {
            follows_arp,
            follows_next_hops,
            sweeps,
            sweeps_subnets,
            depth,
            data,
            watch,
            server,
            farm,
            ..args
        }))
    }
}

impl Flags {
    fn farm_choice(&mut self) -> Result<Option<FarmChoice>, Failure> {
        match (self.farm.take(), self.devices) {
            (None, Some(_)) => Err(Failure::usage("--devices requires --farm")),
            (name, devices) => {
                Ok(name.map(|name| FarmChoice { name, devices: devices.unwrap_or(FARM_DEVICES) }))
            }
        }
    }

    fn server_place(&mut self) -> Result<Option<ServerPlace>, Failure> {
        match (self.server.take(), self.server_key.take()) {
            (None, None) => Ok(None),
            (Some(url), Some(key)) => Ok(Some(ServerPlace { url, key })),
            (Some(_), None) => Err(Failure::usage(
                "--server requires --server-key-env; a user of the service creates daemon keys by POST /api/v1/auth/daemon",
            )),
            (None, Some(_)) => Err(Failure::usage("--server-key-env requires --server")),
        }
    }
}

/// Reads a number with a unit: seconds, minutes or hours.
pub(crate) fn duration(text: &str) -> Result<Duration, Failure> {
    let units = [("s", 1_u64), ("m", 60), ("h", 3_600)];
    let read =
        |(unit, seconds): (&str, u64)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(seconds);
    let seconds = units.into_iter().find_map(read).filter(|seconds| (1..=31 * 86_400).contains(seconds));
    let seconds = seconds.ok_or_else(|| Failure::usage("--watch requires a time, such as 90s, 10m or 1h"))?;
    Ok(Duration::from_secs(seconds))
}
