//! Asks an inventory in a folder about its network.
//!
//! ```text
//! cargo run --release --example ask -- locate 00:00:5e:00:53:07 --data toposcope-data
//! cargo run --release --example ask -- path pc-7 192.0.2.9 --data toposcope-data
//! cargo run --release --example ask -- impact core-1 core-2 --data toposcope-data
//! cargo run --release --example ask -- fragile --data toposcope-data --json
//! cargo run --release --example ask -- pairs --data toposcope-data
//! cargo run --release --example ask -- free 192.0.2.0/24 --data toposcope-data
//! ```

#[path = "../support/failure.rs"]
mod failure;
mod text;

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{AddressQuery, Error, ListQuery};
use toposcope::model::{Network, NetworkId, NodeId, Permission, Subnet, TopologyView, UserId};
use toposcope::topology::Topologies;
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::paths::{FragileQuery, ImpactQuery, LocateTarget, PathQuery, VlanQuery};
use toposcope::{Inventory, SledStore};

use failure::Failure;
use text::{LISTED, Names};

const USAGE: &str = "\
Usage: ask QUESTION [VALUE]... --data DIR

  locate VALUE           where a MAC address, an IP address or a host is connected
  path FROM TO           the shortest paths between two hosts, by id, address or name
  impact NODE...         what breaks if all of these fail
  fragile                devices and links that must not fail
  pairs                  pairs of devices of which one may fail, but not both
  vlans                  the VLANs, with their hosts and parts
  free SUBNET            the lowest free addresses of a subnet, by id, prefix or name
  addresses SUBNET       the addresses of a subnet that are not free

  --data DIR             folder of the inventory [toposcope-data]
  --network NAME         the network, by name or id [the only one]
  --json                 print the answer as JSON, for scripts
  --help                 print this help
";

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
        ["fragile"] => asked.fragile(false).await,
        ["pairs"] => asked.fragile(true).await,
        ["vlans"] => asked.vlans().await,
        ["free", subnet] => asked.addresses(subnet, AddressQuery::free(LISTED)).await,
        ["addresses", subnet] => asked.addresses(subnet, AddressQuery::new()).await,
        _ => Err(Failure::usage(
            "Ask locate VALUE, path FROM TO, impact NODE..., fragile, pairs, vlans, free SUBNET or addresses SUBNET",
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
        self.topologies.find_nodes(&self.caller, self.network, texts).await.map_err(|error| refused(&error))
    }

    /// Returns the names of all nodes.
    async fn names(&self) -> Result<Names, Failure> {
        let mut options = GraphOptions::new(TopologyView::L2);
        options.collapse = false;
        let graph = self.topologies.graph_without_layout(&self.caller, self.network, options).await;
        Ok(Names(
            graph
                .map_err(|error| refused(&error))?
                .nodes
                .into_iter()
                .map(|node| (node.id, node.label))
                .collect(),
        ))
    }

    async fn locate(&self, value: &str) -> Result<String, Failure> {
        let target = match (value.parse(), value.parse()) {
            (Ok(mac), _) => LocateTarget::Mac(mac),
            (_, Ok(ip)) => LocateTarget::Ip(ip),
            _ => LocateTarget::Name(value.to_owned()),
        };
        let found = self
            .topologies
            .locate(&self.caller, self.network, target)
            .await
            .map_err(|error| refused(&error))?;
        let names = self.names().await?;
        self.shown(&found, |found| text::located(found, &names))
    }

    async fn path(&self, from: &str, to: &str) -> Result<String, Failure> {
        let ends = self.find(&[from, to]).await?;
        let [sender, receiver] = ends.first_chunk::<2>().copied().unwrap_or_default();
        let mut query = PathQuery::new(sender, receiver);
        query.to_address = to.parse().ok();
        let found = self
            .topologies
            .paths(&self.caller, self.network, query)
            .await
            .map_err(|error| refused(&error))?;
        let names = self.names().await?;
        self.shown(&found, |found| text::paths(found, &names))
    }

    async fn impact(&self, nodes: &[&str]) -> Result<String, Failure> {
        let mut query = ImpactQuery::new();
        query.nodes = self.find(nodes).await?.into_iter().collect();
        let found = self
            .topologies
            .impact(&self.caller, self.network, query)
            .await
            .map_err(|error| refused(&error))?;
        self.shown(&found, text::impact)
    }

    async fn fragile(&self, has_pairs: bool) -> Result<String, Failure> {
        let mut query = FragileQuery::new();
        query.pairs = has_pairs;
        let found = self
            .topologies
            .fragile(&self.caller, self.network, query)
            .await
            .map_err(|error| refused(&error))?;
        let names = self.names().await?;
        self.shown(&found, |found| if has_pairs { text::pairs(found) } else { text::fragile(found, &names) })
    }

    async fn vlans(&self) -> Result<String, Failure> {
        let found = self.topologies.vlans(&self.caller, self.network, VlanQuery::new()).await?;
        self.shown(&found, text::vlans)
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
        self.shown(&found, text::addresses)
    }
}

fn refused(error: &Error) -> Failure {
    Failure::because("The question has no answer", error)
}
