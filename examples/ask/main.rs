//! Asks an inventory in a folder about its network.
//!
//! ```text
//! cargo run --release --example ask -- locate 00:00:5e:00:53:07 --data toposcope-data
//! cargo run --release --example ask -- path pc-7 192.0.2.9 --data toposcope-data
//! cargo run --release --example ask -- impact core-1 core-2 --data toposcope-data
//! cargo run --release --example ask -- fragile --data toposcope-data --json
//! cargo run --release --example ask -- free 192.0.2.0/24 --data toposcope-data
//! ```

#[path = "support/failure.rs"]
mod failure;

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{AddressList, AddressQuery, AddressState, ListQuery};
use toposcope::model::{Network, NetworkId, NodeId, Permission, Subnet, UserId};
use toposcope::topology::Topologies;
use toposcope::topology::paths::{
    AffectedHost, Fragile, FragileQuery, Impact, ImpactQuery, LocateTarget, Location, PathQuery, Paths,
    UnknownReason, VlanList, VlanQuery,
};
use toposcope::{Inventory, SledStore};

use failure::Failure;

const USAGE: &str = "\
Usage: ask QUESTION [VALUE]... --data DIR

  locate VALUE           where a MAC address, an IP address or a host is connected
  path FROM TO           the shortest paths between two hosts, by id, address or name
  impact NODE...         what breaks if all of these fail
  fragile                devices and links that must not fail
  vlans                  the VLANs, with their hosts and parts
  free SUBNET            the lowest free addresses of a subnet, by id, prefix or name
  addresses SUBNET       the addresses of a subnet that are not free

  --data DIR             folder of the inventory [toposcope-data]
  --network NAME         the network, by name or id [the only one]
  --json                 print the answer as JSON, for scripts
  --help                 print this help
";

/// Number of items of a list that are printed.
const LISTED: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned())).await {
        Ok(text) => {
            let written = io::stdout().write_all(text.as_bytes());
            written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{failure}");
            failure.exit_code()
        }
    }
}

/// The parsed command line.
struct Args {
    words: Vec<String>,
    data: PathBuf,
    network: Option<String>,
    is_json: bool,
}

/// Parses the arguments; `None` for a request for help.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Args>, Failure> {
    let mut args = Args { words: Vec::new(), data: "toposcope-data".into(), network: None, is_json: false };
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().ok_or_else(|| Failure::usage(format_args!("{argument} takes a value")));
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--data" => args.data = value()?.into(),
            "--network" => args.network = Some(value()?),
            "--json" => args.is_json = true,
            flag if flag.starts_with("--") => {
                return Err(Failure::usage(format_args!("Unknown flag {flag}")));
            }
            _ => args.words.push(argument),
        }
    }
    Ok(Some(args))
}

/// Asks, and returns the answer as text.
async fn run(arguments: impl Iterator<Item = String>) -> Result<String, Failure> {
    let Some(args) = parse(arguments)? else { return Ok(USAGE.to_owned()) };
    if !args.data.is_dir() {
        return Err(Failure::usage(format_args!("There is no folder {}", args.data.display())));
    }
    let store = SledStore::open(&args.data).await.map_err(|error| {
        Failure::because(format_args!("{} cannot be opened", args.data.display()), &error)
    })?;
    let inventory = Inventory::new(store);
    let (caller, network) = choose(&inventory, args.network.as_deref()).await?;
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let topologies = Topologies::new(inventory.clone());
    let asked = Asked { inventory, topologies, caller, network, is_json: args.is_json };
    match words.as_slice() {
        ["locate", value] => asked.locate(value).await,
        ["path", from, to] => asked.path(from, to).await,
        ["impact", nodes @ ..] if !nodes.is_empty() => asked.impact(nodes).await,
        ["fragile"] => asked.fragile().await,
        ["vlans"] => asked.vlans().await,
        ["free", subnet] => asked.addresses(subnet, AddressQuery::free(LISTED)).await,
        ["addresses", subnet] => asked.addresses(subnet, AddressQuery::new()).await,
        _ => Err(Failure::usage(
            "Ask locate VALUE, path FROM TO, impact NODE..., fragile, vlans, free SUBNET or addresses SUBNET",
        )),
    }
}

/// Returns the network with a name or an id, or the only one.
async fn choose(inventory: &Inventory, wanted: Option<&str>) -> Result<(Caller, NetworkId), Failure> {
    let mut found: Vec<(Caller, Network)> = Vec::new();
    for organization in inventory.organizations().all().await? {
        let caller = Caller::new(organization.id, UserId::nil(), Permission::Viewer, Scope::all());
        let networks = inventory.networks().all(&Caller::system(organization.id)).await?;
        found.extend(networks.into_iter().map(|network| (caller.clone(), network)));
    }
    let names: Vec<String> = found.iter().map(|(_, network)| network.name.clone()).collect();
    let is_wanted = |network: &Network| {
        wanted.is_none_or(|wanted| network.name == wanted || network.id.to_string() == wanted)
    };
    let mut matching = found.into_iter().filter(|(_, network)| is_wanted(network));
    match (matching.next(), matching.next()) {
        (Some((caller, network)), None) => Ok((caller, network.id)),
        _ => Err(Failure::usage(format_args!("--network takes one of: {}", names.join(", ")))),
    }
}

/// A network to ask about.
struct Asked {
    inventory: Inventory,
    topologies: Topologies,
    caller: Caller,
    network: NetworkId,
    is_json: bool,
}

impl Asked {
    fn shown<T: Serialize>(&self, answer: &T, text: impl FnOnce(&T) -> String) -> Result<String, Failure> {
        if !self.is_json {
            // Devices may send characters that a terminal obeys.
            return Ok(text(answer).replace(|letter: char| letter.is_control() && letter != '\n', "?"));
        }
        let json = serde_json::to_string_pretty(answer);
        json.map(|json| json + "\n").map_err(|error| Failure::because("The answer has no JSON form", &error))
    }

    async fn find(&self, texts: &[&str]) -> Result<Vec<NodeId>, Failure> {
        let texts = texts.iter().map(|text| ("value", (*text).to_owned())).collect();
        Ok(self.topologies.find_nodes(&self.caller, self.network, texts).await?)
    }

    async fn locate(&self, value: &str) -> Result<String, Failure> {
        let target = match (value.parse(), value.parse()) {
            (Ok(mac), _) => LocateTarget::Mac(mac),
            (_, Ok(ip)) => LocateTarget::Ip(ip),
            _ => LocateTarget::Name(value.to_owned()),
        };
        let found = self.topologies.locate(&self.caller, self.network, target).await?;
        self.shown(&found, located)
    }

    async fn path(&self, from: &str, to: &str) -> Result<String, Failure> {
        let ends = self.find(&[from, to]).await?;
        let [from, to] = ends.first_chunk::<2>().copied().unwrap_or_default();
        let found = self.topologies.paths(&self.caller, self.network, PathQuery::new(from, to)).await?;
        self.shown(&found, paths)
    }

    async fn impact(&self, nodes: &[&str]) -> Result<String, Failure> {
        let mut query = ImpactQuery::new();
        query.nodes = self.find(nodes).await?.into_iter().collect();
        let found = self.topologies.impact(&self.caller, self.network, query).await?;
        self.shown(&found, impact)
    }

    async fn fragile(&self) -> Result<String, Failure> {
        let found = self.topologies.fragile(&self.caller, self.network, FragileQuery::new()).await?;
        self.shown(&found, fragile)
    }

    async fn vlans(&self) -> Result<String, Failure> {
        let found = self.topologies.vlans(&self.caller, self.network, VlanQuery::new()).await?;
        self.shown(&found, vlans)
    }

    async fn addresses(&self, subnet: &str, query: AddressQuery) -> Result<String, Failure> {
        let mut of_network = ListQuery::default();
        of_network.network_id = Some(self.network);
        let subnets = self.inventory.subnets().list(&self.caller, &of_network).await?.records;
        let named: [fn(&Subnet) -> String; 3] =
            [|subnet| subnet.id.to_string(), |subnet| subnet.cidr.to_string(), |subnet| subnet.name.clone()];
        let found = named.iter().find_map(|name_of| subnets.iter().find(|known| name_of(known) == subnet));
        let Some(found) = found else {
            let known: Vec<String> = subnets.iter().map(|subnet| subnet.cidr.to_string()).collect();
            return Err(Failure::usage(format_args!("SUBNET is one of: {}", known.join(", "))));
        };
        let found = self.inventory.addresses().list(&self.caller, found.id, query).await?;
        self.shown(&found, addresses)
    }
}

/// Adds the unknown parts to an answer.
fn with_unknown(mut text: String, unknown: &[UnknownReason]) -> String {
    if !unknown.is_empty() {
        let reasons: Vec<&str> = unknown.iter().map(|reason| reason.as_str()).collect();
        let _ = writeln!(text, "Not complete; unknown: {}.", reasons.join(", "));
    }
    text
}

fn located(found: &Location) -> String {
    let mut text = String::new();
    for candidate in found.candidates.iter().take(LISTED) {
        let port = candidate.port.as_deref().unwrap_or("unknown port");
        let _ = write!(text, "{} {port}, {}", candidate.name, candidate.confidence);
        if let Some(vlan) = candidate.vlan {
            let _ = write!(text, ", VLAN {vlan}");
        }
        if let Some(seen) = candidate.last_seen {
            let _ = write!(text, ", last seen {seen}");
        }
        text.push('\n');
    }
    for conflict in &found.conflicts {
        let macs: Vec<String> = conflict.mac_addresses.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "Conflict: {} belongs to {}.", conflict.ip, macs.join(" and "));
    }
    with_unknown(text, &found.unknown)
}

fn paths(found: &Paths) -> String {
    let mut text = String::new();
    for path in &found.paths {
        let _ = writeln!(text, "{} links:", path.length);
        for hop in &path.hops {
            let name = |port: &Option<toposcope::topology::links::PortRef>| {
                port.as_ref().map_or_else(String::new, |port| format!(" {}", port.name))
            };
            let _ = write!(text, "  {} {}", hop.layer, hop.name);
            let _ = write!(text, "{}{}", name(&hop.in_port), if hop.link_id.is_some() { " ->" } else { "" });
            let _ = writeln!(text, "{}", name(&hop.out_port));
        }
    }
    if found.more {
        text.push_str("There are other paths.\n");
    }
    for link in &found.not_used {
        let _ = writeln!(text, "Not used: link {}, {}.", link.link_id, link.reason);
    }
    with_unknown(text, &found.unknown)
}

fn hosts(text: &mut String, title: &str, hosts: &[AffectedHost], total: usize) {
    let _ = writeln!(text, "{title}: {total}");
    for host in hosts.iter().take(LISTED) {
        let _ = writeln!(text, "  {} ({})", host.name, host.role);
    }
}

fn impact(found: &Impact) -> String {
    let mut text = String::new();
    hosts(&mut text, "Cut off", &found.cut_off, found.cut_off_total);
    hosts(&mut text, "At risk", &found.at_risk, found.at_risk_total);
    let _ = writeln!(text, "Links that take over: {}", found.carried_by_total);
    with_unknown(text, &found.unknown)
}

fn fragile(found: &Fragile) -> String {
    let mut text = format!("Devices that must not fail: {}\n", found.nodes_total);
    for node in found.nodes.iter().take(LISTED) {
        let _ = writeln!(text, "  {}: {} behind", node.name, node.behind);
    }
    let _ = writeln!(text, "Links that must not fail: {}", found.edges_total);
    for edge in found.edges.iter().take(LISTED) {
        let _ = writeln!(text, "  {}: {} behind", edge.link_id, edge.behind);
    }
    let _ = writeln!(text, "Links that one end confirms: {}", found.one_sided_total);
    let _ = writeln!(text, "Aggregates with one member up: {}", found.degraded_lags_total);
    with_unknown(text, &found.unknown)
}

fn vlans(found: &VlanList) -> String {
    let mut text = String::new();
    for vlan in &found.vlans {
        let _ = write!(text, "VLAN {}: {} hosts, {} parts", vlan.vlan, vlan.hosts_total, vlan.islands_total);
        let _ = writeln!(
            text,
            ", {} links on one end only, {} with another untagged VLAN",
            vlan.one_sided.len(),
            vlan.native_mismatch.len()
        );
    }
    with_unknown(text, &found.unknown)
}

fn addresses(found: &AddressList) -> String {
    let mut text = format!("Addresses: {}\n", found.addresses_total);
    for address in &found.addresses {
        let _ = write!(text, "  {}", address.ip);
        if address.state != AddressState::Free {
            let _ = write!(text, " {}", address.state);
        }
        if let Some(mac) = address.mac {
            let _ = write!(text, ", {mac}");
        }
        if let Some(host) = address.host_id {
            let _ = write!(text, ", host {host}");
        }
        if let Some(seen) = address.last_seen {
            let _ = write!(text, ", last seen {seen}");
        }
        if let Some(name) = &address.reserved_by {
            let _ = write!(text, ", reserved by {name}");
        }
        text.push('\n');
    }
    text
}
