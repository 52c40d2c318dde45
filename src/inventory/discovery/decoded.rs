//! The hosts that a discovery has decoded.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::inventory::{Error, Inventory};
use crate::model::Host;
use crate::store::{Record, Version};

/// Maximum size of the documents that are kept decoded: 32 MiB.
const MAX_DECODED: usize = 32 * 1024 * 1024;

/// Size of a document beyond which it is not kept decoded: 4 MiB.
const MAX_DOCUMENT: usize = 4 * 1024 * 1024;

/// Hosts that were decoded, by id.
///
/// A report reads the same hosts again and again: to recognize a device, to merge it, and to find its neighbors.
#[derive(Debug, Default)]
pub(super) struct DecodedHosts {
    hosts: HashMap<Uuid, (Version, Arc<Host>)>,
    bytes: usize,
}

impl DecodedHosts {
    /// Decodes a host, unless this version of it is known.
    pub(super) async fn get(
        &mut self,
        inventory: &Inventory,
        organization: Uuid,
        record: &Record,
    ) -> Result<Arc<Host>, Error> {
        if let Some(host) = self.known(record) {
            return Ok(host);
        }
        let host: Arc<Host> = Arc::new(inventory.decode_host(organization, record).await?);
        if record.body.len() > MAX_DOCUMENT {
            return Ok(host);
        }
        self.bytes = self.bytes.saturating_add(record.body.len());
        if self.bytes > MAX_DECODED {
            self.hosts.clear();
            self.bytes = record.body.len();
        }
        self.hosts.insert(record.key.id, (record.version, Arc::clone(&host)));
        Ok(host)
    }

    /// Returns a host if this version of it is kept.
    pub(super) fn known(&self, record: &Record) -> Option<Arc<Host>> {
        let (version, host) = self.hosts.get(&record.key.id)?;
        (*version == record.version).then(|| Arc::clone(host))
    }
}
