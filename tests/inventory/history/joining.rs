//! Older entries are joined, and beyond the limits forgotten, while others read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use toposcope::access::{Caller, RandomError, RandomSource, Scope, SystemRandom};
use toposcope::inventory::{ChangeQuery, ErrorKind, HistoryLimits, Moment, SummaryQuery};
use toposcope::model::{
    Change, ChangeCount, ChangePosition, HostId, Network, OrderDirection, Permission, Tag, TagId, Timestamp,
    UserId,
};
use toposcope::store::{Export, Name, Query, Restore, Store};
use toposcope::{Inventory, MemoryStore};

use crate::backend::run;
use crate::support::{Fixture, bare_host, owner_of, refusal};

/// Random numbers with which each commit checks for older entries to join.
#[derive(Debug)]
pub(super) struct Impatient;

impl RandomSource for Impatient {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        if bytes.len() == 8 {
            bytes.fill(0);
            return Ok(());
        }
        SystemRandom.fill(bytes)
    }
}

/// The number of commits after which older entries are joined, and some.
const COMMITS: usize = 1_700;

/// Returns an inventory in the fixture's store that soon joins entries.
pub(super) fn impatient(fixture: &Fixture, limits: HistoryLimits) -> Inventory {
    fixture.inventory.clone().with_random(Arc::new(Impatient)).with_history_limits(limits)
}

/// Changes tags and hosts of two networks, one commit at a time.
async fn change(fixture: &Fixture, inventory: &Inventory, commits: usize) {
    let owner = owner_of(fixture.organization);
    let tag: TagId = fixture.tags[0];
    for number in 0..commits {
        fixture.clock.advance(Duration::from_secs(1));
        let network = if number % 9 == 0 { fixture.other_network } else { fixture.network };
        match number % 3 {
            0 => {
                let mut host = bare_host(HostId::from_u128(7 + (number as u128 % 27)), network);
                host.name = format!("host {number}");
                let id = host.id;
                match inventory.hosts().create(&owner, host).await {
                    Ok(_) => {}
                    Err(_) => inventory.hosts().delete(&owner, id).await.unwrap(),
                }
            }
            _ => {
                let rename = |tag: &mut Tag| {
                    tag.name = format!("tag {number}");
                    Ok(())
                };
                inventory.tags().update(&owner, tag, rename).await.unwrap();
            }
        }
    }
}

async fn count(fixture: &Fixture, kind: Name) -> u64 {
    let mut query = Query::new(kind);
    query.limit = Some(0);
    fixture.store.list(&query).await.unwrap().total
}

/// Follows the history while it is written, for as many entries as there are commits.
fn follow(inventory: &Inventory, caller: &Caller) -> JoinHandle<Vec<Change>> {
    let mut watch = inventory.watch(caller, None);
    tokio::spawn(async move {
        let mut followed = Vec::new();
        while followed.len() < COMMITS {
            followed.push(watch.next().await.unwrap());
        }
        followed
    })
}

/// Waits until entries are joined and fewer than this are not.
pub(super) async fn joined(fixture: &Fixture) {
    while count(fixture, Name::new("change_run")).await == 0
        || count(fixture, Name::new("change")).await >= 512
    {
        tokio::task::yield_now().await;
    }
}

/// Reads all entries in pages of a size.
pub(super) async fn read(
    inventory: &Inventory,
    caller: &Caller,
    query: &ChangeQuery,
    size: usize,
) -> Vec<Change> {
    let mut query = query.clone();
    query.limit = Some(size);
    let mut found = Vec::new();
    loop {
        let page = inventory.changes(caller, &query).await.unwrap();
        if page.changes.is_empty() {
            break;
        }
        match query.order_direction {
            OrderDirection::Ascending => query.after = Some(page.next),
            OrderDirection::Descending => query.before = Some(page.next),
        }
        found.extend(page.changes);
    }
    if query.order_direction == OrderDirection::Descending {
        found.reverse();
    }
    found
}

/// Checks that summaries of parts of the history count what a caller reads, in these steps.
async fn assert_summaries(inventory: &Inventory, caller: &Caller, step: usize) {
    let mut all = read(inventory, caller, &ChangeQuery::default(), 1_000).await;
    while let Some(difference) = difference_of_summaries(inventory, caller, &all, step).await {
        let now = read(inventory, caller, &ChangeQuery::default(), 1_000).await;
        assert_ne!(now.len(), all.len(), "{difference}");
        // Older entries were forgotten meanwhile.
        all = now;
    }
}

async fn difference_of_summaries(
    inventory: &Inventory,
    caller: &Caller,
    all: &[Change],
    step: usize,
) -> Option<String> {
    let places = (0..all.len()).step_by(step).chain([all.len() - 1]);
    let bounds: Vec<Option<usize>> = [None].into_iter().chain(places.map(Some)).collect();
    for (index, since) in bounds.iter().enumerate() {
        for until in bounds[index..].iter().skip(1).chain([&None]) {
            let mut query = SummaryQuery::default();
            let moment = |place: &usize| Moment::Position(all[*place].position.clone());
            (query.since, query.until) = (since.as_ref().map(moment), until.as_ref().map(moment));
            let (start, end) =
                (since.map_or(0, |since| since + 1), until.map_or(all.len(), |until| until + 1));
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for Change { at, entity, action, actor, .. } in &all[start..end] {
                let day: String = at.to_string().chars().take(10).collect();
                *expected.entry(format!("{day} {entity} {action} {:?}", actor.user_id())).or_default() += 1;
            }
            let summary = match inventory.change_summary(caller, &query).await {
                Ok(summary) => summary,
                Err(error) => return Some(format!("{since:?} to {until:?}: {error}")),
            };
            assert_eq!(summary.next, None);
            let counted = summary.counts.iter().map(|count| {
                let ChangeCount { day, entity, action, actor, count, .. } = count;
                (format!("{day} {entity} {action} {:?}", actor.user_id()), *count)
            });
            let counted: BTreeMap<String, u64> = counted.collect();
            if counted != expected {
                return Some(format!("{since:?} to {until:?}: {counted:?} instead of {expected:?}"));
            }
        }
    }
    None
}

fn viewer(fixture: &Fixture) -> Caller {
    let scope = Scope::only([fixture.other_network]);
    Caller::new(fixture.organization, UserId::from_u128(7), Permission::Viewer, scope)
}

#[test]
fn joined_entries_are_read_as_before() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let inventory = impatient(&fixture, HistoryLimits::default());
        let follower = follow(&inventory, &owner);
        change(&fixture, &inventory, COMMITS).await;
        joined(&fixture).await;
        let all = read(&inventory, &owner, &ChangeQuery::default(), 97).await;
        let followed = follower.await.unwrap();
        assert!(all.len() >= COMMITS);
        assert_eq!(followed, all[..COMMITS]);
        let mut query = ChangeQuery::default();
        query.order_direction = OrderDirection::Descending;
        assert_eq!(read(&inventory, &owner, &query, 89).await, all);
        for id in [fixture.tags[0].uuid(), HostId::from_u128(7).uuid()] {
            let mut query = ChangeQuery::default();
            query.id = Some(id);
            let own: Vec<Change> = all.iter().filter(|change| change.id == id).cloned().collect();
            assert_eq!(read(&inventory, &owner, &query, 50).await, own);
        }
        let viewer = viewer(&fixture);
        assert_summaries(&inventory, &owner, 700).await;
        assert_summaries(&inventory, &viewer, 200).await;
        let seen: Vec<ChangePosition> = read(&inventory, &viewer, &ChangeQuery::default(), 100)
            .await
            .into_iter()
            .map(|change| change.position)
            .collect();
        let network = Some(fixture.other_network);
        let own = all.iter().filter(|change| {
            change.network_id == network
                || change.network_id.is_none() && change.id != viewer.user_id().uuid()
        });
        assert_eq!(seen, own.map(|change| change.position.clone()).collect::<Vec<_>>());
        for place in (0..all.len()).step_by(211) {
            let mut query = ChangeQuery::default();
            (query.after, query.limit) = (Some(all[place].position.clone()), Some(3));
            let page = inventory.changes(&owner, &query).await.unwrap();
            assert_eq!(page.changes, all[place + 1..all.len().min(place + 4)]);
            let mut query = ChangeQuery::default();
            let (since, until) = (all[place].at, all[place].at.plus_micros(2_500_000));
            (query.since, query.until) = (Some(since.into()), Some(until.into()));
            let between = all.iter().filter(|change| change.at > since && change.at <= until);
            let page = inventory.changes(&owner, &query).await.unwrap();
            assert_eq!(page.changes, between.cloned().collect::<Vec<_>>());
        }
    });
}

#[test]
fn entries_beyond_the_limits_are_forgotten_from_the_oldest_on() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut limits = HistoryLimits::default();
        limits.max_entries = 700;
        let first = read(&fixture.inventory, &owner, &ChangeQuery::default(), 1).await.swap_remove(0);
        let inventory = impatient(&fixture, limits);
        let follower = follow(&inventory, &owner);
        change(&fixture, &inventory, COMMITS).await;
        joined(&fixture).await;
        let followed = follower.await.unwrap();
        let mut all = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        while all.len() > COMMITS - 400 {
            tokio::task::yield_now().await;
            all = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        }
        assert!(all.len() >= 700 - 300);
        let start = followed.iter().position(|change| change.position == all[0].position).unwrap();
        assert_eq!(followed[start..], all[..followed.len() - start]);
        let mut query = ChangeQuery::default();
        query.after = Some(first.position);
        assert_summaries(&inventory, &owner, 300).await;
        assert!(inventory.changes(&owner, &query).await.is_err());
    });
}

#[test]
fn old_entries_are_forgotten_by_the_purge() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let inventory = impatient(&fixture, HistoryLimits::default());
        change(&fixture, &inventory, COMMITS).await;
        joined(&fixture).await;
        let all = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        fixture.clock.advance(Duration::from_secs(400 * 24 * 60 * 60 - 100));
        inventory.purge_expired().await.unwrap();
        let left = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        // Entries are deleted with those that they are joined with, at the latest.
        assert!((99..1_000).contains(&left.len()), "{} of {}", left.len(), all.len());
        assert_eq!(left, all[all.len() - left.len()..]);
    });
}

/// Returns what entries say beside their positions.
fn without_positions(changes: &[Change]) -> Vec<(Timestamp, String, uuid::Uuid)> {
    changes.iter().map(|change| (change.at, change.name.clone(), change.id)).collect()
}

#[test]
fn restored_entries_keep_their_order_and_come_before_new_ones() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let inventory = impatient(&fixture, HistoryLimits::default());
        change(&fixture, &inventory, COMMITS).await;
        joined(&fixture).await;
        let all = read(&inventory, &owner, &ChangeQuery::default(), 1_000).await;
        let mut file = Vec::new();
        inventory.organizations().export(fixture.organization, Export::new(), &mut file).await.unwrap();
        let other = Inventory::new(MemoryStore::new());
        let elsewhere = other.organizations().create("Elsewhere").await.unwrap().id;
        other.networks().create(&Caller::system(elsewhere), Network::new("Office")).await.unwrap();
        other.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        let restored = read(&other, &owner, &ChangeQuery::default(), 333).await;
        assert_eq!(without_positions(&restored), without_positions(&all));
        assert_summaries(&other, &owner, 900).await;
        let tag = other.tags().create(&owner, Tag::new("new")).await.unwrap();
        let mut query = ChangeQuery::default();
        query.after = restored.last().map(|change| change.position.clone());
        let new = read(&other, &owner, &query, 10).await;
        assert_eq!(new.iter().map(|change| change.id).collect::<Vec<_>>(), [tag.id.uuid()]);
        query.after = all.last().map(|change| change.position.clone());
        assert!(other.changes(&owner, &query).await.is_err());
    });
}

#[test]
fn history_that_was_off_begins_again_and_instances_must_agree() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let before = read(&fixture.inventory, &owner, &ChangeQuery::default(), 100).await;
        assert!(!before.is_empty());
        let off = Inventory::new(fixture.store.clone()).without_history();
        off.tags().create(&owner, Tag::new("not recorded")).await.unwrap();
        let refused = refusal(fixture.inventory.tags().create(&owner, Tag::new("refused")).await);
        assert_eq!(refused, ErrorKind::StoreUnavailable);
        let again = Inventory::new(fixture.store.clone());
        assert_eq!(read(&again, &owner, &ChangeQuery::default(), 100).await, []);
        let mut query = ChangeQuery::default();
        query.after = Some(before[0].position.clone());
        assert!(again.changes(&owner, &query).await.is_err());
        again.tags().create(&owner, Tag::new("recorded")).await.unwrap();
        let names: Vec<String> = read(&again, &owner, &ChangeQuery::default(), 100)
            .await
            .into_iter()
            .map(|change| change.name)
            .collect();
        assert_eq!(names, ["recorded"]);
        let late = refusal(off.tags().create(&owner, Tag::new("refused too")).await);
        assert_eq!(late, ErrorKind::StoreUnavailable);
    });
}
