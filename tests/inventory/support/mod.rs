//! Shared fixtures: an organization, hosts to put into it, and stores that observe or interfere.

mod calls;
mod controls;
mod delaying;
mod documents;
mod failing;
mod faulty;
mod interposer;
mod moments;
mod people;
mod random;
mod recorder;
mod refusals;
mod rich;

use std::sync::Arc;

use toposcope::access::{Caller, ManualClock, PasswordCost, PasswordHasher, Scope};
use toposcope::inventory::{HostQuery, Inventory};
use toposcope::model::{Host, Permission, Source, Timestamp};
use toposcope::store::Store;
use uuid::Uuid;

pub(crate) use calls::Calls;
pub(crate) use controls::assert_virtualized_by;
pub(crate) use delaying::Delaying;
pub(crate) use documents::{Document, jsonl, numbered_hosts, refusal_of_second};
pub(crate) use failing::Failing;
pub(crate) use faulty::{Fault, Faulty};
pub(crate) use interposer::Interposer;
pub(crate) use moments::{at_every_moment, settle};
pub(crate) use people::{LEVELS, PASSWORD, in_person, through_a_key};
pub(crate) use random::{Seeded, SplitMix64};
pub(crate) use recorder::Recorder;
pub(crate) use refusals::{access_denied, invalid, not_found, reference_invalid, refusal};
pub(crate) use rich::{
    bare_host, binding, entry, guest_of, id, interface, port, rich_host, service, service_named,
};

pub(crate) const NOW: &str = "2026-08-14T12:00:00Z";

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// An organization with two networks and two tags, and the means to observe it.
pub(crate) struct World {
    pub(crate) inventory: Inventory,
    pub(crate) clock: ManualClock,
    pub(crate) random: Arc<Seeded>,
    pub(crate) store: Arc<Recorder>,
    pub(crate) organization: Uuid,
    pub(crate) network: Uuid,
    pub(crate) other_network: Uuid,
    pub(crate) tags: [Uuid; 2],
}

/// Another organization in the same store.
pub(crate) struct Foreign {
    pub(crate) organization: Uuid,
    pub(crate) network: Uuid,
    pub(crate) tag: Uuid,
}

impl World {
    pub(crate) async fn new() -> Self {
        let store = Arc::new(Recorder::default());
        let clock = ManualClock::new(time(NOW));
        let random = Arc::new(Seeded::default());
        let inventory = inventory_in(store.clone(), &clock, &random);
        let organization = inventory.create_organization("Example").await.unwrap().id;
        let network = inventory.create_network(organization, "Office").await.unwrap().id;
        let other_network = inventory.create_network(organization, "Laboratory").await.unwrap().id;
        let tags = [
            inventory.create_tag(organization, "first").await.unwrap().id,
            inventory.create_tag(organization, "second").await.unwrap().id,
        ];
        Self { inventory, clock, random, store, organization, network, other_network, tags }
    }

    /// Returns another inventory, in the same store or in one that wraps it.
    pub(crate) fn inventory_in(&self, store: Arc<dyn Store>) -> Inventory {
        inventory_in(store, &self.clock, &self.random)
    }

    pub(crate) async fn foreign(&self) -> Foreign {
        let organization = self.inventory.create_organization("Elsewhere").await.unwrap().id;
        let network = self.inventory.create_network(organization, "Theirs").await.unwrap().id;
        let tag = self.inventory.create_tag(organization, "theirs").await.unwrap().id;
        Foreign { organization, network, tag }
    }

    pub(crate) async fn put(&self, host: &Host) {
        self.inventory.put_host(self.organization, host.clone()).await.expect("the host is acceptable");
    }

    pub(crate) async fn host(&self, id: Uuid) -> Host {
        self.inventory.host(self.organization, id).await.expect("the host is there")
    }

    pub(crate) async fn documents(&self) -> Vec<bytes::Bytes> {
        documents(&self.inventory, self.organization).await
    }
}

fn inventory_in(store: Arc<dyn Store>, clock: &ManualClock, random: &Arc<Seeded>) -> Inventory {
    let cheap = PasswordCost::new(8, 1).expect("the least cost");
    Inventory::new(store)
        .with_clock(Arc::new(clock.clone()))
        .with_random(random.clone())
        .with_passwords(PasswordHasher::new().with_cost(cheap))
}

/// Returns all hosts of an organization as documents, by age.
pub(crate) async fn documents(inventory: &Inventory, organization: Uuid) -> Vec<bytes::Bytes> {
    let page = inventory.list_hosts(&owner_of(organization), &HostQuery::default()).await.unwrap();
    assert_eq!(page.total, page.documents.len() as u64);
    page.documents
}

/// Returns a caller who sees all of an organization.
pub(crate) fn owner_of(organization: Uuid) -> Caller {
    Caller::new(organization, Uuid::from_u128(0xca11e4), Permission::Owner, Scope::all())
}

/// The source of most hosts in these tests.
pub(crate) const MANUAL: Source = Source::Manual;
