use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::ApplicationRecord;
use super::stored::{entity_of, kind_of};
use crate::access::Caller;
use crate::inventory::schema::{HOST, NETWORK, SUBNET, TAG, exists};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, custom};
use crate::model::{ApplicationRecordId, HostId, NetworkId, OrganizationId, SubnetId, TagId};
use crate::store::{Batch, Facets, Key, Name, Query, UniqueKey};

/// The maximum number of values of each kind in the facets of a record.
const MAX_VALUES: usize = 256;

/// The maximum number of fields by which a record is ordered.
const MAX_SORT_FIELDS: usize = 16;

/// The values by which a record of an application is found and ordered, and its references.
///
/// A record has at most 16 sort fields, and at most 256 values, references and unique values each.
///
/// ```
/// use toposcope::inventory::{RecordFacets, ReferenceTarget};
/// use toposcope::model::HostId;
///
/// let facets = RecordFacets::new()
///     .sorted_by("units", 42)
///     .found_by("room", "B 1.07")
///     .unique("serial", "R-2231")
///     .refers_to("switch_id", ReferenceTarget::host(HostId::from_u128(7)));
/// assert_ne!(facets, RecordFacets::new());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFacets {
    sort_fields: BTreeMap<&'static str, Value>,
    terms: Vec<(String, Value)>,
    unique: Vec<(String, String)>,
    references: Vec<(String, ReferenceTarget)>,
}

/// A record that a record of an application refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceTarget {
    entity: Entity,
    /// The name of the application's kind in errors.
    application_kind: Option<&'static str>,
    key: Key,
    /// Whether records of this kind belong to networks.
    is_on_network: bool,
}

impl ReferenceTarget {
    /// A host.
    #[must_use]
    pub const fn host(id: HostId) -> Self {
        Self::of_crate(Entity::Host, Key::new(HOST, id.uuid()), true)
    }

    /// A network.
    #[must_use]
    pub const fn network(id: NetworkId) -> Self {
        Self::of_crate(Entity::Network, Key::new(NETWORK, id.uuid()), true)
    }

    /// A subnet.
    #[must_use]
    pub const fn subnet(id: SubnetId) -> Self {
        Self::of_crate(Entity::Subnet, Key::new(SUBNET, id.uuid()), true)
    }

    /// A tag.
    #[must_use]
    pub const fn tag(id: TagId) -> Self {
        Self::of_crate(Entity::Tag, Key::new(TAG, id.uuid()), false)
    }

    /// A record of an application's kind.
    #[must_use]
    pub const fn record<T: ApplicationRecord>(id: ApplicationRecordId) -> Self {
        Self {
            entity: Entity::ApplicationRecord,
            application_kind: Some(const { entity_of::<T>() }),
            key: Key::new(kind_of::<T>(), id.uuid()),
            is_on_network: T::IS_ON_NETWORK,
        }
    }

    /// A record of a kind of this crate.
    const fn of_crate(entity: Entity, key: Key, is_on_network: bool) -> Self {
        Self { entity, application_kind: None, key, is_on_network }
    }

    /// Returns the id of the record.
    #[must_use]
    pub const fn id(&self) -> Uuid {
        self.key.id
    }
}

impl RecordFacets {
    /// Facets without any value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes lists sortable by a field, with [`ListQuery::order_by_custom`](super::super::ListQuery::order_by_custom).
    ///
    /// Numbers come first, then `false`, `true`, and texts by their first 128 bytes. Null, lists and objects count as missing.
    ///
    /// Use a fixed set of field names, never names from users: a store holds at most 65,535 of them, for all tenants together.
    #[must_use]
    pub fn sorted_by(mut self, field: &'static str, value: impl Into<Value>) -> Self {
        self.sort_fields.insert(field, value.into());
        self
    }

    /// Makes lists filterable by a value, with [`ListQuery::custom`](super::super::ListQuery::custom).
    ///
    /// The filter compares texts; a number or a boolean has the text of its JSON. A field may have several
    /// values. Null, lists and objects are not indexed.
    #[must_use]
    pub fn found_by(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.terms.push((field.into(), value.into()));
        self
    }

    /// Requires that no other record of the kind and organization has this text in the field.
    #[must_use]
    pub fn unique(mut self, field: impl Into<String>, text: impl Into<String>) -> Self {
        self.unique.push((field.into(), text.into()));
        self
    }

    /// Refers to a record of the organization, which the caller must reach when the reference is set.
    ///
    /// Lists can be filtered by its id, as by a value of [`found_by`](Self::found_by). The reference does not prevent
    /// the deletion of its target, and is not removed by it: read the target to find out whether it exists.
    #[must_use]
    pub fn refers_to(mut self, field: impl Into<String>, target: ReferenceTarget) -> Self {
        self.references.push((field.into(), target));
        self
    }

    /// Checks the number of values.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (field, length, max) in [
            ("sorted_by", self.sort_fields.len(), MAX_SORT_FIELDS),
            ("found_by", self.terms.len(), MAX_VALUES),
            ("unique", self.unique.len(), MAX_VALUES),
            ("refers_to", self.references.len(), MAX_VALUES),
        ] {
            if length > max {
                return Err(Error::invalid(field, Problem::MaxLength { max }));
            }
        }
        Ok(())
    }

    /// Adds the values to the facets of a record of a kind.
    pub(super) fn add_to(&self, facets: Facets, kind: Name, organization: OrganizationId) -> Facets {
        let sort_keys = self.sort_fields.iter().filter_map(|(name, value)| custom::sort_key(name, value));
        let terms = self.terms.iter().filter_map(|(name, value)| custom::term(name, value));
        let ids = self
            .references
            .iter()
            .filter_map(|(name, target)| custom::term(name, &Value::from(target.id().to_string())));
        let unique = self.unique.iter().map(|(name, text)| unique_key(kind, organization, name, text));
        facets.with_sort_keys(sort_keys).with_terms(terms.chain(ids)).with_unique_keys(unique)
    }

    /// Returns the references that other facets do not have.
    pub(super) fn references_beside(self, others: &Self) -> Vec<(String, ReferenceTarget)> {
        let known: BTreeSet<Key> = others.references.iter().map(|(_, target)| target.key).collect();
        self.references.into_iter().filter(|(_, target)| !known.contains(&target.key)).collect()
    }
}

/// Returns the unique key of a text in a field within an organization.
///
/// The kind is its name, so that it cannot collide with the unique keys of this crate. No input can choose
/// the first bytes of the digest.
fn unique_key(kind: Name, organization: OrganizationId, field: &str, text: &str) -> UniqueKey {
    let digest = Sha256::new().chain_update(organization.as_bytes());
    let digest = digest.chain_update((field.len() as u64).to_be_bytes()).chain_update(field);
    let digest = digest.chain_update(text).finalize();
    UniqueKey::new(kind, digest.first_chunk::<16>().map_or(digest.as_slice(), <[u8; 16]>::as_slice))
}

impl Inventory {
    /// Checks that the targets of references exist and are within reach of the caller. Adds guards that they still exist.
    ///
    /// A target out of reach is refused like one that does not exist, so that references do not reveal which
    /// records exist.
    pub(super) async fn check_reference_targets(
        &self,
        caller: &Caller,
        references: &[(String, ReferenceTarget)],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let mut ids: BTreeMap<(Name, bool), Vec<Uuid>> = BTreeMap::new();
        for (_, target) in references {
            ids.entry((target.key.kind, target.is_on_network)).or_default().push(target.key.id);
        }
        let mut found = BTreeSet::new();
        for ((kind, is_on_network), ids) in ids {
            let query = Query {
                organization: Some(caller.organization_id().uuid()),
                networks: caller.scope().network_filter().filter(|_| is_on_network),
                ids: Some(ids),
                // Bodies do not matter.
                max_bytes: Some(0),
                ..Query::new(kind)
            };
            let page = self.store.list(&query).await?;
            found.extend(page.records.into_iter().map(|record| record.key).chain(page.unread));
        }
        for (field, target) in references {
            if !found.contains(&target.key) {
                let kind = ErrorKind::ReferenceInvalid { entity: target.entity, field: field.clone() };
                let error = Error::from(kind);
                return Err(match target.application_kind {
                    Some(name) => error.of_application_kind(name),
                    None => error,
                });
            }
        }
        for key in found {
            batch.guard(exists(key));
        }
        Ok(())
    }
}
