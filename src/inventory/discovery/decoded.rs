//! The hosts that a discovery has decoded.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, OrganizationId};
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
    hosts: HashMap<HostId, Decoded>,
    /// The size of their documents.
    bytes: usize,
}

#[derive(Debug)]
struct Decoded {
    version: Version,
    bytes: usize,
    host: Arc<Host>,
}

impl DecodedHosts {
    /// Decodes a host, unless this version of it is known.
    pub(super) async fn get(
        &mut self,
        inventory: &Inventory,
        organization: OrganizationId,
        record: &Record,
    ) -> Result<Arc<Host>, Error> {
        if let Some(host) = self.known(record) {
            return Ok(host);
        }
        let host: Arc<Host> = Arc::new(inventory.decode_host(organization, record).await?);
        self.keep(record.version, record.body.len(), Arc::clone(&host));
        Ok(host)
    }

    /// Keeps a host whose document has a number of bytes, unless it is large.
    pub(super) fn keep(&mut self, version: Version, bytes: usize, host: Arc<Host>) {
        if bytes > MAX_DOCUMENT {
            return;
        }
        self.forget(host.id);
        if self.bytes + bytes > MAX_DECODED {
            self.hosts.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.hosts.insert(host.id, Decoded { version, bytes, host });
    }

    /// Takes a host out that is about to change.
    pub(super) fn take(&mut self, host: Arc<Host>) -> Host {
        self.forget(host.id);
        Arc::unwrap_or_clone(host)
    }

    fn forget(&mut self, id: HostId) {
        if let Some(forgotten) = self.hosts.remove(&id) {
            self.bytes -= forgotten.bytes;
        }
    }

    /// Returns a host if this version of it is kept.
    pub(super) fn known(&self, record: &Record) -> Option<Arc<Host>> {
        let known = self.hosts.get(&HostId::new(record.key.id))?;
        (known.version == record.version).then(|| Arc::clone(&known.host))
    }
}
