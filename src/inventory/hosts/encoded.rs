use std::collections::BTreeMap;

use bytes::Bytes;
use uuid::Uuid;

use super::check::check;
use super::document::{encode, likely_size, without_comma};
use super::facets::{host_facets, set_virtualized_by};
use crate::inventory::offload::Offload;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::Host;
use crate::store::Facets;

/// Turns hosts of one organization into what is stored of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory) struct HostEncoder {
    organization: Uuid,
    /// The most bytes of JSON that a host may have; `None`: any number.
    max_bytes: Option<usize>,
    /// What the host takes already, which it may go on taking whatever the quota is now.
    stored_bytes: usize,
}

/// A host that is acceptable in itself, with the document that is stored and served of it.
#[derive(Debug)]
pub(in crate::inventory) struct EncodedHost {
    pub(in crate::inventory) host: Host,
    pub(super) body: Bytes,
    /// The tags it refers to, each with its place in the host as it was given.
    pub(super) tags: BTreeMap<Uuid, String>,
    /// As if no service virtualized it.
    facets: Facets,
}

impl HostEncoder {
    /// The same for a host that is stored already, with a body of this length.
    pub(super) fn of_stored(self, body: usize) -> Self {
        Self { stored_bytes: body, ..self }
    }

    /// Checks a host in itself, puts its lists into order, and encodes it: the one time that its JSON is made.
    ///
    /// # Errors
    /// `TooLarge` beyond the quota, and whatever is wrong with the host.
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

    /// The same, for a large host on a blocking thread.
    pub(super) async fn encode_in(self, offload: &Offload, host: Host) -> Result<EncodedHost, Error> {
        offload.run(self.organization, likely_size(&host), move || self.encode(host)).await?
    }
}

impl EncodedHost {
    /// The facets of the host when a service of this name virtualizes it; empty for none.
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
