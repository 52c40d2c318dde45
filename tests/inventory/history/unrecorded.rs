//! Links whose changes were not recorded when a process ended, or when an organization was exported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use toposcope::access::Caller;
use toposcope::discovery::reconcile::PortNames;
use toposcope::discovery::report::{FdbRow, FdbStatus, Report, Reporter, Table};
use toposcope::inventory::{ChangeQuery, DiscoverOptions, HistoryLimits, Inventory};
use toposcope::model::{Change, ChangeAction, ChangedEntity, MacAddress, Tag};
use toposcope::store::{
    Batch, Export, Facets, Key, Link as StoreLink, Name, Precondition, Restore, Store, StoreError,
};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};

use super::joining::{impatient, joined};
use super::links::{count, last_entry, link_entries, plug, switch};
use crate::backend::{TestStore, run};
use crate::support::{Fixture, bare_host, followed, id, interface, inventory_in, owner_of, time, uuid};

/// Returns all entries of links and hosts, in their order, without positions.
async fn contents(inventory: &Inventory, caller: &Caller) -> Vec<Change> {
    let mut query = ChangeQuery::default();
    query.limit = Some(1_000);
    let mut changes = inventory.changes(caller, &query).await.unwrap().changes;
    changes.retain(|change| [ChangedEntity::Host, ChangedEntity::Link].contains(&change.entity));
    changes
}

/// Returns a fixture in which the process ended before the link between two switches was recorded.
async fn with_unrecorded_link() -> Fixture {
    let fixture = Fixture::new().await;
    fixture.put(&switch(1, fixture.network, 2)).await;
    followed(&fixture.inventory).await;
    let second = fixture.second_inventory();
    let mut access = switch(2, fixture.network, 2);
    plug(&mut access, 1, Some((1, 1)));
    second.hosts().put(&Caller::system(fixture.organization), access).await.unwrap();
    fixture
}

async fn export(fixture: &Fixture) -> Vec<u8> {
    let mut file = Vec::new();
    let organizations = fixture.inventory.organizations();
    organizations.export(fixture.organization, Export::new(), &mut file).await.unwrap();
    file
}

fn kinds(changes: &[Change]) -> Vec<(ChangedEntity, ChangeAction, uuid::Uuid)> {
    changes.iter().map(|change| (change.entity, change.action, change.id)).collect()
}

#[test]
fn link_recorded_after_an_export_is_in_the_restored_history_later() {
    run(async || {
        let fixture = with_unrecorded_link().await;
        let owner = owner_of(fixture.organization);
        let (exported, file) = (contents(&fixture.inventory, &owner).await, export(&fixture).await);
        assert!(exported.iter().all(|change| change.entity == ChangedEntity::Host));
        // The source records the link only now, after its export.
        let reopened = fixture.second_inventory();
        reopened.changes(&owner, &ChangeQuery::default()).await.unwrap();
        followed(&reopened).await;
        let source = contents(&fixture.inventory, &owner).await;
        assert_eq!(source.len(), exported.len() + 1);
        assert_eq!(source.last().unwrap().entity, ChangedEntity::Link);

        let backend = TestStore::new().await;
        let restored = inventory_in(backend.store());
        restored.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        followed(&restored).await;
        let later = contents(&restored, &owner).await;
        assert_eq!(kinds(&later), kinds(&source));
        assert_eq!(later.last().unwrap().fields, source.last().unwrap().fields);
    });
}

#[test]
fn restored_organization_is_followed_where_others_were_before() {
    run(async || {
        let fixture = with_unrecorded_link().await;
        let owner = owner_of(fixture.organization);
        let file = export(&fixture).await;
        let backend = TestStore::new().await;
        let other = inventory_in(backend.store());
        let first = Caller::system(other.organizations().create("First").await.unwrap().id);
        other.changes(&first, &ChangeQuery::default()).await.unwrap();
        followed(&other).await;
        other.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        followed(&other).await;
        let restored = contents(&other, &owner).await;
        assert_eq!(restored.last().unwrap().entity, ChangedEntity::Link);
    });
}

/// Returns a report of a switch that has learned an address at a port, or none.
fn learning(address: MacAddress, is_learned: bool, at: &str) -> Report {
    let mut device = crate::discovery::support::switch(1);
    let mut row = FdbRow::new(address);
    (row.if_index, row.status) = (Some(1), Some(FdbStatus::Learned));
    let rows = is_learned.then_some(row).into_iter().collect();
    device.tables.fdb = Some(Table::complete(rows));
    let mut report = Report::new(Reporter::new("test"), time(at));
    report.devices = vec![device];
    report
}

/// Puts a host with one interface. Returns its MAC address.
async fn put_station(fixture: &Fixture) -> MacAddress {
    let mut station = bare_host(id(2), fixture.network);
    let address = MacAddress::new([0x00, 0x1b, 0x21, 2, 0, 0]);
    station.interfaces = vec![interface(&station, id(21), "192.0.2.2", 0)];
    station.interfaces[0].mac_address = Some(address);
    fixture.put(&station).await;
    address
}

#[test]
fn instance_with_other_rules_keeps_one_note_of_claims() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let address = put_station(&fixture).await;
        let discover = async |is_learned: bool, second: usize| {
            let options = DiscoverOptions::new(fixture.network);
            let report = learning(address, is_learned, &format!("2026-08-01T12:00:{second:02}Z"));
            fixture.inventory.discovery().reconcile(&owner, &report, options).await.unwrap();
            followed(&fixture.inventory).await;
        };
        discover(false, 0).await;
        let with_names = || {
            let names = PortNames::new().with_kind("10GE", "xge").unwrap();
            fixture.second_inventory().with_port_names(names)
        };
        let open = async || {
            let other = with_names();
            other.changes(&owner, &ChangeQuery::default()).await.unwrap();
            followed(&other).await;
        };
        // The links are then recorded by its rules.
        open().await;
        let (_, start) = link_entries(&fixture, None).await;
        for second in 1..6 {
            discover(second % 2 == 1, second).await;
            assert_eq!(count(&fixture, "pending_claims").await, 1, "after {second} reports");
        }
        assert_eq!(link_entries(&fixture, Some(&start)).await.0, []);
        for _ in 0..2 {
            open().await;
        }
        assert_eq!(count(&fixture, "pending_claims").await, 0);
        let (entries, _) = link_entries(&fixture, Some(&start)).await;
        let [created] = entries.try_into().unwrap();
        assert_eq!(created.action, ChangeAction::Created);
    });
}

#[test]
fn changes_of_claims_alone_are_recorded_after_the_end_of_the_process() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let address = put_station(&fixture).await;
        let report = |is_learned: bool, at: &str| learning(address, is_learned, at);
        let discover = async |inventory: &Inventory, report: &Report| {
            let options = DiscoverOptions::new(fixture.network);
            inventory.discovery().reconcile(&owner, report, options).await.unwrap();
        };
        discover(&fixture.inventory, &report(false, "2026-08-01T12:00:00Z")).await;
        // The entry of a link is written with the place up to which entries are followed.
        fixture.put(&switch(101, fixture.network, 1)).await;
        let mut access = switch(102, fixture.network, 1);
        plug(&mut access, 1, Some((101, 1)));
        fixture.put(&access).await;
        let (before, start) = link_entries(&fixture, None).await;
        assert_eq!(before.len(), 1);
        let second = fixture.second_inventory();
        discover(&second, &report(true, "2026-08-01T12:00:01Z")).await;
        drop(second);
        let mut query = ChangeQuery::default();
        query.after = Some(start.clone());
        assert_eq!(fixture.inventory.changes(&owner, &query).await.unwrap().changes, []);
        let notes = count(&fixture, "pending_claims").await;
        assert!(notes >= 1);
        // A turn of another instance, which does not know what the note is about, keeps it.
        fixture.put(&switch(103, fixture.network, 1)).await;
        followed(&fixture.inventory).await;
        assert_eq!(count(&fixture, "pending_claims").await, notes);
        for _ in 0..2 {
            let reopened = fixture.second_inventory();
            reopened.changes(&owner, &ChangeQuery::default()).await.unwrap();
            followed(&reopened).await;
        }
        let (entries, _) = link_entries(&fixture, Some(&start)).await;
        let [created] = entries.try_into().unwrap();
        assert_eq!(created.action, ChangeAction::Created);
        assert_eq!(count(&fixture, "pending_claims").await, 0);
    });
}

#[test]
fn notes_of_claims_do_not_outlive_their_network() {
    run(async || {
        let fixture = Fixture::new().await;
        let on = StoreLink::new(Name::new("recorded_on"), fixture.other_network.uuid());
        let facets = Facets::default().with_organization(fixture.organization.uuid()).with_links([on]);
        let body = format!(r#"{{"organization_id":"{}"}}"#, fixture.organization);
        let mut batch = Batch::new();
        let key = Key::new(Name::new("pending_claims"), uuid(77));
        batch.put(key, Precondition::Absent, facets, body);
        fixture.store.commit(batch).await.unwrap();
        fixture.inventory.networks().delete(&fixture.system(), fixture.other_network).await.unwrap();
        followed(&fixture.inventory).await;
        assert_eq!(count(&fixture, "pending_claims").await, 0);
    });
}

#[test]
fn entries_that_were_joined_before_the_next_start_lead_to_links() {
    run(async || {
        let fixture = with_unrecorded_link().await;
        let owner = owner_of(fixture.organization);
        let writer = impatient(&fixture, HistoryLimits::default());
        for number in 0..600 {
            let rename = |tag: &mut Tag| {
                tag.name = format!("tag {number}");
                Ok(())
            };
            writer.tags().update(&owner, fixture.tags[0], rename).await.unwrap();
        }
        joined(&fixture).await;
        let reopened = fixture.second_inventory();
        reopened.changes(&owner, &ChangeQuery::default()).await.unwrap();
        followed(&reopened).await;
        let (entries, _) = link_entries(&fixture, None).await;
        let [created] = entries.try_into().unwrap();
        assert_eq!(created.cause, Some(last_entry(&fixture, id(2)).await));
    });
}

/// A hook that measures the largest answer to a list of claims, in bytes.
#[derive(Debug, Default)]
struct LargestClaims(AtomicUsize);

#[async_trait]
impl Intercept for LargestClaims {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        let is_of_claims =
            matches!(call.operation(), Operation::List(query) if query.kind.as_str() == "claim");
        let reply = call.proceed().await?;
        if let Reply::Page(page) = &reply
            && is_of_claims
        {
            let bytes = page.records.iter().map(|record| record.body.len()).sum();
            self.0.fetch_max(bytes, Ordering::SeqCst);
        }
        Ok(reply)
    }
}

#[test]
fn claims_of_many_hosts_are_read_some_megabytes_at_a_time() {
    const BYTES: usize = 300 * 1024;
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let devices =
            (1..=10).map(|number| crate::discovery::support::switch_seeing(number, number % 10 + 1));
        let mut report = Report::new(Reporter::new("test"), time("2026-08-01T12:00:00Z"));
        report.devices = devices.collect();
        let options = DiscoverOptions::new(fixture.network);
        fixture.inventory.discovery().reconcile(&owner, &report, options).await.unwrap();
        let (before, after) = link_entries(&fixture, None).await;
        assert!(!before.is_empty());
        // The same claims, each with much white space.
        let mut snapshot = fixture.store.snapshot().await.unwrap();
        let mut batch = Batch::new();
        loop {
            let entries = snapshot.next(100).await.unwrap();
            if entries.is_empty() {
                break;
            }
            for entry in entries.into_iter().filter(|entry| entry.record.key.kind.as_str() == "claim") {
                let mut body = entry.record.body.to_vec();
                body.resize(body.len() + BYTES, b' ');
                batch.put(entry.record.key, Precondition::Present, entry.facets, body);
            }
        }
        assert_eq!(batch.writes().len(), 30);
        fixture.store.commit(batch).await.unwrap();
        let store: Arc<dyn Store> = fixture.store.clone();
        let store = Arc::new(Interceptor::new(store, LargestClaims::default()));
        let inventory = inventory_in(store.clone());
        inventory
            .hosts()
            .put(&Caller::system(fixture.organization), switch(100, fixture.network, 1))
            .await
            .unwrap();
        followed(&inventory).await;
        let largest = store.hook().0.load(Ordering::SeqCst);
        assert!(largest > BYTES && largest < 5 << 20, "{largest} bytes");
        assert_eq!(link_entries(&fixture, Some(&after)).await.0, []);
    });
}
