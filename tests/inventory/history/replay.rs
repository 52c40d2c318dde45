//! The feed, applied to nothing, gives the records.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Map, Value};
use toposcope::inventory::Moment;
use toposcope::model::{Change, ChangeAction, ChangePosition, ChangedEntity, FieldChange, HostId};
use uuid::Uuid;

use super::changes_after;
use crate::backend::run;
use crate::support::{Fixture, id, owner_of, rich_host};

/// Applies an entry to the documents, as the documentation says.
pub(super) fn apply(change: &Change, documents: &mut BTreeMap<Uuid, Map<String, Value>>) {
    if change.action == ChangeAction::Deleted {
        documents.remove(&change.id);
        return;
    }
    apply_fields(&change.fields, documents.entry(change.id).or_default());
}

/// Sets fields of a document, as the documentation says.
pub(super) fn apply_fields(fields: &BTreeMap<String, FieldChange>, document: &mut Map<String, Value>) {
    let mut orders = Vec::new();
    for (path, field) in fields {
        match path.split_once('.') {
            None => set(document, path, field.after.clone()),
            Some((outer, rest)) => match document.get_mut(outer) {
                Some(Value::Array(_)) if rest == "order" => {
                    orders.push((outer, field.after.clone().unwrap()));
                }
                Some(Value::Object(members)) => set(members, rest, field.after.clone()),
                Some(Value::Array(parts)) => set_part(parts, rest, field.after.clone()),
                other => panic!("{path} is in {other:?}"),
            },
        }
    }
    for (list, order) in orders {
        let order: Vec<Value> = serde_json::from_value(order).unwrap();
        let parts = document[list].as_array_mut().unwrap();
        parts.sort_by_key(|part| order.iter().position(|id| *id == part["id"]));
    }
}

fn set(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(members.insert(name.to_owned(), value)),
        None => drop(members.remove(name)),
    }
}

fn set_part(parts: &mut Vec<Value>, path: &str, value: Option<Value>) {
    let (id, field) = path.split_once('.').map_or((path, None), |(id, field)| (id, Some(field)));
    let known = parts.iter_mut().position(|part| part["id"] == id);
    match (known, field, value) {
        (Some(place), Some(field), value) => set(parts[place].as_object_mut().unwrap(), field, value),
        (Some(place), None, None) => drop(parts.remove(place)),
        (None, None, Some(part)) => parts.push(part),
        other => panic!("{path}: {other:?}"),
    }
}

/// Removes what only the server moves, and what is null.
pub(crate) fn comparable(mut document: Value) -> Value {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, value| {
                    !["updated_at", "last_seen_at"].contains(&name.as_str()) && !value.is_null()
                });
                members.values_mut().for_each(remove);
            }
            Value::Array(values) => values.iter_mut().for_each(remove),
            _ => {}
        }
    }
    remove(&mut document);
    document
}

/// A position, and the hosts as they are stored there.
pub(super) type State = (ChangePosition, BTreeMap<Uuid, Value>);

/// Changes hosts at random. Returns a full copy of the hosts after each change.
pub(super) async fn random_states(fixture: &Fixture, seed: u64, steps: u128) -> Vec<State> {
    let owner = owner_of(fixture.organization);
    let mut random = Rng::with_seed(seed);
    let mut states: Vec<State> = Vec::new();
    for number in 0..steps {
        step(fixture, &mut random, number).await;
        let after = states.last().map(|(position, _)| position.clone());
        let (_, position) = changes_after(fixture, &owner, after).await;
        states.push((position, stored(fixture).await));
    }
    states
}

/// Changes a host of six at random.
pub(super) async fn step(fixture: &Fixture, random: &mut Rng, step: u128) {
    let number = 1 + random.u128(..6);
    let host: HostId = id(number);
    let network = if number.is_multiple_of(2) { fixture.network } else { fixture.other_network };
    match (random.u8(..6), fixture.try_host(host).await) {
        (0, Ok(_)) => fixture.delete(host).await.unwrap(),
        (1, Ok(mut host)) => {
            host.interfaces.reverse();
            host.name = format!("host {step}");
            fixture.put(&host).await;
        }
        (2, Ok(mut host)) => {
            host.if_entries.pop();
            host.services.truncate(1);
            fixture.put(&host).await;
        }
        (3, Ok(mut host)) => {
            // One name continues another one with a dot, as a path of fields does.
            let name = ["field", "field.unit", "order", "last_seen"][(step % 4) as usize];
            if random.u8(..4) == 0 {
                host.custom.clear();
            }
            host.custom.insert(name.to_owned(), (step % 3).to_string().into());
            fixture.put(&host).await;
        }
        (4, Ok(mut host)) => {
            let whole = rich_host(number, network, &fixture.tags);
            (host.services, host.if_entries) = (whole.services, whole.if_entries);
            fixture.put(&host).await;
        }
        (_, Ok(mut host)) => {
            host.description = step.is_multiple_of(2).then(|| "text".to_owned());
            fixture.put(&host).await;
        }
        (_, Err(_)) => drop(fixture.put(&rich_host(number, network, &fixture.tags)).await),
    }
}

/// Returns the hosts as they are stored.
pub(super) async fn stored(fixture: &Fixture) -> BTreeMap<Uuid, Value> {
    let documents = fixture.documents().await.into_iter().map(|document| {
        let stored: Value = serde_json::from_slice(&document).unwrap();
        (serde_json::from_value(stored["id"].clone()).unwrap(), comparable(stored))
    });
    documents.collect()
}

#[test]
fn feed_applied_to_nothing_gives_the_hosts() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut random = Rng::with_seed(20_261_127);
        for number in 0..120 {
            step(&fixture, &mut random, number).await;
        }
        let (mut after, mut documents) = (None, BTreeMap::new());
        loop {
            let (changes, next) = changes_after(&fixture, &owner, after).await;
            if changes.is_empty() {
                break;
            }
            after = Some(next);
            let hosts = changes.iter().filter(|change| change.entity == ChangedEntity::Host);
            hosts.for_each(|change| apply(change, &mut documents));
        }
        let documents: BTreeMap<Uuid, Value> =
            documents.into_iter().map(|(id, document)| (id, comparable(Value::Object(document)))).collect();
        assert_eq!(documents, stored(&fixture).await);
    });
}

#[test]
fn host_at_every_position_is_what_was_stored_then() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        for (position, state) in random_states(&fixture, 7, 100).await {
            for number in 1..=6 {
                let host: HostId = id(number);
                let at = Moment::Position(position.clone());
                let then = fixture.inventory.host_at(&owner, host, &at).await;
                let then = then.ok().map(|host| comparable(serde_json::to_value(host).unwrap()));
                assert_eq!(then.as_ref(), state.get(&host.uuid()));
            }
        }
    });
}
