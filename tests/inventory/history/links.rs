//! Links in time: what follows from changes is recorded once, with what led to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use toposcope::MemoryStore;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{
    Atomicity, BulkHost, ChangeQuery, DiffQuery, GraphMoments, HostQuery, Inventory, Moment,
};
use toposcope::model::{
    Change, ChangeAction, ChangeActor, ChangePosition, ChangedEntity, Host, HostId, IfEntry, LinkEnd,
    LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, NetworkId, Permission, Timestamp,
    TopologyLink, TopologyView, UserId,
};
use toposcope::store::{Export, Name, Query, Restore, Store};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{GraphChange, GraphOptions};
use toposcope::topology::links::{Device, End, Links, ManualLink};
use uuid::Uuid;

use super::changes_after;
use crate::backend::run;
use crate::support::{Fixture, bare_host, followed, id, owner_of, uuid};

/// Returns a switch with some ports.
pub(super) fn switch(number: u128, network: NetworkId, ports: u128) -> Host {
    let mut host = bare_host(HostId::from_u128(number), network);
    host.name = format!("switch {number}");
    host.sys_name = Some(format!("switch-{number}"));
    host.if_entries = (1..=ports)
        .map(|port| {
            let mut entry = IfEntry::new(&host, i64::try_from(port).unwrap());
            entry.id = id(number * 1_000 + port);
            entry.if_name = Some(format!("Gi0/{port}"));
            entry.if_descr = format!("Gi0/{port}");
            entry
        })
        .collect();
    host
}

/// Lets a port name its neighbor by LLDP; `None`: no neighbor any more.
pub(super) fn plug(host: &mut Host, port: usize, neighbor: Option<(u128, u128)>) {
    let entry = &mut host.if_entries[port - 1];
    entry.lldp_sys_name = neighbor.map(|(number, _)| format!("switch-{number}"));
    entry.lldp_chassis_id = neighbor.map(|(number, _)| LldpChassisId {
        subtype: LldpChassisIdSubtype::LocallyAssigned,
        value: format!("chassis-{number}"),
    });
    entry.lldp_port_id = neighbor.map(|(_, port)| LldpPortId {
        subtype: LldpPortIdSubtype::InterfaceName,
        value: format!("Gi0/{port}"),
    });
}

/// Returns the entries of links after a position, and the position after them.
pub(super) async fn link_entries(
    fixture: &Fixture,
    after: Option<&ChangePosition>,
) -> (Vec<Change>, ChangePosition) {
    followed(&fixture.inventory).await;
    let mut query = ChangeQuery::default();
    (query.after, query.entity) = (after.cloned(), Some(ChangedEntity::Link));
    let mut entries = Vec::new();
    loop {
        let page = fixture.inventory.changes(&owner_of(fixture.organization), &query).await.unwrap();
        entries.extend(page.changes);
        query.after = Some(page.next.clone());
        if !page.has_more {
            return (entries, page.next);
        }
    }
}

/// Returns the position of the last entry of a host.
pub(super) async fn last_entry(fixture: &Fixture, host: HostId) -> ChangePosition {
    let mut query = ChangeQuery::default();
    (query.entity, query.id) = (Some(ChangedEntity::Host), Some(host.uuid()));
    let page = fixture.inventory.changes(&owner_of(fixture.organization), &query).await.unwrap();
    page.changes.last().unwrap().position.clone()
}

/// Returns the links of the present hosts of a network, each with its ends. They are computed from nothing.
pub(super) async fn present_on(fixture: &Fixture, network: NetworkId) -> BTreeMap<Uuid, Vec<Uuid>> {
    let caller = owner_of(fixture.organization);
    let mut query = HostQuery::default();
    query.network_id = Some(network);
    let hosts = fixture.inventory.hosts().list(&caller, &query).await.unwrap().hosts().unwrap();
    let by_hand =
        fixture.inventory.topology_links().list(&caller, &Default::default()).await.unwrap().records;
    let manual = by_hand.iter().map(ManualLink::from).collect::<Vec<_>>();
    let links = Links::new(hosts.iter().map(|host| Device::of(host, &[])), &manual);
    let node = |end: &End| match end {
        End::Host { host_id, .. } => host_id.uuid(),
        End::Stub { id, .. } | End::Segment { id } => id.uuid(),
    };
    links.links().map(|link| (link.id.uuid(), vec![node(&link.source), node(&link.target)])).collect()
}

async fn present(fixture: &Fixture) -> BTreeMap<Uuid, Vec<Uuid>> {
    present_on(fixture, fixture.network).await
}

/// Links that follow from entries.
#[derive(Debug, Default)]
pub(super) struct Replayed(BTreeMap<Uuid, Option<Map<String, Value>>>);

impl Replayed {
    /// Applies the entry of a link.
    pub(super) fn apply(&mut self, entry: &Change) {
        assert_eq!(entry.actor, ChangeActor::System);
        let link = self.0.entry(entry.id).or_default();
        assert_eq!(link.is_none(), entry.action == ChangeAction::Created, "{entry:?}");
        entry.apply(link).unwrap();
    }

    /// Returns the links, each with its ends.
    pub(super) fn links(&self) -> BTreeMap<Uuid, Vec<Uuid>> {
        self.0.iter().filter_map(|(id, link)| Some((*id, ends_of(link.as_ref()?)))).collect()
    }
}

fn ends_of(link: &Map<String, Value>) -> Vec<Uuid> {
    let node = |end: &Value| -> Uuid {
        end.get("host_id").or_else(|| end.get("id")).unwrap().as_str().unwrap().parse().unwrap()
    };
    vec![node(&link["source"]), node(&link["target"])]
}

/// Applies the entries of links, and returns the links that result, each with its ends.
fn sum(entries: &[Change]) -> BTreeMap<Uuid, Vec<Uuid>> {
    let mut replayed = Replayed::default();
    entries.iter().for_each(|entry| replayed.apply(entry));
    replayed.links()
}

/// Compares the network with that at a position. Returns the change and the times of each link.
async fn compared(
    fixture: &Fixture,
    with: &ChangePosition,
) -> Vec<(Option<GraphChange>, Option<Timestamp>, Option<Timestamp>)> {
    let moments = GraphMoments::changes_since(Moment::Position(with.clone()));
    let (caller, options) = (owner_of(fixture.organization), GraphOptions::new(TopologyView::L2));
    let topologies = Topologies::new(fixture.inventory.clone());
    let graph = topologies.graph_at(&caller, fixture.network, options, &moments).await.unwrap();
    graph.edges.iter().map(|edge| (edge.change, edge.since, edge.until)).collect()
}

#[test]
fn compared_links_have_the_times_at_which_they_came_and_went() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 2)).await;
        let mut access = switch(2, fixture.network, 2);
        fixture.put(&access).await;
        let (_, start) = link_entries(&fixture, None).await;
        plug(&mut access, 1, Some((1, 1)));
        fixture.clock.advance(Duration::from_secs(60));
        fixture.put(&access).await;
        let (created, appeared) = link_entries(&fixture, Some(&start)).await;
        let since = Some(created[0].at);
        assert_eq!(compared(&fixture, &start).await, [(Some(GraphChange::Added), since, None)]);
        assert_eq!(compared(&fixture, &appeared).await, [(None, None, None)]);
        plug(&mut access, 1, None);
        fixture.clock.advance(Duration::from_secs(60));
        fixture.put(&access).await;
        let (deleted, _) = link_entries(&fixture, Some(&appeared)).await;
        let until = Some(deleted[0].at);
        assert_eq!(compared(&fixture, &appeared).await, [(Some(GraphChange::Removed), None, until)]);
    });
}

#[test]
fn cable_that_appears_moves_and_vanishes_is_recorded_with_what_led_to_it() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 4)).await;
        fixture.put(&switch(2, fixture.network, 4)).await;
        let (entries, start) = link_entries(&fixture, None).await;
        assert_eq!(entries, []);

        let mut access = switch(2, fixture.network, 4);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        let (entries, appeared) = link_entries(&fixture, Some(&start)).await;
        let [created] = entries.try_into().unwrap();
        assert_eq!((created.action, &created.name[..]), (ChangeAction::Created, "Gi0/1 – Gi0/1"));
        assert_eq!((created.actor, created.network_id), (ChangeActor::System, Some(fixture.network)));
        assert_eq!(created.cause, Some(last_entry(&fixture, access.id).await));
        assert_eq!(created.fields["rule"].after, Some(json!("one_sided_lldp")));
        assert_eq!(created.fields["source"].after.as_ref().unwrap()["host_id"], json!(HostId::from_u128(1)));
        let evidence = created.fields["evidence"].after.clone().unwrap();
        assert_eq!(evidence[0]["reporter_host_id"], json!(access.id));

        plug(&mut access, 1, None);
        plug(&mut access, 3, Some((1, 1)));
        fixture.put(&access).await;
        let (mut entries, moved) = link_entries(&fixture, Some(&appeared)).await;
        entries.sort_by_key(|entry| entry.action != ChangeAction::Deleted);
        let [deleted, other] = entries.try_into().unwrap();
        assert_eq!((deleted.action, deleted.id), (ChangeAction::Deleted, created.id));
        assert_eq!((other.action, &other.name[..]), (ChangeAction::Created, "Gi0/1 – Gi0/3"));
        let cause = Some(last_entry(&fixture, access.id).await);
        assert_eq!([deleted.cause, other.cause], [cause.clone(), cause]);

        fixture.delete(access.id).await.unwrap();
        let (entries, end) = link_entries(&fixture, Some(&moved)).await;
        let [vanished] = entries.try_into().unwrap();
        assert_eq!((vanished.action, vanished.id), (ChangeAction::Deleted, other.id));
        assert_eq!(vanished.cause, Some(last_entry(&fixture, access.id).await));
        assert_eq!(vanished.fields["target"].before.as_ref().unwrap()["port"]["name"], json!("Gi0/3"));

        // Changes that cancel out are left out, and a moved end is no new link.
        let diff = async |from: &ChangePosition, to: &ChangePosition| {
            let mut query = DiffQuery::new(Moment::Position(from.clone()));
            query.to = Some(Moment::Position(to.clone()));
            fixture.inventory.diff(&owner_of(fixture.organization), &query).await.unwrap().links
        };
        assert_eq!(diff(&start, &end).await, Default::default());
        let added = diff(&start, &appeared).await;
        assert_eq!((added.added[0].id.uuid(), added.counts.added), (created.id, 1));
        assert_eq!((added.removed, added.moved), (Vec::new(), Vec::new()));
        let moved_links = diff(&appeared, &moved).await;
        assert_eq!((moved_links.added, moved_links.removed), (Vec::new(), Vec::new()));
        let [moved_link] = moved_links.moved.try_into().unwrap();
        assert_eq!(moved_link.before.target.port.as_deref(), Some("Gi0/1"));
        assert_eq!(moved_link.after.target.port.as_deref(), Some("Gi0/3"));
        let removed = diff(&moved, &end).await;
        assert_eq!((removed.removed[0].id.uuid(), removed.counts.removed), (other.id, 1));
    });
}

#[test]
fn change_that_leaves_all_links_is_followed_by_no_entry() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 2)).await;
        let mut access = switch(2, fixture.network, 2);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        let (_, before) = link_entries(&fixture, None).await;
        access.description = Some("third floor".to_owned());
        fixture.put(&access).await;
        assert_eq!(link_entries(&fixture, Some(&before)).await.0, []);
    });
}

#[test]
fn link_by_hand_is_recorded_with_the_entry_that_led_to_it() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        for number in 1..=2 {
            fixture.put(&switch(number, fixture.network, 1)).await;
        }
        let (_, before) = link_entries(&fixture, None).await;
        let at = |number| LinkEnd::at_host(id(number));
        let link = TopologyLink::new(fixture.network, at(1), at(2));
        let link = fixture.inventory.records().create(&caller, link).await.unwrap();
        followed(&fixture.inventory).await;
        let (changes, after) = changes_after(&fixture, &caller, Some(before)).await;
        let [by_hand, created] = changes.try_into().unwrap();
        assert_eq!((by_hand.entity, by_hand.id), (ChangedEntity::TopologyLink, link.id.uuid()));
        assert_eq!((created.entity, created.action), (ChangedEntity::Link, ChangeAction::Created));
        assert_eq!(created.cause, Some(by_hand.position));
        fixture.inventory.topology_links().delete(&caller, link.id).await.unwrap();
        let (entries, _) = link_entries(&fixture, Some(&after)).await;
        let [deleted] = entries.try_into().unwrap();
        assert_eq!((deleted.action, deleted.id), (ChangeAction::Deleted, created.id));
    });
}

#[test]
fn two_instances_record_each_link_once() {
    run(async || {
        let fixture = Fixture::new().await;
        let second = fixture.second_inventory();
        let caller = Caller::system(fixture.organization);
        let mut random = Rng::with_seed(4);
        for step in 0..60_u128 {
            let number = 1 + random.u128(..5);
            let mut host = switch(number, fixture.network, 3);
            for port in 1..=3 {
                plug(&mut host, port, random.bool().then(|| (1 + random.u128(..5), 1 + random.u128(..3))));
            }
            let inventory = if step % 2 == 0 { &fixture.inventory } else { &second };
            inventory.hosts().put(&caller, host).await.unwrap();
            if step % 7 == 0 {
                followed(inventory).await;
            }
        }
        // Whichever instance is first, the last one sees all.
        followed(&second).await;
        let (entries, _) = link_entries(&fixture, None).await;
        assert_eq!(sum(&entries), present(&fixture).await);
    });
}

#[test]
fn entries_sum_up_to_the_links_of_the_graph_after_random_changes() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut random = Rng::with_seed(5);
        for step in 0..120 {
            let number = 1 + random.u128(..8);
            match random.u8(..8) {
                0 => drop(fixture.delete(id(number)).await),
                1 => {
                    let other = 1 + random.u128(..8);
                    let ends = [number, other].map(|number| LinkEnd::at_host(id(number)));
                    let mut link = TopologyLink::new(fixture.network, ends[0], ends[1]);
                    link.suppressed = random.bool();
                    drop(fixture.inventory.records().create(&caller, link).await);
                }
                2 => {
                    let network = fixture.other_network;
                    fixture.put(&switch(number, network, 2)).await;
                }
                _ => {
                    let mut host = switch(number, fixture.network, 4);
                    for port in 1..=4 {
                        let neighbor = (1 + random.u128(..10), 1 + random.u128(..4));
                        plug(&mut host, port, random.bool().then_some(neighbor));
                    }
                    fixture.put(&host).await;
                }
            }
            if step % 10 == 0 {
                let (mut entries, _) = link_entries(&fixture, None).await;
                entries.retain(|entry| entry.network_id == Some(fixture.network));
                assert_eq!(sum(&entries), present(&fixture).await, "step {step}");
            }
        }
    });
}

#[test]
fn follow_up_that_never_ran_is_made_up_for_once_at_the_next_start() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 2)).await;
        followed(&fixture.inventory).await;
        let caller = Caller::system(fixture.organization);
        // The instance ends in the moment after the commit: its background tasks never run.
        let second = fixture.second_inventory();
        let mut access = switch(2, fixture.network, 2);
        plug(&mut access, 1, Some((1, 1)));
        second.hosts().put(&caller, access.clone()).await.unwrap();
        drop(second);
        for _ in 0..2 {
            let reopened = fixture.second_inventory();
            reopened.changes(&caller, &ChangeQuery::default()).await.unwrap();
            followed(&reopened).await;
        }
        let (entries, _) = link_entries(&fixture, None).await;
        let [created] = entries.try_into().unwrap();
        assert_eq!(created.cause, Some(last_entry(&fixture, access.id).await));
    });
}

#[test]
fn bulk_creation_is_followed_by_one_pass() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 1_000)).await;
        followed(&fixture.inventory).await;
        let hosts: Vec<Host> = (2..=1_001)
            .map(|number| {
                let mut host = switch(number, fixture.network, 1);
                plug(&mut host, 1, Some((1, number - 1)));
                host
            })
            .collect();
        for hosts in hosts.chunks(BulkHost::MAX) {
            let hosts = hosts.iter().cloned().map(BulkHost::from).collect();
            fixture
                .inventory
                .hosts()
                .bulk_put(&fixture.system(), hosts, Atomicity::AllOrNothing)
                .await
                .unwrap();
        }
        let (entries, _) = link_entries(&fixture, None).await;
        assert_eq!(entries.len(), 1_000);
        assert!(entries.iter().all(|entry| entry.action == ChangeAction::Created && entry.cause.is_some()));
        assert_eq!(fixture.inventory.figures().followed_networks, 1);
    });
}

#[test]
fn viewer_of_another_network_sees_no_link() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 1)).await;
        let mut access = switch(2, fixture.network, 1);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        assert_eq!(link_entries(&fixture, None).await.0.len(), 1);
        let viewer_of = |network| {
            let scope = Scope::only([network]);
            Caller::new(fixture.organization, UserId::from_u128(7), Permission::Viewer, scope)
        };
        let entries = async |caller: &Caller| {
            let (changes, _) = changes_after(&fixture, caller, None).await;
            changes.into_iter().filter(|change| change.entity == ChangedEntity::Link).count()
        };
        assert_eq!(entries(&viewer_of(fixture.other_network)).await, 0);
        assert_eq!(entries(&viewer_of(fixture.network)).await, 1);
    });
}

#[test]
fn deleted_network_leaves_no_recorded_links() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut access = switch(2, fixture.network, 1);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        assert_eq!(link_entries(&fixture, None).await.0.len(), 1, "to a device that is no host");
        fixture.delete(access.id).await.unwrap();
        fixture.inventory.networks().delete(&fixture.system(), fixture.network).await.unwrap();
        let (entries, _) = link_entries(&fixture, None).await;
        assert_eq!(sum(&entries), BTreeMap::new());
        assert_eq!(count(&fixture, "recorded_link").await, 0);
        // The other network is still followed.
        assert_eq!(count(&fixture, "network_links").await, 1);
    });
}

#[test]
fn erased_host_leaves_no_value_in_the_entries_of_its_links() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = fixture.owner().await;
        let session = fixture.log_in(&owner).await;
        let owner = fixture.by_session(&session).await.unwrap();
        for number in 1..=3 {
            fixture.put(&switch(number, fixture.network, 2)).await;
        }
        let mut access = switch(2, fixture.network, 2);
        plug(&mut access, 1, Some((1, 1)));
        plug(&mut access, 2, Some((3, 1)));
        fixture.put(&access).await;
        assert_eq!(link_entries(&fixture, None).await.0.len(), 2);
        // It confirms the link, which is an update.
        let mut confirming = switch(1, fixture.network, 2);
        plug(&mut confirming, 1, Some((2, 1)));
        fixture.put(&confirming).await;
        let before = link_entries(&fixture, None).await.0;
        assert!(before.iter().any(|entry| entry.action == ChangeAction::Updated), "{before:?}");
        fixture.inventory.erase_history(&owner, ChangedEntity::Host, uuid(1)).await.unwrap();
        let (entries, _) = link_entries(&fixture, None).await;
        assert_eq!(entries.len(), before.len());
        let (erased, kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.is_erased);
        assert!(kept.len() == 1 && kept[0].fields.contains_key("source"));
        assert!(erased.iter().all(|entry| entry.fields.is_empty() && entry.name.is_empty()));
        assert!(erased.iter().all(|entry| entry.cause.is_some()));
    });
}

#[test]
fn restored_organization_has_the_same_links_and_goes_on_from_them() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 2)).await;
        let mut access = switch(2, fixture.network, 2);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        let (before, _) = link_entries(&fixture, None).await;
        let mut file = Vec::new();
        fixture
            .inventory
            .organizations()
            .export(fixture.organization, Export::new(), &mut file)
            .await
            .unwrap();
        let other = Inventory::new(MemoryStore::new());
        other.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        let entries = async || {
            followed(&other).await;
            let mut query = ChangeQuery::default();
            query.entity = Some(ChangedEntity::Link);
            other.changes(&owner_of(fixture.organization), &query).await.unwrap().changes
        };
        entries().await;
        let restored = entries().await;
        assert_eq!(restored.len(), before.len());
        // The cause is the restored entry, which has another position here.
        let mut query = ChangeQuery::default();
        (query.entity, query.id) = (Some(ChangedEntity::Host), Some(access.id.uuid()));
        let hosts = other.changes(&owner_of(fixture.organization), &query).await.unwrap().changes;
        assert_eq!(restored[0].cause, Some(hosts.last().unwrap().position.clone()));
        plug(&mut access, 1, None);
        other.hosts().put(&fixture.system(), access).await.unwrap();
        let [_, deleted] = entries().await.try_into().unwrap();
        assert_eq!((deleted.action, deleted.id), (ChangeAction::Deleted, before[0].id));
    });
}

#[test]
fn restored_network_continues_at_the_place_of_its_restored_entries() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&switch(1, fixture.network, 2)).await;
        let mut access = switch(2, fixture.network, 2);
        plug(&mut access, 1, Some((1, 1)));
        fixture.put(&access).await;
        let _recorded = link_entries(&fixture, None).await;
        let mut file = Vec::new();
        let organizations = fixture.inventory.organizations();
        organizations.export(fixture.organization, Export::new(), &mut file).await.unwrap();
        // Entries of before the gap of this store have smaller eras.
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Inventory::new(Arc::clone(&store)).without_history().organizations().create("First").await.unwrap();
        let other = Inventory::new(Arc::clone(&store));
        other.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        let body = async |store: &dyn Store| {
            let mut query = Query::new(Name::new("network_links"));
            query.organization = Some(fixture.organization.uuid());
            let record = store.list(&query).await.unwrap().records.pop().unwrap();
            serde_json::from_slice::<Value>(&record.body).unwrap()
        };
        let before = body(&*fixture.store).await["reached"].clone();
        let restored = body(&*store).await["reached"].clone();
        assert!(restored["era"].as_u64() > before["era"].as_u64(), "{restored}");
        assert_eq!((&restored["version"], &restored["commit"]), (&before["version"], &before["commit"]));
    });
}

#[test]
fn causes_are_those_of_the_restored_entries_when_a_whole_store_is_restored() {
    run(async || {
        let fixture = Fixture::new().await;
        for number in 1..=3 {
            let mut access = switch(number, fixture.network, 2);
            plug(&mut access, 1, Some((1, 2)).filter(|_| number > 1));
            fixture.put(&access).await;
            let _recorded = link_entries(&fixture, None).await;
        }
        fixture.inventory.tags().delete(&fixture.system(), fixture.tags[0]).await.unwrap();
        let owner = owner_of(fixture.organization);
        let before = fixture.inventory.changes(&owner, &ChangeQuery::default()).await.unwrap().changes;
        let mut file = Vec::new();
        Export::new().write(&*fixture.store, &mut file).await.unwrap();
        let restored = MemoryStore::new();
        Restore::new().read(&restored, &file[..]).await.unwrap();
        let after = Inventory::new(restored).changes(&owner, &ChangeQuery::default()).await.unwrap().changes;
        // The place of each cause among the entries.
        let causes = |changes: &[Change]| -> Vec<Option<usize>> {
            let place = |change: &Change| {
                let cause = change.cause.as_ref()?;
                Some(
                    changes.iter().position(|other| other.position == *cause).expect("the cause is an entry"),
                )
            };
            changes.iter().map(place).collect()
        };
        let expected = causes(&before);
        assert!(expected.iter().flatten().count() >= 2, "{expected:?}");
        assert_eq!(causes(&after), expected);
    });
}

pub(super) async fn count(fixture: &Fixture, kind: &'static str) -> usize {
    fixture.store.list(&Query::new(Name::new(kind))).await.unwrap().records.len()
}

#[test]
fn inventory_without_history_follows_nothing() {
    run(async || {
        let store = Arc::new(MemoryStore::new());
        let inventory = Inventory::new(store.clone()).without_history();
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let caller = Caller::system(organization);
        let network = toposcope::model::Network::new("Office");
        let network = inventory.networks().create(&caller, network).await.unwrap().id;
        let mut access = switch(2, network, 1);
        plug(&mut access, 1, Some((1, 1)));
        inventory.hosts().put(&caller, access.clone()).await.unwrap();
        assert_eq!((inventory.figures().followed_networks, inventory.figures().background_tasks), (0, 0));
        drop(inventory);

        // Links of before are one entry, as those of other rules are.
        let inventory = Inventory::new(store);
        let entries = async || {
            followed(&inventory).await;
            let mut query = ChangeQuery::default();
            query.entity = Some(ChangedEntity::Link);
            inventory.changes(&owner_of(organization), &query).await.unwrap().changes
        };
        inventory.changes(&caller, &ChangeQuery::default()).await.unwrap();
        let [rules] = entries().await.try_into().unwrap();
        assert_eq!((rules.action, rules.id), (ChangeAction::RulesChanged, network.uuid()));
        plug(&mut access, 1, None);
        inventory.hosts().put(&caller, access).await.unwrap();
        let [_, deleted] = entries().await.try_into().unwrap();
        assert_eq!(deleted.action, ChangeAction::Deleted);
    });
}
