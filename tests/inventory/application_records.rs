//! Kinds of records that the host application defines.

use std::slice::from_ref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{
    ApplicationCode, ApplicationError, ApplicationRecord, ChangeKind, Entity, Error, ErrorKind, Inventory,
    ListOrderField, ListQuery, Policy, Problem, ProposedChange, Quotas, RecordFacets, ReferenceTarget,
};
use toposcope::model::{
    ApplicationRecordId, HostId, Network, NetworkId, OrderDirection, OrganizationId, Permission, UserId,
};
#[cfg(feature = "sled")]
use toposcope::store::SledStore;
use toposcope::store::{Batch, Export, Key, MemoryStore, Name, Precondition, Restore, Store};
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::support::{Fault, Fixture, LEVELS, at_every_call, bare_host, refusal};

/// A rack in a room, on a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Rack {
    network_id: NetworkId,
    name: String,
    units: f64,
    #[serde(default)]
    serial: Option<String>,
    #[serde(default)]
    host_id: Option<HostId>,
    #[serde(default)]
    next: Option<ApplicationRecordId>,
}

impl ApplicationRecord for Rack {
    const KIND: Name = Name::new("x.rack");
    const ENTITY: &'static str = "Rack";
    const IS_ON_NETWORK: bool = true;

    fn name(&self) -> &str {
        &self.name
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn facets(&self) -> RecordFacets {
        let mut facets = RecordFacets::new().sorted_by("units", self.units).found_by("units", self.units);
        if let Some(serial) = &self.serial {
            facets = facets.unique("serial", serial);
        }
        if let Some(host) = self.host_id {
            facets = facets.refers_to("host_id", ReferenceTarget::host(host));
        }
        if let Some(next) = self.next {
            facets = facets.refers_to("next", ReferenceTarget::record::<Self>(next));
        }
        facets
    }

    fn validate(&mut self) -> Result<(), Error> {
        self.name = self.name.trim().to_owned();
        match self.units {
            0.0..=60.0 => Ok(()),
            units if units.is_nan() => Ok(()),
            _ => Err(Error::invalid("units", Problem::OutOfRange { min: 0, max: 60 })),
        }
    }
}

/// A note of an organization, with levels of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    text: String,
}

impl ApplicationRecord for Note {
    const KIND: Name = Name::new("x.note");
    const READ: Permission = Permission::Member;
    const CHANGE: Permission = Permission::Admin;

    fn name(&self) -> &str {
        ""
    }
}

fn rack(network_id: NetworkId, name: &str, units: u8) -> Rack {
    let name = name.to_owned();
    Rack { network_id, name, units: units.into(), serial: None, host_id: None, next: None }
}

fn member(organization: OrganizationId, networks: &[NetworkId]) -> Caller {
    let scope = Scope::granted(Permission::Member, networks.iter().copied());
    Caller::new(organization, UserId::from_u128(7), Permission::Member, scope)
}

async fn names(inventory: &Inventory, caller: &Caller, query: &ListQuery) -> Vec<String> {
    let page = inventory.application_records::<Rack>().list(caller, query).await.unwrap();
    page.records.into_iter().map(|record| record.value.name).collect()
}

/// Returns the number of stored records of the application, and of notes about their kinds.
async fn stored(fixture: &Fixture) -> (usize, usize) {
    let kinds: Vec<String> =
        fixture.contents().await.iter().map(|stored| stored.record.key.kind.to_string()).collect();
    let records = kinds.iter().filter(|kind| kind.starts_with("x.")).count();
    (records, kinds.iter().filter(|kind| *kind == "application_kind").count())
}

/// Stores copies of the only rack, each with another id and body.
async fn copy_rack(fixture: &Fixture, count: u128, body: impl Fn(&[u8]) -> Vec<u8>) {
    let mut contents = fixture.contents().await;
    contents.retain(|stored| stored.record.key.kind == Rack::KIND);
    let [stored] = &contents[..] else { panic!("there is one rack") };
    let mut batch = Batch::new();
    for number in 0..count {
        let key = Key::new(Rack::KIND, Uuid::from_u128(0xc0_0000 + number));
        batch.put(key, Precondition::Absent, stored.facets.clone(), body(&stored.record.body));
    }
    fixture.store.commit(batch).await.unwrap();
}

#[test]
fn records_are_created_read_changed_and_deleted() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let created = racks.create(&caller, rack(fixture.network, " A1 ", 42)).await.unwrap();
        assert_eq!(created.value.name, "A1", "the value is normalized");
        assert_eq!(created.organization_id, fixture.organization);
        assert_eq!(racks.get(&caller, created.id).await.unwrap(), created);
        assert_eq!(racks.get(&caller, created.id).await.unwrap().revision(), created.revision());
        fixture.clock.advance(Duration::from_secs(1));
        let grow = |rack: &mut Rack| {
            rack.units += 1.0;
            Ok(())
        };
        let grown = racks.update_value(&caller, created.id, Some(created.revision()), grow).await.unwrap();
        assert_eq!((grown.value.units, grown.created_at), (43.0, created.created_at));
        assert!(grown.updated_at > created.updated_at);
        assert_ne!(grown.revision(), created.revision());
        let outdated =
            || ErrorKind::PreconditionFailed { entity: Entity::ApplicationRecord, id: created.id.uuid() };
        let update = racks.update_value(&caller, created.id, Some(created.revision()), grow);
        assert_eq!(fixture.refusal(update).await, outdated());
        let deletion = racks.delete_at(&caller, created.id, Some(created.revision()));
        assert_eq!(fixture.refusal(deletion).await, outdated());
        assert_eq!(racks.update_value(&caller, created.id, None, |_| Ok(())).await.unwrap(), grown);
        let move_away = |rack: &mut Rack| {
            rack.network_id = NetworkId::from_u128(9);
            Ok(())
        };
        let moved = fixture.refusal(racks.update_value(&caller, created.id, None, move_away)).await;
        assert!(matches!(moved, ErrorKind::NetworkMismatch { .. }), "{moved:?}");
        racks.delete_at(&caller, created.id, Some(grown.revision())).await.unwrap();
        let missing = refusal(racks.get(&caller, created.id).await);
        assert!(matches!(missing, ErrorKind::NotFound { entity: Entity::ApplicationRecord, .. }));
        assert_eq!(stored(&fixture).await, (0, 1));
    });
}

#[test]
fn lists_are_filtered_ordered_and_read_in_pages() {
    run_with(Fixture::new, async |fixture| {
        let (caller, inventory) = (fixture.system(), &fixture.inventory);
        let racks = inventory.application_records::<Rack>();
        inventory.application_records::<Note>().create(&caller, Note { text: "x".into() }).await.unwrap();
        for (name, units) in [("e", 9), ("d", 10), ("c", 9), ("b", 42), ("a", 1)] {
            racks.create(&caller, rack(fixture.network, name, units)).await.unwrap();
            fixture.clock.advance(Duration::from_secs(1));
        }
        racks.create(&caller, rack(fixture.other_network, "f", 9)).await.unwrap();
        let mut query = ListQuery::default();
        assert_eq!(names(inventory, &caller, &query).await, ["e", "d", "c", "b", "a", "f"]);
        query.order_by = ListOrderField::Name;
        assert_eq!(names(inventory, &caller, &query).await, ["a", "b", "c", "d", "e", "f"]);
        query.custom.insert("units".to_owned(), "9.0".to_owned());
        assert_eq!(names(inventory, &caller, &query).await, ["c", "e", "f"]);
        query.network_id = Some(fixture.network);
        assert_eq!(names(inventory, &caller, &query).await, ["c", "e"]);

        let mut query = ListQuery::default();
        query.order_by_custom = Some("units".to_owned());
        query.order_direction = OrderDirection::Descending;
        query.limit = Some(2);
        let mut all = Vec::new();
        loop {
            let page = racks.list(&caller, &query).await.unwrap();
            assert_eq!(page.total, 6);
            all.extend(page.records.into_iter().map(|record| record.value.name));
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, ["b", "d", "e", "c", "f", "a"]);
        query.cursor = racks.list(&caller, &query).await.unwrap().next;
        let of_other_list = inventory.application_records::<Note>().list(&caller, &query).await;
        assert!(matches!(refusal(of_other_list), ErrorKind::Invalid { field, .. } if field == "cursor"));
    });
}

#[test]
fn page_has_at_most_1000_records_and_all_reads_every_page() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        racks.create(&caller, rack(fixture.network, "a", 1)).await.unwrap();
        copy_rack(&fixture, 1_004, |body| body.to_vec()).await;
        for limit in [None, Some(5_000)] {
            let mut query = ListQuery::default();
            query.limit = limit;
            let page = racks.list(&caller, &query).await.unwrap();
            assert_eq!((page.records.len(), page.total), (1_000, 1_005));
            query.cursor = page.next;
            assert_eq!(racks.list(&caller, &query).await.unwrap().records.len(), 5);
        }
        assert_eq!(racks.all(&caller).await.unwrap().len(), 1_005);
    });
}

#[test]
fn levels_of_the_kind_apply() {
    run_with(Fixture::new, async |fixture| {
        let notes = fixture.inventory.application_records::<Note>();
        let id = notes.create(&fixture.system(), Note { text: "x".into() }).await.unwrap().id;
        for level in LEVELS {
            let caller = Caller::new(fixture.organization, UserId::from_u128(7), level, Scope::all());
            let is_denied = |result: Result<(), Error>| {
                result.is_err_and(|error| matches!(error.kind(), ErrorKind::PermissionDenied))
            };
            let read = notes.get(&caller, id).await.map(drop);
            assert_eq!(is_denied(read), level < Permission::Member, "{level}");
            let listed = notes.list(&caller, &ListQuery::default()).await.map(drop);
            assert_eq!(is_denied(listed), level < Permission::Member, "{level}");
            let created = notes.create(&caller, Note { text: "y".into() }).await.map(drop);
            assert_eq!(is_denied(created), level < Permission::Admin, "{level}");
            let changed = notes.update_value(&caller, id, None, |_| Ok(())).await.map(drop);
            assert_eq!(is_denied(changed), level < Permission::Admin, "{level}");
            let deleted = notes.delete_many(&caller, &[ApplicationRecordId::nil()]).await.map(drop);
            assert_eq!(is_denied(deleted), level < Permission::Admin, "{level}");
        }
        // Records without a network are visible whatever the scope.
        let scoped = member(fixture.organization, &[fixture.network]);
        assert_eq!(notes.list(&scoped, &ListQuery::default()).await.unwrap().total, 3);
        notes.get(&scoped, id).await.unwrap();
    });
}

#[test]
fn caller_reaches_neither_other_organizations_nor_other_networks() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let racks = fixture.inventory.application_records::<Rack>();
        let with_serial =
            |network, serial: &str| Rack { serial: Some(serial.into()), ..rack(network, "a", 1) };
        let own = racks.create(&fixture.system(), with_serial(fixture.network, "s")).await.unwrap();
        let far = racks.create(&fixture.system(), rack(fixture.other_network, "far", 1)).await.unwrap();
        // The same unique value in another organization is another one.
        let theirs = racks.create(&foreign.system(), with_serial(foreign.network, "s")).await.unwrap();

        let hostile = foreign.system();
        let mut query = ListQuery::default();
        query.ids = Some(vec![own.id.uuid(), theirs.id.uuid()]);
        assert_eq!(racks.list(&hostile, &query).await.unwrap().records, from_ref(&theirs));
        let unknown = refusal(racks.get(&hostile, ApplicationRecordId::from_u128(1)).await);
        let is_unknown = |kind: &ErrorKind, id: ApplicationRecordId| match (kind, &unknown) {
            (ErrorKind::NotFound { entity, id: found }, ErrorKind::NotFound { entity: other, .. }) => {
                entity == other && *found == id.uuid()
            }
            _ => false,
        };
        assert!(is_unknown(&refusal(racks.get(&hostile, own.id).await), own.id));
        let rename = |rack: &mut Rack| {
            rack.name = "stolen".to_owned();
            Ok(())
        };
        assert!(is_unknown(
            &fixture.refusal(racks.update_value(&hostile, own.id, None, rename)).await,
            own.id
        ));
        assert!(is_unknown(&fixture.refusal(racks.delete_at(&hostile, own.id, None)).await, own.id));
        assert_eq!(racks.delete_many(&hostile, &[own.id]).await.unwrap(), 0);
        let on_own_network = fixture.refusal(racks.create(&hostile, rack(fixture.network, "x", 1))).await;
        assert!(matches!(on_own_network, ErrorKind::ReferenceInvalid { field, .. } if field == "network_id"));

        // A reference reveals nothing about records out of reach, of another organization or of another
        // network.
        let far_host = bare_host(HostId::from_u128(3), fixture.other_network);
        fixture.put(&far_host).await;
        let scoped = member(fixture.organization, &[fixture.network]);
        for (caller, network) in [(&hostile, foreign.network), (&scoped, fixture.network)] {
            for host in [far_host.id, HostId::from_u128(0xdead)] {
                let referring = Rack { host_id: Some(host), ..rack(network, "r", 1) };
                let refused = fixture.refusal(racks.create(caller, referring)).await;
                let entity = Entity::Host;
                assert_eq!(refused, ErrorKind::ReferenceInvalid { entity, field: "host_id".to_owned() });
            }
            for next in [far.id, ApplicationRecordId::from_u128(0xdead)] {
                let referring = Rack { next: Some(next), ..rack(network, "r", 1) };
                let refused = fixture.refusal(racks.create(caller, referring)).await;
                let entity = Entity::ApplicationRecord;
                assert_eq!(refused, ErrorKind::ReferenceInvalid { entity, field: "next".to_owned() });
            }
        }
        assert_eq!(racks.list(&scoped, &ListQuery::default()).await.unwrap().records, from_ref(&own));
        let denied = refusal(racks.get(&scoped, far.id).await);
        assert!(matches!(denied, ErrorKind::AccessDenied { entity: Entity::Network, .. }));
        let denied = fixture.refusal(racks.create(&scoped, rack(fixture.other_network, "x", 1))).await;
        assert!(matches!(denied, ErrorKind::AccessDenied { entity: Entity::Network, .. }));
        assert_eq!(racks.delete_many(&scoped, &[far.id]).await.unwrap(), 0);

        // An organization that does not exist gets nothing.
        let nobody = Caller::system(OrganizationId::from_u128(0xdead));
        let refused = fixture.refusal(racks.create(&nobody, rack(fixture.network, "x", 1))).await;
        assert!(matches!(refused, ErrorKind::NotFound { entity: Entity::Organization, .. }), "{refused:?}");
    });
}

#[test]
fn references_are_found_by_their_id_and_outlive_their_targets() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let host = bare_host(HostId::from_u128(3), fixture.network);
        fixture.put(&host).await;
        let referring = Rack { host_id: Some(host.id), ..rack(fixture.network, "r", 1) };
        let referring = racks.create(&caller, referring).await.unwrap();
        let next = Rack { next: Some(referring.id), ..rack(fixture.network, "n", 1) };
        racks.create(&caller, next).await.unwrap();
        let mut query = ListQuery::default();
        query.custom.insert("host_id".to_owned(), host.id.to_string());
        assert_eq!(names(&fixture.inventory, &caller, &query).await, ["r"]);
        fixture.delete(host.id).await.unwrap();
        let rename = |rack: &mut Rack| {
            rack.name = "s".to_owned();
            Ok(())
        };
        racks.update_value(&caller, referring.id, None, rename).await.unwrap();
        assert_eq!(names(&fixture.inventory, &caller, &query).await, ["s"]);
    });
}

#[test]
fn wrong_values_are_refused_and_nothing_is_stored() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let valid = rack(fixture.network, "a", 1);
        let invalid = |field: &str, problem| ErrorKind::Invalid { field: field.to_owned(), problem };
        let too_large = ErrorKind::TooLarge { entity: Entity::ApplicationRecord, limit: 64 * 1024 };
        for (wrong, expected) in [
            (rack(fixture.network, "a", 61), invalid("units", Problem::OutOfRange { min: 0, max: 60 })),
            (rack(fixture.network, &"n".repeat(201), 1), invalid("name", Problem::MaxLength { max: 200 })),
            (Rack { serial: Some("s".repeat(64 * 1024)), ..valid.clone() }, too_large),
            // No number, which would be null.
            (Rack { units: f64::NAN, ..valid.clone() }, invalid("value", Problem::InvalidFormat)),
        ] {
            assert_eq!(fixture.refusal(racks.create(&caller, wrong)).await, expected);
        }
        let serial = Rack { serial: Some("s".to_owned()), ..valid.clone() };
        racks.create(&caller, serial.clone()).await.unwrap();
        let taken = fixture.refusal(racks.create(&caller, Rack { name: "b".to_owned(), ..serial })).await;
        let name = "b".to_owned();
        assert_eq!(taken, ErrorKind::AlreadyExists { entity: Entity::ApplicationRecord, name });

        let mut quotas = Quotas::default();
        quotas.application_records_per_kind = Some(1);
        let limited = fixture.inventory.clone().with_quotas(quotas);
        let full = fixture.refusal(limited.application_records::<Rack>().create(&caller, valid)).await;
        assert_eq!(full, ErrorKind::QuotaExceeded { entity: Entity::ApplicationRecord, limit: 1 });
        limited.application_records::<Note>().create(&caller, Note { text: "x".into() }).await.unwrap();
    });
}

#[test]
fn errors_have_the_name_of_the_kind() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let nil = ApplicationRecordId::nil();
        // The text that the name replaces occurs in a record as well.
        let text = Entity::ApplicationRecord.as_str();
        let taken = Rack { serial: Some("s".to_owned()), ..rack(fixture.network, text, 1) };
        let created = racks.create(&caller, taken.clone()).await.unwrap();
        let grow = |rack: &mut Rack| {
            rack.units += 1.0;
            Ok(())
        };
        racks.update_value(&caller, created.id, None, grow).await.unwrap();
        let move_away = |rack: &mut Rack| {
            rack.network_id = NetworkId::nil();
            Ok(())
        };
        let (id, outdated) = (created.id, Some(created.revision()));
        let large = Rack { serial: Some("s".repeat(64 * 1024)), ..rack(fixture.network, "b", 1) };
        let referring = Rack { next: Some(nil), ..rack(fixture.network, "b", 1) };
        let mut quotas = Quotas::default();
        quotas.application_records_per_kind = Some(1);
        let limited = fixture.inventory.clone().with_quotas(quotas);
        let limited = limited.application_records::<Rack>();
        let notes = fixture.inventory.application_records::<Note>();
        let missing = format!("There is no Rack {nil}.");
        let stale = format!(
            "The Rack {id} is not in the state that the request names. Read it again, and use its new tag."
        );
        for (refused, entity, sentence) in [
            (racks.get(&caller, nil).await.map(drop), "Rack", &*missing),
            (racks.delete(&caller, nil).await, "Rack", &*missing),
            (racks.update_value(&caller, nil, None, grow).await.map(drop), "Rack", &*missing),
            (racks.update_value(&caller, id, outdated, grow).await.map(drop), "Rack", &*stale),
            (racks.delete_at(&caller, id, outdated).await, "Rack", &*stale),
            (
                racks.update_value(&caller, id, None, move_away).await.map(drop),
                "Rack",
                "The Rack is on another network.",
            ),
            (
                racks.create(&caller, taken).await.map(drop),
                "Rack",
                "The Rack Application Record already exists.",
            ),
            (
                racks.create(&caller, large).await.map(drop),
                "Rack",
                "The Rack is too large: at most 65536 bytes of JSON are allowed.",
            ),
            (
                racks.create(&caller, referring).await.map(drop),
                "Rack",
                "next does not refer to an existing Rack.",
            ),
            (
                limited.create(&caller, rack(fixture.network, "b", 1)).await.map(drop),
                "Rack",
                "The quota is exhausted: at most 1 records of type Rack are allowed.",
            ),
            (
                racks.create(&caller, rack(NetworkId::nil(), "b", 1)).await.map(drop),
                "Network",
                "network_id does not refer to an existing Network.",
            ),
            // A kind without a name in errors.
            (notes.get(&caller, nil).await.map(drop), "x.note", &*format!("There is no x.note {nil}.")),
        ] {
            let error = refused.unwrap_err();
            assert_eq!((error.to_string().as_str(), &error.params()["entity"]), (sentence, &entity.into()));
        }
    });
}

/// A record with too many facets, or with a network although its kind has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Odd {
    values: usize,
    network_id: Option<NetworkId>,
}

impl ApplicationRecord for Odd {
    const KIND: Name = Name::new("x.odd");

    fn name(&self) -> &str {
        "odd"
    }

    fn network(&self) -> Option<NetworkId> {
        self.network_id
    }

    fn facets(&self) -> RecordFacets {
        // One name twice is one field.
        let facets = RecordFacets::new().sorted_by("a", 1).sorted_by("a", 2);
        (0..self.values).fold(facets, |facets, number| facets.found_by("n", number))
    }
}

/// A kind whose value is anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Anything {
    value: serde_json::Value,
    weight: f32,
}

impl ApplicationRecord for Anything {
    const KIND: Name = Name::new("x.anything");
    const IS_ON_NETWORK: bool = false;

    fn name(&self) -> &str {
        "anything"
    }
}

#[test]
fn value_that_would_be_read_as_another_or_not_at_all_is_refused() {
    run_with(Fixture::new, async |fixture| {
        let (caller, records) = (fixture.system(), fixture.inventory.application_records::<Anything>());
        let nested = |levels| (0..levels).fold(serde_json::json!(1), |value, _| serde_json::json!([value]));
        let mut is_refused = false;
        for levels in 100..140 {
            match records.create(&caller, Anything { value: nested(levels), weight: 1.0 }).await {
                Ok(record) => {
                    assert!(!is_refused, "{levels}");
                    assert_eq!(records.get(&caller, record.id).await.unwrap(), record);
                    records.delete(&caller, record.id).await.unwrap();
                }
                Err(error) => {
                    is_refused = true;
                    assert!(matches!(error.kind(), ErrorKind::Invalid { .. }), "{levels}: {error}");
                }
            }
        }
        assert!(is_refused);
        let infinite = Anything { value: serde_json::json!(1), weight: f32::INFINITY };
        let refused = fixture.refusal(records.create(&caller, infinite)).await;
        assert!(matches!(refused, ErrorKind::Invalid { .. }));
    });
}

#[test]
fn number_of_facets_is_limited() {
    run_with(Fixture::new, async |fixture| {
        let (caller, odd) = (fixture.system(), fixture.inventory.application_records::<Odd>());
        odd.create(&caller, Odd { values: 256, network_id: None }).await.unwrap();
        let many = fixture.refusal(odd.create(&caller, Odd { values: 257, network_id: None })).await;
        assert!(matches!(many, ErrorKind::Invalid { field, .. } if field == "found_by"));
        let network_id = Some(fixture.network);
        let placed = fixture.refusal(odd.create(&caller, Odd { values: 0, network_id })).await;
        assert!(matches!(placed, ErrorKind::Invalid { field, .. } if field == "network_id"));
    });
}

#[test]
fn unreadable_records_are_left_out_of_lists_and_counted() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let rack = racks.create(&caller, rack(fixture.network, "a", 1)).await.unwrap();
        copy_rack(&fixture, 2, |_| b"{\"no\": \"rack\"}".to_vec()).await;
        let page = racks.list(&caller, &ListQuery::default()).await.unwrap();
        assert_eq!((page.records, page.total), (vec![rack.clone()], 3));
        assert_eq!(fixture.inventory.figures().unreadable_records, 2);
        assert!(
            fixture.inventory.figures().to_openmetrics().contains("toposcope_unreadable_records_total 2")
        );
        let mut query = ListQuery::default();
        query.limit = Some(1);
        let mut found = Vec::new();
        loop {
            let page = racks.list(&caller, &query).await.unwrap();
            found.extend(page.records);
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, [rack]);
        let unreadable = racks.get(&caller, ApplicationRecordId::from_u128(0xc0_0000)).await;
        assert_eq!(refusal(unreadable), ErrorKind::Internal);
        // Other lists do not have them, and they go with their network.
        fixture.inventory.networks().all(&caller).await.unwrap();
        fixture.inventory.networks().delete(&caller, fixture.network).await.unwrap();
        assert_eq!(stored(&fixture).await, (0, 1));
    });
}

#[test]
fn network_is_deleted_with_its_records_alone_however_many() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let racks = fixture.inventory.application_records::<Rack>();
        let other = racks.create(&foreign.system(), rack(foreign.network, "theirs", 1)).await.unwrap();
        racks.delete_at(&foreign.system(), other.id, None).await.unwrap();
        racks.create(&fixture.system(), rack(fixture.network, "a", 1)).await.unwrap();
        copy_rack(&fixture, 2_500, |body| body.to_vec()).await;
        racks.create(&fixture.system(), rack(fixture.other_network, "stays", 1)).await.unwrap();
        racks.create(&foreign.system(), rack(foreign.network, "theirs", 1)).await.unwrap();
        // A program that knows no such kind deletes them as well.
        let other_program = fixture.second_inventory();
        other_program.networks().delete(&fixture.system(), fixture.network).await.unwrap();
        assert_eq!(names(&fixture.inventory, &fixture.system(), &ListQuery::default()).await, ["stays"]);
        assert_eq!(names(&fixture.inventory, &foreign.system(), &ListQuery::default()).await, ["theirs"]);
        assert_eq!(stored(&fixture).await, (2, 2));
    });
}

#[tokio::test]
async fn deletion_of_a_network_that_fails_anywhere_deletes_nothing_or_is_completed_by_the_next() {
    for failing in 0.. {
        let fixture = Fixture::new().await;
        let racks = fixture.inventory.application_records::<Rack>();
        racks.create(&fixture.system(), rack(fixture.network, "a", 1)).await.unwrap();
        copy_rack(&fixture, 2_100, |body| body.to_vec()).await;
        let all = stored(&fixture).await;
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::UnavailableAt(failing));
        let deleted = inventory.networks().delete(&fixture.system(), fixture.network).await;
        probe.set(Fault::None);
        if deleted.is_ok() {
            assert!(failing > 20, "{failing}");
            break;
        }
        let networks = fixture.inventory.networks();
        if networks.get(&fixture.system(), fixture.network).await.is_ok() {
            assert_eq!(stored(&fixture).await, all, "{failing}");
            continue;
        }
        let again = networks.create_with_id(&fixture.system(), fixture.network, Network::new("Again")).await;
        assert!(matches!(refusal(again), ErrorKind::AlreadyExists { .. }), "{failing}");
        let foreign = Caller::system(OrganizationId::from_u128(0xdead));
        let missing = refusal(networks.delete(&foreign, fixture.network).await);
        assert!(matches!(missing, ErrorKind::NotFound { .. }), "{missing:?}");
        let again = Network::new("Again");
        match failing % 3 {
            0 => networks.delete(&fixture.system(), fixture.network).await.unwrap(),
            1 => drop(networks.ensure(&fixture.system(), fixture.network, again.clone()).await.unwrap()),
            _ => drop(fixture.inventory.purge_expired().await.unwrap()),
        }
        assert_eq!(stored(&fixture).await, (0, 1), "{failing}");
        networks.ensure(&fixture.system(), fixture.network, again).await.unwrap();
    }
}

#[test]
fn organization_is_deleted_with_its_records_alone() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let racks = fixture.inventory.application_records::<Rack>();
        racks.create(&fixture.system(), rack(fixture.network, "a", 1)).await.unwrap();
        copy_rack(&fixture, 1_500, |body| body.to_vec()).await;
        let notes = fixture.inventory.application_records::<Note>();
        notes.create(&fixture.system(), Note { text: "x".into() }).await.unwrap();
        racks.create(&foreign.system(), rack(foreign.network, "theirs", 1)).await.unwrap();
        assert_eq!(stored(&fixture).await, (1_503, 3));
        fixture.second_inventory().organizations().delete(fixture.organization).await.unwrap();
        assert_eq!(stored(&fixture).await, (1, 1));
        assert_eq!(names(&fixture.inventory, &foreign.system(), &ListQuery::default()).await, ["theirs"]);
    });
}

#[test]
fn no_record_stays_on_a_network_that_is_deleted_meanwhile() {
    run(async || {
        at_every_call(
            async |_| (),
            async |inventory, ()| {
                let organization = inventory.organizations().all().await.unwrap().remove(0).id;
                let networks = inventory.networks().all(&Caller::system(organization)).await.unwrap();
                for network in networks {
                    inventory.networks().delete(&Caller::system(organization), network.id).await.unwrap();
                }
            },
            async |inventory, ()| {
                let organization = inventory.organizations().all().await.unwrap().remove(0).id;
                let caller = Caller::system(organization);
                let network = Network::new("Racks");
                let network = inventory.networks().create(&caller, network).await?;
                let racks = inventory.application_records::<Rack>();
                racks.create(&caller, rack(network.id, "a", 1)).await
            },
            async |fixture, (), result| {
                let left = names(&fixture.inventory, &fixture.system(), &ListQuery::default()).await;
                let networks = fixture.inventory.networks().all(&fixture.system()).await.unwrap();
                let has_network = networks.iter().any(|network| network.name == "Racks");
                assert_eq!(left.len(), usize::from(has_network), "{result:?}");
                assert!(result.is_ok() || !has_network, "{result:?}");
            },
        )
        .await;
    });
}

const FROZEN: ApplicationCode = ApplicationCode::new("policy.frozen", 422);

/// Refuses the name `frozen`, and notes what it was asked.
#[derive(Clone, Default)]
struct Rules(Arc<Mutex<Vec<Question>>>);

/// A question to a policy: the kind of the change, and the name of the rack.
type Question = (ChangeKind, Option<String>);

#[async_trait]
impl Policy for Rules {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        type Racks = toposcope::inventory::Stored<Rack>;
        assert_eq!(change.entity(), Entity::ApplicationRecord);
        let name = change.after::<Racks>().or(change.before()).map(|rack| rack.value.name.clone());
        self.0.lock().unwrap().push((change.kind(), name.clone()));
        match name.as_deref() {
            Some("frozen") => Err(ApplicationError::new(FROZEN, "The rack is frozen.").at("name")),
            _ => Ok(()),
        }
    }
}

#[test]
fn policy_is_asked_about_each_change() {
    run_with(Fixture::new, async |fixture| {
        let rules = Rules::default();
        let inventory = fixture.inventory.clone().with_policy(rules.clone());
        let (caller, racks) = (fixture.system(), inventory.application_records::<Rack>());
        let created = racks.create(&caller, rack(fixture.network, "a", 1)).await.unwrap();
        let rename = |rack: &mut Rack| {
            rack.name = "frozen".to_owned();
            Ok(())
        };
        let refused = fixture.refusal(racks.update_value(&caller, created.id, None, rename)).await;
        assert!(matches!(refused, ErrorKind::Refused { code: FROZEN, .. }));
        racks.delete_many(&caller, &[created.id]).await.unwrap();
        let asked = std::mem::take(&mut *rules.0.lock().unwrap());
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            asked,
            [
                (ChangeKind::Creation, named("a")),
                (ChangeKind::Update, named("frozen")),
                (ChangeKind::Deletion, named("a"))
            ]
        );
    });
}

#[test]
fn export_and_restore_carry_the_records() {
    run_with(Fixture::new, async |fixture| {
        let (caller, racks) = (fixture.system(), fixture.inventory.application_records::<Rack>());
        let serial = Rack { serial: Some("s".to_owned()), ..rack(fixture.network, "a", 1) };
        let created = racks.create(&caller, serial.clone()).await.unwrap();
        let mut file = Vec::new();
        let store: Arc<dyn Store> = fixture.store.clone();
        Export::new().write(&store, &mut file).await.unwrap();
        let restored = MemoryStore::new();
        Restore::new().read(&restored, file.as_slice()).await.unwrap();
        let restored = Inventory::new(restored);
        let racks = restored.application_records::<Rack>();
        assert_eq!(racks.all(&caller).await.unwrap(), [created]);
        assert!(matches!(refusal(racks.create(&caller, serial).await), ErrorKind::AlreadyExists { .. }));
        restored.networks().delete(&caller, fixture.network).await.unwrap();
        assert_eq!(racks.all(&caller).await.unwrap(), []);
    });
}

#[cfg(feature = "sled")]
#[tokio::test]
async fn backup_of_a_folder_carries_the_records() {
    let place = crate::place::Place::new();
    let store = SledStore::builder(place.path().join("store")).open().await.unwrap();
    let inventory = Inventory::new(store.clone());
    let organization = inventory.organizations().create("Example").await.unwrap().id;
    let caller = Caller::system(organization);
    let network = inventory.networks().create(&caller, Network::new("Office")).await.unwrap();
    let created =
        inventory.application_records::<Rack>().create(&caller, rack(network.id, "a", 1)).await.unwrap();
    store.backup(place.path().join("backup")).await.unwrap();
    let copy = Inventory::new(SledStore::builder(place.path().join("backup")).open().await.unwrap());
    assert_eq!(copy.application_records::<Rack>().all(&caller).await.unwrap(), [created]);
    copy.networks().delete(&caller, network.id).await.unwrap();
    assert_eq!(copy.application_records::<Rack>().all(&caller).await.unwrap(), []);
}

#[test]
fn revision_is_read_from_its_text() {
    for wrong in ["", "0", "+0000000000000000000000000000000", &"0".repeat(33), &"g".repeat(32)] {
        assert!(wrong.parse::<toposcope::inventory::RecordRevision>().is_err(), "{wrong}");
    }
}
