//! Differences between two states.

use std::collections::BTreeSet;

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{DiffQuery, ErrorKind, Import, Moment, Problem};
use toposcope::model::{ChangePosition, Host, HostId, Permission, StateDiff, UserId};
use uuid::Uuid;

use super::changes_after;
use super::replay::{State, apply_fields, comparable, random_states};
use crate::backend::run;
use crate::support::{Fixture, bare_host, id, invalid, jsonl, owner_of, refusal};

pub(super) fn between(from: &ChangePosition, to: &ChangePosition) -> DiffQuery {
    let mut query = DiffQuery::new(Moment::Position(from.clone()));
    query.to = Some(Moment::Position(to.clone()));
    query
}

/// Asserts that a diff has exactly the differences between two states.
pub(super) fn assert_diff(diff: &StateDiff, (_, before): &State, (_, after): &State) {
    let ids = |ids: BTreeSet<Uuid>| ids.into_iter().map(HostId::new).collect::<Vec<_>>();
    let (had, has): (BTreeSet<Uuid>, BTreeSet<Uuid>) =
        (before.keys().copied().collect(), after.keys().copied().collect());
    let added: Vec<HostId> = diff.hosts.added.iter().map(|host| host.id).collect();
    let removed: Vec<HostId> = diff.hosts.removed.iter().map(|host| host.id).collect();
    assert_eq!(added, ids(&has - &had));
    assert_eq!(removed, ids(&had - &has));
    let differing: Vec<HostId> =
        (&had & &has).into_iter().filter(|id| before[id] != after[id]).map(HostId::new).collect();
    let changed: Vec<HostId> = diff.hosts.changed.iter().map(|host| host.id).collect();
    assert_eq!(changed, differing);
    for host in &diff.hosts.changed {
        let Value::Object(mut document) = before[&host.id.uuid()].clone() else { panic!("an object") };
        apply_fields(&host.fields, &mut document);
        let mut reached = comparable(Value::Object(document));
        let mut expected = after[&host.id.uuid()].clone();
        // The order of parts follows from their fields, and is no part of the diff.
        [&mut reached, &mut expected].into_iter().for_each(in_order_of_ids);
        assert_eq!(reached, expected);
        assert!(host.fields.values().all(|field| field.before != field.after));
    }
    let counts = diff.hosts.counts;
    let lengths = [added.len(), removed.len(), changed.len()].map(|length| length as u64);
    assert_eq!([counts.added, counts.removed, counts.changed], lengths);
    assert!(!diff.truncated);
}

fn in_order_of_ids(document: &mut Value) {
    for list in document.as_object_mut().unwrap().values_mut().filter_map(Value::as_array_mut) {
        list.sort_by_key(|part| part.get("id").map(Value::to_string));
    }
}

#[test]
fn diff_of_any_two_states_is_what_differs_between_full_copies() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let states = random_states(&fixture, 11, 120).await;
        let mut random = Rng::with_seed(12);
        for _ in 0..60 {
            let from = random.usize(..states.len());
            let to = random.usize(from..states.len());
            let (from, to) = (&states[from], &states[to]);
            let diff = fixture.inventory.diff(&owner, &between(&from.0, &to.0)).await.unwrap();
            assert_diff(&diff, from, to);
        }
        let (first, last) = (&states[20], states.last().unwrap());
        let to_present = DiffQuery::new(Moment::Position(first.0.clone()));
        let diff = fixture.inventory.diff(&owner, &to_present).await.unwrap();
        assert_diff(&diff, first, last);
    });
}

#[test]
fn diff_of_one_network_has_nothing_of_another() {
    run(async || {
        let fixture = Fixture::new().await;
        let states = random_states(&fixture, 13, 60).await;
        let on_network = |(position, hosts): &State| -> State {
            let network = json!(fixture.network);
            let own = hosts.iter().filter(|(_, host)| host["network_id"] == network);
            (position.clone(), own.map(|(id, host)| (*id, host.clone())).collect())
        };
        let (from, to) = (&states[10], &states[59]);
        let viewer = Caller::new(
            fixture.organization,
            UserId::from_u128(7),
            Permission::Viewer,
            Scope::only([fixture.network]),
        );
        let mut query = between(&from.0, &to.0);
        let seen = fixture.inventory.diff(&viewer, &query).await.unwrap();
        assert_diff(&seen, &on_network(from), &on_network(to));
        query.network_id = Some(fixture.network);
        let owner = owner_of(fixture.organization);
        assert_eq!(fixture.inventory.diff(&owner, &query).await.unwrap(), seen);
        query.network_id = Some(fixture.other_network);
        assert_eq!(fixture.inventory.diff(&viewer, &query).await.unwrap(), StateDiff::default());
    });
}

#[test]
fn field_that_is_again_as_it_was_is_left_out() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let host: HostId = id(1);
        let mut state = bare_host(host, fixture.network);
        fixture.put(&state).await;
        let (_, start) = changes_after(&fixture, &owner, None).await;
        for name in ["first", "second", ""] {
            state.name = name.to_owned();
            fixture.put(&state).await;
        }
        let since = DiffQuery::new(Moment::Position(start));
        assert_eq!(fixture.inventory.diff(&owner, &since).await.unwrap(), StateDiff::default());
        state.name = "third".to_owned();
        fixture.put(&state).await;
        let diff = fixture.inventory.diff(&owner, &since).await.unwrap();
        let [changed] = diff.hosts.changed.as_slice() else { panic!("{diff:?}") };
        assert_eq!(changed.fields.keys().collect::<Vec<_>>(), ["name"]);
        assert_eq!(
            (&changed.fields["name"].before, &changed.fields["name"].after),
            (&Some(json!("")), &Some(json!("third")))
        );
    });
}

#[test]
fn state_before_the_other_one_is_refused() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let owner = owner_of(fixture.organization);
        let (_, early) = changes_after(&fixture, &owner, None).await;
        fixture.put(&bare_host(id(1), fixture.network)).await;
        let (_, late) = changes_after(&fixture, &owner, None).await;
        let refused = fixture.inventory.diff(&owner, &between(&late, &early)).await;
        assert_eq!(refusal(refused), invalid("to", Problem::Before { other: "from" }));
        let (_, theirs) = changes_after(&fixture, &owner_of(foreign.organization), None).await;
        let refused = fixture.inventory.diff(&owner, &between(&theirs, &late)).await;
        assert!(matches!(refusal(refused), ErrorKind::PositionGone { .. }));
    });
}

#[test]
fn diff_of_too_many_hosts_is_truncated_and_counts_all() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let hosts: Vec<Host> = (1..=10_500).map(|number| bare_host(id(number), fixture.network)).collect();
        let (system, lines) = (Caller::system(fixture.organization), jsonl(&hosts));
        fixture.inventory.hosts().import(&system, &lines[..], Import::new()).await.unwrap();
        let diff = fixture.inventory.diff(&owner, &DiffQuery::new(Moment::Position(start))).await.unwrap();
        assert!(diff.truncated);
        assert_eq!((diff.hosts.added.len(), diff.hosts.counts.added), (10_000, 10_500));
    });
}
