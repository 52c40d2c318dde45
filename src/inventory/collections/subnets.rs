use std::net::IpAddr;
use std::ops::RangeInclusive;

use uuid::Uuid;

use super::deletion::{Referenced, put_stand_in};
use super::{BulkDeletable, CollectionRecord, Creatable, Deletable, ListQuery, Reference, Requirements};
use crate::access::Caller;
use crate::inventory::hosts::check_source;
use crate::inventory::records::named;
use crate::inventory::schema::{
    CIDR_UNIQUE_KEY, SUBNET, SUBNET_DELETION, SUBNET_LINK, TAG_LINK, links, network_key, tag_key,
};
#[cfg(feature = "discovery")]
use crate::inventory::schema::{DELETED_SUBNET, encode, facets};
#[cfg(feature = "topology")]
use crate::inventory::topology::subnet_nodes;
use crate::inventory::{Entity, Error, Inventory, validate};
#[cfg(feature = "discovery")]
use crate::model::derived_id;
use crate::model::{Cidr, Host, Permission, Source, Subnet, SubnetType, Timestamp};
use crate::store::{Batch, Facets, Link, Name, Query, Term, TermFilter, TermRange, UniqueKey};
#[cfg(feature = "discovery")]
use crate::store::{Key, Precondition};

/// The addresses of a subnet.
const CIDR_TERM: Name = Name::new("cidr");

impl Subnet {
    /// A subnet of a network, for [`Inventory::create_as`], which sets id, organization and times.
    #[must_use]
    pub fn new(network_id: Uuid, name: impl Into<String>, cidr: Cidr) -> Self {
        let now = Timestamp::now();
        Self {
            id: Uuid::nil(),
            organization_id: Uuid::nil(),
            network_id,
            name: name.into(),
            description: None,
            cidr,
            subnet_type: SubnetType::default(),
            source: Source::default(),
            tags: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// Returns the forms of an address, each with the lengths of the prefixes in which it is looked up. An IPv4-mapped IPv6
/// address is also an IPv4 address, and the other way round.
fn forms(address: IpAddr) -> impl Iterator<Item = (IpAddr, RangeInclusive<u8>)> {
    let (ipv4, ipv6) = match address.to_canonical() {
        IpAddr::V4(ipv4) => (Some(ipv4), ipv4.to_ipv6_mapped()),
        IpAddr::V6(ipv6) => (None, ipv6),
    };
    let first = if address.is_ipv4() { 96 } else { 0 };
    let ipv4 = ipv4.map(|ipv4| (IpAddr::V4(ipv4), 0..=32));
    ipv4.into_iter().chain([(IpAddr::V6(ipv6), first..=128)])
}

impl CollectionRecord for Subnet {
    const ENTITY: Entity = Entity::Subnet;
    const KIND: Name = SUBNET;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);

    fn id(&self) -> Uuid {
        self.id
    }

    fn filter(mut query: Query, list: &ListQuery) -> Query {
        if let Some(address) = list.contains {
            query.terms.push(cidr_filter(forms(address).flat_map(|(address, lengths)| {
                lengths.filter_map(move |length| Cidr::containing(address, length).ok())
            })));
        }
        query
    }

    /// Within a network, a subnet is known by its addresses.
    fn label(&self) -> String {
        self.cidr.to_string()
    }

    fn network(&self) -> Option<Uuid> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: Uuid, organization: Uuid, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.organization_id) = (stored.id, stored.organization_id);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        self.name = validate::name("name", &self.name, 100)?;
        validate::description("description", self.description.as_deref())?;
        check_source(&self.source, format_args!("source"))
    }

    fn references(&self) -> Vec<Reference> {
        let field = "network_id".to_owned();
        let network = Reference { entity: Entity::Network, key: network_key(self.network_id), field };
        let mut references = vec![network];
        references.extend(Reference::list(Entity::Tag, tag_key, "tags", &self.tags));
        references
    }

    fn deduplicate(&mut self) {
        self.tags = validate::distinct(std::mem::take(&mut self.tags));
    }

    fn facets(&self, organization: Uuid) -> Facets {
        named(organization, &self.name, self.created_at, self.updated_at)
            .with_network(self.network_id)
            .with_links(links(TAG_LINK, &self.tags))
            .with_unique_keys([cidr_unique_key(self.network_id, self.cidr)])
            .with_terms([Term::new(CIDR_TERM, cidr_bytes(self.cidr))])
    }

    #[cfg(feature = "discovery")]
    async fn prepare(
        inventory: &Inventory,
        caller: &Caller,
        stored: Option<&Self>,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        match stored {
            Some(stored) if stored.cidr != record.cidr => {
                put_deleted_subnet(stored, caller.organization_id(), inventory.now(), batch)
            }
            _ => Ok(()),
        }
    }

    #[cfg(feature = "discovery")]
    async fn finish_creation(inventory: &Inventory, record: &Self) {
        inventory
            .follow_subnet_change((record.organization_id, record.network_id), record.id, record.cidr)
            .await;
    }

    #[cfg(feature = "discovery")]
    async fn finish_update(inventory: &Inventory, record: &Self) {
        inventory
            .follow_subnet_change((record.organization_id, record.network_id), record.id, record.cidr)
            .await;
    }

    async fn prepare_deletion(
        inventory: &Inventory,
        caller: &Caller,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        #[cfg(feature = "discovery")]
        put_deleted_subnet(record, caller.organization_id(), inventory.now(), batch)?;
        put_stand_in(record, caller.organization_id(), inventory.now(), batch)
    }

    async fn finish_deletion(inventory: &Inventory, caller: &Caller, id: Uuid) -> Result<bool, Error> {
        let may = |subnet: &Self| caller.scope().allows(subnet.network_id);
        inventory.finish_deletion_of(caller.organization_id(), id, may).await
    }
}

impl Creatable for Subnet {}

impl Deletable for Subnet {}

impl BulkDeletable for Subnet {}

impl Referenced for Subnet {
    const STAND_IN: Name = SUBNET_DELETION;
    // Interfaces may name subnets without records, so clients may add such links at any time.
    const RELATIONS: &'static [Name] = &[];

    async fn remove_references(
        inventory: &Inventory,
        organization: Uuid,
        record: &Self,
    ) -> Result<(), Error> {
        #[cfg(feature = "topology")]
        inventory.remove_nodes((organization, record.network_id), &subnet_nodes(record.id)).await?;
        let link = (Entity::Subnet, Link::new(SUBNET_LINK, record.id));
        inventory.rewrite_linked_hosts(organization, link, clear_subnet).await?;
        #[cfg(feature = "discovery")]
        inventory.follow_subnet_change((organization, record.network_id), record.id, record.cidr).await;
        Ok(())
    }
}

/// Clears the subnet of the interfaces of a host that name it.
fn clear_subnet(host: &mut Host, subnet: Uuid, now: Timestamp) {
    for interface in host.interfaces.iter_mut().filter(|interface| interface.subnet_id == Some(subnet)) {
        (interface.subnet_id, interface.updated_at) = (None, now);
    }
}

/// Returns the key of the record of a deleted subnet.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn deleted_subnet_key(network: Uuid, cidr: Cidr) -> Key {
    Key::new(DELETED_SUBNET, derived_id("deleted subnet", &[network.as_bytes(), &cidr_bytes(cidr)]))
}

/// Adds the record that discovery must not create a subnet again to a batch.
#[cfg(feature = "discovery")]
fn put_deleted_subnet(
    subnet: &Subnet,
    organization: Uuid,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<(), Error> {
    let key = deleted_subnet_key(subnet.network_id, subnet.cidr);
    let facets = facets(organization, now).with_network(subnet.network_id);
    batch.put(key, Precondition::Any, facets, encode(&subnet.cidr)?);
    Ok(())
}

/// Returns the unique key of the addresses of a subnet within its network.
pub(in crate::inventory) fn cidr_unique_key(network: Uuid, cidr: Cidr) -> UniqueKey {
    UniqueKey::new(CIDR_UNIQUE_KEY, [network.as_bytes().as_slice(), &cidr_bytes(cidr)].concat())
}

/// Returns the filter of subnets with exactly these addresses.
pub(in crate::inventory) fn cidr_filter(cidrs: impl IntoIterator<Item = Cidr>) -> TermFilter {
    let ranges = cidrs.into_iter().map(|cidr| TermRange::exact(cidr_bytes(cidr)));
    TermFilter::new(CIDR_TERM, ranges.collect::<Vec<_>>())
}

/// Returns all prefixes that contain an address, the shortest first.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn address_prefixes(address: IpAddr) -> impl Iterator<Item = Cidr> {
    let lengths = 0..=if address.is_ipv4() { 32 } else { 128 };
    lengths.filter_map(move |length| Cidr::containing(address, length).ok())
}

/// Encodes the addresses of a subnet. The length distinguishes IPv4 from IPv6.
fn cidr_bytes(cidr: Cidr) -> Vec<u8> {
    let mut bytes = vec![cidr.prefix_length()];
    match cidr.first_address() {
        IpAddr::V4(address) => bytes.extend(address.octets()),
        IpAddr::V6(address) => bytes.extend(address.octets()),
    }
    bytes
}
