use std::collections::BTreeMap;

use bytes::Bytes;
use uuid::Uuid;

use super::check::check;
use super::document::{encode, likely_size, without_comma};
use super::facets::{host_facets, set_virtualized_by};
use crate::inventory::background::Offload;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::Host;
use crate::store::Facets;

/// Validates and encodes hosts of one organization for the store.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory) struct HostEncoder {
    organization: Uuid,
    /// The maximum size of a host in bytes of JSON; `None`: unlimited.
    max_bytes: Option<usize>,
    /// The host's stored size in bytes. Updates up to this size are allowed even beyond the quota.
    stored_bytes: usize,
}

/// A valid host with its stored document.
#[derive(Debug)]
pub(in crate::inventory) struct EncodedHost {
    pub(in crate::inventory) host: Host,
    pub(super) body: Bytes,
    /// The referenced tags, each with its path in the host as given.
    pub(super) tags: BTreeMap<Uuid, String>,
    /// Computed as if no service virtualized the host.
    facets: Facets,
}

impl HostEncoder {
    /// Returns an encoder for a host already stored with a body of this many bytes.
    pub(super) fn of_stored(self, body: usize) -> Self {
        Self { stored_bytes: body, ..self }
    }

    /// Validates a host, sorts its lists, and encodes it. The JSON is produced only here.
    ///
    /// # Errors
    /// `TooLarge` beyond the quota, and any error of validation.
    pub(in crate::inventory) fn encode(self, mut host: Host) -> Result<EncodedHost, Error> {
        check(&host)?;
        let tags = tags(&host);
        host.sort_embedded();
        let body = encode(&host)?;
        if let Some(limit) = self.max_bytes
            && without_comma(body.clone()).len() > limit
            && body.len() > self.stored_bytes
        {
            return Err(ErrorKind::TooLarge { entity: Entity::Host, limit }.into());
        }
        let facets = host_facets(self.organization, &host);
        Ok(EncodedHost { host, body, tags, facets })
    }

    /// Encodes like [`encode`](Self::encode), on a blocking thread if the host is large.
    pub(super) async fn encode_in(self, offload: &Offload, host: Host) -> Result<EncodedHost, Error> {
        offload.run(self.organization, likely_size(&host), move || self.encode(host)).await?
    }
}

impl EncodedHost {
    /// Returns the facets of the host when virtualized by a service of this name; empty: not virtualized.
    pub(super) fn facets(&self, virtualized_by: &str) -> Facets {
        let mut facets = self.facets.clone();
        set_virtualized_by(&mut facets, virtualized_by);
        facets
    }
}

impl Inventory {
    pub(in crate::inventory) const fn host_encoder(&self, organization: Uuid) -> HostEncoder {
        HostEncoder { organization, max_bytes: self.quotas.host_bytes, stored_bytes: 0 }
    }
}

fn tags(host: &Host) -> BTreeMap<Uuid, String> {
    let own = host.tags.iter().enumerate().map(|(place, id)| (*id, format!("tags.{place}")));
    let services = host.services.iter().enumerate().flat_map(|(service, part)| {
        part.tags.iter().enumerate().map(move |(place, id)| (*id, format!("services.{service}.tags.{place}")))
    });
    services.chain(own).collect()
}
