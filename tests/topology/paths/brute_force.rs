//! Random questions about all networks of the test data and generated ones, compared with answers by the definitions.

use std::env;

use fastrand::Rng;
use toposcope::model::{LinkId, NodeId};
use toposcope::topology::paths::{ImpactQuery, PathQuery};

use super::exhaustive::Exhaustive;
use super::failures::{assert_fragile, assert_impact, assert_pairs};
use super::naive::Naive;
use super::networks::{campus, fabric, index, lab_networks, random, varied, zoo};
use super::routes::assert_shortest;
use crate::graph::support::Fixture;

/// Number of questions of each kind, unless `TOPOSCOPE_QUESTIONS` has another one.
const QUESTIONS: usize = 1_200;

/// Maximum number of links of a network, unless `TOPOSCOPE_QUESTIONS` is set: flooding large ones takes long.
const MAX_LINKS: usize = 48;

/// Number of questions about a network before its links get other states.
const QUESTIONS_PER_NETWORK: usize = 6;

/// A network, its definitions and its index.
struct Compared {
    name: String,
    network: Fixture,
    naive: Naive,
}

/// Asks random questions about one network after the other. Each question returns the number of comparisons.
fn compare(kind: &str, mut ask: impl FnMut(&mut Rng, &Compared, &mut dyn FnMut(usize))) {
    let questions = env::var("TOPOSCOPE_QUESTIONS").ok().map(|text| text.parse::<usize>().unwrap());
    let max_links = if questions.is_some() { usize::MAX } else { MAX_LINKS };
    let questions = questions.unwrap_or(QUESTIONS);
    let mut networks = zoo();
    networks.extend(lab_networks());
    networks.extend([(2, 3, 0), (2, 4, 2), (4, 6, 1)].map(|(spines, leaves, servers)| {
        (format!("fabric of {leaves} leaves"), fabric(spines, leaves, servers))
    }));
    networks.extend([(1, 1), (2, 0), (2, 1)].map(|(buildings, workstations)| {
        (format!("campus of {buildings} buildings"), campus(buildings, workstations))
    }));
    networks.retain(|(_, network)| !network.hosts.is_empty() && network.links.len() <= max_links);
    let (mut compared, mut seed) = (0, 0);
    while compared < questions {
        let mut rng = Rng::with_seed(seed);
        let place = usize::try_from(seed).unwrap() % (networks.len() + 4);
        let (name, network) = match networks.get(place) {
            Some((name, network)) => (name.clone(), varied(&mut rng, network)),
            None => {
                let (hosts, links) = (rng.usize(2..12), rng.usize(..24));
                ("random".to_owned(), random(&mut rng, hosts, links))
            }
        };
        let naive = Naive::of(&network);
        let case = Compared { name: format!("{name}, seed {seed}"), network, naive };
        ask(&mut rng, &case, &mut |count| compared += count);
        seed += 1;
    }
    println!("{compared} {kind} compared in {seed} networks");
}

#[test]
fn impacts_equal_removal_and_flood() {
    compare("impacts", |rng, case, count| {
        let index = index(&case.network);
        let nodes: Vec<NodeId> = case.naive.nodes.iter().copied().collect();
        let links: Vec<LinkId> = case.naive.wires.iter().map(|wire| wire.id).collect();
        for _ in 0..QUESTIONS_PER_NETWORK {
            let mut query = ImpactQuery::new();
            query.nodes = (0..rng.usize(..4)).map(|_| *rng.choice(&nodes).unwrap()).collect();
            query.edges = (0..rng.usize(..4)).filter_map(|_| rng.choice(&links).copied()).collect();
            if rng.bool() {
                query.from = (0..rng.usize(1..3)).map(|_| *rng.choice(&nodes).unwrap()).collect();
            }
            query.limit = usize::MAX;
            println!("{}", case.name);
            assert_impact(&case.naive, &index, &query);
            count(1);
        }
    });
}

#[test]
fn articulation_points_and_bridges_equal_removal() {
    compare("nodes and links", |_, case, count| {
        println!("{}", case.name);
        count(assert_fragile(&case.naive, &index(&case.network)));
    });
}

#[test]
fn pairs_equal_joint_removal() {
    const LOCATIONS: [&str; 4] = ["Basement", "Attic", "Hall", ""];
    compare("pairs", |rng, case, count| {
        let mut network = varied(rng, &case.network);
        for host in &mut network.hosts {
            let location = LOCATIONS[rng.usize(..LOCATIONS.len())];
            host.sys_location = Some(location.to_owned()).filter(|location| !location.is_empty());
        }
        println!("{}", case.name);
        count(assert_pairs(&Naive::of(&network), &network, &index(&network)));
    });
}

#[test]
fn shortest_paths_equal_an_exhaustive_search() {
    let mut skipped = 0;
    compare("paths", |rng, case, count| {
        let index = index(&case.network);
        let exhaustive = Exhaustive::of(&case.network);
        let nodes: Vec<NodeId> = case.naive.nodes.iter().copied().collect();
        for _ in 0..QUESTIONS_PER_NETWORK {
            let mut query = PathQuery::new(*rng.choice(&nodes).unwrap(), *rng.choice(&nodes).unwrap());
            query.vlan = [None, Some(10), Some(25)][rng.usize(..3)];
            query.k = rng.usize(1..17);
            if query.from != query.to {
                println!("{}", case.name);
                let is_compared = assert_shortest(&case.network, &exhaustive, &index, &query);
                skipped += usize::from(!is_compared);
                count(usize::from(is_compared));
            }
        }
    });
    println!("{skipped} questions with too many paths to list");
}
