//! The stored form of a host: its JSON, preceded by a comma, and the encoder that produces it.
//!
//! A response page is the stored documents joined without separate pieces for the commas.

use std::collections::BTreeMap;

use bytes::{Buf, Bytes};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::facets::{host_facets, set_virtualized_by};
use super::validate::validate_host;
use crate::inventory::background::Offload;
use crate::inventory::schema::decode_text;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::Host;
use crate::store::{Facets, Record};

const COMMA: u8 = b',';

/// Encodes a host as a comma followed by its JSON.
fn encode(host: &Host) -> Result<Bytes, Error> {
    // Growing a document of megabytes by doubling would touch several times its memory.
    let mut body = Vec::with_capacity(likely_size(host));
    body.push(COMMA);
    serde_json::to_writer(&mut body, host).map_err(Error::internal)?;
    body.shrink_to_fit();
    Ok(body.into())
}

/// Decodes a stored host, or a part of it.
pub(super) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, record.body.strip_prefix(&[COMMA]).unwrap_or(&record.body))
}

/// Removes the leading comma, for the first document of a list.
pub(crate) fn without_comma(mut body: Bytes) -> Bytes {
    if body.first() == Some(&COMMA) {
        body.advance(1);
    }
    body
}

/// Estimates the size of a host's document in bytes, rounding up.
fn likely_size(host: &Host) -> usize {
    let bindings: usize = host.services.iter().map(|service| service.bindings.len()).sum();
    1024 + 512 * (host.interfaces.len() + host.services.len() + bindings)
        + 320 * host.ports.len()
        + 768 * host.if_entries.len()
}

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
        validate_host(&host)?;
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
    /// Returns the facets of the host when virtualized by a named service.
    ///
    /// An empty name means that the host is not virtualized.
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
    let own = host.tags.iter().enumerate().map(|(index, id)| (*id, format!("tags.{index}")));
    let services = host.services.iter().enumerate().flat_map(|(service, part)| {
        part.tags.iter().enumerate().map(move |(index, id)| (*id, format!("services.{service}.tags.{index}")))
    });
    services.chain(own).collect()
}
