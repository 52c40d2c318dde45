//! Entries of the history: changes, actors and order.

mod diff;
mod joining;
#[cfg(feature = "topology")]
mod layouts;
#[cfg(feature = "topology")]
mod links;
mod lists;
mod model;
mod older;
mod renewed;
pub(crate) mod replay;
mod revert;
mod security;
mod summary;
#[cfg(feature = "topology")]
mod unrecorded;

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{ChangeQuery, Entity, ErrorKind, HostQuery, ListQuery, Moment, Problem};
use toposcope::model::{
    Change, ChangeAction, ChangeActor, ChangePosition, ChangedEntity, HostId, NetworkId, OrderDirection,
    Permission, Tag, Timestamp, UserId,
};
use toposcope::store::{Batch, LinkFilter, Name, Precondition, Query, Store};

use crate::backend::{Backend, run};
use crate::support::{Fault, Fixture, bare_host, invalid, owner_of, refusal};

/// Returns all entries after a position that the caller sees, and the position after them.
pub(crate) async fn changes_after(
    fixture: &Fixture,
    caller: &Caller,
    after: Option<ChangePosition>,
) -> (Vec<Change>, ChangePosition) {
    let mut query = ChangeQuery::default();
    query.after = after;
    let page = fixture.inventory.changes(caller, &query).await.unwrap();
    (page.changes, page.next)
}

#[test]
fn each_write_is_one_entry_with_the_fields_that_differ() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let id = HostId::from_u128(1);
        let host = bare_host(id, fixture.network);
        fixture.put(&host).await;
        let mut renamed = fixture.host(id).await;
        renamed.name = "renamed".to_owned();
        fixture.put(&renamed).await;
        fixture.put(&fixture.host(id).await).await;
        fixture.delete(id).await.unwrap();
        let (changes, end) = changes_after(&fixture, &owner, Some(start)).await;
        let actions: Vec<ChangeAction> = changes.iter().map(|change| change.action).collect();
        assert_eq!(actions, [ChangeAction::Created, ChangeAction::Updated, ChangeAction::Deleted]);
        for change in &changes {
            assert_eq!((change.entity, change.id), (ChangedEntity::Host, id.uuid()));
            assert_eq!(change.network_id, Some(fixture.network));
            assert_eq!(change.actor, ChangeActor::System);
        }
        let [created, updated, deleted] = changes.try_into().unwrap();
        assert_eq!(created.fields["name"].after, Some(json!(host.name)));
        assert_eq!(updated.fields.keys().collect::<Vec<_>>(), ["name"]);
        assert_eq!(updated.fields["name"].before, Some(json!(host.name)));
        assert_eq!(deleted.fields["name"].before, Some(json!("renamed")));
        assert_eq!(changes_after(&fixture, &owner, Some(end.clone())).await, (Vec::new(), end));
    });
}

/// Returns a Viewer who sees one of the networks.
fn viewer_of(fixture: &Fixture) -> Caller {
    let scope = Scope::only([fixture.network]);
    Caller::new(fixture.organization, UserId::from_u128(7), Permission::Viewer, scope)
}

#[test]
fn viewer_of_one_network_sees_no_trace_of_another() {
    run(async || {
        let fixture = Fixture::new().await;
        let viewer = viewer_of(&fixture);
        fixture.put(&bare_host(HostId::from_u128(1), fixture.network)).await;
        let (seen, position) = changes_after(&fixture, &viewer, None).await;
        assert!(seen.iter().all(|change| change.network_id.is_none_or(|network| network == fixture.network)));
        fixture.put(&bare_host(HostId::from_u128(2), fixture.other_network)).await;
        assert_eq!(changes_after(&fixture, &viewer, Some(position.clone())).await, (Vec::new(), position));
    });
}

#[test]
fn position_of_another_organization_is_gone() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let (_, position) = changes_after(&fixture, &owner_of(foreign.organization), None).await;
        let mut query = ChangeQuery::default();
        query.after = Some(position);
        let refused = fixture.inventory.changes(&owner_of(fixture.organization), &query).await;
        let ErrorKind::PositionGone { oldest, newest } = refusal(refused) else { panic!("it is gone") };
        let (own, _) = changes_after(&fixture, &owner_of(fixture.organization), None).await;
        assert_eq!(Some(oldest), own.first().map(|change| change.position.clone()));
        assert_eq!(Some(newest), own.last().map(|change| change.position.clone()));
    });
}

#[test]
fn position_whose_entry_is_gone_is_told_apart_from_other_text() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (before, _) = changes_after(&fixture, &owner, None).await;
        fixture.put(&bare_host(HostId::from_u128(1), fixture.network)).await;
        let (_, gone) = changes_after(&fixture, &owner, None).await;
        fixture.put(&bare_host(HostId::from_u128(2), fixture.network)).await;
        let (_, newest) = changes_after(&fixture, &owner, None).await;
        delete_entries_of(&fixture, HostId::from_u128(1)).await;
        let oldest = before.first().unwrap().position.clone();
        let mut query = ChangeQuery::default();
        query.after = Some(gone.clone());
        let refused = fixture.inventory.changes(&owner, &query).await;
        assert_eq!(refusal(refused), ErrorKind::PositionGone { oldest, newest: newest.clone() });

        // A caller who sees nothing of the second network gets no position of it.
        let viewer = viewer_of(&fixture);
        fixture.put(&bare_host(HostId::from_u128(3), fixture.other_network)).await;
        let refused = fixture.inventory.changes(&viewer, &query).await;
        let ErrorKind::PositionGone { newest: seen, .. } = refusal(refused) else { panic!("it is gone") };
        assert_eq!(seen, newest);
        for text in ["", "x", &"A".repeat(53), "%", &"A".repeat(4_096)] {
            query.after = Some(ChangePosition::new(text));
            let refused = fixture.inventory.changes(&owner, &query).await;
            assert_eq!(refusal(refused), invalid("after", Problem::InvalidFormat), "{text}");
        }
    });
}

/// Deletes the records of changes that name a host, as if they were too old.
async fn delete_entries_of(fixture: &Fixture, host: HostId) {
    let mut query = Query::new(Name::new("change"));
    query.links = vec![LinkFilter::new(Name::new("changed"), [host.uuid()])];
    let records = fixture.store.list(&query).await.unwrap().records;
    assert!(!records.is_empty());
    let mut batch = Batch::new();
    for record in records {
        batch.delete(record.key, Precondition::Version(record.version));
    }
    fixture.store.commit(batch).await.unwrap();
}

#[test]
fn pages_in_both_directions_have_every_entry_once() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        for number in 0..20 {
            fixture.inventory.tags().create(&owner, Tag::new(format!("tag {number}"))).await.unwrap();
        }
        let (all, _) = changes_after(&fixture, &owner, None).await;
        for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
            let mut query = ChangeQuery::default();
            (query.limit, query.order_direction) = (Some(3), direction);
            let mut found: Vec<Change> = Vec::new();
            loop {
                let page = fixture.inventory.changes(&owner, &query).await.unwrap();
                if page.changes.is_empty() {
                    break;
                }
                match direction {
                    OrderDirection::Ascending => query.after = Some(page.next),
                    OrderDirection::Descending => query.before = Some(page.next),
                }
                found.extend(page.changes);
            }
            if direction == OrderDirection::Descending {
                found.reverse();
            }
            assert_eq!(found, all);
        }
        let networks: Vec<Option<NetworkId>> = all.iter().map(|change| change.network_id).collect();
        assert!(networks.contains(&None) && networks.contains(&Some(fixture.network)));
    });
}

#[test]
fn watch_gives_changes_of_requests_that_were_dropped_during_their_commit() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let (inventory, probe) = fixture.probed();
        let mut watch = inventory.watch(&owner, Some(start));
        let mut stored = 0;
        for polls in 0..20 {
            let name = format!("tag {polls}");
            let tags = inventory.tags();
            let mut request = Box::pin(tags.create(&owner, Tag::new(&*name)));
            let (before, mut polls_of_commit) = (probe.changes(), 0);
            while polls_of_commit <= polls {
                if poll_fn(|context| Poll::Ready(request.as_mut().poll(context).is_ready())).await {
                    break;
                }
                polls_of_commit += usize::from(probe.changes() > before);
                yield_now().await;
            }
            drop(request);
            // The next commit that changes something comes after the one that goes on.
            fixture.inventory.tags().create(&owner, Tag::new(format!("next {polls}"))).await.unwrap();
            let all = fixture.inventory.tags().list(&owner, &ListQuery::default()).await.unwrap().records;
            if !all.iter().any(|tag| tag.name == name) {
                continue;
            }
            stored += 1;
            let delivered = async { while watch.next().await.unwrap().name != name {} };
            timeout(Duration::from_secs(60), delivered).await.expect("the entry is delivered");
        }
        // PostgreSQL may receive none of them.
        assert!(stored == 20 || Backend::current().is_shared(), "{stored}");
    });
}

#[test]
fn watch_gives_every_entry_once_in_order_while_it_is_committed() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut watch = fixture.inventory.watch(&owner, None);
        let inventory = fixture.inventory.clone();
        let writer = tokio::spawn(async move {
            for number in 0..50 {
                inventory.tags().create(&owner, Tag::new(format!("tag {number}"))).await.unwrap();
            }
        });
        let mut followed = Vec::new();
        while followed.last().is_none_or(|change: &Change| change.name != "tag 49") {
            followed.push(watch.next().await.unwrap());
        }
        writer.await.unwrap();
        let (all, _) = changes_after(&fixture, &owner_of(fixture.organization), None).await;
        assert_eq!(followed, all);
    });
}

#[test]
fn abandoned_waits_of_a_watch_lose_no_entry() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let mut watch = fixture.inventory.watch(&owner, Some(start));
        let (mut followed, mut written) = (Vec::new(), 0);
        while followed.len() < 10 {
            tokio::select! {
                biased;
                change = watch.next() => followed.push(change.unwrap().name),
                () = yield_now() => {}
            }
            if written < 10 && written == followed.len() {
                let tag = Tag::new(format!("tag {written}"));
                fixture.inventory.tags().create(&owner, tag).await.unwrap();
                written += 1;
            }
        }
        let expected: Vec<String> = (0..10).map(|number| format!("tag {number}")).collect();
        assert_eq!(followed, expected);
    });
}

#[test]
fn watch_is_a_stream_that_ends_with_an_error_that_stays() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut invalid = fixture.inventory.watch(&owner, Some(ChangePosition::new("x")));
        let refused = StreamExt::next(&mut invalid).await.unwrap();
        assert_eq!(refusal(refused), self::invalid("after", Problem::InvalidFormat));
        assert!(StreamExt::next(&mut invalid).await.is_none());
        let mut watch = fixture.inventory.watch(&owner, None);
        let first = StreamExt::next(&mut watch).await.unwrap().unwrap();
        assert_eq!(first, changes_after(&fixture, &owner, None).await.0[0]);
    });
}

#[tokio::test(start_paused = true)]
async fn watch_goes_on_after_an_error_of_the_store_and_rests_before_it_tries_again() {
    let fixture = Fixture::new().await;
    let owner = owner_of(fixture.organization);
    let (inventory, probe) = fixture.probed();
    let mut watch = inventory.watch(&owner, None);
    probe.set(Fault::Unavailable);
    let began = Instant::now();
    for attempt in 0..3 {
        let refused = StreamExt::next(&mut watch).await.unwrap();
        assert_eq!(refusal(refused), ErrorKind::StoreUnavailable);
        assert!(began.elapsed() >= Duration::from_secs(attempt), "{:?}", began.elapsed());
    }
    probe.set(Fault::None);
    let first = StreamExt::next(&mut watch).await.unwrap().unwrap();
    assert_eq!(first, changes_after(&fixture, &owner, None).await.0[0]);
}

#[test]
fn organization_that_does_not_exist_has_no_history_to_read_or_follow() {
    run(async || {
        let fixture = Fixture::new().await;
        let inventory = &fixture.inventory;
        let deleted = inventory.organizations().create("Deleted").await.unwrap().id;
        let system = Caller::system(deleted);
        let mut watch = inventory.watch(&system, None);
        assert_eq!(watch.next().await.unwrap().name, "Deleted");
        inventory.organizations().delete(deleted).await.unwrap();
        let missing = ErrorKind::NotFound { entity: Entity::Organization, id: deleted.uuid() };
        assert_eq!(refusal(watch.next().await), missing);
        assert_eq!(refusal(inventory.watch(&system, None).next().await), missing);
        assert_eq!(refusal(inventory.changes(&system, &ChangeQuery::default()).await), missing);
        let mut hosts = HostQuery::default();
        assert_eq!(refusal(inventory.hosts().list(&system, &hosts).await), missing);
        hosts.at = Some(Moment::Time(Timestamp::UNIX_EPOCH));
        assert_eq!(refusal(inventory.hosts().list(&system, &hosts).await), missing);
        assert_eq!(refusal(inventory.tags().list(&system, &ListQuery::default()).await), missing);
        assert_eq!(refusal(inventory.tags().all(&system).await), missing);
    });
}
