//! Ids that are taken by other hosts or organizations.

use toposcope::inventory::{Atomicity, BulkChange, Quotas};
use toposcope::model::{
    BindingTarget, Host, HostId, HostVirtualization, IfEntry, IfEntryId, Neighbor, PortId, Protocol,
};

use super::MODES;
use crate::support::{Fixture, bare_host, entry, guest_of, id, numbered_hosts, port, rich_host, service};

#[tokio::test]
async fn host_id_of_another_organization_is_replaced_by_a_random_one() {
    for mode in MODES {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let theirs = rich_host(2, foreign.network, &[]);
        fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
        let mut hosts = [1, 2, 3].map(|number| rich_host(number, fixture.network, &[]));
        hosts[2].if_entries[0].neighbor = Some(Neighbor::Host(id(2)));
        let (inventory, probe) = fixture.probed();
        let bulk = hosts.clone().map(Into::into).to_vec();
        let results = inventory.hosts().bulk_put(&fixture.member(), bulk, mode).await.unwrap();
        let ids: Vec<HostId> = results.iter().map(|result| result.id.unwrap()).collect();
        assert!(results.iter().all(|result| matches!(result.outcome, Ok(BulkChange::Created))));
        assert_eq!((ids[0], ids[2], ids[1].uuid().get_version_num()), (id(1), id(3), 4));
        assert!(probe.take_passed().iter().all(|call| !call.name.contains("host") || call.bodies == 0));

        let ours = fixture.host(ids[1]).await;
        assert!(ours.ports.iter().all(|port| port.host_id == ids[1]));
        let parts = |host: &Host| host.ports.iter().map(|port| port.id).collect::<Vec<_>>();
        assert_eq!(parts(&ours), parts(&hosts[1]), "ids of parts are unique within an organization only");
        assert_eq!(fixture.host(id(3)).await.if_entries[0].neighbor, Some(Neighbor::Host(ids[1])));
        assert_eq!(fixture.inventory.hosts().get(&foreign.system(), id(2)).await.unwrap(), theirs);
    }
}

#[tokio::test]
async fn parts_of_other_hosts_get_new_ids_and_references_follow() {
    for mode in MODES {
        let fixture = Fixture::new().await;
        let theirs = rich_host(1, fixture.network, &[]);
        fixture.put(&theirs).await;
        // The same parts, in another host that refers to them, and a guest of its service.
        let mut copy = Host { id: id(2), ..theirs.clone() };
        guest_of(&mut copy, theirs.services[1].id);
        let mut guest = bare_host(id(3), fixture.network);
        guest_of(&mut guest, theirs.services[0].id);
        fixture.bulk([copy, guest], mode).await;
        let copy = fixture.host(id(2)).await;
        assert_ne!(copy.ports[0].id, theirs.ports[0].id);
        assert_ne!(copy.services[0].id, theirs.services[0].id);
        assert_ne!(copy.interfaces[0].id, theirs.interfaces[0].id);
        let targets: Vec<_> = copy.services[0].bindings.iter().map(|binding| binding.target).collect();
        let interface_id = Some(copy.interfaces[0].id);
        assert_eq!(targets[0], BindingTarget::Port { port_id: copy.ports[0].id, interface_id });
        let run_by = |host: &Host| host.virtualization.as_ref().map(HostVirtualization::service_id);
        assert_eq!(run_by(&copy), Some(copy.services[1].id));
        assert_eq!(run_by(&fixture.host(id(3)).await), Some(copy.services[0].id));
        assert_eq!(fixture.host(id(1)).await, theirs);
    }
}

#[tokio::test]
async fn taken_part_of_the_last_host_gets_a_new_id_and_a_reference_of_the_first_host_follows() {
    for mode in MODES {
        for refers in [false, true] {
            let (fixture, taken) = (Fixture::new().await, id(0x9999));
            let mut holder = bare_host(id(5000), fixture.network);
            holder.if_entries = vec![IfEntry { neighbor: None, ..entry(&holder, taken, 1) }];
            fixture.put(&holder).await;
            // More than are stored in one commit.
            let mut hosts = numbered_hosts(fixture.network, 1000);
            let neighbor = refers.then_some(Neighbor::IfEntry(taken));
            hosts[0].if_entries = vec![IfEntry { neighbor, ..entry(&hosts[0], id(0x7777), 1) }];
            hosts[999].if_entries = vec![IfEntry { neighbor: None, ..entry(&hosts[999], taken, 1) }];
            fixture.bulk(hosts, mode).await;
            let (first, last) = (fixture.host(id(1)).await, fixture.host(id(1000)).await);
            let given = last.if_entries[0].id;
            assert_ne!(given, taken);
            assert_eq!(first.if_entries[0].neighbor, refers.then_some(Neighbor::IfEntry(given)));
            assert_eq!(fixture.host(holder.id).await.if_entries, holder.if_entries);
            assert_eq!(fixture.documents().await.len(), 1001);
        }
    }
}

#[tokio::test]
async fn part_that_two_hosts_claim_belongs_to_its_host_or_else_to_the_first() {
    for mode in MODES {
        let fixture = Fixture::new().await;
        let with_port = |number, part| {
            let mut host = bare_host(id(number), fixture.network);
            host.ports = vec![port(&host, id(part), 443, Protocol::Tcp)];
            host
        };
        let mut replaced = with_port(3, 0x99);
        fixture.put(&replaced).await;
        replaced.name = "renamed".to_owned();
        fixture.bulk([with_port(1, 0x99), with_port(2, 0x77), replaced, with_port(4, 0x77)], mode).await;
        let ports = [1, 2, 3, 4].map(async |number| fixture.host(id(number)).await.ports[0].id);
        let [first, second, third, fourth] = ports;
        assert_eq!((second.await, third.await), (id(0x77), id(0x99)));
        assert!(![id(0x77), id(0x99)].contains(&first.await) && fourth.await != id(0x77));
    }
}

#[tokio::test]
async fn part_moves_to_another_host_of_the_request() {
    let fixture = Fixture::new().await;
    let mut holder = bare_host(id(1), fixture.network);
    holder.services = vec![service(&holder, id(0x99), "s", 0)];
    fixture.put(&holder).await;
    let mut heir = bare_host(id(2), fixture.network);
    heir.services = vec![service(&heir, id(0x99), "s", 0)];
    holder.services.clear();
    fixture.bulk([heir, holder], Atomicity::AllOrNothing).await;
    assert_eq!(fixture.host(id(2)).await.services[0].id, id(0x99));
}

#[tokio::test]
async fn nil_ids_of_rust_values_are_replaced() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(HostId::nil(), fixture.network);
    host.ports =
        vec![port(&host, PortId::nil(), 1, Protocol::Tcp), port(&host, PortId::nil(), 2, Protocol::Tcp)];
    host.if_entries = vec![entry(&host, IfEntryId::nil(), 1)];
    let created = fixture.bulk([host.clone(), host], MODES[0]).await;
    assert_ne!(created[0].0, created[1].0);
    let stored = fixture.host(created[0].0).await;
    assert!(stored.ports.iter().all(|port| !port.id.is_nil() && port.host_id == created[0].0));
    assert_ne!(stored.ports[0].id, stored.ports[1].id);
}

#[tokio::test]
async fn largest_request_with_many_foreign_ids_is_stored() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for number in (1..=1000).step_by(7) {
        fixture
            .inventory
            .hosts()
            .put(&foreign.system(), bare_host(id(number), foreign.network))
            .await
            .unwrap();
    }
    let created = fixture.bulk(numbered_hosts(fixture.network, 1000), MODES[1]).await;
    for (place, (stored, _)) in (1..).zip(created) {
        assert_eq!(stored == id(place), place % 7 != 1, "{place}");
    }
    assert_eq!(fixture.documents().await.len(), 1000);
}

/// Sends hosts of which the first claims the part of a stored host, the last but one drops it, and the last refers to
/// it. Asserts that the part stays unique and the reference follows it.
async fn assert_reference_follows(fixture: &Fixture, count: u128, quota: Option<u64>) {
    let taken = id(0x9999);
    let mut holder = bare_host(id(count - 1), fixture.network);
    holder.if_entries = vec![IfEntry { neighbor: None, ..entry(&holder, taken, 1) }];
    fixture.put(&holder).await;
    let mut hosts = numbered_hosts(fixture.network, count);
    hosts[0].if_entries = vec![IfEntry { neighbor: None, ..entry(&hosts[0], taken, 1) }];
    let referring = hosts.last_mut().unwrap();
    let neighbor = Some(Neighbor::IfEntry(taken));
    referring.if_entries = vec![IfEntry { neighbor, ..entry(referring, id(0x7777), 1) }];
    if quota.is_some() {
        hosts.push(bare_host(id(count + 1), fixture.network));
    }
    let mut quotas = Quotas::default();
    quotas.hosts_per_organization = quota;
    let inventory = fixture.inventory.clone().with_quotas(quotas);
    let hosts = hosts.into_iter().map(Into::into).collect();
    let results = inventory.hosts().bulk_put(&fixture.member(), hosts, Atomicity::PerHost).await.unwrap();
    let stored = results.iter().filter(|result| result.outcome.is_ok()).count();
    assert_eq!(stored as u128, count);
    let claimant = fixture.host(id(1)).await.if_entries[0].id;
    let reference = fixture.host(id(count)).await.if_entries[0].neighbor;
    assert_eq!(reference, Some(Neighbor::IfEntry(claimant)));
    assert_eq!(fixture.host(id(count - 1)).await.if_entries, []);
}

#[tokio::test]
async fn reference_follows_a_part_that_a_later_group_gives_up() {
    assert_reference_follows(&Fixture::new().await, 602, None).await;
}

#[tokio::test]
async fn reference_follows_a_part_when_hosts_are_stored_one_by_one() {
    // The last host exceeds the quota, so that the group is not stored together.
    assert_reference_follows(&Fixture::new().await, 3, Some(3)).await;
}
