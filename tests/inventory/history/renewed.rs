//! A store that was restored as a whole has the entries of the other one, in new places.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toposcope::MemoryStore;
use toposcope::access::{Caller, RandomError, RandomSource, Scope, SystemRandom};
use toposcope::inventory::{ChangeQuery, Inventory};
use toposcope::model::{Change, HostId, OrderDirection, Permission, Tag, UserId};
use toposcope::store::{Export, Name, Query, Restore, Store};
use toposcope::testing::Interceptor;

use super::joining::{Impatient, read};
use crate::backend::run;
use crate::support::{Fault, Fixture, Probe, bare_host, owner_of};

/// Random numbers with which no commit checks for older entries to join.
#[derive(Debug)]
struct NeverJoining;

impl RandomSource for NeverJoining {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        SystemRandom.fill(bytes)?;
        if let [first, _, _, _, _, _, _, _] = bytes {
            *first |= 0x80;
        }
        Ok(())
    }
}

/// The number of commits beside those that delete tags.
const COMMITS: u32 = 1_200;

/// Makes changes by several users. Some lead to others, on two networks.
async fn change(fixture: &Fixture) {
    let inventory = fixture.inventory.clone().with_random(Arc::new(NeverJoining));
    for number in 0..COMMITS {
        fixture.clock.advance(Duration::from_millis(700));
        let user = UserId::from_u128(u128::from(number % 3) + 1);
        let caller = Caller::new(fixture.organization, user, Permission::Owner, Scope::all())
            .in_request(&format!("request {number}"));
        let rename = |tag: &mut Tag| {
            tag.name = format!("tag {number}");
            Ok(())
        };
        inventory.tags().update(&caller, fixture.tags[0], rename).await.unwrap();
        if number % 60 == 0 {
            let tag = inventory.tags().create(&caller, Tag::new(format!("deleted {number}"))).await.unwrap();
            for (place, network) in [fixture.network, fixture.other_network].into_iter().enumerate() {
                let id = HostId::from_u128(u128::from(number) * 2 + place as u128 + 1);
                let mut host = bare_host(id, network);
                host.tags = vec![tag.id];
                inventory.hosts().put(&fixture.system(), host).await.unwrap();
            }
            inventory.tags().delete(&caller, tag.id).await.unwrap();
        }
    }
}

/// Returns another store with the content of the fixture's.
async fn restored(fixture: &Fixture) -> Arc<MemoryStore> {
    let mut file = Vec::new();
    Export::new().write(&*fixture.store, &mut file).await.unwrap();
    let store = MemoryStore::new();
    Restore::new().read(&store, &file[..]).await.unwrap();
    Arc::new(store)
}

fn unjoined(store: impl Store + 'static) -> Inventory {
    Inventory::new(store).with_random(Arc::new(NeverJoining))
}

/// Returns entries without their positions, each with the place of its cause among them.
fn unplaced(changes: &[Change]) -> Vec<(Value, Option<usize>)> {
    let places: HashMap<&str, usize> =
        changes.iter().enumerate().map(|(place, change)| (change.position.as_str(), place)).collect();
    assert_eq!(places.len(), changes.len(), "two entries have the same position");
    let unplaced = |change: &Change| {
        let cause = change.cause.as_ref().map(|cause| places[cause.as_str()]);
        let mut content = serde_json::to_value(change).unwrap();
        let members = content.as_object_mut().unwrap();
        members.remove("position").unwrap();
        members.remove("cause");
        (content, cause)
    };
    changes.iter().map(unplaced).collect()
}

/// Compares entries, and causes by their places.
fn assert_same(after: &[Change], before: &[Change]) {
    let (after, before) = (unplaced(after), unplaced(before));
    assert_eq!(after.len(), before.len());
    for (place, (after, before)) in after.iter().zip(&before).enumerate() {
        assert_eq!(after, before, "entry {place}");
    }
}

#[test]
fn restored_history_is_the_same_on_pages_of_all_sizes() {
    run(async || {
        let fixture = Fixture::new().await;
        change(&fixture).await;
        let owner = owner_of(fixture.organization);
        let before = read(&fixture.inventory, &owner, &ChangeQuery::default(), 1_000).await;
        assert!(before.len() > 1_000);
        assert!(before.iter().filter(|change| change.cause.is_some()).count() >= 40);
        let inventory = unjoined(restored(&fixture).await);
        let all = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        assert_same(&all, &before);
        let mut descending = ChangeQuery::default();
        descending.order_direction = OrderDirection::Descending;
        for size in [23, 1_000] {
            assert_eq!(read(&inventory, &owner, &ChangeQuery::default(), size).await, all);
            assert_eq!(read(&inventory, &owner, &descending, size).await, all);
        }
        for place in (0..all.len()).step_by(83) {
            let mut query = ChangeQuery::default();
            (query.after, query.limit) = (Some(all[place].position.clone()), Some(3));
            let page = inventory.changes(&owner, &query).await.unwrap();
            assert_eq!(page.changes, all[place + 1..all.len().min(place + 4)]);
            let mut query = descending.clone();
            (query.before, query.limit) = (Some(all[place].position.clone()), Some(3));
            let mut page = inventory.changes(&owner, &query).await.unwrap().changes;
            page.reverse();
            assert_eq!(page, all[place.saturating_sub(3)..place]);
            let mut query = ChangeQuery::default();
            (query.until, query.order_direction) = (Some(all[place].at.into()), OrderDirection::Descending);
            query.limit = Some(1);
            let page = inventory.changes(&owner, &query).await.unwrap();
            let last = all.iter().rfind(|change| change.at <= all[place].at);
            assert_eq!(page.changes.first(), last);
        }
    });
}

#[test]
fn restored_entries_keep_times_and_actors_when_they_are_joined() {
    run(async || {
        let fixture = Fixture::new().await;
        change(&fixture).await;
        let owner = owner_of(fixture.organization);
        let store = restored(&fixture).await;
        let inventory = unjoined(store.clone());
        let before = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        let count = async |kind| {
            let mut query = Query::new(Name::new(kind));
            query.limit = Some(0);
            store.list(&query).await.unwrap().total
        };
        assert_eq!(count("change_run").await, 0);
        let impatient = inventory.clone().with_random(Arc::new(Impatient));
        impatient.tags().create(&owner, Tag::new("new")).await.unwrap();
        while count("change_run").await == 0 || count("change").await >= 512 {
            tokio::task::yield_now().await;
        }
        for size in [41, 1_000] {
            let joined = read(&inventory, &owner, &ChangeQuery::default(), size).await;
            assert_eq!(joined[..before.len()], before);
            assert_eq!(joined.len(), before.len() + 1);
        }
    });
}

#[test]
fn interrupted_renewal_goes_on_in_the_same_order() {
    run(async || {
        let fixture = Fixture::new().await;
        change(&fixture).await;
        let owner = owner_of(fixture.organization);
        let before = read(&fixture.inventory, &owner, &ChangeQuery::default(), 1_000).await;
        for passing in [1, 2, 5] {
            let store = restored(&fixture).await;
            let probe = Probe::new(Fault::None);
            let failing: Arc<dyn Store> = store.clone();
            let failing = Arc::new(Interceptor::new(failing, probe.clone()));
            let mut failures = 0;
            loop {
                // Each attempt writes some entries again, and ends.
                probe.set(Fault::UnavailableAfterCommits(passing));
                let attempt = unjoined(failing.clone()).changes(&owner, &ChangeQuery::default()).await;
                if attempt.is_ok() {
                    break;
                }
                failures += 1;
                assert!(failures < 100, "no attempt goes on");
            }
            assert!(failures >= 1, "nothing was interrupted");
            let all = read(&unjoined(store.clone()), &owner, &ChangeQuery::default(), 1_000).await;
            assert_same(&all, &before);
            let left = store.list(&Query::new(Name::new("history"))).await.unwrap();
            assert_eq!(left.total, 1, "places of causes are left");
        }
    });
}
