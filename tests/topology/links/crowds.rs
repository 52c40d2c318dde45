//! Many bridges behind one port, such as access switches behind a core that no report describes.

use std::collections::BTreeMap;

use fastrand::Rng;
use toposcope::discovery::report::{FdbRow, FdbStatus, LldpRow, Reporter};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{Host, HostId, IfEntry, LldpChassisId, LldpChassisIdSubtype, MacAddress};
use toposcope::topology::links::{Confidence, Device, LinkWarning, Links, Rule};

use super::support::{NETWORK, time, whole};

/// A bridge with two ports, and the numbers of the bridges that it learned on each.
#[derive(Clone)]
struct Bridge {
    number: u32,
    learned: BTreeMap<i64, Vec<u32>>,
}

impl Bridge {
    fn new(number: u32, learned: impl IntoIterator<Item = (i64, Vec<u32>)>) -> Self {
        Self { number, learned: learned.into_iter().collect() }
    }

    fn host(&self) -> Host {
        let mut host = Host::with_id(id(self.number), NETWORK, format!("sw{}", self.number));
        host.chassis_id = Some(chassis(self.number));
        host.if_entries = (1..=2).map(|index| IfEntry::new(&host, index)).collect();
        host
    }

    fn device(&self) -> Device {
        let host = self.host();
        let row = |port: i64, other: u32| {
            let mut row = FdbRow::new(mac(other));
            row.if_index = Some(port);
            row.status = Some(FdbStatus::Learned);
            row
        };
        let rows =
            self.learned.iter().flat_map(|(port, others)| others.iter().map(|other| row(*port, *other)));
        Device::of(&host, &[Claim::new(&host, Reporter::new("test"), time(), ClaimRows::Fdb(rows.collect()))])
    }
}

fn id(number: u32) -> HostId {
    HostId::from_u128(u128::from(number))
}

const fn mac(number: u32) -> MacAddress {
    let [a, b, c, d] = number.to_be_bytes();
    MacAddress::new([0x00, 0x10, a, b, c, d])
}

fn chassis(number: u32) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: mac(number).to_string() }
}

/// Returns bridges that learned all others on their first ports.
fn behind_a_core(count: u32) -> Vec<Bridge> {
    let others = |number: u32| (1..=count).filter(|other| *other != number).collect();
    (1..=count).map(|number| Bridge::new(number, [(1, others(number))])).collect()
}

fn links(bridges: &[Bridge]) -> Links {
    Links::new(bridges.iter().map(Bridge::device), &[])
}

#[test]
fn many_switches_behind_an_unread_core_share_one_segment() {
    let links = links(&behind_a_core(300));
    assert_eq!(links.segments().count(), 1);
    assert_eq!(links.links().count(), 300);
    for link in links.links() {
        assert_eq!(link.confidence, Confidence::Inferred);
        let rules: Vec<Rule> = link.evidence.iter().map(|evidence| evidence.rule).collect();
        assert_eq!(rules, [Rule::MutualFdb], "each switch says once that it is on the segment");
    }
}

#[test]
fn few_switches_behind_an_unread_core_share_one_segment_with_evidence_of_their_own() {
    let links = links(&behind_a_core(20));
    assert_eq!((links.segments().count(), links.links().count()), (1, 20));
    assert!(links.links().all(|link| link.evidence.len() == 1));
}

#[test]
fn switch_among_many_is_adjacent_to_those_below_it_only() {
    // Each of 100 switches behind the core has one below it, which all others see behind the upper one.
    let upper: Vec<u32> = (1..=100).collect();
    let all: Vec<u32> = (1..=200).collect();
    let except = |left_out: &[u32]| all.iter().copied().filter(|other| !left_out.contains(other)).collect();
    let mut bridges = Vec::new();
    for number in upper {
        let below = number + 100;
        bridges.push(Bridge::new(number, [(1, except(&[number, below])), (2, vec![below])]));
        bridges.push(Bridge::new(below, [(1, except(&[below]))]));
    }
    let links = links(&bridges);
    assert_eq!(links.segments().count(), 1);
    let direct = links.links().filter(|link| link.evidence.len() == 2).count();
    assert_eq!((direct, links.links().count()), (100, 200));
}

/// Returns a bridge of [`behind_a_core`]. If it is changed, some bridges are behind its other port, or unknown.
fn changed_behind_a_core(random: &mut Rng, number: u32, is_changed: bool) -> Bridge {
    let mut bridge = behind_a_core(70).swap_remove(number as usize - 1);
    if is_changed {
        for other in bridge.learned.remove(&1).unwrap_or_default() {
            let port = match random.u8(..8) {
                0 => continue,
                1 => 2,
                _ => 1,
            };
            bridge.learned.entry(port).or_default().push(other);
        }
    }
    bridge
}

#[test]
fn changes_among_many_switches_lead_to_the_links_of_a_new_computation() {
    for seed in 0..6 {
        let mut random = Rng::with_seed(seed);
        let mut bridges: BTreeMap<u32, Bridge> =
            behind_a_core(70).into_iter().map(|bridge| (bridge.number, bridge)).collect();
        let mut changing = links(&bridges.values().cloned().collect::<Vec<_>>());
        for step in 0..12 {
            let number = random.u32(1..=70);
            match random.u8(..4) {
                0 => {
                    bridges.remove(&number);
                    changing.remove(id(number));
                }
                change => {
                    let numbers = match change {
                        1 | 2 => vec![number],
                        _ => (0..8).map(|_| random.u32(1..=70)).collect(),
                    };
                    let set: Vec<Bridge> = numbers
                        .iter()
                        .map(|number| changed_behind_a_core(&mut random, *number, change != 2))
                        .collect();
                    changing.set_all(set.iter().map(Bridge::device));
                    bridges.extend(numbers.into_iter().zip(set));
                }
            }
            let fresh = links(&bridges.values().cloned().collect::<Vec<_>>());
            assert_eq!(whole(&changing), whole(&fresh), "seed {seed}, step {step}");
        }
    }
}

/// The bridges of which each learns most addresses of three devices, around the number that are compared.
const LEARNERS: u32 = 22;

#[test]
fn changes_across_the_number_of_compared_bridges_lead_to_the_links_of_a_new_computation() {
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let mut bridges: BTreeMap<u32, Bridge> = BTreeMap::new();
        let mut changing = Links::default();
        for step in 0..20 {
            let numbers: Vec<u32> = (0..random.usize(2..=8)).map(|_| random.u32(0..LEARNERS)).collect();
            if random.u8(..4) == 0 {
                let removed = numbers.iter().filter_map(|number| bridges.remove(number));
                changing.remove_all(removed.map(|bridge| id(bridge.number)).collect::<Vec<HostId>>());
            } else {
                let set: Vec<Bridge> = numbers.iter().map(|number| learner(&mut random, *number)).collect();
                changing.set_all(set.iter().map(Bridge::device).collect::<Vec<Device>>());
                bridges.extend(numbers.into_iter().zip(set));
            }
            let new = links(&bridges.values().cloned().collect::<Vec<_>>());
            assert_eq!(whole(&changing), whole(&new), "seed {seed}, step {step}");
        }
    }
}

fn learner(random: &mut Rng, number: u32) -> Bridge {
    let others = (1_000..1_003).chain([0, 1]).filter(|other| *other != number);
    let mut learned: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for other in others.filter(|_| random.u8(..10) < 9).collect::<Vec<_>>() {
        learned.entry(random.i64(1..=2)).or_default().push(other);
    }
    Bridge::new(number, learned)
}

#[test]
fn more_bridges_than_are_compared_are_a_warning() {
    let (upper, lower): (Vec<u32>, Vec<u32>) = ((2..66).collect(), (100..1_200).collect());
    let all: Vec<u32> = upper.iter().chain(&lower).copied().collect();
    let mut bridges = vec![Bridge::new(1, [(1, all.clone())])];
    bridges.extend(upper.iter().map(|number| Bridge::new(*number, [(1, vec![1]), (2, lower.clone())])));
    bridges.extend(lower.iter().map(|number| Bridge::new(*number, [(1, vec![1])])));
    let warnings = links(&bridges).warnings();
    assert!(
        matches!(&warnings[..], [LinkWarning::TooManyBridges { host_id, count, .. }] if *host_id == id(1) && *count == all.len()),
        "{warnings:?}"
    );
}

/// Some switches forward the announcements of all neighbors.
#[test]
fn many_neighbors_that_all_announce_themselves_share_one_segment() {
    let device = |number: u32| {
        let host = Bridge::new(number, []).host();
        let row = |other: u32| {
            let mut row = LldpRow::new(chassis(other));
            row.if_index = Some(1);
            row
        };
        let rows = (1..=120).filter(|other| *other != number).map(row).collect();
        Device::of(&host, &[Claim::new(&host, Reporter::new("test"), time(), ClaimRows::Lldp(rows))])
    };
    let links = Links::new((1..=120).map(device), &[]);
    assert_eq!((links.segments().count(), links.links().count()), (1, 120));
    assert!(links.links().all(|link| link.confidence == Confidence::Confirmed && link.evidence.len() <= 17));
}
