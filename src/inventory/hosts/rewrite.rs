//! Changes of all hosts that refer to a record which is being deleted.

use super::document::{EncodedHost, decode};
use super::virtualization::ServiceNames;
use crate::inventory::history::Author;
use crate::inventory::schema::{HOST, host_key};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{Host, OrganizationId, RecordId, Timestamp};
use crate::store::{Batch, Cursor, Link, LinkFilter, Precondition, Query, Record, Start};

/// Number of hosts that are read first. It grows while hosts are small, because hosts may have up to 32 MiB.
pub(in crate::inventory) const FIRST_HOSTS: usize = 8;

/// Maximum number of hosts that are read and changed at a time.
pub(in crate::inventory) const MAX_HOSTS: usize = 128;

/// Maximum size of the hosts that one commit changes: 16 MiB. A larger host is changed alone.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Removes the references to a record from a host. Everything else in the host stays valid.
pub(in crate::inventory) type RemoveReference<I> = fn(&mut Host, I, Timestamp);

impl Inventory {
    /// Removes the references to a record from the hosts of an organization. Each host that has the link is changed
    /// once.
    ///
    /// `entity` is the kind of the record, and `I` that of its id.
    pub(in crate::inventory) async fn rewrite_linked_hosts<I: RecordId>(
        &self,
        organization: OrganizationId,
        (entity, link): (Entity, Link),
        remove: RemoveReference<I>,
    ) -> Result<(), Error> {
        let mut query = Query {
            organization: Some(organization.uuid()),
            links: vec![LinkFilter::new(link.relation, [link.target])],
            limit: Some(FIRST_HOSTS),
            ..Query::new(HOST)
        };
        loop {
            let author = Author::following(organization, [link.target]);
            let mut transaction = self.transaction(author, entity, link.target);
            let (last, count) = loop {
                let records = first_bytes(self.store.list(&query).await?.records);
                let Some(last) = records.last().map(|record| record.key.id) else { return Ok(()) };
                let count = records.len();
                let batch =
                    self.without_reference(organization, records, I::from(link.target), remove).await?;
                if transaction.commit(batch).await? {
                    break (last, count);
                }
            };
            query.start = Start::After(Cursor::new(Vec::new(), last));
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
    }

    /// Returns the batch that removes the references from these hosts.
    ///
    /// It refers to nothing new and renames no service, so it needs no guards but those of the sort keys.
    async fn without_reference<I: RecordId>(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
        id: I,
        remove: RemoveReference<I>,
    ) -> Result<Batch, Error> {
        let (encoder, now) = (self.host_encoder(organization), self.now());
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let rewrite = move || {
            let rewritten = records.into_iter().map(|record| {
                let mut host: Host = decode(&record)?;
                remove(&mut host, id, now);
                host.updated_at = now;
                let encoded = encoder.of_stored(record.body.len()).encode(host)?;
                Ok((unchanged(Some(&record)), encoded))
            });
            rewritten.collect::<Result<_, Error>>()
        };
        let rewritten: Vec<(Precondition, EncodedHost)> =
            self.state.offload.run(organization, bytes, rewrite).await??;
        let (preconditions, hosts): (Vec<_>, Vec<_>) = rewritten.into_iter().unzip();
        let mut names = ServiceNames::after(&hosts, std::iter::empty());
        let mut batch = Batch::new();
        for (precondition, encoded) in preconditions.into_iter().zip(&hosts) {
            let name = self.virtualized_by(organization, &encoded.host, &mut names, &mut batch).await?;
            let key = host_key(encoded.host.id);
            let mut facets = encoded.facets(&name);
            self.custom_index.add_to(&mut facets, &encoded.host.custom);
            batch.put(key, precondition, facets, encoded.body.clone());
        }
        Ok(batch)
    }
}

/// Returns the first records, up to 16 MiB and at least one.
pub(in crate::inventory) fn first_bytes(mut records: Vec<Record>) -> Vec<Record> {
    let mut bytes = 0;
    let fitting = records.iter().take_while(|record| {
        bytes += record.body.len();
        bytes <= MAX_BYTES
    });
    records.truncate(fitting.count().max(1));
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HostId;
    use crate::store::Version;

    #[test]
    fn hosts_of_one_commit_have_a_limited_size() {
        for (sizes, expected) in
            [(vec![], 0), (vec![1; 9], 9), (vec![MAX_BYTES + 1, 1], 1), (vec![MAX_BYTES - 1, 1, 1], 2)]
        {
            let record = |size: &usize| Record {
                key: host_key(HostId::nil()),
                version: Version(1),
                body: vec![0; *size].into(),
            };
            let records = sizes.iter().map(record).collect();
            assert_eq!(first_bytes(records).len(), expected, "{sizes:?}");
        }
    }
}
