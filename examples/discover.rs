//! Makes an inventory of the output of scanners and devices.
//!
//! ```text
//! cargo run --release --example discover -- FOLDER
//! cargo run --release --example discover -- --complete FOLDER
//! cargo run --release --example discover -- --reporter server-7 neighbors.json
//! ```
//!
//! The content of each file shows its format. Files that end in `.gz`, `.bz2` or `.xz` are unpacked. `--complete` states
//! that the files have all rows of the tables they contain.

#[path = "support/failure.rs"]
mod failure;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/reports.rs"]
mod reports;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use toposcope::access::Caller;
use toposcope::inventory::{Bootstrap, DiscoveredHost, DiscoveryOutcome, HostQuery};
use toposcope::model::{Host, HostId, IfEntry, IfEntryId, Neighbor};
use toposcope::{Inventory, MemoryStore};

use failure::Failure;
use folder::{discover, find_reports};
use reports::{Outcome, warning_lines};

const USAGE: &str = "\
Usage: cargo run --example discover -- [FLAG]… FOLDER

  FOLDER           a folder with the output of scanners and devices, or one file
  --complete       the files have all rows of the tables they contain
  --reporter NAME  the device that files come from which do not name it [the name of each file, without endings]
  --help           print this help
";

#[tokio::main(flavor = "current_thread")]
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
pub(crate) async fn run(
    arguments: impl Iterator<Item = OsString>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(Args { place, is_complete, reporter }) = Args::parse(arguments)? else {
        return printed(output.write_all(USAGE.as_bytes()));
    };
    let files = find_reports(&place, reporter.as_deref())?;

    let inventory = Inventory::new(MemoryStore::new());
    let start =
        inventory.bootstrap(Bootstrap::new("Example", "owner@example.net").network("Discovered")).await?;
    let key = start.issued_key.ok_or_else(|| Failure::new("A new inventory has a key."))?;
    let caller = inventory.authenticate_user_key(key.plaintext()).await?;
    let outcomes = discover(&inventory, &caller, start.network.id, &files, is_complete).await?;
    let hosts = all_hosts(&inventory, &caller).await?;
    printed(print(output, &outcomes, &hosts))
}

fn printed(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| Failure::because("The result cannot be printed", &error))
}

/// The program's arguments.
struct Args {
    place: PathBuf,
    is_complete: bool,
    reporter: Option<String>,
}

impl Args {
    /// Parses the arguments; `None` if they ask for help.
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let (mut place, mut is_complete, mut reporter) = (None, false, None);
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--complete") => is_complete = true,
                Some("--reporter") => {
                    let name = arguments.next().and_then(|name| name.into_string().ok());
                    let name = name.filter(|name| !name.is_empty());
                    reporter = Some(name.ok_or_else(|| Failure::usage("--reporter requires a NAME"))?);
                }
                Some(flag) if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                _ if place.is_some() => return Err(Failure::usage("Only one FOLDER is allowed")),
                _ => place = Some(PathBuf::from(argument)),
            }
        }
        let place = place.ok_or_else(|| Failure::usage("A FOLDER is required"))?;
        Ok(Some(Self { place, is_complete, reporter }))
    }
}

async fn all_hosts(inventory: &Inventory, caller: &Caller) -> Result<BTreeMap<HostId, Host>, Failure> {
    let hosts = inventory.hosts().list(caller, &HostQuery::default()).await?.hosts()?;
    Ok(hosts.into_iter().map(|host| (host.id, host)).collect())
}

fn print(output: &mut dyn Write, outcomes: &[Outcome], hosts: &BTreeMap<HostId, Host>) -> io::Result<()> {
    for (file, outcome) in outcomes {
        let Ok(answer) = outcome else { continue };
        writeln!(output, "{file}")?;
        for host in &answer.hosts {
            print_host(output, host)?;
        }
        for line in warning_lines(&answer.warnings) {
            writeln!(output, "  {line}")?;
        }
    }
    let mut refused = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err()).peekable();
    if refused.peek().is_some() {
        writeln!(output, "\nNot read:")?;
    }
    for failure in refused {
        writeln!(output, "  {failure}")?;
    }
    print_links(output, hosts)
}

fn print_host(output: &mut dyn Write, host: &DiscoveredHost) -> io::Result<()> {
    let outcome = match host.outcome {
        DiscoveryOutcome::Created => "new",
        DiscoveryOutcome::Updated => "updated",
        DiscoveryOutcome::Unchanged => "unchanged",
        DiscoveryOutcome::Ambiguous => "ambiguous",
        _ => "ignored",
    };
    let name = if host.name.is_empty() { "a device without a name" } else { &host.name };
    write!(output, "  {outcome:9} {name}")?;
    match &host.reason {
        Some(reason) => writeln!(output, ": {reason}"),
        None => writeln!(output),
    }
}

/// Prints the links, and the neighbors that are not hosts of the inventory.
fn print_links(output: &mut dyn Write, hosts: &BTreeMap<HostId, Host>) -> io::Result<()> {
    let entries = hosts.values().flat_map(|host| host.if_entries.iter().map(move |entry| (host, entry)));
    let owners: BTreeMap<IfEntryId, (&Host, &IfEntry)> =
        entries.clone().map(|(host, entry)| (entry.id, (host, entry))).collect();
    writeln!(output, "\nLinks:")?;
    for (host, entry) in entries {
        let here = format!("{} {}", host.name, port_name(entry));
        let there = match entry.neighbor {
            Some(Neighbor::IfEntry(id)) => {
                owners.get(&id).map(|(other, port)| format!("{} {}", other.name, port_name(port)))
            }
            Some(Neighbor::Host(id)) => {
                hosts.get(&id).map(|other| format!("{}, on an unknown port", other.name))
            }
            None => match announced(entry) {
                None => continue,
                Some(announced) => Some(format!("{announced}, which is not a host here")),
            },
        };
        writeln!(output, "  {here} -- {}", there.unwrap_or_else(|| "a host that is gone".to_owned()))?;
    }
    writeln!(output, "\nHosts: {}", hosts.len())
}

fn port_name(entry: &IfEntry) -> &str {
    entry.if_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&entry.if_descr)
}

/// Returns how the neighbor of a port announces itself.
fn announced(entry: &IfEntry) -> Option<&str> {
    let chassis = entry.lldp_chassis_id.as_ref().map(|chassis| chassis.value.as_str());
    entry.lldp_sys_name.as_deref().or(entry.cdp_device_id.as_deref()).or(chassis)
}
