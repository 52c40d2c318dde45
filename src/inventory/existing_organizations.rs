//! A store that refuses records of organizations that do not exist.

use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

use super::schema::{ORGANIZATION, exists, organization_key};
use crate::store::{Batch, Store, StoreError, Wrapper, Write};

/// Adds a guard to every batch with records of an organization: the organization exists.
///
/// Every commit of the inventory passes through it, so that no operation can forget the guard. A host application may
/// name any organization, and an organization that is being deleted must not get new records. A commit that fails for
/// this reason is a conflict of the organization's record.
pub(super) struct ExistingOrganizations<S>(S);

impl<S> ExistingOrganizations<S> {
    pub(super) const fn new(store: S) -> Self {
        Self(store)
    }
}

#[async_trait]
impl<S: Store> Wrapper for ExistingOrganizations<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn commit(&self, mut batch: Batch) -> Result<(), StoreError> {
        for organization in organizations_of(&batch) {
            batch.guard(exists(organization_key(organization.into())));
        }
        self.0.commit(batch).await
    }
}

/// Shows the store alone.
impl<S: fmt::Debug> fmt::Debug for ExistingOrganizations<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Returns the organizations of the records that a batch puts, except for those that it creates or changes itself.
fn organizations_of(batch: &Batch) -> Vec<Uuid> {
    let mut found: Vec<Uuid> = Vec::new();
    for write in batch.writes() {
        // Almost every batch has records of one organization.
        if let Write::Put { facets, .. } = write
            && let Some(organization) = facets.organization
            && !found.contains(&organization)
        {
            found.push(organization);
        }
    }
    for write in batch.writes().iter().filter(|write| write.key().kind == ORGANIZATION) {
        found.retain(|organization| *organization != write.key().id);
    }
    found
}
