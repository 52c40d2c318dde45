use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ApplicationRecord;
use crate::access::Caller;
use crate::inventory::collections::{
    BulkDeletable, CollectionRecord, Creatable, CustomFilters, Deletable, Reference, Requirements,
};
use crate::inventory::records::named;
use crate::inventory::schema::{network_key, organization_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem};
use crate::model::{ApplicationRecordId, NetworkId, OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Key, Name, Query};

/// The maximum size of an application's value, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum number of characters of the name of an application's record.
const MAX_NAME: usize = 200;

/// The maximum length of the name of an application's kind in errors, in bytes.
const MAX_ENTITY: usize = 64;

/// The maximum number of records on a page.
const MAX_PAGE: usize = 1_000;

/// An application's value as a record, with the fields that the inventory sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stored<T> {
    /// The record's id.
    pub id: ApplicationRecordId,
    /// The organization that owns the record.
    pub organization_id: OrganizationId,
    /// When the record was created.
    pub created_at: Timestamp,
    /// When the record last changed.
    pub updated_at: Timestamp,
    /// The application's value.
    pub value: T,
}

impl<T> Stored<T> {
    /// Creates a record of a value for [`Collection::create`](crate::inventory::Collection::create), which
    /// sets the other fields.
    #[must_use]
    pub fn new(value: T) -> Self {
        let now = Timestamp::now();
        let (id, organization_id) = (ApplicationRecordId::nil(), OrganizationId::nil());
        Self { id, organization_id, created_at: now, updated_at: now, value }
    }
}

impl<T: Serialize> Stored<T> {
    /// Returns the revision of the record's present content.
    #[must_use]
    pub fn revision(&self) -> RecordRevision {
        // The members of a `Value` are sorted, whatever the order in which the type writes them. It has no numbers beyond 64 bits.
        let json = match serde_json::to_value(self) {
            Ok(value) => value.to_string(),
            Err(_) => serde_json::to_string(self).unwrap_or_default(),
        };
        let digest = Sha256::digest(json);
        RecordRevision(digest.first_chunk().copied().map_or(0, u128::from_be_bytes))
    }
}

/// The revision of a record's content: a digest that changes with every change of the record.
///
/// Its text form has 32 hexadecimal digits, which suit the `ETag` and `If-Match` of an application's own endpoint.
///
/// ```
/// use toposcope::inventory::RecordRevision;
///
/// let revision: RecordRevision = "000000000000000000000000000000ff".parse()?;
/// assert_eq!(revision.to_string(), "000000000000000000000000000000ff");
/// # Ok::<(), toposcope::inventory::RecordRevisionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordRevision(u128);

/// The error for text that is not a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a revision of 32 hexadecimal digits")]
#[non_exhaustive]
pub struct RecordRevisionError;

impl FromStr for RecordRevision {
    type Err = RecordRevisionError;

    fn from_str(text: &str) -> Result<Self, RecordRevisionError> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(Self).ok_or(RecordRevisionError)
    }
}

impl fmt::Display for RecordRevision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// Returns the kind of an application's records.
#[allow(clippy::panic, reason = "a kind of this crate must not compile")]
pub(super) const fn kind_of<T: ApplicationRecord>() -> Name {
    assert!(T::KIND.is_of_application(), "the kind of an application's records must begin with `x.`");
    T::KIND
}

/// Returns the name of an application's kind in errors.
#[allow(clippy::panic, reason = "a name that is too long for a sentence must not compile")]
pub(super) const fn entity_of<T: ApplicationRecord>() -> &'static str {
    assert!(
        !T::ENTITY.is_empty() && T::ENTITY.len() <= MAX_ENTITY,
        "the name of a kind in errors must have 1 to 64 bytes"
    );
    T::ENTITY
}

impl<T: ApplicationRecord> CollectionRecord for Stored<T> {
    type Id = ApplicationRecordId;

    const ENTITY: Entity = Entity::ApplicationRecord;
    const KIND: Name = kind_of::<T>();
    const REQUIREMENTS: Requirements = Requirements::levels(T::READ, T::CHANGE, T::CHANGE);
    const CUSTOM_FILTERS: CustomFilters = CustomFilters::Any;
    const MAX_PAGE: Option<usize> = Some(MAX_PAGE);
    const LISTS_WITHOUT_UNREADABLE: bool = true;

    fn id(&self) -> ApplicationRecordId {
        self.id
    }

    fn label(&self) -> String {
        self.value.name().to_owned()
    }

    fn network(&self) -> Option<NetworkId> {
        self.value.network()
    }

    fn named(error: Error) -> Error {
        error.of_application_kind(const { entity_of::<T>() })
    }

    fn restrict(query: Query, caller: &Caller) -> Query {
        let networks = caller.scope().network_filter().filter(|_| T::IS_ON_NETWORK);
        Query { networks, ..query }
    }

    fn begin(&mut self, id: ApplicationRecordId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.organization_id) = (stored.id, stored.organization_id);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        self.value.validate()?;
        if self.value.name().chars().nth(MAX_NAME).is_some() {
            return Err(Error::invalid("name", Problem::MaxLength { max: MAX_NAME }));
        }
        match self.value.network() {
            None if T::IS_ON_NETWORK => return Err(Error::invalid("network_id", Problem::Required)),
            Some(_) if !T::IS_ON_NETWORK => return Err(Error::invalid("network_id", Problem::Unsupported)),
            _ => {}
        }
        self.value.facets().check()?;
        let json = serde_json::to_vec(&self.value).map_err(Error::internal)?;
        if json.len() > MAX_BYTES {
            return Err(ErrorKind::TooLarge { entity: Self::ENTITY, limit: MAX_BYTES }.into());
        }
        // Values that JSON cannot represent would be lost, such as infinite numbers, or lists nested deeper than a
        // decoder accepts. The check decodes the whole record, which is one level deeper than the value.
        let stored = serde_json::to_vec(self).map_err(Error::internal)?;
        match serde_json::from_slice::<Self>(&stored) {
            Ok(read) if read.value == self.value => Ok(()),
            _ => Err(Error::invalid("value", Problem::InvalidFormat)),
        }
    }

    fn references(&self) -> Vec<Reference> {
        let reference = |network| {
            let (key, field) = (network_key(network), "network_id".to_owned());
            Reference { entity: Entity::Network, key, field }
        };
        self.value.network().map(reference).into_iter().collect()
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        let facets = named(organization, self.value.name(), self.created_at, self.updated_at)
            .with_network(self.value.network().map(NetworkId::uuid));
        self.value.facets().add_to(facets, T::KIND, organization)
    }

    async fn prepare(
        inventory: &Inventory,
        caller: &Caller,
        stored: Option<&Self>,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let known = stored.map(|stored| stored.value.facets()).unwrap_or_default();
        let added = record.value.facets().references_beside(&known);
        inventory.check_reference_targets(caller, &added, batch).await?;
        match stored {
            None => inventory.note_kind(caller.organization_id(), T::KIND, batch).await,
            Some(_) => Ok(()),
        }
    }
}

impl<T: ApplicationRecord> Creatable for Stored<T> {
    fn quota(inventory: &Inventory, caller: &Caller) -> (Option<u64>, Key) {
        let limit = inventory.quotas.application_records_per_kind;
        (limit, organization_key(caller.organization_id()))
    }
}

impl<T: ApplicationRecord> Deletable for Stored<T> {}

impl<T: ApplicationRecord> BulkDeletable for Stored<T> {}
