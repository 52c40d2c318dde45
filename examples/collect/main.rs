//! Makes a map of a network, beginning with one address.
//!
//! ```text
//! export SNMP=community
//! cargo run --release --features collect --example collect -- 192.0.2.1 --community-env SNMP --within 192.0.2.0/24
//! ```
//!
//! It reads the device over SNMP, follows its neighbors by LLDP and CDP within the prefixes of `--within`, and prints a line for
//! each device that answered, and for each that did not, with advice. The picture is `network.html` in the present folder.

pub(crate) mod args;
#[path = "../support/failure.rs"]
mod failure;
#[allow(dead_code, reason = "the example `topology` also writes other formats, and reads themes")]
#[path = "../topology/files.rs"]
mod files;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressBar;
use toposcope::access::Caller;
use toposcope::collect::crawl::{
    Crawl, CrawlEvent, CrawlFailure, CrawlFailureReason, CrawlOptions, CrawlProgress, CrawledDevice,
};
use toposcope::collect::snmp::{AskError, SnmpRefusal};
use toposcope::collect::{Gate, Pace, UdpTransport};
use toposcope::inventory::{Bootstrap, DiscoverOptions};
use toposcope::model::{NetworkId, Timestamp, TopologyView};
use toposcope::topology::Topologies;
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::render::Theme;
use toposcope::{Inventory, MemoryStore};

use args::{Args, USAGE};
use failure::Failure;
use files::FileFormat;

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
    let Some(args) = Args::parse(arguments)? else { return print(output, USAGE) };
    let transport = UdpTransport::open().await;
    let transport = transport.map_err(|error| Failure::because("No socket can be opened", &error))?;
    let gate = Gate::new(transport, args.within.clone(), Pace::default());
    collect(args, &gate, Path::new("."), output).await
}

/// Reads the network through a gate, prints the devices that answered, and writes the picture into a folder.
pub(crate) async fn collect(
    args: Args,
    gate: &Gate,
    folder: &Path,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let inventory = Inventory::new(MemoryStore::new());
    let start =
        inventory.bootstrap(Bootstrap::new("Example", "owner@example.net").network("Collected")).await?;
    let key = start.issued_key.ok_or_else(|| Failure::new("A new inventory has a key."))?;
    let (caller, network) = (inventory.authenticate_user_key(key.plaintext()).await?, start.network.id);

    let mut options = CrawlOptions::default();
    options.follows_arp = args.follows_arp;
    options.depth = args.depth.unwrap_or(options.depth);
    let secrets = args.secrets;
    let crawl = Crawl::begin(gate, args.seeds, move |_| secrets.clone(), options);
    let mut crawl = crawl.map_err(|error| Failure::usage(error.to_string()))?;

    let bar = ProgressBar::new_spinner();
    let mut devices = 0;
    let mut failures = Vec::new();
    while let Some(event) = crawl.next().await {
        let line = match event {
            CrawlEvent::Device(device) => {
                devices += 1;
                reconcile(&inventory, &caller, network, &device).await?;
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
    bar.finish_and_clear();
    print_failures(output, &failures)?;
    if devices == 0 {
        return Err(Failure::new("No device answered, so there is nothing to draw."));
    }
    print(output, &format!("\n{}\n", counts(&crawl.progress())))?;
    draw(inventory, &caller, network, folder, output).await
}

async fn reconcile(
    inventory: &Inventory,
    caller: &Caller,
    network: NetworkId,
    device: &CrawledDevice,
) -> Result<(), Failure> {
    let options = DiscoverOptions::new(network);
    inventory.discovery().reconcile(caller, &device.report, options).await?;
    Ok(())
}

/// Returns name, address and model of a device, and the objects that could not be read.
fn device_lines(device: &CrawledDevice) -> String {
    let mut lines = String::new();
    for described in &device.report.devices {
        let name = described.sys_name.as_deref().unwrap_or("a device without a name");
        let model = described.model.as_deref().or(described.sys_descr.as_deref()).unwrap_or("unknown model");
        let model = model.lines().next().unwrap_or_default();
        // Devices may send characters that a terminal obeys.
        let described = format!("{name}  {}  {model}", device.address).replace(char::is_control, "?");
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
    let CrawlProgress { asked, answered, devices, links, failed, .. } = progress;
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
        _ => "walk it with snmpbulkwalk, and import the file",
    }
}

/// Writes the picture.
async fn draw(
    inventory: Inventory,
    caller: &Caller,
    network: NetworkId,
    folder: &Path,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let graph =
        Topologies::new(inventory).graph(caller, network, GraphOptions::new(TopologyView::L2)).await?;
    if graph.nodes.is_empty() {
        return print(output, "No device reports a neighbor, so there is nothing to draw.\n");
    }
    let picture = files::picture(&graph, "Collected", Some(Timestamp::now()), Theme::default());
    for path in files::write(folder, &picture, &[FileFormat::Page])? {
        print(output, &format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn print(output: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes());
    written.map_err(|error| Failure::because("The result cannot be printed", &error))
}
