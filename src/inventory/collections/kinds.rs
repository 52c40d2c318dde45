//! The changes that each kind of record has.

use super::CollectionRecord;
use crate::access::Caller;
use crate::inventory::Inventory;
use crate::inventory::schema::organization_key;
use crate::model::{DaemonApiKey, Share, User, UserApiKey};
use crate::store::Key;

/// A kind of record that [`Collection::create`](crate::inventory::Collection::create) creates from its fields alone.
///
/// Users, API keys and shares have creations of their own, because a secret comes with them.
pub trait Creatable: CollectionRecord {
    /// Returns the maximum number of records, and the record whose quota it is.
    fn quota(_inventory: &Inventory, caller: &Caller) -> (Option<u64>, Key) {
        (None, organization_key(caller.organization_id()))
    }
}

/// A kind of record that [`Collection::delete`](crate::inventory::Collection::delete) deletes.
pub trait Deletable: CollectionRecord {}

/// A kind of record of which [`Collection::delete_many`](crate::inventory::Collection::delete_many) deletes several at a time.
///
/// Deletions of these kinds write no common record, so that one batch can contain many.
pub trait BulkDeletable: Deletable {}

/// A kind of record that can be disabled, see [`Collection::disable`](crate::inventory::Collection::disable).
pub trait Switchable: CollectionRecord {
    /// Returns the switch of the record.
    fn is_enabled_mut(&mut self) -> &mut bool;
}

macro_rules! switchable {
    ($($record:ty),*) => {
        $(impl Switchable for $record {
            fn is_enabled_mut(&mut self) -> &mut bool {
                &mut self.is_enabled
            }
        })*
    };
}

switchable!(DaemonApiKey, Share, User, UserApiKey);

impl Deletable for DaemonApiKey {}
impl Deletable for Share {}
impl Deletable for User {}
impl Deletable for UserApiKey {}

impl BulkDeletable for DaemonApiKey {}
impl BulkDeletable for Share {}
impl BulkDeletable for UserApiKey {}
