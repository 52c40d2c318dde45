//! Makes a map of a network, beginning with one address.
//!
//! ```text
//! cargo run --release --features collect --example collect -- --farm campus
//!
//! export SNMP=community
//! cargo run --release --features collect --example collect -- 192.0.2.1 --community-env SNMP --within 192.0.2.0/24
//! ```
//!
//! The first command makes up a network in this process (on Linux); the second reads yours. It reads the device over SNMP, follows its neighbors by LLDP and CDP within the prefixes of `--within`, and prints a line for
//! each device that answered, and for each that did not, with advice. The picture is `network.html` in the present folder.
//! `--data` keeps an inventory, `--watch` crawls again and again, and `--server` reports to a running service.

pub(crate) mod args;
pub(crate) mod destination;
#[path = "../support/failure.rs"]
pub(crate) mod failure;
#[cfg(target_os = "linux")]
#[allow(dead_code, unused_imports, reason = "tests serve farms without a socket, too")]
#[path = "../../benches/support/farm/mod.rs"]
mod farm;
#[allow(dead_code, reason = "the example `topology` also writes other formats, and reads themes")]
#[path = "../topology/files.rs"]
mod files;
pub(crate) mod secrets;
mod served;
#[cfg(feature = "client")]
pub(crate) mod server;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressBar;
use toposcope::collect::crawl::{
    Crawl, CrawlEvent, CrawlFailure, CrawlFailureReason, CrawlMemory, CrawlOptions, CrawlProgress,
    CrawledDevice,
};
use toposcope::collect::snmp::{AskError, SnmpRefusal};
use toposcope::collect::sweep::{Sweep, SystemProbes};
use toposcope::collect::{Gate, Pace, UdpTransport};

use args::{Args, usage};
use destination::{Destination, KeptInventory, MemoryFile, lacks_tables};
use failure::Failure;
use served::FARM_PACE;

#[tokio::main]
async fn main() -> ExitCode {
    match run(env::args_os().skip(1), &mut io::stdout()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{failure}");
            failure.exit_code()
        }
    }
}

/// Runs the program with these arguments, and prints to `output`.
async fn run(arguments: impl Iterator<Item = OsString>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(mut args) = Args::parse(arguments)? else { return print(output, &usage()) };
    let served = args.farm.as_ref().map(served::serve).transpose()?;
    args.port = served.as_ref().map_or(args.port, served::ServedFarm::port);
    let pace = if served.is_some() { FARM_PACE } else { Pace::default() };
    let transport = UdpTransport::open().await;
    let transport = transport.map_err(|error| Failure::because("No socket can be opened", &error))?;
    let gate = Gate::new(transport, args.within.clone(), pace);
    tokio::select! {
        result = collect(&args, &gate, Path::new("."), output) => result,
        // What was reported until then is kept.
        _ = tokio::signal::ctrl_c(), if args.watch.is_some() => Ok(()),
    }
}

/// Reads the network through a gate, prints the devices that answered, and writes the picture into a folder.
pub(crate) async fn collect(
    args: &Args,
    gate: &Gate,
    folder: &Path,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(place) = &args.server {
        #[cfg(feature = "client")]
        return watch(args, gate, &server::ServerDestination(server::connect(place)?), output).await;
        #[cfg(not(feature = "client"))]
        return Err(Failure::new(format!("{} needs --features collect,client.", place.url)));
    }
    let kept = KeptInventory::open(args.data.as_deref(), folder).await?;
    let result = watch(args, gate, &kept, output).await;
    kept.close().await?;
    result
}

/// Crawls once, or again and again if the arguments have a time.
pub(crate) async fn watch(
    args: &Args,
    gate: &Gate,
    destination: &dyn Destination,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let file = args.data.as_deref().map(MemoryFile::of);
    let mut memory = file.as_ref().map(MemoryFile::read).transpose()?.unwrap_or_default();
    loop {
        let result = crawl(args, gate, destination, &mut memory, output).await;
        if let Some(file) = &file {
            file.write(&memory)?;
        }
        let Some(time) = args.watch else { return result };
        // The network may answer the next time, and so may the service.
        if let Err(failure) = result {
            print(output, &format!("{failure}\n"))?;
        }
        tokio::time::sleep(time).await;
    }
}

/// Crawls once, and delivers the reports.
async fn crawl(
    args: &Args,
    gate: &Gate,
    destination: &dyn Destination,
    memory: &mut CrawlMemory,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut options = CrawlOptions::default();
    options.port = args.port;
    options.follows_arp = args.follows_arp;
    options.follows_next_hops = args.follows_next_hops;
    options.depth = args.depth.unwrap_or(options.depth);
    let seeds = seeds(args, gate, output).await?;
    let secrets = args.secrets.clone();
    let crawl = Crawl::begin(gate, seeds, move |_| secrets.clone(), options);
    let mut crawl = crawl.map_err(|error| Failure::usage(error.to_string()))?;
    if args.watch.is_some() || args.data.is_some() {
        crawl = crawl.with_memory(memory.clone());
    }
    if args.sweeps_subnets {
        crawl = crawl.with_sweeps(SystemProbes::open());
        note_without_echo(crawl.without_echo(), output)?;
    }
    let bar = ProgressBar::new_spinner();
    let mut failures = Vec::new();
    let result = deliver(&mut crawl, destination, &bar, &mut failures, output).await;
    bar.finish_and_clear();
    if let Some(next) = crawl.memory() {
        memory.clone_from(next);
    }
    result?;
    print_failures(output, &failures)?;
    if crawl.progress().devices == 0 {
        return Err(Failure::new("No device answered, so there is nothing to draw."));
    }
    print(output, &format!("\n{}\n", counts(&crawl.progress())))?;
    destination.finish(output).await
}

/// Delivers the reports of a crawl, and prints the devices.
async fn deliver(
    crawl: &mut Crawl,
    destination: &dyn Destination,
    bar: &ProgressBar,
    failures: &mut Vec<CrawlFailure>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    while let Some(event) = crawl.next().await {
        let line = match event {
            CrawlEvent::Device(device) => {
                // Until it is stored, the next crawl must not rely on it.
                let answer = destination.deliver(&device.report).await;
                if answer.as_ref().map_or(true, lacks_tables) {
                    crawl.forget(device.address);
                }
                answer?;
                device_lines(&device)
            }
            CrawlEvent::Failed(failure) => {
                failures.push(failure);
                String::new()
            }
            _ => String::new(),
        };
        bar.suspend(|| print(output, &line))?;
        bar.set_message(counts(&crawl.progress()));
        bar.tick();
    }
    Ok(())
}

/// Returns the addresses to begin with: those of the arguments, and those that sweeps find.
async fn seeds(args: &Args, gate: &Gate, output: &mut dyn Write) -> Result<Vec<IpAddr>, Failure> {
    let mut seeds = args.seeds.clone();
    if args.sweeps.is_empty() {
        return Ok(seeds);
    }
    let sweep = Sweep::begin(gate, args.sweeps.iter().copied(), SystemProbes::open());
    let mut sweep = sweep.map_err(|error| Failure::usage(format_args!("--sweep: {error}")))?;
    note_without_echo(sweep.without_echo(), output)?;
    while let Some(live) = sweep.next().await {
        seeds.push(live.address);
    }
    if seeds.is_empty() {
        return Err(Failure::new(
            "No address of --sweep is in use. Check the prefix and the routes of this machine.",
        ));
    }
    Ok(seeds)
}

fn note_without_echo(reason: Option<io::ErrorKind>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(reason) = reason else { return Ok(()) };
    let advice = "let this group send them with sysctl net.ipv4.ping_group_range";
    print(output, &format!("Sweeping without echo requests of ICMP ({reason}); {advice}.\n"))
}

/// Returns name, address and model of a device, and the objects that could not be read.
fn device_lines(device: &CrawledDevice) -> String {
    let mut lines = String::new();
    for described in &device.report.devices {
        let name = described.sys_name.as_deref().unwrap_or("a device without a name");
        let model = described.model.as_deref().or(described.sys_descr.as_deref()).unwrap_or("unknown model");
        let model = model.lines().next().unwrap_or_default();
        // Devices may send characters that a terminal obeys.
        let is_unchanged = !described.tables.unchanged().is_empty();
        let mark = if is_unchanged { "  (unchanged)" } else { "" };
        let described = format!("{name}  {}  {model}{mark}", device.address).replace(char::is_control, "?");
        lines += &format!("{described}\n");
    }
    if let Some(from) = device.answers_from {
        lines += &format!("  it answers from {from}\n");
    }
    for (object, reason) in &device.truncated {
        lines += &format!("  {object} is incomplete: {reason}\n");
    }
    lines
}

fn counts(progress: &CrawlProgress) -> String {
    let CrawlProgress { asked, answered, devices, unchanged, links, failed, .. } = progress;
    let devices =
        if *unchanged > 0 { format!("{devices} ({unchanged} unchanged)") } else { devices.to_string() };
    format!("asked: {asked}, answered: {answered}, devices: {devices}, neighbors: {links}, failed: {failed}")
}

fn print_failures(output: &mut dyn Write, failures: &[CrawlFailure]) -> Result<(), Failure> {
    if !failures.is_empty() {
        print(output, "\nNot read:\n")?;
    }
    for CrawlFailure { address, reason, .. } in failures {
        print(output, &format!("{address}  {reason}; {}\n", advice(reason)))?;
    }
    Ok(())
}

/// Returns advice for a failure.
const fn advice(reason: &CrawlFailureReason) -> &'static str {
    match reason {
        CrawlFailureReason::NotAnswered(AskError::Silent) => {
            "check that SNMP is switched on, that its access list has this machine, and that the community is right"
        }
        CrawlFailureReason::NotAnswered(AskError::NotAllowed) => "--within decides what may be asked",
        CrawlFailureReason::NotAnswered(AskError::NotSent(_)) => "check the routes of this machine",
        CrawlFailureReason::NotAnswered(AskError::Refused(refusal)) => match refusal {
            SnmpRefusal::UnknownUser => "check --user",
            SnmpRefusal::WrongDigest => "check --auth and its password",
            SnmpRefusal::DecryptionFailed => "check --priv and its password",
            SnmpRefusal::UnsupportedLevel => "check whether --auth-env and --priv-env are needed",
            _ => "check the SNMP settings of the device",
        },
        CrawlFailureReason::NotAnswered(AskError::Denied(_)) => {
            "give the user or the community the right to read the whole tree"
        }
        _ => "walk it with snmpbulkwalk, and import the file",
    }
}

pub(crate) fn print(output: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes());
    written.map_err(|error| Failure::because("The result cannot be printed", &error))
}
