//! Stability of pictures when their network changes.

use toposcope::access::Caller;
use toposcope::model::{
    Host, HostId, LinkEnd, Network, NetworkId, TopologyLink, TopologyLinkId, TopologyView,
};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{Graph, GraphOptions, Node};
use toposcope::{Inventory, MemoryStore};

use crate::graph::scenes::{all_scenes, read::Roles};

/// The network of the hosts of all scenes.
const NETWORK: NetworkId = NetworkId::from_u128(1);

/// The number of changes of each network, one after the other.
const CHANGES: usize = 10;

/// A number of hosts that do not fit on a sheet.
const CROWD: u128 = 700;

/// A network whose picture is read repeatedly.
struct Watched {
    inventory: Inventory,
    topologies: Topologies,
    system: Caller,
    network: NetworkId,
}

impl Watched {
    async fn new(hosts: Vec<Host>) -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap();
        let system = Caller::system(organization.id);
        let network =
            inventory.networks().ensure(&system, NETWORK, Network::new("Example")).await.unwrap().id;
        let topologies = Topologies::new(inventory.clone());
        let watched = Self { inventory, topologies, system, network };
        for host in hosts {
            watched.put(host).await;
        }
        watched
    }

    async fn put(&self, host: Host) {
        self.inventory.hosts().put(&self.system, host).await.unwrap();
    }

    async fn graph(&self) -> Graph {
        let options = GraphOptions::new(TopologyView::L2);
        self.topologies.graph(&self.system, self.network, options).await.unwrap()
    }

    async fn link(&self, source: HostId, target: HostId) -> TopologyLinkId {
        let end = |id| LinkEnd { host_id: id, if_entry_id: None };
        let link = TopologyLink::new(self.network, end(source), end(target));
        self.inventory.topology_links().create(&self.system, link).await.unwrap().id
    }

    /// Changes one host or one link. Every fourth change takes back what the two before it have added.
    async fn change(
        &self,
        number: usize,
        hosts: &[HostId],
        added: &mut (Option<HostId>, Option<TopologyLinkId>),
    ) {
        let some = |offset: usize| hosts[(number * 7 + offset) % hosts.len()];
        match number % 4 {
            0 => {
                let id = HostId::from_u128(0xadd0 + number as u128);
                self.put(Host::with_id(id, self.network, format!("added-{number}"))).await;
                self.link(some(0), id).await;
                added.0 = Some(id);
            }
            1 => added.1 = Some(self.link(some(1), some(hosts.len() / 2 + 1)).await),
            2 => self.inventory.hosts().delete(&self.system, added.0.take().unwrap()).await.unwrap(),
            _ => self.inventory.topology_links().delete(&self.system, added.1.take().unwrap()).await.unwrap(),
        }
    }
}

/// Returns how far the nodes of both graphs have moved, the least first.
fn movements(before: &Graph, after: &Graph) -> Vec<f64> {
    let find = |node: &Node| after.nodes.iter().find(|other| other.id == node.id);
    let distance = |node: &Node| find(node).map(|other| (other.x - node.x).hypot(other.y - node.y));
    let mut distances: Vec<f64> = before.nodes.iter().filter_map(distance).collect();
    distances.sort_by(f64::total_cmp);
    distances
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_host_or_link_more_or_less_moves_hardly_any_other() {
    for scene in all_scenes() {
        let hosts = scene.hosts(Roles::Half, false);
        let ids: Vec<HostId> = hosts.iter().map(|host| host.id).collect();
        let watched = Watched::new(hosts).await;
        let (mut before, mut added) = (watched.graph().await, (None, None));
        for number in 0..CHANGES {
            watched.change(number, &ids, &mut added).await;
            let after = watched.graph().await;
            let moved = movements(&before, &after);
            let width = after.nodes.iter().map(|node| node.width).fold(0.0, f64::max);
            let (median, most) = (moved[moved.len() / 2], moved[moved.len() * 95 / 100]);
            let change = format!("{}, change {number}: {median} and {most} px of {width}", scene.name);
            assert!(median == 0.0 && most <= width, "{change}");
            before = after;
        }
        // Read again, it is the same picture.
        assert_eq!(watched.graph().await, before, "{}", scene.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_stay_until_everything_is_placed_anew() {
    let watched = Watched::new(Vec::new()).await;
    let switch = HostId::from_u128(0x51);
    watched.put(Host::with_id(switch, watched.network, "switch")).await;
    let leaves: Vec<HostId> = (0..CROWD).map(|number| HostId::from_u128(0x1000 + number)).collect();
    for leaf in &leaves {
        watched.put(Host::with_id(*leaf, watched.network, format!("leaf-{leaf}"))).await;
        watched.link(switch, *leaf).await;
    }
    let folded = async || watched.graph().await.nodes.iter().map(|node| node.collapsed).max().unwrap();
    assert_eq!(folded().await as usize, leaves.len());
    for leaf in &leaves[3..] {
        watched.inventory.hosts().delete(&watched.system, *leaf).await.unwrap();
    }
    assert_eq!(folded().await, 3);
    watched.topologies.tidy(&watched.system, watched.network, TopologyView::L2, None).await.unwrap();
    assert_eq!(folded().await, 0);
    assert_eq!(watched.graph().await.nodes.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn network_that_grew_while_its_picture_was_not_drawn_is_folded_in_every_form() {
    let watched = Watched::new(Vec::new()).await;
    let switch = HostId::from_u128(0x51);
    watched.put(Host::with_id(switch, watched.network, "switch")).await;
    let add = async |number: u128| {
        let leaf = HostId::from_u128(0x1000 + number);
        watched.put(Host::with_id(leaf, watched.network, format!("leaf-{number}"))).await;
        watched.link(switch, leaf).await;
    };
    add(0).await;
    add(1).await;
    // A small picture is kept, without folds.
    assert_eq!(watched.graph().await.nodes.len(), 3);
    for number in 2..CROWD {
        add(number).await;
    }
    let options = GraphOptions::new(TopologyView::L2);
    let topologies = &watched.topologies;
    let bare = topologies.graph_without_layout(&watched.system, watched.network, options).await.unwrap();
    let ids = |graph: &Graph| graph.nodes.iter().map(|node| node.id).collect::<Vec<_>>();
    assert_eq!(bare.nodes.len(), 2);
    assert_eq!(ids(&bare), ids(&watched.graph().await));
}
