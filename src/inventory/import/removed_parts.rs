//! The parts that replaced hosts no longer have.

use std::collections::HashSet;

use serde::Deserialize;
use uuid::Uuid;

use super::storing::Storing;
use crate::inventory::Error;
use crate::inventory::hosts::{Before, EncodedHost, decode};
use crate::model::part_ids;
use crate::store::Record;

/// The parts of a stored host.
#[derive(Deserialize)]
struct StoredParts {
    interfaces: Vec<StoredPart>,
    ports: Vec<StoredPart>,
    services: Vec<StoredPart>,
    if_entries: Vec<StoredPart>,
}

#[derive(Deserialize)]
struct StoredPart {
    id: Uuid,
}

impl Storing<'_> {
    /// Counts the parts of the replaced hosts that the stored ones no longer have.
    pub(super) async fn count_removed_parts(
        &mut self,
        stored: &[EncodedHost],
        before: &Before,
    ) -> Result<(), Error> {
        let replaced = stored.iter().filter_map(|put| {
            let (record, _) = before.get(&put.host.id)?;
            let kept: HashSet<Uuid> = part_ids(&put.host).into_iter().collect();
            Some((record.body.len(), (record.clone(), kept)))
        });
        let count = |(record, kept): (Record, HashSet<Uuid>)| {
            let StoredParts { interfaces, ports, services, if_entries } = decode(&record)?;
            let parts = [interfaces, ports, services, if_entries].into_iter().flatten();
            Ok(parts.filter(|part| !kept.contains(&part.id)).count() as u64)
        };
        let counts = self.inventory.in_jobs(self.target.organization, replaced.collect(), count).await?;
        self.report.removed_parts += counts.into_iter().sum::<Result<u64, Error>>()?;
        Ok(())
    }
}
