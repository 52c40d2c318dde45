//! Renaming and removal of services that virtualize hosts.
//!
//! The hosts have the name of the service in a sort key, so that they change with it. The commit that renames a service
//! also changes its hosts if they are few. If they are many, it adds a record of the renaming instead, and the hosts
//! follow in commits of their own, of which the last deletes the record. A host that is written meanwhile gets the new
//! name, because its batch depends on the version of the host that has the service.
//!
//! Repeating the change completes an interrupted renaming, and so do the next such change and the maintenance that
//! logins begin.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::document::{decode as decode_host, set_virtualized_by};
use super::rewrite::{FIRST_HOSTS, MAX_BYTES, MAX_HOSTS, first_bytes};
use super::virtualization::ServiceNames;
use crate::inventory::history::Author;
use crate::inventory::schema::{HOST, SERVICE_RENAMING, VIRTUALIZED_BY_LINK, decode, encode, facets};
use crate::inventory::transaction::conflict;
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{Host, OrganizationId, ServiceId, uuids};
use crate::store::{Batch, Cursor, Facets, Key, LinkFilter, Precondition, Query, Record, Start};

/// Maximum number of hosts that change in the commit that renames their services.
const MAX_GUESTS: usize = 1_000;

/// Maximum number of targets of a query.
const MAX_TARGETS: usize = 512;

/// Maximum number of attempts under contention. They take no turns, because the caller may hold some.
const MAX_ATTEMPTS: usize = 64;

/// The services that one commit renamed or removed, while their hosts follow.
#[derive(Debug, Serialize, Deserialize)]
struct Renaming {
    organization_id: OrganizationId,
    services: Vec<ServiceId>,
}

/// A host that a service virtualizes, with facets that still lack the name of the service.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) record: Record,
    pub(super) service: Option<ServiceId>,
    facets: Facets,
}

impl Guest {
    /// Adds the host to a batch, with the name of its service.
    pub(super) fn put(self, service: &str, batch: &mut Batch) {
        let Self { record, mut facets, .. } = self;
        set_virtualized_by(&mut facets, service);
        batch.put(record.key, Precondition::Version(record.version), facets, record.body);
    }
}

impl Inventory {
    /// Reads the hosts that these services virtualize, except those that are written anyway.
    ///
    /// `None` if there are more than one commit may change.
    pub(super) async fn few_guests(
        &self,
        organization: OrganizationId,
        services: &[ServiceId],
        written: &HashSet<Key>,
    ) -> Result<Option<Vec<Record>>, Error> {
        let mut query = guests_of(organization, services);
        let (mut guests, mut bytes) = (Vec::new(), 0_usize);
        loop {
            let page = self.store.list(&query).await?;
            let count = page.records.len();
            guests.extend(
                page.records
                    .into_iter()
                    .filter(|guest| !written.contains(&guest.key))
                    .inspect(|guest| bytes = bytes.saturating_add(guest.body.len())),
            );
            if guests.len() > MAX_GUESTS || bytes > MAX_BYTES && guests.len() > 1 {
                return Ok(None);
            }
            let Some(next) = page.next else { return Ok(Some(guests)) };
            query.start = Start::After(next);
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
    }

    /// Decodes hosts and computes their facets, on a blocking thread if the hosts are large.
    pub(super) async fn as_guests(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
    ) -> Result<Vec<Guest>, Error> {
        let (encoder, index) = (self.host_encoder(organization), self.custom_index.clone());
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let decode = move || {
            let guests = records.into_iter().map(|record| {
                let host: Host = decode_host(&record)?;
                let service = host.virtualization.as_ref().map(|by| by.service_id());
                let mut facets = encoder.facets(&host);
                index.add_to(&mut facets, &host.custom);
                Ok(Guest { record, service, facets })
            });
            guests.collect()
        };
        self.state.offload.run(organization, bytes, decode).await?
    }

    /// Adds the record of a renaming to the batch that renames the services.
    pub(super) fn put_renaming(
        &self,
        organization: OrganizationId,
        services: &[ServiceId],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let renaming = Renaming { organization_id: organization, services: services.to_vec() };
        let key = Key::new(SERVICE_RENAMING, self.new_id()?);
        batch.put(key, Precondition::Absent, facets(organization, self.now()), encode(&renaming)?);
        Ok(())
    }

    /// Completes the renamings of an organization, or of all.
    ///
    /// They are stored, so that failures are only logged; the next call continues.
    pub(in crate::inventory) async fn follow_renamings(&self, organization: Option<OrganizationId>) {
        if let Err(error) = self.complete_renamings(organization).await {
            tracing::warn!(error = error.with_causes(), "hosts were not sorted by the new name of a service");
        }
    }

    async fn complete_renamings(&self, organization: Option<OrganizationId>) -> Result<(), Error> {
        let organization = organization.map(OrganizationId::uuid);
        let mut query = Query { organization, limit: Some(1), ..Query::new(SERVICE_RENAMING) };
        let mut outcome = Ok(());
        while let Some(record) = self.store.list(&query).await?.records.pop() {
            query.start = Start::After(Cursor::new(Vec::new(), record.key.id));
            // A failure must not keep the others waiting.
            outcome = outcome.and(self.complete_renaming(&record).await);
        }
        outcome
    }

    async fn complete_renaming(&self, record: &Record) -> Result<(), Error> {
        let Renaming { organization_id, services } = decode(record)?;
        for services in services.chunks(MAX_TARGETS) {
            self.rename_for_guests(organization_id, services).await?;
        }
        let mut batch = Batch::new();
        // Another call may have completed the same renaming.
        batch.delete(record.key, Precondition::Any);
        Ok(self.store.commit(batch).await?)
    }

    /// Writes all hosts that these services virtualize with the present names of the services.
    async fn rename_for_guests(
        &self,
        organization: OrganizationId,
        services: &[ServiceId],
    ) -> Result<(), Error> {
        let mut query = guests_of(organization, services);
        let mut attempts = 0;
        loop {
            let records = first_bytes(self.store.list(&query).await?.records);
            let Some(last) = records.last().map(|record| record.key.id) else { return Ok(()) };
            let count = records.len();
            let (mut names, mut batch) = (ServiceNames::default(), Batch::new());
            for guest in self.as_guests(organization, records).await? {
                let name = self.service_name(organization, guest.service, &mut names, &mut batch).await?;
                guest.put(&name, &mut batch);
            }
            if self.commit_if_unchanged(&Author::system(organization), batch).await? {
                query.start = Start::After(Cursor::new(Vec::new(), last));
                query.limit = Some((2 * count).min(MAX_HOSTS));
                attempts = 0;
            } else if attempts < MAX_ATTEMPTS {
                attempts += 1;
            } else {
                return Err(conflict(Entity::Host, last));
            }
        }
    }
}

fn guests_of(organization: OrganizationId, services: &[ServiceId]) -> Query {
    Query {
        organization: Some(organization.uuid()),
        links: vec![LinkFilter::new(VIRTUALIZED_BY_LINK, uuids(services))],
        limit: Some(FIRST_HOSTS),
        ..Query::new(HOST)
    }
}
