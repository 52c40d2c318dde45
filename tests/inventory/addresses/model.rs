//! Random changes of hosts, subnets and reservations, compared with sorted sets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use fastrand::Rng;
use toposcope::inventory::{AddressQuery, AddressState, ErrorKind};

use super::{Window, host_at, subnet};
use crate::backend::run_with;
use crate::support::{Fixture, refusal};

/// The number of operations, unless `TOPOSCOPE_ADDRESS_OPERATIONS` has another one.
const OPERATIONS: usize = 150;

const PREFIX: [&str; 3] = ["10.0.0.0/24", "10.0.0.64/26", "10.0.0.0/22"];

/// The known addresses of a network.
#[derive(Default)]
struct Model {
    hosts: BTreeMap<u128, BTreeSet<u32>>,
    reserved: BTreeSet<u32>,
}

impl Model {
    fn is_used(&self, address: u32) -> bool {
        self.hosts.values().any(|own| own.contains(&address))
    }

    /// Returns the free addresses of a subnet, the lowest first.
    fn free(&self, range: (u32, u32)) -> Vec<u32> {
        let boundaries: BTreeSet<u32> =
            PREFIX.iter().flat_map(|cidr| <[u32; 2]>::from(range_of(cidr))).collect();
        let is_free = |address: &u32| {
            !boundaries.contains(address) && !self.reserved.contains(address) && !self.is_used(*address)
        };
        (range.0..=range.1).filter(is_free).collect()
    }
}

fn range_of(cidr: &str) -> (u32, u32) {
    let (first, length) = cidr.split_once('/').unwrap();
    let first = first.parse::<Ipv4Addr>().unwrap().to_bits();
    (first, first + (1 << (32 - length.parse::<u32>().unwrap())) - 1)
}

async fn check(windows: &[Vec<Window>], model: &Model, random: &mut Rng) {
    let place = random.usize(..PREFIX.len());
    let window = &windows[random.usize(..windows.len())][place];
    let range = range_of(PREFIX[place]);
    let free = model.free(range);
    let limit = 1 + random.usize(..40);
    let expected: Vec<String> =
        free.iter().take(limit).map(|address| Ipv4Addr::from_bits(*address).to_string()).collect();
    assert_eq!(window.free(limit).await, (expected, free.len() as u64));
    let is_reserved = |address: &&u32| (range.0..=range.1).contains(*address) && !model.is_used(**address);
    let reserved = model.reserved.iter().filter(is_reserved).count();
    let mut query = AddressQuery::new();
    query.state = Some(AddressState::Reserved);
    assert_eq!(window.list(query).await.addresses_total, reserved as u64);
}

#[test]
fn addresses_equal_a_sorted_set_under_random_changes() {
    run_with(Fixture::new, async |fixture| {
        let operations = std::env::var("TOPOSCOPE_ADDRESS_OPERATIONS");
        let operations = operations.map_or(OPERATIONS, |number| number.parse().unwrap());
        let mut random = Rng::with_seed(7);
        let mut windows = vec![Vec::new(), Vec::new()];
        for cidr in PREFIX {
            let window = Window::new(&fixture, &subnet(&fixture, cidr).await);
            windows[1].push(Window { inventory: fixture.second_inventory(), ..window.clone() });
            windows[0].push(window);
        }
        // Each instance has one memory for all subnets.
        let second = windows[1][0].inventory.clone();
        windows[1].iter_mut().for_each(|window| window.inventory = second.clone());
        let mut model = Model::default();
        for _ in 0..operations {
            let place = random.usize(..PREFIX.len());
            let window = &windows[random.usize(..2)][place];
            let range = range_of(PREFIX[place]);
            match random.usize(..10) {
                0..4 => {
                    let count = 1 + random.usize(..9);
                    let free = model.free(range);
                    let reserved = window.reserve(count as u32).await;
                    if free.len() < count {
                        let free = free.len() as u64;
                        assert_eq!(refusal(reserved), ErrorKind::AddressesExhausted { free });
                        continue;
                    }
                    let expected: Vec<u32> = free.into_iter().take(count).collect();
                    let reserved: Vec<u32> = reserved
                        .unwrap()
                        .iter()
                        .map(|ip| ip.to_string().parse::<Ipv4Addr>().unwrap().to_bits())
                        .collect();
                    assert_eq!(reserved, expected);
                    model.reserved.extend(expected);
                }
                4..7 => {
                    let all: Vec<u32> = model.reserved.range(range.0..=range.1).copied().collect();
                    let some: BTreeSet<u32> =
                        (0..random.usize(..12)).filter_map(|_| random.choice(&all).copied()).collect();
                    if some.is_empty() {
                        continue;
                    }
                    let asked: Vec<_> =
                        some.iter().map(|address| Ipv4Addr::from_bits(*address).into()).collect();
                    assert_eq!(window.release(&asked).await.len(), some.len());
                    model.reserved.retain(|address| !some.contains(address));
                }
                7 => {
                    let number = 1 + random.u128(..6);
                    if model.hosts.remove(&number).is_some() {
                        super::delete_host(&fixture, number).await;
                    }
                }
                _ => {
                    let number = 1 + random.u128(..6);
                    let (first, _) = range_of(PREFIX[2]);
                    let own: BTreeSet<u32> =
                        (0..random.usize(..20)).map(|_| first + random.u32(..1_024)).collect();
                    let texts: Vec<String> =
                        own.iter().map(|address| Ipv4Addr::from_bits(*address).to_string()).collect();
                    let own_addresses: Vec<_> = texts.iter().map(|text| (text.as_str(), None)).collect();
                    fixture.put(&host_at(&fixture, number, &own_addresses)).await;
                    model.hosts.insert(number, own);
                }
            }
            check(&windows, &model, &mut random).await;
        }
    });
}
