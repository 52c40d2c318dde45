//! Reservations of addresses as records.

use crate::inventory::collections::{CollectionRecord, Reference, Requirements};
use crate::inventory::history::Author;
use crate::inventory::schema::{ADDRESS_RESERVATION, RESERVED, RESERVED_IN, decode, network_key, subnet_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::{
    AddressReservation, AddressReservationId, Cidr, NetworkId, OrganizationId, Permission, Subnet, Timestamp,
};
use crate::store::{Batch, Facets, Key, Link, LinkFilter, Name, Query, SortKey, Start};

/// The maximum number of reservations that one commit deletes, and that are read at a time.
const AT_ONCE: usize = 1_000;

impl CollectionRecord for AddressReservation {
    type Id = AddressReservationId;

    const ENTITY: Entity = Entity::AddressReservation;
    const KIND: Name = ADDRESS_RESERVATION;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);

    fn id(&self) -> AddressReservationId {
        self.id
    }

    fn label(&self) -> String {
        self.ip.to_string()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: AddressReservationId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id, self.created_at) = (id, organization, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        self.clone_from(stored);
    }

    /// A reservation does not change.
    fn touch(&mut self, _now: Timestamp) {}

    fn updated_at(&self) -> Timestamp {
        self.created_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        self.name = validate::name("name", &self.name, 100)?;
        Ok(())
    }

    fn references(&self) -> Vec<Reference> {
        let network = ("network_id", Entity::Network, network_key(self.network_id));
        let subnet = ("subnet_id", Entity::Subnet, subnet_key(self.subnet_id));
        let reference =
            |(field, entity, key): (&str, Entity, Key)| Reference { entity, key, field: field.to_owned() };
        [network, subnet].map(reference).into()
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        Facets::default()
            .with_organization(organization.uuid())
            .with_network(self.network_id.uuid())
            .with_links([Link::new(RESERVED_IN, self.subnet_id.uuid())])
            .with_sort_keys([SortKey::with_version(RESERVED, [])])
    }
}

/// Queries the reservations that were made in a subnet, some at a time.
fn reserved_in(organization: OrganizationId, subnet: &Subnet) -> Query {
    Query {
        organization: Some(organization.uuid()),
        links: vec![LinkFilter::new(RESERVED_IN, [subnet.id.uuid()])],
        limit: Some(AT_ONCE),
        ..Query::new(ADDRESS_RESERVATION)
    }
}

impl Inventory {
    /// Checks that a subnet keeps its reserved addresses when it gets others.
    ///
    /// # Errors
    /// `InUse` if an address was reserved that the subnet would no longer have.
    pub(in crate::inventory) async fn require_reservations_within(
        &self,
        organization: OrganizationId,
        subnet: &Subnet,
        cidr: Cidr,
    ) -> Result<(), Error> {
        let mut query = reserved_in(organization, subnet);
        loop {
            let page = self.store.list(&query).await?;
            for record in &page.records {
                let reservation: AddressReservation = decode(record)?;
                if !cidr.contains(reservation.ip) {
                    let (entity, name) = (Entity::Subnet, subnet.cidr.to_string());
                    return Err(ErrorKind::InUse { entity, name, used_by: Entity::AddressReservation }.into());
                }
            }
            let Some(next) = page.next else { return Ok(()) };
            query.start = Start::After(next);
            tokio::task::yield_now().await;
        }
    }

    /// Deletes the reservations that were made in a subnet whose deletion has begun, so that no others are made.
    pub(in crate::inventory) async fn release_all_in(
        &self,
        organization: OrganizationId,
        subnet: &Subnet,
    ) -> Result<(), Error> {
        let query = reserved_in(organization, subnet);
        loop {
            let mut transaction = self.transaction(Author::system(organization), Entity::Subnet, subnet.id);
            loop {
                let found = self.store.list(&query).await?.records;
                if found.is_empty() {
                    return Ok(());
                }
                let mut batch = Batch::new();
                for record in &found {
                    batch.delete(record.key, unchanged(Some(record)));
                }
                if transaction.commit(batch).await? {
                    break;
                }
            }
        }
    }
}
