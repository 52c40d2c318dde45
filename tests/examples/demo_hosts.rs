//! The generated hosts.

use std::collections::{HashMap, HashSet};
use toposcope::access::Caller;

use toposcope::inventory::{HostQuery, Inventory, NewUser, NewUserApiKey, Written};
use toposcope::model::{Host, Neighbor, Network, Permission, SubnetId};
use toposcope::store::MemoryStore;

use crate::demo;

pub(crate) fn demo_hosts(count: u32) -> Vec<Host> {
    demo::hosts(count).collect::<Result<_, _>>().unwrap()
}

#[test]
fn demo_hosts_are_deterministic() {
    let hosts = demo_hosts(200);
    assert_eq!(hosts.len(), 200);
    assert_eq!(hosts, demo_hosts(200));
    let names: HashSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names.len(), 200);
}

#[test]
fn every_demo_cable_has_two_ends() {
    for count in [1, 7, 50, 201, 1_700] {
        let hosts = demo_hosts(count);
        let entries = || hosts.iter().flat_map(|host| &host.if_entries);
        let cables: HashSet<_> = entries()
            .filter_map(|entry| match entry.neighbor? {
                Neighbor::IfEntry(other) => Some((entry.id, other)),
                Neighbor::Host(_) => None,
            })
            .collect();
        assert_eq!(cables.is_empty(), count == 1, "{count}");
        for (one, other) in &cables {
            assert!(
                cables.contains(&(*other, *one)),
                "{count}: {one} is connected to {other}, but not {other} to it"
            );
        }
    }
}

#[test]
fn addresses_of_demo_hosts_are_in_their_subnets() {
    let count = 1_700;
    let subnets: HashMap<SubnetId, _> = demo::subnets(count)
        .map(|subnet| subnet.map(|subnet| (subnet.id, subnet)))
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(subnets.values().map(|subnet| subnet.cidr).collect::<HashSet<_>>().len(), subnets.len());
    let mut addresses = HashSet::new();
    let mut used = HashSet::new();
    for host in demo_hosts(count) {
        for interface in host.interfaces {
            assert!(addresses.insert(interface.ip_address), "{}: {}", host.name, interface.ip_address);
            let Some(subnet) = interface.subnet_id else { continue };
            let subnet = &subnets[&subnet];
            assert!(subnet.cidr.contains(interface.ip_address), "{}: {}", host.name, interface.ip_address);
            assert_eq!(subnet.network_id, host.network_id);
            used.insert(subnet.id);
        }
    }
    assert_eq!(used.len(), subnets.len(), "some subnets are empty");
}

#[tokio::test]
async fn inventory_accepts_every_demo_host() {
    for count in [0, 1, 50, 200] {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let mut networks = Vec::new();
        for (id, name) in demo::networks(count) {
            networks.push(
                inventory
                    .networks()
                    .create_with_id(&Caller::system(organization), id, Network::new(name))
                    .await
                    .unwrap()
                    .id,
            );
        }
        for host in demo_hosts(count) {
            assert_eq!(
                inventory.hosts().put(&Caller::system(organization), host).await.unwrap(),
                Written::Created
            );
        }
        let owner = NewUser::new("owner@example.net", Permission::Owner);
        let owner = inventory.users().create(&Caller::system(organization), owner).await.unwrap();
        let mut key = NewUserApiKey::new(owner.id, "key", Permission::Viewer);
        key.network_ids = networks;
        let key =
            inventory.user_api_keys().create(&Caller::system(owner.organization_id), key).await.unwrap();
        let caller = inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        let listed = inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap();
        assert_eq!(listed.total, u64::from(count));
    }
}
