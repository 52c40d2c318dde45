//! Networks of other sizes, and kinds that the others lack. No number of the layout was chosen for them.

use super::generated::{
    Network, chain, clos, collapsed_core, fabric, hub_and_spoke, parallel, ring, ring_of_rings,
    stretched_pairs, three_tier, tree,
};
use super::read::Scene;

/// Returns the networks.
pub(crate) fn all() -> Vec<Scene> {
    [data_centers(), campuses(), branches(), backbones(), lines()].into_iter().flatten().collect()
}

fn data_centers() -> Vec<Scene> {
    let fabrics = [
        (2, 3, 10),
        (2, 10, 0),
        (2, 12, 5),
        (2, 20, 1),
        (3, 10, 8),
        (4, 10, 0),
        (4, 24, 6),
        (4, 48, 0),
        (6, 18, 12),
        (6, 24, 2),
        (8, 16, 4),
    ];
    let pods = [(2, 4, 10), (3, 3, 5), (6, 2, 3), (10, 2, 2)];
    let borders = [(2, 4, 4), (2, 8, 12), (4, 16, 0), (4, 20, 10)];
    let pairs = [(2, 4), (2, 12), (3, 6), (4, 5)];
    fabrics
        .map(|(spines, leaves, servers)| fabric(spines, leaves, servers))
        .into_iter()
        .chain(pods.map(|(pods, spines, racks)| clos(pods, spines, racks)))
        .chain(borders.map(|(spines, leaves, servers)| fabric_with_border(spines, leaves, servers)))
        .chain(pairs.map(|(centers, access)| stretched_pairs(centers, access)))
        .collect()
}

fn campuses() -> Vec<Scene> {
    let tiers = [
        ([2, 2, 6], 6, 2),
        ([2, 4, 10], 0, 2),
        ([2, 6, 24], 8, 2),
        ([2, 6, 36], 1, 2),
        ([2, 10, 30], 24, 2),
        ([2, 12, 60], 0, 2),
        ([1, 3, 12], 6, 1),
        ([2, 4, 24], 12, 1),
    ];
    let cores = [
        (2, 3, 10),
        (2, 8, 12),
        (2, 16, 3),
        (2, 20, 0),
        (2, 24, 10),
        (2, 30, 6),
        (2, 48, 2),
        (2, 60, 0),
        (1, 12, 5),
        (1, 20, 0),
        (1, 30, 8),
    ];
    let sites = [(2, 3, 8), (3, 8, 0), (4, 4, 6), (5, 3, 12), (6, 6, 10), (8, 4, 4)];
    let trees = [(2, 3), (2, 4), (3, 4), (4, 2), (5, 2), (6, 2)];
    let name = |[core, distribution, access]: [usize; 3], each, homes| {
        format!("three tiers {core}-{distribution}-{access}, {homes} uplinks, {each} PCs")
    };
    tiers
        .map(|(sizes, each, homes)| three_tier(&name(sizes, each, homes), sizes, each, homes))
        .into_iter()
        .chain(cores.map(|(core, access, each)| collapsed_core(core, access, each)))
        .chain(sites.map(|(pairs, access, each)| campus(pairs, access, each)))
        .chain(trees.map(|(branches, depth)| tree(branches, depth)))
        .collect()
}

fn branches() -> Vec<Scene> {
    let spokes = [(6, 1), (8, 2), (10, 2), (20, 1), (20, 2), (40, 1)];
    let wans = [(3, 1, 6), (4, 4, 10), (8, 2, 5), (12, 1, 0), (15, 3, 8), (24, 1, 4)];
    let mixtures = [[2, 4, 4, 4], [2, 12, 10, 5], [4, 8, 12, 8], [2, 6, 16, 3]];
    spokes
        .map(|(sites, hubs)| hub_and_spoke(sites, hubs))
        .into_iter()
        .chain(wans.map(|(sites, switches, each)| wan(sites, switches, each)))
        .chain(mixtures.map(mixture))
        .collect()
}

fn backbones() -> Vec<Scene> {
    let rings = [(3, 3), (4, 6), (5, 5), (5, 10), (8, 4), (10, 6)];
    let with_customers = [(3, 4), (4, 5), (6, 3)];
    rings
        .map(|(rings, each)| ring_of_rings(rings, each))
        .into_iter()
        .chain(with_customers.map(|(rings, each)| customers_at_rings(rings, each)))
        .collect()
}

fn lines() -> Vec<Scene> {
    vec![
        ring(6, 4),
        ring(16, 1),
        ring(40, 0),
        chain(7, 0),
        chain(20, 1),
        chain(30, 3),
        parallel(3),
        parallel(12),
    ]
}

/// A fabric whose border leaves lead to a pair of firewalls and to two routers.
fn fabric_with_border(spines: usize, leaves: usize, servers: usize) -> Scene {
    let mut network =
        Network::new(format!("generated fabric {spines}x{leaves}x{servers} with a border"), "mixed");
    let routers = network.row("edge", "router", None, 2);
    let firewalls = network.row("fw", "firewall", None, 2);
    let border = network.row("border", "switch", None, 2);
    let upper = network.row("spine", "switch", None, spines);
    let lower = network.row("leaf", "switch", None, leaves);
    network.links(&routers, &firewalls, 10);
    network.link(firewalls[0], firewalls[1], 10);
    network.links(&firewalls, &border, 100);
    network.links(&border, &upper, 100);
    network.links(&upper, &lower, 100);
    network.leaves(&lower, servers, "server", None);
    network.scene()
}

/// Two providers, two routers, a pair of firewalls, a core, and pairs of distribution switches with access switches.
fn campus(pairs: usize, access: usize, each: usize) -> Scene {
    let mut network =
        Network::new(format!("generated campus of {pairs} buildings, {access} access, {each} PCs"), "campus");
    let providers = network.row("isp", "router", 0, 2);
    let edges = network.row("edge", "router", 1, 2);
    let firewalls = network.row("fw", "firewall", 2, 2);
    let cores = network.row("core", "switch", 3, 2);
    network.link(providers[0], edges[0], 1);
    network.link(providers[1], edges[1], 1);
    network.links(&edges, &firewalls, 10);
    network.link(firewalls[0], firewalls[1], 10);
    network.links(&firewalls, &cores, 10);
    network.link(cores[0], cores[1], 100);
    for pair in 1..=pairs {
        let distribution = network.row(&format!("dist{pair}-"), "switch", 4, 2);
        network.links(&cores, &distribution, 40);
        network.link(distribution[0], distribution[1], 40);
        let row = network.row(&format!("acc{pair}-"), "switch", 5, access);
        network.links(&distribution, &row, 10);
        network.leaves(&row, each, "workstation", 6);
    }
    network.scene()
}

/// Sites with a router, a switch, and further switches below this one, connected by a provider.
fn wan(sites: usize, switches: usize, each: usize) -> Scene {
    let mut network =
        Network::new(format!("generated WAN of {sites} sites, {switches} switches, {each} PCs"), "wan");
    let provider = network.device("provider", "router", 0);
    for site in 1..=sites {
        let router = network.device(format!("site{site:02}-rtr"), "router", 1);
        network.link(provider, router, 1);
        let first = network.device(format!("site{site:02}-sw1"), "switch", 2);
        network.link(router, first, 1);
        network.leaves(&[first], each, "workstation", 4);
        for number in 2..=switches {
            let switch = network.device(format!("site{site:02}-sw{number}"), "switch", 3);
            network.link(first, switch, 1);
            network.leaves(&[switch], each, "workstation", 4);
        }
    }
    network.scene()
}

/// A fabric, a building and a ring below one pair of cores, of these sizes.
fn mixture([spines, leaves, access, ring]: [usize; 4]) -> Scene {
    let name = format!("generated fabric {spines}x{leaves}, {access} access and ring of {ring}");
    let mut network = Network::new(name, "mixed");
    let firewalls = network.row("fw", "firewall", None, 2);
    let core = network.row("core", "switch", None, 2);
    network.links(&firewalls, &core, 10);
    network.link(core[0], core[1], 100);
    let upper = network.row("spine", "switch", None, spines);
    let lower = network.row("leaf", "switch", None, leaves);
    network.links(&core, &upper, 100);
    network.links(&upper, &lower, 100);
    network.leaves(&lower, 8, "server", None);
    let distribution = network.row("dist", "switch", None, 2);
    network.links(&core, &distribution, 40);
    let row = network.row("acc", "switch", None, access);
    network.links(&distribution, &row, 10);
    network.leaves(&row, 4, "workstation", None);
    let stations = network.row("ring", "switch", None, ring);
    stations.windows(2).for_each(|pair| network.link(pair[0], pair[1], 1));
    network.link(core[0], stations[0], 10);
    network.link(core[1], stations[ring - 1], 10);
    network.leaves(&stations, 2, "camera", None);
    network.scene()
}

/// A ring of routers, each of which closes a ring of routers with two customers each.
fn customers_at_rings(rings: usize, each: usize) -> Scene {
    let mut network = Network::new(format!("generated {rings} rings of {each} with customers"), "rings");
    let inner = network.row("p", "router", None, rings);
    for (number, router) in inner.iter().enumerate() {
        network.link(*router, inner[(number + 1) % rings], 100);
        let ring = network.row(&format!("pe{}-", number + 1), "router", None, each);
        ring.windows(2).for_each(|pair| network.link(pair[0], pair[1], 10));
        network.link(*router, ring[0], 10);
        network.link(*router, ring[each - 1], 10);
        network.leaves(&ring, 2, "router", None);
    }
    network.scene()
}
