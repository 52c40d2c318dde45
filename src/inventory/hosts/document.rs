//! The stored form of a host, and the encoder that produces it.
//!
//! The stored form consists of the host's JSON, preceded by a comma, and its facets. A response page is the stored
//! documents joined without separate pieces for the commas.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use bytes::{Buf, Bytes};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::parts::Embedded;
use super::terms::{HostTerms, terms};
use super::validate::validate_host;
use crate::fair_threads::yield_turn;
use crate::inventory::background::Offload;
use crate::inventory::natural::natural_key;
use crate::inventory::schema::{
    CREATED_AT, NAME, NEIGHBOR_LINK, SERVICE_TAG_LINK, SERVICE_VIRTUALIZED_BY_LINK, SUBNET_LINK, TAG_LINK,
    UPDATED_AT, VIRTUALIZED_BY_LINK, decode_text, links, part_unique_key, time_sort_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{
    Host, HostOrderField, IfEntry, IfEntryId, Neighbor, OrganizationId, Record as _, SubnetId, TagId,
    for_each_part_type,
};
use crate::store::{Facets, Link, Name, Record, SortKey, UniqueKey};

const COMMA: u8 = b',';

/// Encodes a host as a comma followed by its JSON. `None`: it has more than this many bytes.
fn encode(host: &Host, max: usize) -> Result<Option<Bytes>, Error> {
    // Growing a document of megabytes by doubling would touch several times its memory.
    let bytes = Vec::with_capacity(host.likely_size().min(max));
    let mut body = Bounded { bytes, max, turn_end: BYTES_PER_TURN };
    body.bytes.push(COMMA);
    match serde_json::to_writer(&mut body, host) {
        Ok(()) => {}
        Err(error) if error.is_io() => return Ok(None),
        Err(error) => return Err(Error::internal(error)),
    }
    let mut body = body.bytes;
    debug_assert!(least_size(host) <= body.len(), "a host is not smaller than its parts");
    body.shrink_to_fit();
    Ok(Some(body.into()))
}

/// The bytes of a part of which only the required fields are set, rounded down.
const MIN_INTERFACE_BYTES: usize = 192;
const MIN_PORT_BYTES: usize = 192;
const MIN_IF_ENTRY_BYTES: usize = 512;

/// Returns a lower bound of the size of a host's document, in bytes.
const fn least_size(host: &Host) -> usize {
    MIN_INTERFACE_BYTES * host.interfaces.len()
        + MIN_PORT_BYTES * host.ports.len()
        + MIN_IF_ENTRY_BYTES * host.if_entries.len()
}

/// A buffer of bounded size, which yields the thread's turn to other organizations while it grows.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
    /// The number of bytes at which it yields next.
    turn_end: usize,
}

/// Number of bytes that are encoded in about 0.1 ms.
const BYTES_PER_TURN: usize = 32 * 1024;

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(bytes.len()) > self.max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.turn_end {
            self.turn_end = self.bytes.len().saturating_add(BYTES_PER_TURN);
            yield_turn();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a stored host, or a part of it.
pub(in crate::inventory) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, json(record))
}

/// Returns the JSON of a stored host.
pub(super) fn json(record: &Record) -> &[u8] {
    record.body.strip_prefix(&[COMMA]).unwrap_or(&record.body)
}

/// Removes the leading comma, for the first document of a list.
pub(crate) fn without_comma(mut body: Bytes) -> Bytes {
    if body.first() == Some(&COMMA) {
        body.advance(1);
    }
    body
}

/// Validates and encodes hosts of one organization for the store.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory) struct HostEncoder {
    organization: OrganizationId,
    /// The maximum size of a host in bytes of JSON; `None`: unlimited.
    max_bytes: Option<usize>,
    /// The host's stored size in bytes. Updates up to this size are allowed even beyond the quota.
    stored_bytes: usize,
    terms: HostTerms,
}

/// A valid host with its stored document.
#[derive(Debug)]
pub(in crate::inventory) struct EncodedHost {
    pub(in crate::inventory) host: Host,
    pub(in crate::inventory) body: Bytes,
    /// The referenced tags, each with its path in the host as given.
    pub(super) tags: BTreeMap<TagId, String>,
    encoder: HostEncoder,
    /// The ids of the host's interface entries at its encoding, if the entries were dropped since.
    dropped_entries: Vec<IfEntryId>,
    /// The facets as if no service virtualized the host. The first attempt to commit takes them.
    facets: Mutex<Option<Facets>>,
}

impl HostEncoder {
    /// Returns an encoder for a host already stored with a body of this many bytes.
    pub(in crate::inventory) fn of_stored(self, body: usize) -> Self {
        Self { stored_bytes: body, ..self }
    }

    /// Validates a host, sorts its lists, and encodes it. The JSON is produced only here.
    ///
    /// # Errors
    /// `TooLarge` beyond the quota, and any error of validation.
    pub(in crate::inventory) fn encode(self, mut host: Host) -> Result<EncodedHost, Error> {
        validate_host(&host)?;
        let tags = tags(&host);
        yield_turn();
        host.sort_embedded();
        let Some(body) = encode(&host, self.max_body())? else { return Err(self.too_large()) };
        let facets = self.facets(&host);
        Ok(EncodedHost {
            host,
            body,
            tags,
            encoder: self,
            dropped_entries: Vec::new(),
            facets: Mutex::new(Some(facets)),
        })
    }

    /// Returns the maximum size of a body in bytes, with its comma.
    fn max_body(self) -> usize {
        self.max_bytes.map_or(usize::MAX, |limit| limit.saturating_add(1).max(self.stored_bytes))
    }

    fn too_large(self) -> Error {
        let limit = self.max_bytes.unwrap_or(usize::MAX);
        ErrorKind::TooLarge { entity: Entity::Host, limit }.into()
    }

    /// Refuses a host that its number of parts alone makes too large. This takes no memory.
    ///
    /// # Errors
    /// `TooLarge`.
    #[cfg(feature = "discovery")]
    pub(in crate::inventory) fn check_least_size(self, host: &Host) -> Result<(), Error> {
        if least_size(host) > self.max_body() { Err(self.too_large()) } else { Ok(()) }
    }

    /// Computes the facets of a host with sorted lists, as if no service virtualized it.
    pub(super) fn facets(self, host: &Host) -> Facets {
        let mut facets = host_facets(self.organization, host);
        yield_turn();
        if self.terms == HostTerms::All {
            facets.terms = terms(host);
        }
        facets
    }

    /// Encodes like [`encode`](Self::encode), on a blocking thread if the host is large.
    pub(in crate::inventory) async fn encode_in(
        self,
        offload: &Offload,
        host: Host,
    ) -> Result<EncodedHost, Error> {
        offload.run(self.organization, host.likely_size(), move || self.encode(host)).await?
    }
}

impl EncodedHost {
    /// Drops the interface entries, which may take much memory. Only their ids are needed for the commit.
    #[cfg(feature = "discovery")]
    pub(in crate::inventory) fn without_entries(mut self) -> Self {
        self.dropped_entries =
            std::mem::take(&mut self.host.if_entries).iter().map(|entry| entry.id).collect();
        self
    }

    /// Returns the ids of the parts of a kind.
    pub(super) fn part_ids<P: Embedded>(&self) -> impl Iterator<Item = Uuid> {
        let ids = P::list(&self.host).iter().map(|part| part.common().id);
        ids.chain(self.dropped_entries.iter().map(|id| id.uuid()).filter(|_| P::ENTITY == Entity::IfEntry))
    }

    /// Returns the facets of the host when virtualized by a named service.
    ///
    /// An empty name means that the host is not virtualized. Nearly every host is committed at the first attempt, so
    /// that only further attempts compute the facets again.
    pub(super) fn facets(&self, virtualized_by: &str) -> Facets {
        let computed = self.facets.lock().unwrap_or_else(PoisonError::into_inner).take();
        debug_assert!(
            computed.is_some() || self.dropped_entries.is_empty(),
            "a host without its entries is committed once"
        );
        let mut facets = computed.unwrap_or_else(|| self.encoder.facets(&self.host));
        set_virtualized_by(&mut facets, virtualized_by);
        facets
    }
}

impl Inventory {
    pub(in crate::inventory) const fn host_encoder(&self, organization: OrganizationId) -> HostEncoder {
        let max_bytes = self.quotas.host_bytes;
        HostEncoder { organization, max_bytes, stored_bytes: 0, terms: self.host_terms }
    }
}

pub(super) fn tags(host: &Host) -> BTreeMap<TagId, String> {
    let own = host.tags.iter().enumerate().map(|(index, id)| (*id, format!("tags.{index}")));
    let services = host.services.iter().enumerate().flat_map(|(service, part)| {
        part.tags.iter().enumerate().map(move |(index, id)| (*id, format!("services.{service}.tags.{index}")))
    });
    services.chain(own).collect()
}

/// Returns the sort key name of an order field.
pub(super) const fn sort_name(field: HostOrderField) -> Name {
    match field {
        HostOrderField::CreatedAt => CREATED_AT,
        HostOrderField::UpdatedAt => UPDATED_AT,
        HostOrderField::Name => NAME,
        HostOrderField::Hostname => Name::new("hostname"),
        HostOrderField::NameNatural => Name::new("name_natural"),
        HostOrderField::HostnameNatural => Name::new("hostname_natural"),
        HostOrderField::NetworkId => Name::new("network_id"),
        HostOrderField::VirtualizedBy => Name::new("virtualized_by"),
        HostOrderField::InterfaceIp => Name::new("interface_ip"),
    }
}

/// Computes the facets of a host with sorted lists, without terms.
///
/// They are computed as if no service virtualized the host.
pub(super) fn host_facets(organization: OrganizationId, host: &Host) -> Facets {
    let service_tags = host.services.iter().flat_map(|service| links(SERVICE_TAG_LINK, &service.tags));
    let virtualization =
        host.virtualization.as_ref().map(|by| Link::new(VIRTUALIZED_BY_LINK, by.service_id().uuid()));
    let subnets: BTreeSet<SubnetId> =
        host.interfaces.iter().filter_map(|interface| interface.subnet_id).collect();
    let subnets = subnets.into_iter().map(|id| Link::new(SUBNET_LINK, id.uuid()));
    let neighbors: BTreeSet<Uuid> = host.if_entries.iter().filter_map(neighbor_id).collect();
    let neighbors = neighbors.into_iter().map(|id| Link::new(NEIGHBOR_LINK, id));
    let virtualized = host.services.iter().filter_map(|service| service.virtualization.as_ref());
    let virtualized = virtualized.map(|by| Link::new(SERVICE_VIRTUALIZED_BY_LINK, by.service_id().uuid()));
    let parts = host.interfaces.len() + host.ports.len() + host.services.len() + host.if_entries.len();
    let mut unique_keys = Vec::with_capacity(parts);
    for_each_part_type!(P => unique_keys.extend(unique_keys_of::<P>(organization, host)));
    Facets {
        organization: Some(organization.uuid()),
        network: Some(host.network_id.uuid()),
        expires_at: None,
        links: links(TAG_LINK, &host.tags)
            .chain(service_tags)
            .chain(virtualization)
            .chain(virtualized)
            .chain(subnets)
            .chain(neighbors)
            .collect(),
        sort_keys: HostOrderField::ALL.iter().map(|field| sort_key(host, *field)).collect(),
        unique_keys,
        ..Facets::default()
    }
}

/// Returns the id of a port's neighbor, which is a host or an interface entry.
fn neighbor_id(entry: &IfEntry) -> Option<Uuid> {
    entry.neighbor.map(Neighbor::uuid)
}

fn unique_keys_of<P: Embedded>(organization: OrganizationId, host: &Host) -> impl Iterator<Item = UniqueKey> {
    P::list(host).iter().map(move |part| {
        yield_turn();
        part_unique_key(P::UNIQUE_KEY, organization, part.common().id)
    })
}

/// Sets the sort key for the name of the virtualizing service.
pub(super) fn set_virtualized_by(facets: &mut Facets, service: &str) {
    let name = sort_name(HostOrderField::VirtualizedBy);
    if let Some(key) = facets.sort_keys.iter_mut().find(|key| key.name == name) {
        key.value = service.as_bytes().to_vec();
    }
}

fn sort_key(host: &Host, field: HostOrderField) -> SortKey {
    let name = sort_name(field);
    match field {
        HostOrderField::CreatedAt => time_sort_key(name, host.created_at),
        HostOrderField::UpdatedAt => time_sort_key(name, host.updated_at),
        // The byte order of UTF-8 is code point order.
        HostOrderField::Name => SortKey::new(name, host.name.as_bytes()),
        HostOrderField::Hostname => SortKey::new(name, host.hostname.as_deref().unwrap_or("").as_bytes()),
        HostOrderField::NameNatural => SortKey::new(name, natural_key(&host.name)),
        HostOrderField::HostnameNatural => {
            SortKey::new(name, natural_key(host.hostname.as_deref().unwrap_or("")))
        }
        HostOrderField::NetworkId => SortKey::new(name, host.network_id.as_bytes()),
        HostOrderField::VirtualizedBy => SortKey::new(name, []),
        HostOrderField::InterfaceIp => SortKey::new(name, address_key(host)),
    }
}

/// Returns a sort key that orders IPv4 before IPv6, and hosts without an address last.
fn address_key(host: &Host) -> Vec<u8> {
    let mut key = Vec::with_capacity(17);
    match host.interfaces.first().map(|interface| interface.ip_address) {
        Some(IpAddr::V4(address)) => {
            key.push(4);
            key.extend_from_slice(&address.octets());
        }
        Some(IpAddr::V6(address)) => {
            key.push(6);
            key.extend_from_slice(&address.octets());
        }
        None => key.push(u8::MAX),
    }
    key
}
