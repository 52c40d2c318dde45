//! The history of the real inventory, applied to nothing, gives its records.
//!
//! `TOPOSCOPE_HISTORY_CHANGES` (an environment variable, by default 200) is the number of random changes that are made before.

use std::collections::BTreeMap;
use std::env;

use fastrand::Rng;
use serde_json::{Map, Value};
use toposcope::access::Caller;
use toposcope::inventory::{ChangeQuery, ListQuery};
use toposcope::model::{Change, ChangedEntity, Host, HostId};
use uuid::Uuid;

use super::file::unpacked;
use super::{Real, import};
use crate::history::replay::comparable;
use crate::support::documents;

/// The hosts of the inventory while they are changed: those that are there, and deleted ones.
struct Changing {
    real: Real,
    caller: Caller,
    random: Rng,
    present: Vec<HostId>,
    deleted: Vec<Host>,
}

impl Changing {
    /// Creates a deleted host again, or changes or deletes one that is there.
    async fn change(&mut self, number: usize) {
        let hosts = self.real.inventory.hosts();
        if !self.deleted.is_empty() && (self.present.is_empty() || self.random.u8(..8) == 0) {
            let host = self.deleted.swap_remove(self.random.usize(..self.deleted.len()));
            self.present.push(host.id);
            hosts.put(&self.caller, host).await.unwrap();
            return;
        }
        let place = self.random.usize(..self.present.len());
        let id = self.present[place];
        if self.random.u8(..8) == 0 {
            self.deleted.push(hosts.get(&self.caller, id).await.unwrap());
            hosts.delete(&self.caller, id).await.unwrap();
            self.present.swap_remove(place);
            return;
        }
        let kind = self.random.u8(..5);
        let change = |host: &mut Host| {
            match kind {
                0 => host.description = Some(format!("change {number}")),
                1 => host.name = format!("host {number}"),
                2 => host.interfaces.reverse(),
                3 => host.if_entries.reverse(),
                _ => drop(host.custom.insert("number".to_owned(), number.to_string().into())),
            }
            Ok(())
        };
        hosts.update(&self.caller, id, change).await.unwrap();
    }

    /// Returns the records that follow from all entries.
    async fn replayed(&self) -> BTreeMap<Uuid, Value> {
        let mut records: BTreeMap<Uuid, Option<Map<String, Value>>> = BTreeMap::new();
        let mut query = ChangeQuery::default();
        loop {
            let page = self.real.inventory.changes(&self.caller, &query).await.unwrap();
            for change in page.changes.iter().filter(|change| is_compared(change)) {
                change.apply(records.entry(change.id).or_default()).unwrap();
            }
            if !page.has_more {
                break;
            }
            query.after = Some(page.next);
        }
        let present = records.into_iter().filter_map(|(id, record)| Some((id, Value::Object(record?))));
        present.map(|(id, record)| (id, comparable(record))).collect()
    }

    /// Returns the records that are stored.
    async fn stored(&self) -> BTreeMap<Uuid, Value> {
        let Real { inventory, organization, .. } = &self.real;
        let hosts = documents(inventory, *organization).await;
        let mut records: Vec<Value> =
            hosts.iter().map(|host| serde_json::from_slice(host).unwrap()).collect();
        let all = ListQuery::default();
        let networks = inventory.networks().list(&self.caller, &all).await.unwrap().records;
        records.extend(networks.into_iter().map(|network| serde_json::to_value(network).unwrap()));
        let tags = inventory.tags().list(&self.caller, &all).await.unwrap().records;
        records.extend(tags.into_iter().map(|tag| serde_json::to_value(tag).unwrap()));
        let by_id =
            |record: Value| (serde_json::from_value(record["id"].clone()).unwrap(), comparable(record));
        records.into_iter().map(by_id).collect()
    }
}

fn is_compared(change: &Change) -> bool {
    matches!(change.entity, ChangedEntity::Host | ChangedEntity::Network | ChangedEntity::Tag)
}

#[tokio::test]
async fn history_of_random_changes_applied_to_nothing_gives_the_records() {
    let Some(input) = unpacked() else { return };
    let number = env::var("TOPOSCOPE_HISTORY_CHANGES").ok();
    let number = number.map_or(200, |number| number.parse().expect("TOPOSCOPE_HISTORY_CHANGES is a number"));
    let real = import(input).await;
    let caller = Caller::system(real.organization);
    let hosts = documents(&real.inventory, real.organization).await;
    let id = |host: &bytes::Bytes| serde_json::from_slice::<Host>(host).unwrap().id;
    let present: Vec<HostId> = hosts.iter().map(id).collect();
    assert!(present.len() > 1_000);
    let mut changing = Changing { real, caller, random: Rng::with_seed(41), present, deleted: Vec::new() };
    for change in 0..number {
        changing.change(change).await;
    }
    let (replayed, stored) = (changing.replayed().await, changing.stored().await);
    assert_eq!(replayed.len(), stored.len());
    for (id, record) in &stored {
        assert_eq!(replayed.get(id), Some(record));
    }
}
