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
//! `--data` keeps an inventory, `--watch` crawls again and again, and `--server` reports to a running service. Ctrl-C ends the
//! crawl: what was read until then is stored, counted and drawn. A second one ends the program at once.

pub(crate) mod args;
mod delivery;
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
mod lines;
pub(crate) mod secrets;
mod served;
#[cfg(feature = "client")]
pub(crate) mod server;
pub(crate) mod stop;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressBar;
use toposcope::collect::crawl::{Crawl, CrawlMemory, CrawlOptions, CrawlProgress};
use toposcope::collect::sweep::{Sweep, SystemProbes};
use toposcope::collect::{Gate, Pace, UdpTransport};

use args::{Args, usage};
use delivery::Delivery;
use destination::{Destination, KeptInventory, MemoryFile};
use failure::Failure;
use served::FARM_PACE;
use stop::Stop;

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
    let stop = Stop::default();
    tokio::select! {
        result = collect(&args, &gate, Path::new("."), &stop, output) => result,
        () = stop.at_interrupts() => Err(Failure::new("Stopped before the end; the reports until then are kept with --data or --server.")),
    }
}

/// Reads the network through a gate, prints the devices that answered, and writes the picture into a folder.
pub(crate) async fn collect(
    args: &Args,
    gate: &Gate,
    folder: &Path,
    stop: &Stop,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(place) = &args.server {
        #[cfg(feature = "client")]
        return watch(args, gate, &server::ServerDestination(server::connect(place)?), stop, output).await;
        #[cfg(not(feature = "client"))]
        return Err(Failure::new(format!("{} needs --features collect,client.", place.url)));
    }
    let kept = KeptInventory::open(args.data.as_deref(), folder).await?;
    let result = watch(args, gate, &kept, stop, output).await;
    kept.close().await?;
    result
}

/// Crawls once, or again and again until it is stopped if the arguments have a time.
pub(crate) async fn watch(
    args: &Args,
    gate: &Gate,
    destination: &dyn Destination,
    stop: &Stop,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let file = args.data.as_deref().map(MemoryFile::of);
    let mut memory = file.as_ref().map(MemoryFile::read).transpose()?.unwrap_or_default();
    loop {
        let result = crawl(args, gate, destination, &mut memory, stop, output).await;
        if let Some(file) = &file {
            file.write(&memory)?;
        }
        let Some(time) = args.watch.filter(|_| !stop.is_requested()) else { return result };
        // The network may answer the next time, and so may the service.
        if let Err(failure) = result {
            print(output, &format!("{failure}\n"))?;
        }
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = stop.requested() => return Ok(()),
        }
    }
}

/// Crawls once, and delivers the reports.
async fn crawl(
    args: &Args,
    gate: &Gate,
    destination: &dyn Destination,
    memory: &mut CrawlMemory,
    stop: &Stop,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut options = CrawlOptions::default();
    options.port = args.port;
    options.follows_arp = args.follows_arp;
    options.follows_next_hops = args.follows_next_hops;
    options.depth = args.depth.unwrap_or(options.depth);
    let seeds = seeds(args, gate, stop, output).await?;
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
    let mut delivery = Delivery::default();
    let result = delivery.run(&mut crawl, destination, stop, &bar, output).await;
    bar.finish_and_clear();
    delivery.forget_unstored(&mut crawl);
    if let Some(next) = crawl.memory() {
        memory.clone_from(next);
    }
    delivery.print(output)?;
    result?;
    if crawl.progress().devices == 0 {
        return Err(Failure::new("No device answered, so there is nothing to draw."));
    }
    if delivery.stored == 0 {
        return Err(Failure::new("No report was stored, for the reasons above."));
    }
    print(output, &format!("\n{}, stored: {}\n", counts(&crawl.progress()), delivery.stored))?;
    destination.finish(output).await
}

/// Returns the addresses to begin with: those of the arguments, and those that sweeps find.
async fn seeds(
    args: &Args,
    gate: &Gate,
    stop: &Stop,
    output: &mut dyn Write,
) -> Result<Vec<IpAddr>, Failure> {
    let mut seeds = args.seeds.clone();
    if args.sweeps.is_empty() {
        return Ok(seeds);
    }
    let sweep = Sweep::begin(gate, args.sweeps.iter().copied(), SystemProbes::open());
    let mut sweep = sweep.map_err(|error| Failure::usage(format_args!("--sweep: {error}")))?;
    note_without_echo(sweep.without_echo(), output)?;
    while let Some(live) = tokio::select! {
        live = sweep.next() => live,
        () = stop.requested() => None,
    } {
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

pub(crate) fn counts(progress: &CrawlProgress) -> String {
    let CrawlProgress { asked, answered, devices, unchanged, links, failed, .. } = progress;
    let devices =
        if *unchanged > 0 { format!("{devices} ({unchanged} unchanged)") } else { devices.to_string() };
    format!("asked: {asked}, answered: {answered}, devices: {devices}, neighbors: {links}, failed: {failed}")
}

pub(crate) fn print(output: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes());
    written.map_err(|error| Failure::because("The result cannot be printed", &error))
}
