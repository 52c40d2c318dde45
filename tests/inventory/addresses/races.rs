//! Reservations by many writers on several instances over one store.

use std::collections::BTreeSet;
use std::net::IpAddr;

use tokio::task::JoinSet;

use super::{Window, subnet};
use crate::backend::{Backend, run_on_threads};
use crate::support::Fixture;

const WRITERS: usize = 16;
const INSTANCES: usize = 3;

/// The number of reservations of each writer, unless `TOPOSCOPE_ADDRESS_RESERVATIONS` has that of all.
fn rounds() -> usize {
    let asked = std::env::var("TOPOSCOPE_ADDRESS_RESERVATIONS");
    asked.map_or(12, |all| all.parse::<usize>().unwrap() / WRITERS)
}

/// Lets writers reserve at the same time. Returns all addresses that were given.
async fn race(windows: &[Window], counts: &'static [u32], rounds: usize) -> Vec<IpAddr> {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let window = windows[writer % windows.len()].clone();
        let backend = Backend::current();
        writers.spawn(backend.scope(async move {
            let mut given = Vec::new();
            for round in 0..rounds {
                let count = counts[(writer + round) % counts.len()];
                given.extend(window.reserve(count).await.unwrap());
            }
            given
        }));
    }
    writers.join_all().await.concat()
}

fn instances(fixture: &Fixture, window: &Window) -> Vec<Window> {
    let others = (1..INSTANCES).map(|_| Window { inventory: fixture.second_inventory(), ..window.clone() });
    std::iter::once(window.clone()).chain(others).collect()
}

#[test]
fn writers_on_several_instances_never_get_the_same_address() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let window = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/8").await);
        let windows = instances(&fixture, &window);
        let given = race(&windows, &[1], rounds()).await;
        assert_eq!(given.len(), WRITERS * rounds());
        let distinct: BTreeSet<&IpAddr> = given.iter().collect();
        assert_eq!(distinct.len(), given.len(), "an address was given twice");
        for window in &windows {
            assert_eq!(window.free(1).await.1, (1 << 24) - 2 - given.len() as u64);
        }
    });
}

#[test]
fn writers_that_reserve_several_addresses_and_release_them_never_share_one() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let window = Window::new(&fixture, &subnet(&fixture, "2001:db8::/64").await);
        let windows = instances(&fixture, &window);
        let mut held: BTreeSet<IpAddr> = BTreeSet::new();
        for round in 0..3 {
            let given = race(&windows, &[1, 7, 32], 2).await;
            for ip in &given {
                assert!(held.insert(*ip), "{ip} was given twice");
            }
            // Another instance releases a part of them.
            let released: Vec<IpAddr> = given.into_iter().step_by(3).take(1_000).collect();
            let answer = windows[round % INSTANCES].release(&released).await;
            assert_eq!(answer.len(), released.len());
            released.iter().for_each(|ip| assert!(held.remove(ip)));
            for window in &windows {
                assert_eq!(window.list(Default::default()).await.addresses_total, held.len() as u64);
            }
        }
    });
}
