//! Draws an inventory or a folder of scans as `network.svg` and `network.html`.
//!
//! ```text
//! cargo run --release --example topology -- walks/
//! cargo run --release --example topology -- --view l3 --network Office inventory.jsonl
//! cargo run --release --example topology -- --demo 200
//! ```
//!
//! An inventory is a file with a host per line, as `GET /api/v1/hosts?limit=0` sends them with `Accept:
//! application/x-ndjson`. The HTML file is one page with everything in it: it opens from a disk or an attachment.

#[allow(dead_code, reason = "the servers also use the tag of the generated hosts")]
#[path = "support/demo/mod.rs"]
mod demo;
#[path = "support/failure.rs"]
mod failure;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/reports.rs"]
mod reports;

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tokio::fs::File;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{DiscoveredHost, DiscoveryOutcome, DiscoveryReport, Import};
use toposcope::model::{
    Network, Permission, ShareId, ShareMetadata, ShareOptions, Timestamp, TopologyView, UserId,
};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{BlindSpot, BlindSpotReason, Detail, Graph, GraphOptions, GroupBy};
use toposcope::topology::links::Confidence;
use toposcope::topology::render::page::{FrameAncestors, SharePage};
use toposcope::topology::render::{Format, Picture, notes};
use toposcope::{Inventory, MemoryStore};

use failure::Failure;
use folder::{discover, find_reports};
use reports::warning_lines;

const USAGE: &str = "\
Usage: cargo run --example topology -- [FLAG]… SOURCE

  SOURCE           a folder with the output of scanners and devices, or a file with one host as JSON on each line
  --reporter NAME  the device that files of a folder come from which do not name it [the name of each file]
  --demo N         draw N generated hosts instead of a SOURCE
  --view VIEW      l2 (switches and their neighbors), l3 (subnets) or workloads (virtual machines, containers) [l2]
  --group-by WHAT  draw containers in the view l2: location, subnet or tag [none]
  --network NAME   the name or id of the network to draw [the one with the most edges]
  --output FOLDER  the folder in which network.svg and network.html are written; existing ones are replaced [.]
  --overview       draw one box for each location or block of devices
  --all            draw every host; without it, hosts of a switch are drawn as one group if the names would be too small on A3
  --help           print this help
";

/// Number of networks that are listed.
const LISTED: usize = 10;

/// Number of proposals for further scans that are printed.
const PROPOSALS: usize = 5;

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
    let Some(args) = Args::parse(arguments)? else { return print(output, USAGE) };
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await?.id;
    let caller = Caller::new(organization, UserId::nil(), Permission::Owner, Scope::all());
    print(output, &args.source.read(&inventory, &caller, args.reporter.as_deref()).await?)?;
    let networks = inventory.networks().all(&Caller::system(organization)).await?;
    let topologies = Topologies::new(inventory);
    let mut options = GraphOptions::new(args.view);
    options.collapse = !args.is_unfolded;
    options.detail = args.detail;
    options.group_by = args.group_by;
    let network = match &args.network {
        Some(wanted) => find(networks, wanted)?,
        None => {
            let (network, others) = choose(&topologies, &caller, &options, networks).await?;
            if !others.is_empty() {
                let others = list(&others);
                print(
                    output,
                    &format!(
                        "Drawing the network {}. --network selects another one: {others}.\n",
                        network.name
                    ),
                )?;
            }
            network
        }
    };
    let graph = topologies.graph(&caller, network.id, options).await?;
    if graph.nodes.is_empty() {
        return Err(Failure::new(nothing_to_draw(args.view, &network.name)));
    }
    // Generated hosts give the same picture every day.
    let date = (!matches!(args.source, Source::Demo(_))).then(Timestamp::now);
    let (svg, html) = draw(&graph, &network.name, date)?;
    let svg_path = write(&args.output, "network.svg", &svg)?;
    let html_path = write(&args.output, "network.html", &html)?;
    print(output, &format!("{} and {}: {}\n", svg_path.display(), html_path.display(), summary(&graph)))?;
    print(output, &notes(&graph).iter().map(|note| format!("  {note}.\n")).collect::<String>())?;
    print(output, &proposals(&topologies.blind_spots(&caller, network.id).await?))
}

/// The program's arguments.
struct Args {
    source: Source,
    view: TopologyView,
    group_by: Option<GroupBy>,
    network: Option<String>,
    output: PathBuf,
    is_unfolded: bool,
    detail: Option<Detail>,
    reporter: Option<String>,
}

/// The source of the hosts.
enum Source {
    Demo(u32),
    Path(PathBuf),
}

impl Args {
    /// Parses the arguments; `None` if they ask for help.
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let (mut source, mut view, mut network, mut output) =
            (None, TopologyView::L2, None, PathBuf::from("."));
        let (mut is_unfolded, mut reporter, mut group_by, mut detail) = (false, None, None, None);
        while let Some(argument) = arguments.next() {
            let mut value = |needs: &str| {
                let value = arguments.next().and_then(|value| value.into_string().ok());
                value.ok_or_else(|| Failure::usage(needs))
            };
            let given = match argument.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--all") => {
                    is_unfolded = true;
                    continue;
                }
                Some("--overview") => {
                    detail = Some(Detail::Overview);
                    continue;
                }
                Some("--view") => {
                    view = view_of(&value("--view requires l2, l3 or workloads")?)?;
                    continue;
                }
                Some("--group-by") => {
                    let by = value("--group-by requires location, subnet or tag")?;
                    let known = by.parse().map_err(|_| {
                        Failure::usage(format_args!(
                            "--group-by requires location, subnet or tag, not {by:?}"
                        ))
                    });
                    group_by = Some(known?);
                    continue;
                }
                Some("--network") => {
                    network = Some(value("--network requires the name or the id of a network")?);
                    continue;
                }
                Some("--reporter") => {
                    reporter = Some(value("--reporter requires the name of a device")?);
                    continue;
                }
                Some("--output") => {
                    output = value("--output requires a folder")?.into();
                    continue;
                }
                Some("--demo") => {
                    let number = value("--demo requires a number of hosts")?;
                    Source::Demo(number.parse().map_err(|_| {
                        Failure::usage(format_args!("--demo requires a number of hosts, not {number:?}"))
                    })?)
                }
                Some(flag) if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                _ => Source::Path(argument.into()),
            };
            if source.replace(given).is_some() {
                return Err(Failure::usage("Only one SOURCE or --demo is allowed"));
            }
        }
        let source = source.ok_or_else(|| Failure::usage("A SOURCE or --demo is required"))?;
        Ok(Some(Self { source, view, group_by, network, output, is_unfolded, detail, reporter }))
    }
}

fn view_of(name: &str) -> Result<TopologyView, Failure> {
    match name {
        "l2" => Ok(TopologyView::L2),
        "l3" => Ok(TopologyView::L3),
        "workloads" => Ok(TopologyView::Workloads),
        _ => Err(Failure::usage(format_args!("--view requires l2, l3 or workloads, not {name:?}"))),
    }
}

impl Source {
    /// Fills an inventory, and returns a report for the user.
    async fn read(
        &self,
        inventory: &Inventory,
        caller: &Caller,
        reporter: Option<&str>,
    ) -> Result<String, Failure> {
        match self {
            Self::Demo(count) => {
                demo::store(inventory, caller.organization_id(), None, *count, |_| ()).await?;
                Ok(format!("{count} hosts generated.\n"))
            }
            Self::Path(path) if path.is_dir() => read_folder(inventory, caller, path, reporter).await,
            Self::Path(path) => read_lines(inventory, caller, path).await,
        }
    }
}

async fn read_folder(
    inventory: &Inventory,
    caller: &Caller,
    path: &Path,
    reporter: Option<&str>,
) -> Result<String, Failure> {
    let files = find_reports(path, reporter)?;
    let name = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let name = name.unwrap_or_else(|| "Discovered".to_owned());
    let network =
        inventory.networks().create(&Caller::system(caller.organization_id()), Network::new(&name)).await?;
    let outcomes = discover(inventory, caller, network.id, &files, false).await?;
    let text: String = outcomes.iter().map(|(file, outcome)| described(file, outcome)).collect();
    let read = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    Ok(format!("{text}{read} of {} files read.\n", files.len()))
}

/// Describes what a file leaves open: why it was not read, or its ignored devices and its warnings.
fn described(file: &str, outcome: &Result<DiscoveryReport, Failure>) -> String {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(failure) => return format!("{failure}\n"),
    };
    let is_left_out = |host: &&DiscoveredHost| {
        matches!(host.outcome, DiscoveryOutcome::Ignored | DiscoveryOutcome::Ambiguous)
    };
    let hosts = answer.hosts.iter().filter(is_left_out);
    let hosts = hosts.map(|host| format!("{}: {}", host.name, host.reason.as_deref().unwrap_or("left out")));
    let lines = hosts.chain(warning_lines(&answer.warnings));
    lines.map(|line| format!("{file}: {line}\n")).collect()
}

async fn read_lines(inventory: &Inventory, caller: &Caller, path: &Path) -> Result<String, Failure> {
    let name = path.display();
    if path.extension().is_some_and(|ending| ending == "gz") {
        return Err(Failure::new(format!("{name} is compressed. Decompress it first: gunzip {name}")));
    }
    let file = File::open(path).await;
    let file = file.map_err(|error| Failure::because(format_args!("{name} cannot be opened"), &error))?;
    let import = Import::new().create_missing_networks();
    let report = inventory.hosts().import(&Caller::system(caller.organization_id()), file, import).await?;
    let reason =
        report.refusals.first().map(|first| format!(", such as line {}: {}", first.line, first.reason));
    let reason = reason.unwrap_or_default();
    if report.imported == 0 {
        return Err(Failure::new(format!(
            "{name} has no host{reason}. A file must have one host as JSON on each line, as GET /api/v1/hosts?limit=0 sends \
             them with Accept: application/x-ndjson. Give scans as a folder."
        )));
    }
    let refused = report.refused;
    let refused = if refused == 0 { String::new() } else { format!("; {refused} lines refused{reason}") };
    Ok(format!("{} hosts read{refused}.\n", report.imported))
}

/// Returns the network with this name or id.
fn find(networks: Vec<Network>, wanted: &str) -> Result<Network, Failure> {
    let names: Vec<String> = networks.iter().map(|network| network.name.clone()).collect();
    let is_wanted = |network: &Network| {
        network.name.eq_ignore_ascii_case(wanted) || network.id.to_string().eq_ignore_ascii_case(wanted)
    };
    networks.into_iter().find(is_wanted).ok_or_else(|| {
        Failure::new(format!("There is no network {wanted:?}. --network takes one of: {}.", list(&names)))
    })
}

/// Returns the network with the most edges and nodes, and the names of the others.
async fn choose(
    topologies: &Topologies,
    caller: &Caller,
    options: &GraphOptions,
    networks: Vec<Network>,
) -> Result<(Network, Vec<String>), Failure> {
    let mut sizes = Vec::new();
    for network in networks {
        let graph = topologies.graph_without_layout(caller, network.id, options.clone()).await?;
        sizes.push((Reverse((graph.edges.len(), graph.nodes.len())), network));
    }
    // The order is stable: of several that show as much, the first by name is chosen.
    sizes.sort_by_key(|(size, _)| *size);
    let mut networks = sizes.into_iter().map(|(_, network)| network);
    let network =
        networks.next().ok_or_else(|| Failure::new("There is no network, because there is no host."))?;
    Ok((network, networks.map(|network| network.name).collect()))
}

/// Returns the first names of a list.
fn list(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
    let more = if names.len() > shown.len() {
        format!(" and {} more", names.len() - shown.len())
    } else {
        String::new()
    };
    shown.join(", ") + &more
}

/// Returns the picture and the page.
pub(crate) fn draw(graph: &Graph, title: &str, date: Option<Timestamp>) -> Result<(String, String), Failure> {
    let mut picture = Picture::new(graph, title);
    picture.date = date;
    let svg = picture
        .render(Format::Svg)
        .map_err(|error| Failure::because("The picture cannot be written", &error))?;
    let data = serde_json::to_string(graph)
        .map_err(|error| Failure::because("The graph cannot be written as JSON", &error))?;
    let options = ShareOptions {
        show_export_button: true,
        show_inspect_panel: true,
        show_minimap: true,
        show_zoom_controls: true,
    };
    let share =
        ShareMetadata { id: ShareId::nil(), name: title.to_owned(), requires_password: false, options };
    let page = SharePage::new(&share, &FrameAncestors::default()).open(&svg, &data);
    Ok((svg, page.html))
}

fn write(folder: &Path, name: &str, content: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
    written
        .map_err(|error| Failure::because(format_args!("{} cannot be written", path.display()), &error))?;
    Ok(path)
}

fn nothing_to_draw(view: TopologyView, network: &str) -> String {
    let reason = match view {
        TopologyView::L3 => "has no subnets with hosts. Create subnets, or draw the cables with --view l2",
        TopologyView::Workloads => "has no virtual machines or containers. Draw the cables with --view l2",
        _ => {
            "has no links: no host reports a neighbor. Walk the switches with snmpbulkwalk, or draw the subnets with \
             --view l3"
        }
    };
    format!("The network {network} {reason}.")
}

fn summary(graph: &Graph) -> String {
    let count = |confidence| graph.edges.iter().filter(|edge| edge.confidence == confidence).count();
    let mut text = format!("nodes: {}, edges: {}", graph.nodes.len(), graph.edges.len());
    for (confidence, meaning) in [
        (Confidence::Confirmed, "confirmed"),
        (Confidence::Reported, "reported by one end"),
        (Confidence::Inferred, "inferred"),
        (Confidence::Conflicting, "conflicting"),
    ] {
        match count(confidence) {
            0 => {}
            number => text += &format!(", {number} {meaning}"),
        }
    }
    if graph.edges.is_empty() && graph.view == TopologyView::L2 {
        text += "; no host reports a known neighbor";
    }
    if graph.hidden.leaves > 0 {
        text += &format!("; {} hosts are drawn as groups, --all draws each of them", graph.hidden.leaves);
    }
    text + "."
}

/// Returns what to scan next, as text.
fn proposals(spots: &[BlindSpot]) -> String {
    if spots.is_empty() {
        return String::new();
    }
    let lines = spots.iter().take(PROPOSALS).map(|spot| {
        let place = spot.addresses.first().map(|address| format!(" ({address})")).unwrap_or_default();
        let port = spot.port.as_ref().map(|port| format!(", port {}", port.name)).unwrap_or_default();
        format!("  {}{place}{port}: {}\n", spot.label, reason(spot.reason))
    });
    let header = "These scans would reveal more links:\n";
    header.to_owned() + &lines.collect::<String>()
}

const fn reason(reason: BlindSpotReason) -> &'static str {
    match reason {
        BlindSpotReason::UnknownNeighbor => "neighbors name it, but there is no scan of it",
        BlindSpotReason::OneSidedLinks => "neighbors name it, but it reports no neighbors itself",
        BlindSpotReason::CrowdedPort => "several devices are behind this port",
        BlindSpotReason::UnmanagedSwitch => "forwarding tables imply a switch here",
        BlindSpotReason::ConflictingLinks => "claims about its links contradict each other",
        _ => "it would explain more links",
    }
}

fn print(output: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes());
    written.map_err(|error| Failure::because("The result cannot be printed", &error))
}
