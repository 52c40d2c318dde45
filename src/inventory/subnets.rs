//! Subnets: their rules, and the keys and terms by which their addresses are found.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::schema::CIDR_UNIQUE_KEY;
use crate::access::Caller;
use crate::inventory::collections::{
    BulkDeletable, CollectionRecord, Creatable, Deletable, Reference, Referenced, Requirements, Revertable,
    handle, put_tombstone,
};
use crate::inventory::hosts::check_source;
use crate::inventory::records::named;
use crate::inventory::schema::{SUBNET, SUBNET_DELETION, SUBNET_LINK, TAG_LINK, links, network_key, tag_key};
use crate::inventory::{Entity, Error, Inventory, effects, validate};
use crate::model::{
    ChangedEntity, Cidr, Host, NetworkId, OrganizationId, Permission, Source, Subnet, SubnetId, SubnetType,
    Timestamp,
};
use crate::store::{Batch, Facets, Link, Name, Query, Term, TermFilter, TermRange, UniqueKey};
use crate::wire::ListQuery;

impl Subnet {
    /// A subnet of a network with the source `Manual`, for [`Collection::create`](crate::inventory::Collection::create), which sets
    /// id, organization and times.
    #[must_use]
    pub fn new(network_id: NetworkId, name: impl Into<String>, cidr: Cidr) -> Self {
        let now = Timestamp::now();
        Self {
            id: SubnetId::nil(),
            organization_id: OrganizationId::nil(),
            network_id,
            name: name.into(),
            description: None,
            cidr,
            subnet_type: SubnetType::default(),
            source: Source::Manual,
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
    type Id = SubnetId;

    const ENTITY: Entity = Entity::Subnet;
    const KIND: Name = SUBNET;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);

    fn id(&self) -> SubnetId {
        self.id
    }

    fn filter(mut query: Query, list: &ListQuery) -> Query {
        if let Some(address) = list.contains {
            query.terms.push(cidr_filter(forms(address).flat_map(|(address, lengths)| {
                lengths.filter_map(move |length| Cidr::containing(address, length).ok())
            })));
        }
        query.terms.extend(list.cidr.map(|cidr| cidr_filter([cidr])));
        query
    }

    /// Within a network, a subnet is known by its addresses.
    fn label(&self) -> String {
        self.cidr.to_string()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: SubnetId, organization: OrganizationId, now: Timestamp) {
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

    fn facets(&self, organization: OrganizationId) -> Facets {
        named(organization, &self.name, self.created_at, self.updated_at)
            .with_network(self.network_id.uuid())
            .with_links(links(TAG_LINK, &self.tags))
            .with_unique_keys([cidr_unique_key(self.network_id, self.cidr)])
            .with_terms([cidr_term(self.cidr)])
    }

    async fn prepare(
        inventory: &Inventory,
        caller: &Caller,
        stored: Option<&Self>,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let Some(stored) = stored.filter(|stored| stored.cidr != record.cidr) else { return Ok(()) };
        let organization = caller.organization_id();
        inventory.require_reservations_within(organization, stored, record.cidr).await?;
        effects::before_subnet_removal(inventory, stored, batch)
    }

    async fn finish_creation(inventory: &Inventory, record: &Self) {
        effects::after_subnet_change(inventory, record).await;
    }

    async fn finish_update(inventory: &Inventory, record: &Self) {
        effects::after_subnet_change(inventory, record).await;
    }

    async fn prepare_deletion(
        inventory: &Inventory,
        caller: &Caller,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        effects::before_subnet_removal(inventory, record, batch)?;
        put_tombstone(record, caller.organization_id(), inventory.now(), batch)
    }

    async fn finish_deletion(inventory: &Inventory, caller: &Caller, id: SubnetId) -> Result<bool, Error> {
        let may = |subnet: &Self| caller.scope().allows(subnet.network_id);
        inventory.finish_deletion_of(caller.organization_id(), id, may).await
    }
}

handle! {
    /// The subnets of the networks of an organization.
    pub struct Subnets(Subnet) = subnets;
}

impl Creatable for Subnet {}

impl Revertable for Subnet {
    const CHANGED: ChangedEntity = ChangedEntity::Subnet;
}

impl Deletable for Subnet {}

impl BulkDeletable for Subnet {}

impl Referenced for Subnet {
    const TOMBSTONE: Name = SUBNET_DELETION;
    // Interfaces may name subnets without records, so clients may add such links at any time.
    const RELATIONS: &'static [Name] = &[];

    async fn remove_references(
        inventory: &Inventory,
        organization: OrganizationId,
        record: &Self,
    ) -> Result<(), Error> {
        inventory.release_all_in(organization, record).await?;
        let link = (Entity::Subnet, Link::new(SUBNET_LINK, record.id.uuid()));
        inventory.rewrite_linked_hosts(organization, link, clear_subnet).await?;
        effects::after_subnet_removal(inventory, record).await
    }
}

/// Clears the subnet of the interfaces of a host that name it.
fn clear_subnet(host: &mut Host, subnet: SubnetId, now: Timestamp) {
    for interface in host.interfaces.iter_mut().filter(|interface| interface.subnet_id == Some(subnet)) {
        (interface.subnet_id, interface.updated_at) = (None, now);
    }
}

/// The addresses of a subnet.
const CIDR_TERM: Name = Name::new("cidr");

/// Returns the unique key of the addresses of a subnet within its network.
pub(super) fn cidr_unique_key(network: NetworkId, cidr: Cidr) -> UniqueKey {
    UniqueKey::new(CIDR_UNIQUE_KEY, [network.as_bytes().as_slice(), &cidr_bytes(cidr)].concat())
}

/// Returns the term of the addresses of a subnet.
pub(super) fn cidr_term(cidr: Cidr) -> Term {
    Term::new(CIDR_TERM, cidr_bytes(cidr))
}

/// Returns the filter of subnets with exactly these addresses.
pub(super) fn cidr_filter(cidrs: impl IntoIterator<Item = Cidr>) -> TermFilter {
    let ranges = cidrs.into_iter().map(|cidr| TermRange::exact(cidr_bytes(cidr)));
    TermFilter::new(CIDR_TERM, ranges.collect::<Vec<_>>())
}

/// Encodes the addresses of a subnet. The length distinguishes IPv4 from IPv6.
pub(super) fn cidr_bytes(cidr: Cidr) -> Vec<u8> {
    let mut bytes = vec![cidr.prefix_length()];
    match cidr.first_address() {
        IpAddr::V4(address) => bytes.extend(address.octets()),
        IpAddr::V6(address) => bytes.extend(address.octets()),
    }
    bytes
}
