//! The collections of an organization, and the operations that all kinds of records share.
//!
//! [`CollectionRecord`] describes one kind: the required levels, the fields that the server sets, and the facets. The
//! engine in `list` and `change` derives from it every operation that acts for a caller. A kind adds its own rules in
//! the hooks of the trait, in a module of its own.

mod change;
mod chunked_list;
mod cursor;
mod deletion;
mod handle;
mod kinds;
mod list;
mod references;
mod revert;
mod unique;

use std::fmt;
use std::future::{Future, ready};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use self::change::MAX_BULK;
pub(in crate::inventory) use self::chunked_list::ChunkedList;
pub(in crate::inventory) use self::cursor::{CursorPosition, fingerprint, invalid_cursor};
pub(super) use self::deletion::{Referenced, Rewritten, put_tombstone};
pub use self::handle::Collection;
pub(in crate::inventory) use self::handle::handle;
pub use self::kinds::{BulkDeletable, Creatable, Deletable, Switchable};
pub use self::list::ListPage;
pub(crate) use self::list::{DocumentPages, Documents, PendingDocuments};
pub(in crate::inventory) use self::list::{document, position_of};
pub(super) use self::references::guard_references;
pub use self::revert::Revertable;
use super::custom::IndexedKind;
use super::{Entity, Error, ErrorKind, Inventory, require_level, require_session};
use crate::access::Caller;
use crate::model::{Custom, NetworkId, OrganizationId, Permission, RecordId, Timestamp};
use crate::store::{Batch, Facets, Key, Name, Query};
use crate::wire::ListQuery;

/// A kind of record that a [`Collection`] has.
///
/// Implemented by the records of the API, and by [`Stored`](super::Stored) for the values of the host application's own
/// [kinds](super::ApplicationRecord). Not implementable outside of this crate.
pub trait Resource: CollectionRecord {}

impl<T: CollectionRecord> Resource for T {}

/// The requirement of an operation: a permission level, and possibly a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    level: Permission,
    session: bool,
}

impl Requirement {
    pub(crate) const fn level(level: Permission) -> Self {
        Self { level, session: false }
    }

    /// Also requires a session; API keys are refused.
    pub(crate) const fn session(level: Permission) -> Self {
        Self { level, session: true }
    }

    /// Returns the lowest permission level that suffices.
    #[cfg(feature = "openapi")]
    pub(crate) const fn permission(self) -> Permission {
        self.level
    }

    #[cfg(feature = "openapi")]
    pub(crate) const fn needs_session(self) -> bool {
        self.session
    }

    /// # Errors
    /// `SessionRequired` or `PermissionDenied`.
    pub(crate) fn check(self, caller: &Caller) -> Result<(), Error> {
        if self.session {
            require_session(caller)?;
        }
        require_level(caller, self.level)
    }
}

/// The requirements for reading, creating and changing the records of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    pub(crate) read: Requirement,
    pub(crate) create: Requirement,
    /// Updates, deletions and bulk deletions.
    pub(crate) change: Requirement,
}

impl Requirements {
    /// Requires these levels, with any credential.
    pub(crate) const fn levels(read: Permission, create: Permission, change: Permission) -> Self {
        let (read, create) = (Requirement::level(read), Requirement::level(create));
        Self { read, create, change: Requirement::level(change) }
    }
}

/// The custom fields by which lists of a kind of records can be filtered and ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomFilters {
    /// The records have no such fields.
    None,
    /// The fields of the inventory's custom index.
    Indexed(IndexedKind),
    /// Any field that the records have among their facets.
    Any,
}

/// A record that another record refers to.
#[derive(Debug)]
pub struct Reference {
    pub(crate) entity: Entity,
    pub(crate) key: Key,
    /// The dotted path of the reference in the referring record.
    pub(crate) field: String,
}

impl Reference {
    /// Creates the references of a list field; `key` makes the key of each id.
    pub(crate) fn list<I: RecordId>(entity: Entity, key: fn(I) -> Key, field: &str, ids: &[I]) -> Vec<Self> {
        let path = |index| format!("{field}.{index}");
        ids.iter().enumerate().map(|(index, id)| Self { entity, key: key(*id), field: path(index) }).collect()
    }
}

/// One kind of record, for the engine.
///
/// The implementing type is the record as the API shows it.
pub trait CollectionRecord:
    Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The ids of the records.
    type Id: RecordId;

    /// The kind of record, as errors name it.
    const ENTITY: Entity;
    /// The kind of record, as the store names it.
    const KIND: Name;
    /// The requirements of the operations.
    const REQUIREMENTS: Requirements;
    /// The other kinds of records from which [`complete`](Self::complete) fills in fields.
    const SHOWN_KINDS: &'static [Name] = &[];
    /// The custom fields by which lists can be filtered and ordered.
    const CUSTOM_FILTERS: CustomFilters = CustomFilters::None;
    /// The maximum number of records on a page; `None`: unlimited.
    const MAX_PAGE: Option<usize> = None;
    /// Whether the label is the value of the unique keys. Otherwise, [`prepare`](Self::prepare) names the record that has
    /// one of them.
    const LABEL_IS_UNIQUE_KEY: bool = true;
    /// The unique key of the name, if names are unique within the organization.
    const NAME_KEY: Option<Name> = None;
    /// Whether lists leave out records that cannot be decoded. Otherwise, such a record is an error.
    const LISTS_WITHOUT_UNREADABLE: bool = false;

    /// Returns the record's id.
    fn id(&self) -> Self::Id;

    /// Returns the record's name, as errors about it use it.
    fn label(&self) -> String;

    /// Names the kind in an error about one of its records, if the entity stands for several kinds.
    fn named(error: Error) -> Error {
        error
    }

    /// Returns the network that the record belongs to.
    fn network(&self) -> Option<NetworkId> {
        None
    }

    /// Restricts a list to the records that the caller may see. The organization is restricted already.
    fn restrict(query: Query, caller: &Caller) -> Query {
        Query { networks: caller.scope().network_filter(), ..query }
    }

    /// Adds the filters of a list that only this kind has.
    fn filter(query: Query, _list: &ListQuery) -> Query {
        query
    }

    /// Returns whether the record does not exist for a caller of its organization.
    fn is_hidden_from(&self, _caller: &Caller) -> bool {
        false
    }

    /// Sets the fields of a new record that only the server sets.
    fn begin(&mut self, id: Self::Id, organization: OrganizationId, now: Timestamp);

    /// Restores the fields that an update cannot change.
    fn keep_fixed(&mut self, stored: &Self);

    /// Sets the time of the last change.
    fn touch(&mut self, now: Timestamp);

    /// Returns the time of the last change.
    fn updated_at(&self) -> Timestamp;

    /// Validates and normalizes the record by itself; `stored` is the one that it replaces.
    ///
    /// # Errors
    /// `Invalid`; `UpdateForbidden`.
    fn validate(&mut self, stored: Option<&Self>, now: Timestamp) -> Result<(), Error>;

    /// Validates the values whose rules depend on neither the stored record nor the time.
    ///
    /// # Errors
    /// `Invalid`.
    fn check_values(&self) -> Result<(), Error> {
        self.clone().validate(Some(self), Timestamp::UNIX_EPOCH)
    }

    /// Returns the records that the record refers to, all of its organization.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }

    /// Removes repeated references, after they were checked: errors name the element that the caller sent.
    fn deduplicate(&mut self) {}

    /// Returns the record's custom fields, if the records have such fields.
    fn custom(&self) -> Option<&Custom> {
        None
    }

    /// Returns the facets of the record, without those of the inventory's custom index.
    fn facets(&self, organization: OrganizationId) -> Facets;

    /// Checks a creation or an update against other records. Adds guards and further writes to its batch.
    ///
    /// It must write nothing itself: the policy is asked after it.
    fn prepare<'a>(
        _inventory: &'a Inventory,
        _caller: &'a Caller,
        _stored: Option<&'a Self>,
        _record: &'a Self,
        _batch: &'a mut Batch,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'a {
        ready(Ok(()))
    }

    /// Completes a creation that takes several commits, after the first one.
    fn finish_creation<'a>(
        _inventory: &'a Inventory,
        _record: &'a Self,
    ) -> impl Future<Output = ()> + Send + 'a {
        ready(())
    }

    /// Commits the writes that must precede an update. The policy has allowed the update.
    fn precede_update<'a>(
        _inventory: &'a Inventory,
        _stored: &'a Self,
        _record: &'a Self,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'a {
        ready(Ok(()))
    }

    /// Completes an update that takes several commits, after the first one.
    fn finish_update<'a>(
        _inventory: &'a Inventory,
        _record: &'a Self,
    ) -> impl Future<Output = ()> + Send + 'a {
        ready(())
    }

    /// Checks a deletion against other records. Adds guards and further writes to its batch.
    ///
    /// It must write nothing itself: the policy is asked after it.
    fn prepare_deletion<'a>(
        _inventory: &'a Inventory,
        _caller: &'a Caller,
        _record: &'a Self,
        _batch: &'a mut Batch,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'a {
        ready(Ok(()))
    }

    /// Returns whether a deletion may take further commits after that of its batch.
    fn takes_more_commits(_batch: &Batch) -> bool {
        true
    }

    /// Completes a deletion that takes several commits, after the first one. Returns whether one was under way.
    fn finish_deletion<'a>(
        _inventory: &'a Inventory,
        _caller: &'a Caller,
        _id: Self::Id,
    ) -> impl Future<Output = Result<bool, Error>> + Send + 'a {
        ready(Ok(false))
    }

    /// Fills in the fields of read records that are stored in other records.
    fn complete<'a>(
        _inventory: &'a Inventory,
        _records: &'a mut [Self],
    ) -> impl Future<Output = Result<(), Error>> + Send + 'a {
        ready(Ok(()))
    }

    /// Returns the record as stored, without the fields that [`complete`](Self::complete) fills in.
    fn stored(&self) -> Self {
        self.clone()
    }

    /// Returns the record as entity tags identify it: without the times of uses.
    fn tagged(&self) -> Self {
        self.stored()
    }
}

impl Inventory {
    /// Returns the facets under which a record is stored.
    pub(in crate::inventory) fn facets_of<T: CollectionRecord>(
        &self,
        organization: OrganizationId,
        record: &T,
    ) -> Facets {
        let mut facets = record.facets(organization);
        if let Some(custom) = record.custom() {
            self.custom_index.add_to(&mut facets, custom);
        }
        facets
    }
}

pub(super) fn not_found<T: CollectionRecord>(id: T::Id) -> Error {
    ErrorKind::NotFound { entity: T::ENTITY, id: id.into() }.into()
}

pub(super) fn network_denied(id: NetworkId) -> Error {
    ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.into()
}
