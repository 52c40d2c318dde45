//! The records that a record refers to: they must exist, and the caller must have access to them.

use std::collections::BTreeSet;

use super::{CollectionRecord, Reference, network_denied};
use crate::access::{Caller, Scope};
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{NETWORK, exists};
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Batch, Key};

impl Inventory {
    /// Checks that the referenced records exist and are accessible to the caller.
    ///
    /// They must exist in the caller's organization. Then, the caller must have access to the networks among them.
    pub(in crate::inventory) async fn check_own_references(
        &self,
        caller: &Caller,
        references: &[Reference],
    ) -> Result<(), Error> {
        self.check_reachable(caller.organization_id(), caller.scope(), references).await
    }

    /// Checks that the referenced records exist and are in the scope.
    ///
    /// They must exist in the organization. Then, the networks among them must be in the scope.
    pub(in crate::inventory) async fn check_reachable(
        &self,
        organization: OrganizationId,
        scope: &Scope,
        references: &[Reference],
    ) -> Result<(), Error> {
        let keys: Vec<Key> = references.iter().map(|reference| reference.key).collect();
        let records = self.store.get(&keys).await?;
        for (Reference { entity, field, .. }, record) in references.iter().zip(&records) {
            if !belongs_to(organization, record.as_ref())? {
                return Err(ErrorKind::ReferenceInvalid { entity: *entity, field: field.clone() }.into());
            }
        }
        let networks = keys.iter().filter(|key| key.kind == NETWORK).map(|key| NetworkId::new(key.id));
        let mut denied = networks.filter(|network| !scope.allows(*network));
        denied.next().map_or(Ok(()), |network| Err(network_denied(network)))
    }
}

/// Returns the references of a record that the stored one does not have.
///
/// The others need neither a check nor a guard: the deletion of a target changes all records that refer to it.
pub(super) fn added_references<T: CollectionRecord>(record: &T, stored: &T) -> Vec<Reference> {
    let known: BTreeSet<Key> = stored.references().iter().map(|reference| reference.key).collect();
    record.references().into_iter().filter(|reference| !known.contains(&reference.key)).collect()
}

/// Adds guards that the referenced records still exist.
pub(in crate::inventory) fn guard_references(references: &[Reference], batch: &mut Batch) {
    let keys: BTreeSet<Key> = references.iter().map(|reference| reference.key).collect();
    for key in keys {
        batch.guard(exists(key));
    }
}
