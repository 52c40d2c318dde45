//! The filters of the list of hosts, on the real inventory.
//!
//! Their results are compared with a scan of all hosts.

use std::collections::BTreeSet;

use serde::Deserialize;
use toposcope::inventory::{HostQuery, PortFilter};
use toposcope::model::{Cidr, Host, HostId, MacPrefix};

use super::{Real, real};
use crate::support::owner_of;

/// The number of distinct values of each field that are searched for.
const VALUES: usize = 30;

/// The part of a document that distinguishes hosts.
#[derive(Deserialize)]
struct Found {
    id: HostId,
}

/// Returns some of the distinct values that hosts have, evenly spread.
fn values<T: Ord + Clone>(hosts: &[Host], of_host: impl Fn(&Host) -> Vec<T>) -> Vec<T> {
    let distinct: BTreeSet<T> = hosts.iter().flat_map(of_host).collect();
    let step = distinct.len().div_ceil(VALUES).max(1);
    distinct.into_iter().step_by(step).collect()
}

/// Asserts that a filter finds the hosts that a scan finds. There must be at least one.
async fn check(
    real: &Real,
    hosts: &[Host],
    filter: impl Fn(&mut HostQuery),
    matches: impl Fn(&Host) -> bool,
) {
    let mut query = HostQuery::default();
    filter(&mut query);
    let page = real.inventory.hosts().list(&owner_of(real.organization), &query).await.unwrap();
    let found: BTreeSet<_> =
        page.documents.iter().map(|text| serde_json::from_slice::<Found>(text).unwrap().id).collect();
    let expected: BTreeSet<_> = hosts.iter().filter(|host| matches(host)).map(|host| host.id).collect();
    assert!(found == expected && page.total == expected.len() as u64, "{query:?}");
    assert!(!expected.is_empty(), "{query:?}");
}

#[tokio::test]
async fn filters_find_what_a_scan_finds() {
    let Some(real) = real() else { return };
    let all = real.inventory.hosts().list(&owner_of(real.organization), &HostQuery::default()).await.unwrap();
    let hosts: Vec<Host> = all.documents.iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
    let addresses = |host: &Host| host.interfaces.iter().map(|own| own.ip_address).collect::<Vec<_>>();
    for address in values(&hosts, addresses) {
        for length in if address.is_ipv4() { [8, 20, 32] } else { [32, 64, 128] } {
            let prefix = Cidr::containing(address, length).unwrap();
            let is_within = |host: &Host| addresses(host).iter().any(|own| prefix.contains(*own));
            check(real, &hosts, |query| query.ips = Some(vec![prefix]), is_within).await;
        }
    }
    let macs = |host: &Host| host.interfaces.iter().filter_map(|own| own.mac_address).collect::<Vec<_>>();
    for mac in values(&hosts, macs) {
        for length in [8, 17] {
            let prefix: MacPrefix = mac.to_string()[..length].parse().unwrap();
            let begins = |host: &Host| macs(host).iter().any(|own| own.octets().starts_with(prefix.octets()));
            check(real, &hosts, |query| query.macs = Some(vec![prefix.clone()]), begins).await;
        }
    }
    let ports = |host: &Host| host.ports.iter().map(|own| own.number).collect::<Vec<_>>();
    for number in values(&hosts, ports) {
        let filter = |query: &mut HostQuery| query.ports = Some(vec![PortFilter::new(number)]);
        check(real, &hosts, filter, |host| ports(host).contains(&number)).await;
    }
    let definitions = |host: &Host| {
        host.services.iter().map(|own| own.service_definition.as_str().to_owned()).collect::<Vec<_>>()
    };
    for name in values(&hosts, definitions) {
        let filter = |query: &mut HostQuery| query.service_definitions = Some(vec![name.clone()]);
        check(real, &hosts, filter, |host| definitions(host).contains(&name)).await;
    }
    let subnets = |host: &Host| host.interfaces.iter().filter_map(|own| own.subnet_id).collect::<Vec<_>>();
    for subnet in values(&hosts, subnets) {
        let filter = |query: &mut HostQuery| query.subnet_ids = Some(vec![subnet]);
        check(real, &hosts, filter, |host| subnets(host).contains(&subnet)).await;
    }
    // The first word of a name is found by its beginning.
    let name = |host: &Host| vec![host.name.clone()];
    for name in values(&hosts, name).into_iter().filter(|name| name.is_ascii()) {
        let is_plain = |text: &str| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(word) = name.split_whitespace().next().filter(|word| is_plain(word)) else { continue };
        let mut query = HostQuery::default();
        query.search = Some(word.to_uppercase());
        let page = real.inventory.hosts().list(&owner_of(real.organization), &query).await.unwrap();
        let has = |text: &[u8]| serde_json::from_slice::<Host>(text).unwrap().name == name;
        assert!(page.documents.iter().any(|text| has(text)), "{word}");
    }
}
