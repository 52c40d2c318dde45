//! Random operations, compared with a model that keeps a full copy of the hosts after each.
//!
//! Entries of links are written at some moment after the change that led to them. They are therefore compared with the links of the present
//! hosts where no change is still to be followed: after every fiftieth operation, and before and after each restoration.
//!
//! `TOPOSCOPE_HISTORY_OPERATIONS` (an environment variable, by default 300) is their number in memory. On the other backends, it is a tenth of
//! that if it is set.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Map, Value};
use toposcope::access::Caller;
use toposcope::inventory::{ChangeQuery, HostQuery, Inventory, Moment};
use toposcope::model::{Change, ChangePosition, ChangedEntity, HostId, OrderDirection};
use toposcope::store::{Export, Restore};
use uuid::Uuid;

use super::diff::{assert_diff, between};
#[cfg(feature = "topology")]
use super::links::{Replayed, present_on};
use super::replay::{State, apply, comparable, step, stored};
use crate::backend::{Backend, TestStore, run};
#[cfg(feature = "topology")]
use crate::support::followed;
use crate::support::{Fixture, id, inventory_in, owner_of};

/// The number of hosts that operations change.
const HOSTS: u128 = 6;

/// The number of states from which most past ones are chosen: reading a state takes time in proportion to the changes since.
const RECENT: usize = 200;

/// Full copies of the hosts after each operation.
struct Model {
    /// Two instances with one store.
    instances: [Fixture; 2],
    /// Keeps a restored store.
    backend: Option<TestStore>,
    owner: Caller,
    random: Rng,
    /// The position up to which entries were read.
    read: Option<ChangePosition>,
    /// The positions of the entries of hosts. Others, such as those of links, may be written at any moment.
    positions: Vec<ChangePosition>,
    /// The number of entries after each operation, and the hosts.
    states: Vec<(usize, BTreeMap<Uuid, Arc<str>>)>,
    /// The hosts that follow from the entries.
    replayed: BTreeMap<Uuid, Map<String, Value>>,
    #[cfg(feature = "topology")]
    links: ReplayedLinks,
}

/// The links that follow from their entries.
#[cfg(feature = "topology")]
#[derive(Default)]
struct ReplayedLinks {
    /// The position up to which entries were read.
    read: Option<ChangePosition>,
    entries: usize,
    replayed: Replayed,
}

impl Model {
    async fn new(seed: u64) -> Self {
        let fixture = Fixture::new().await;
        let mut second = fixture.clone();
        second.inventory = fixture.second_inventory();
        let owner = owner_of(fixture.organization);
        let instances = [fixture, second];
        let random = Rng::with_seed(seed);
        let (positions, states, replayed) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self {
            instances,
            backend: None,
            owner,
            random,
            read: None,
            positions,
            states,
            replayed,
            #[cfg(feature = "topology")]
            links: ReplayedLinks::default(),
        }
    }

    fn instance(&mut self) -> Fixture {
        self.instances[self.random.usize(..2)].clone()
    }

    /// Reads the entries of hosts after the known ones.
    async fn new_entries(&mut self) -> Vec<Change> {
        let inventory = self.instance().inventory;
        let (found, read) = entries_of(&inventory, &self.owner, ChangedEntity::Host, self.read.take()).await;
        self.read = Some(read);
        found
    }

    /// Waits until all links are recorded, and compares those that follow from the entries with those of the present hosts.
    #[cfg(feature = "topology")]
    async fn check_links(&mut self) {
        for instance in &self.instances {
            followed(&instance.inventory).await;
        }
        let inventory = self.instance().inventory;
        let links = &mut self.links;
        let (found, read) = entries_of(&inventory, &self.owner, ChangedEntity::Link, links.read.take()).await;
        links.read = Some(read);
        links.entries += found.len();
        found.iter().for_each(|change| links.replayed.apply(change));
        let fixture = &self.instances[0];
        let mut present = present_on(fixture, fixture.network).await;
        present.extend(present_on(fixture, fixture.other_network).await);
        assert_eq!(links.replayed.links(), present);
    }

    /// Changes a host, and compares what follows from the new entries with the stored hosts.
    async fn change(&mut self, number: u128) {
        let fixture = self.instance();
        step(&fixture, &mut self.random, number).await;
        for change in self.new_entries().await {
            apply(&change, &mut self.replayed);
            self.positions.push(change.position);
        }
        let before = self.states.last().map(|(_, hosts)| hosts);
        let copy = |(id, host): (Uuid, Value)| {
            let text = host.to_string();
            let known = before.and_then(|hosts| hosts.get(&id)).filter(|known| ***known == *text);
            (id, known.map_or_else(|| Arc::from(text), Arc::clone))
        };
        let hosts: BTreeMap<Uuid, Arc<str>> = stored(&fixture).await.into_iter().map(copy).collect();
        assert_eq!(
            texts(self.replayed.clone()),
            hosts.iter().map(|(id, host)| (*id, host.to_string())).collect()
        );
        self.states.push((self.positions.len(), hosts));
    }

    /// Returns a past state: most often one of the last ones.
    fn past(&mut self) -> (Moment, State) {
        let recent = if self.random.u8(..100) == 0 { self.states.len() } else { RECENT };
        let place = self.random.usize(self.states.len().saturating_sub(recent)..self.states.len());
        let (entries, hosts) = &self.states[place];
        let position = self.positions[entries - 1].clone();
        let parsed = hosts.iter().map(|(id, host)| (*id, serde_json::from_str(host).unwrap()));
        (Moment::Position(position.clone()), (position, parsed.collect()))
    }

    /// Compares a host and the list of all hosts in past states.
    async fn check_states(&mut self) {
        let inventory = self.instance().inventory;
        let (at, (_, hosts)) = self.past();
        let host: HostId = id(1 + self.random.u128(..HOSTS));
        let then = inventory.host_at(&self.owner, host, &at).await.ok();
        let then = then.map(|host| comparable(serde_json::to_value(host).unwrap()));
        assert_eq!(then.as_ref(), hosts.get(&host.uuid()));
        let (at, (_, hosts)) = self.past();
        let mut query = HostQuery::default();
        query.at = Some(at);
        let page = inventory.hosts().list(&self.owner, &query).await.unwrap();
        let listed = page.documents.iter().map(|document| {
            let host = comparable(serde_json::from_slice(document).unwrap());
            (serde_json::from_value(host["id"].clone()).unwrap(), host)
        });
        assert_eq!(listed.collect::<BTreeMap<Uuid, Value>>(), hosts);
    }

    /// Compares the differences between two past states.
    async fn check_diff(&mut self) {
        let inventory = self.instance().inventory;
        let (_, first) = self.past();
        let (_, second) = self.past();
        let place = |state: &State| self.positions.iter().rposition(|position| *position == state.0);
        let (from, to) = if place(&first) <= place(&second) { (first, second) } else { (second, first) };
        let diff = inventory.diff(&self.owner, &between(&from.0, &to.0)).await.unwrap();
        assert_diff(&diff, &from, &to);
    }

    /// Exports the organization, and goes on with what is restored from that.
    async fn restore(&mut self) {
        #[cfg(feature = "topology")]
        self.check_links().await;
        let fixture = self.instance();
        let mut file = Vec::new();
        let organization = fixture.organization;
        fixture.inventory.organizations().export(organization, Export::new(), &mut file).await.unwrap();
        let backend = TestStore::new().await;
        for instance in &mut self.instances {
            let inventory = inventory_in(backend.store());
            instance.inventory = inventory.with_clock(Arc::new(fixture.clock.clone()));
        }
        self.instances[0].inventory.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        self.backend = Some(backend);
        // Positions are those of a store.
        let count = std::mem::take(&mut self.positions).len();
        self.read = None;
        self.positions = self.new_entries().await.into_iter().map(|change| change.position).collect();
        assert_eq!(self.positions.len(), count);
        #[cfg(feature = "topology")]
        {
            let before = std::mem::take(&mut self.links);
            self.check_links().await;
            assert_eq!(self.links.entries, before.entries);
        }
    }
}

/// Reads the entries of a kind of records after a position. Returns the position after them as well.
async fn entries_of(
    inventory: &Inventory,
    caller: &Caller,
    entity: ChangedEntity,
    after: Option<ChangePosition>,
) -> (Vec<Change>, ChangePosition) {
    let mut query = ChangeQuery::default();
    (query.after, query.entity) = (after, Some(entity));
    let mut found = Vec::new();
    loop {
        let page = inventory.changes(caller, &query).await.unwrap();
        found.extend(page.changes);
        if !page.has_more {
            return (found, page.next);
        }
        query.after = Some(page.next);
    }
}

/// Returns documents as texts, without what only the server moves.
fn texts(documents: BTreeMap<Uuid, Map<String, Value>>) -> BTreeMap<Uuid, String> {
    let text = |(id, document)| (id, comparable(Value::Object(document)).to_string());
    documents.into_iter().map(text).collect()
}

fn operations() -> u128 {
    let Some(number) = env::var("TOPOSCOPE_HISTORY_OPERATIONS").ok() else { return 300 };
    let number: u128 = number.parse().expect("TOPOSCOPE_HISTORY_OPERATIONS is a number");
    // Where it runs in memory as well, the others take a tenth.
    let is_memory = matches!(Backend::current(), Backend::Memory);
    if is_memory || cfg!(debug_assertions) { number } else { number / 10 }
}

#[test]
fn random_operations_leave_the_past_that_a_model_keeps() {
    run(async || {
        let operations = operations();
        let mut model = Model::new(31).await;
        for number in 0..operations {
            model.change(number).await;
            model.check_states().await;
            if number % 10 == 0 {
                model.check_diff().await;
            }
            #[cfg(feature = "topology")]
            if number % 50 == 0 {
                model.check_links().await;
            }
            if number % (operations / 3) == operations / 3 - 1 {
                model.restore().await;
                model.check_states().await;
            }
        }
        let mut query = ChangeQuery::default();
        (query.limit, query.order_direction) = (Some(1), OrderDirection::Descending);
        query.entity = Some(ChangedEntity::Host);
        let newest = model.instance().inventory.changes(&model.owner, &query).await.unwrap();
        assert_eq!(newest.changes.last().map(|change| &change.position), model.positions.last());
        #[cfg(feature = "topology")]
        assert!(model.links.entries > 0, "some operations change links");
    });
}
