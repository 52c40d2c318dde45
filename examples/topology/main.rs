//! Draws an inventory or a folder of scans as `network.svg`, `network.html` and in other formats.
//!
//! ```text
//! cargo run --release --example topology -- walks/
//! cargo run --release --example topology -- --view l3 --network Office inventory.jsonl
//! cargo run --release --example topology -- --demo 200 --format all --theme theme.json
//! ```
//!
//! An inventory is a file with a host per line, as `GET /api/v1/hosts?limit=0` sends them with `Accept:
//! application/x-ndjson`. The HTML file is one page with everything in it: it opens from a disk or an attachment. Input
//! that cannot be read is printed, with the reason.

mod args;
#[allow(dead_code, reason = "the servers also use the tag of the generated hosts")]
#[path = "../support/demo/mod.rs"]
mod demo;
#[path = "../support/failure.rs"]
mod failure;
mod files;
#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/reports.rs"]
mod reports;
mod samples;
mod source;

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use toposcope::access::{Caller, Scope};
use toposcope::model::{Network, Permission, Timestamp, TopologyView, UserId};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{
    BlindSpot, BlindSpotReason, Detail, Graph, GraphOptions, GroupBy, Node, NodeKind,
};
use toposcope::topology::links::Confidence;
use toposcope::topology::render::notes;
use toposcope::{Inventory, MemoryStore};

use args::{Args, Source, USAGE};
use failure::Failure;
use files::read_theme;

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
    let theme = args.theme.as_deref().map(read_theme).transpose()?.unwrap_or_default();
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
    let date = (!matches!(args.source, Source::Demo(_) | Source::Sample(_))).then(Timestamp::now);
    let picture = files::picture(&graph, &network.name, date, theme);
    let paths = files::write(&args.output, &picture, &args.formats)?;
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    print(output, &format!("{}: {}\n", paths.join(", "), summary(&graph, args.group_by)))?;
    print(output, &notes(&graph).iter().map(|note| format!("  {note}.\n")).collect::<String>())?;
    print(output, &proposals(&topologies.blind_spots(&caller, network.id).await?))
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
    // The order is stable: of several networks of the same size, the first by name is chosen.
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

fn summary(graph: &Graph, group_by: Option<GroupBy>) -> String {
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
    let is_area = |node: &Node| node.kind == NodeKind::Area;
    if let Some(by) = group_by.filter(|_| !graph.nodes.iter().any(is_area)) {
        text += &format!("; nothing is grouped, because no host has a {}", by.as_str());
    }
    if graph.hidden.leaves > 0 && graph.detail == Detail::Overview {
        text += &format!("; {} hosts are in boxes", graph.hidden.leaves);
    } else if graph.hidden.leaves > 0 {
        text += &format!("; {} hosts are drawn as groups, --all draws each of them", graph.hidden.leaves);
    }
    text + "."
}

/// Returns the proposals for further scans as text.
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
