//! Kinds of records that the host application defines.
//!
//! [`Stored`] wraps an application's value as a record of a collection, so that the engine of all collections applies:
//! rights, tenants, references, policy, revisions, cursors. A store keeps them under the application's kind. Kinds are
//! noted for each organization (`kinds`), because deletions must find records of kinds that no program knows any
//! longer.

mod facets;
mod handle;
mod kinds;
mod stored;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::facets::{RecordFacets, ReferenceTarget};
pub use self::handle::ApplicationRecords;
pub(in crate::inventory) use self::kinds::MAX_DELETED;
pub use self::stored::{RecordRevision, RecordRevisionError, Stored};
use super::Error;
use crate::model::{NetworkId, Permission};
use crate::store::Name;

/// A kind of record that the host application defines.
///
/// The application's value is stored as JSON of at most 64 KiB. [`Stored`] adds its id, its organization and its times. The
/// methods of [`ApplicationRecords`] take the [`Caller`](crate::access::Caller) for whom they act, and treat the records as those of the API:
///
/// - A caller sees records of its organization only, and those on networks only within its scope.
/// - The [`Policy`](super::Policy) is asked about each change. It sees the record as a `Stored` of this type.
/// - Records on a network are deleted with it, and all of them with their organization.
/// - Exports, restores and backups contain them.
///
/// A stored document that this type cannot read, such as one of a later version of the application, is left out of lists, counted in
/// [`InventoryFigures::unreadable_records`](super::InventoryFigures::unreadable_records), and reported to the log. The other methods
/// fail with `Internal` for it; a type of the earlier form with the same kind can read it. Give new fields a
/// `#[serde(default)]`.
///
/// # Kinds
/// A kind begins with `x.`, which this crate leaves to applications, and has at most 16 bytes of visible ASCII. Any other kind does not
/// compile once it is used. Each kind has one type; two types of one kind must read the same documents.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use toposcope::access::Caller;
/// use toposcope::inventory::{ApplicationRecord, Error, ListQuery, Problem, RecordFacets};
/// use toposcope::model::{Network, NetworkId};
/// use toposcope::store::Name;
/// use toposcope::{Inventory, MemoryStore};
///
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
/// struct Rack {
///     network_id: NetworkId,
///     name: String,
///     units: u8,
/// }
///
/// impl ApplicationRecord for Rack {
///     const KIND: Name = Name::new("x.rack");
///     const ENTITY: &'static str = "Rack";
///     const IS_ON_NETWORK: bool = true;
///
///     fn name(&self) -> &str {
///         &self.name
///     }
///
///     fn network(&self) -> Option<NetworkId> {
///         Some(self.network_id)
///     }
///
///     fn facets(&self) -> RecordFacets {
///         RecordFacets::new().sorted_by("units", self.units).found_by("units", self.units).unique("name", &self.name)
///     }
///
///     fn validate(&mut self) -> Result<(), Error> {
///         match self.units {
///             1..=60 => Ok(()),
///             _ => Err(Error::invalid("units", Problem::OutOfRange { min: 1, max: 60 })),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.organizations().create("Example").await?;
/// let caller = Caller::system(organization.id);
/// let network = inventory.networks().create(&caller, Network::new("Office")).await?;
///
/// let racks = inventory.application_records::<Rack>();
/// for (name, units) in [("A1", 42), ("A2", 24)] {
///     racks.create(&caller, Rack { network_id: network.id, name: name.to_owned(), units }).await?;
/// }
/// let mut query = ListQuery::default();
/// query.order_by_custom = Some("units".to_owned());
/// query.limit = Some(1);
/// let page = racks.list(&caller, &query).await?;
/// assert_eq!((page.records[0].value.name.as_str(), page.total), ("A2", 2));
///
/// // Only if it has not changed since.
/// let rack = &page.records[0];
/// let grow = |rack: &mut Rack| {
///     rack.units = 48;
///     Ok(())
/// };
/// let grown = racks.update_value(&caller, rack.id, Some(rack.revision()), grow).await?;
/// assert!(racks.update_value(&caller, rack.id, Some(rack.revision()), grow).await.is_err());
///
/// racks.delete_at(&caller, grown.id, Some(grown.revision())).await?;
/// let missing = racks.get(&caller, grown.id).await.unwrap_err();
/// assert_eq!(missing.to_string(), format!("There is no Rack {}.", grown.id));
/// // The other one is deleted with its network.
/// inventory.networks().delete(&caller, network.id).await?;
/// assert_eq!(racks.list(&caller, &ListQuery::default()).await?.total, 0);
/// # Ok(())
/// # }
/// ```
pub trait ApplicationRecord:
    Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The kind, which begins with `x.`.
    const KIND: Name;

    /// The kind as errors name it, in sentences and as `entity` in their params, such as `Rack`: 1 to 64 bytes. Default: [`KIND`](Self::KIND).
    ///
    /// [`ErrorKind`](super::ErrorKind) has [`Entity::ApplicationRecord`](super::Entity::ApplicationRecord) for every kind.
    const ENTITY: &'static str = Self::KIND.as_str();

    /// Whether every record belongs to a network. Otherwise, every caller of the organization reaches the records.
    const IS_ON_NETWORK: bool = false;

    /// The lowest level that reads the records. Default: Viewer.
    const READ: Permission = Permission::Viewer;

    /// The lowest level that creates, changes and deletes the records. Default: Member.
    const CHANGE: Permission = Permission::Member;

    /// Returns the record's name, at most 200 characters, by which lists can be ordered and which errors use.
    fn name(&self) -> &str;

    /// Returns the network that the record belongs to. It cannot change. Needed exactly if [`IS_ON_NETWORK`](Self::IS_ON_NETWORK).
    fn network(&self) -> Option<NetworkId> {
        None
    }

    /// Returns the values, sort fields and references of the record. Default: none.
    ///
    /// They must follow from the record alone. After a change of this method, stored records keep their former facets
    /// until they are stored again.
    fn facets(&self) -> RecordFacets {
        RecordFacets::new()
    }

    /// Validates and normalizes the record before it is stored. Default: everything is valid.
    ///
    /// # Errors
    /// [`Error::invalid`] for a value that is wrong, or any other error.
    fn validate(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
