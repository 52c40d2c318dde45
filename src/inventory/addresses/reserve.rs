//! The operations on the addresses of a subnet.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::claims::number_of;
use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, handle};
use crate::inventory::policy::Actor;
use crate::inventory::schema::{ADDRESS_RESERVATION, decode, encode};
use crate::inventory::transaction::Transaction;
use crate::inventory::{Entity, Error, ErrorKind, Problem, require_level, unchanged, validate};
use crate::model::{
    AddressReservation, AddressReservationId, NetworkId, Permission, Subnet, SubnetId, derived_id,
};
use crate::store::{Batch, Guard, Key, Precondition, Record};
use crate::wire::{AddressList, AddressQuery, AddressState, SubnetAddress};

/// Maximum number of addresses that are reserved together.
pub(crate) const MAX_RESERVED: u32 = 256;

/// Maximum number of addresses that are released together.
pub(crate) const MAX_RELEASED: usize = 1_000;

/// Maximum number of addresses of a list.
const MAX_LISTED: usize = 10_000;

/// Maximum number of reservations in a network. Concurrent requests may exceed it by a few.
const MAX_RESERVATIONS: usize = 1_000_000;

/// About the memory that the answer about one address takes, in bytes.
const BYTES_PER_ADDRESS: usize = 256;

/// The number of attempts after which a reservation takes any of the lowest free addresses, not the very lowest.
///
/// So instances that reserve in the same subnet at the same time do not compete for the same addresses again and again.
const ORDERED_ATTEMPTS: u32 = 2;

handle! {
    /// The addresses of subnets: the free ones, the devices that use the others, and reservations.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::AddressQuery;
    /// # use toposcope::model::{Network, Permission, Subnet, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let subnet = Subnet::new(network.id, "Printers", "192.0.2.0/24".parse()?);
    /// let subnet = inventory.subnets().create(&caller, subnet).await?;
    ///
    /// let addresses = inventory.addresses();
    /// let reserved = addresses.reserve(&caller, subnet.id, 2, "printers").await?;
    /// assert_eq!(reserved.addresses[1].ip.to_string(), "192.0.2.2");
    /// let free = addresses.list(&caller, subnet.id, AddressQuery::free(1)).await?;
    /// assert_eq!((free.addresses[0].ip.to_string(), free.addresses_total), ("192.0.2.3".to_owned(), 252));
    /// # Ok(())
    /// # }
    /// ```
    pub struct Addresses = addresses;
}

impl Addresses<'_> {
    /// Returns addresses of a subnet, the lowest first. Every level may read.
    ///
    /// # Errors
    /// `NotFound`; `AccessDenied` when the caller cannot access the network; `Invalid` unless the limit is 1 to 10,000.
    pub async fn list(
        self,
        caller: &Caller,
        subnet: SubnetId,
        query: AddressQuery,
    ) -> Result<AddressList, Error> {
        if !(1..=MAX_LISTED).contains(&query.limit) {
            return Err(out_of_range("limit", MAX_LISTED));
        }
        let (_, subnet) = self.inventory.own_record::<Subnet>(caller, subnet).await?;
        // The lowest free addresses are found at once.
        let is_small = query.limit <= 64 && query.state == Some(AddressState::Free);
        let bytes = if is_small { 0 } else { query.limit.saturating_mul(BYTES_PER_ADDRESS) };
        let network = (caller.organization_id(), subnet.network_id);
        let list = move |addresses: &super::NetworkAddresses| addresses.list(subnet.cidr, &query);
        self.inventory.with_addresses(network, bytes, list).await
    }

    /// Reserves free addresses of a subnet under a name. The caller must be a Member or above.
    ///
    /// They are the lowest free ones, unless other instances reserve in the same subnet at the same time. Either all are reserved or none. No
    /// address is reserved twice, however many callers and instances reserve at the same time.
    ///
    /// # Errors
    /// `PermissionDenied`; `NotFound`; `AccessDenied`; `Invalid` unless the count is 1 to 256 and the name has 1 to 100 characters;
    /// `AddressesExhausted` if the subnet has fewer free addresses; `QuotaExceeded` if the network has 1,000,000
    /// reservations.
    pub async fn reserve(
        self,
        caller: &Caller,
        subnet: SubnetId,
        count: u32,
        name: &str,
    ) -> Result<AddressList, Error> {
        require_level(caller, Permission::Member)?;
        if !(1..=MAX_RESERVED).contains(&count) {
            return Err(out_of_range("count", MAX_RESERVED as usize));
        }
        let name = validate::name("name", name, 100)?;
        self.inventory.require_organization(caller).await?;
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Subnet, subnet);
        let mut attempts = 0;
        loop {
            let (stored, subnet) = self.inventory.own_record::<Subnet>(caller, subnet).await?;
            // Through one instance, reservations of a network wait for each other: they would all want the same addresses.
            if !transaction.enter(turn_of(subnet.network_id)).await? {
                continue;
            }
            let chosen = self.choose(caller, &subnet, count as usize, attempts).await?;
            let now = self.inventory.now();
            let reservation = |ip: IpAddr| AddressReservation {
                id: reservation_id(subnet.network_id, ip),
                organization_id: caller.organization_id(),
                network_id: subnet.network_id,
                subnet_id: subnet.id,
                ip,
                name: name.clone(),
                created_at: now,
            };
            let reservations: Vec<AddressReservation> = chosen.into_iter().map(reservation).collect();
            let listed: Vec<SubnetAddress> = reservations.iter().map(reserved_address).collect();
            let network = (caller.organization_id(), subnet.network_id);
            let answer = move |addresses: &super::NetworkAddresses| {
                let total = listed.len() as u64;
                addresses.answer(subnet.cidr, listed, total)
            };
            let reserved = self.inventory.with_addresses(network, 0, answer).await?;
            let batch = creation(&transaction, caller, &stored, &reservations).await?;
            self.inventory.note_answer(&reserved, Some(subnet.network_id))?;
            if transaction.commit(batch).await? {
                return Ok(reserved);
            }
            attempts += 1;
        }
    }

    /// Returns the addresses to reserve.
    async fn choose(
        self,
        caller: &Caller,
        subnet: &Subnet,
        count: usize,
        attempts: u32,
    ) -> Result<Vec<IpAddr>, Error> {
        let skipped = if attempts < ORDERED_ATTEMPTS { 0 } else { self.skipped(count, attempts)? };
        let cidr = subnet.cidr;
        let choose = move |addresses: &super::NetworkAddresses| {
            let mut chosen = addresses.free(cidr, skipped, count);
            if chosen.len() < count && skipped > 0 {
                chosen = addresses.free(cidr, 0, count);
            }
            (chosen, addresses.reservations_len())
        };
        let network = (caller.organization_id(), subnet.network_id);
        let (chosen, reservations) = self.inventory.with_addresses(network, 0, choose).await?;
        if chosen.len() < count {
            return Err(ErrorKind::AddressesExhausted { free: chosen.len() as u64 }.into());
        }
        if reservations.saturating_add(count) > MAX_RESERVATIONS {
            let (entity, limit) = (Entity::AddressReservation, MAX_RESERVATIONS as u64);
            return Err(ErrorKind::QuotaExceeded { entity, limit }.into());
        }
        Ok(chosen)
    }

    /// Returns by chance how many free addresses are left out. The further attempts fail, the more.
    fn skipped(self, count: usize, attempts: u32) -> Result<usize, Error> {
        let mut random = [0; 2];
        self.inventory.random.fill(&mut random)?;
        let places = 4_u16 << attempts.min(10);
        Ok(usize::from(u16::from_be_bytes(random) % places).saturating_mul(count))
    }

    /// Releases reserved addresses of a subnet. The caller must be a Member or above.
    ///
    /// Addresses that are not reserved are left out. Returns the released ones, with their present states.
    ///
    /// # Errors
    /// `PermissionDenied`; `NotFound`; `AccessDenied`; `Invalid` for no addresses or more than 1,000.
    pub async fn release(
        self,
        caller: &Caller,
        subnet: SubnetId,
        addresses: &[IpAddr],
    ) -> Result<AddressList, Error> {
        require_level(caller, Permission::Member)?;
        match addresses.len() {
            0 => return Err(Error::invalid("addresses", Problem::Empty)),
            length if length > MAX_RELEASED => {
                return Err(Error::invalid("addresses", Problem::MaxLength { max: MAX_RELEASED }));
            }
            _ => {}
        }
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Subnet, subnet);
        let (subnet, released) = loop {
            let (_, subnet) = self.inventory.own_record::<Subnet>(caller, subnet).await?;
            let asked: BTreeSet<Key> =
                addresses.iter().map(|ip| reservation_key(subnet.network_id, *ip)).collect();
            let asked: Vec<Key> = asked.into_iter().collect();
            let mut batch = Batch::new();
            let mut released = Vec::new();
            for record in self.inventory.store.get(&asked).await?.into_iter().flatten() {
                let reservation: AddressReservation = decode(&record)?;
                // A subnet that was moved may have left reserved addresses behind.
                if subnet.cidr.contains(reservation.ip) || reservation.subnet_id == subnet.id {
                    transaction.review(Actor::Caller(caller), Some(&reservation), None).await?;
                    batch.delete(record.key, unchanged(Some(&record)));
                    released.push(reservation.ip);
                }
            }
            if batch.writes().is_empty() || transaction.commit(batch).await? {
                break (subnet, released);
            }
        };
        drop(transaction);
        let (mut released, cidr) = (released, subnet.cidr);
        released.sort_unstable_by_key(|ip| number_of(*ip));
        let network = (caller.organization_id(), subnet.network_id);
        let bytes = released.len().saturating_mul(BYTES_PER_ADDRESS);
        let describe = move |addresses: &super::NetworkAddresses| {
            addresses.answer(cidr, addresses.describe_all(cidr, &released), released.len() as u64)
        };
        self.inventory.with_addresses(network, bytes, describe).await
    }
}

/// Makes the batch of new reservations, about which the policy is asked.
async fn creation(
    transaction: &Transaction<'_>,
    caller: &Caller,
    subnet: &Record,
    reservations: &[AddressReservation],
) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    for reservation in reservations {
        transaction.review(Actor::Caller(caller), None, Some(reservation)).await?;
        let key = Key::new(ADDRESS_RESERVATION, reservation.id.uuid());
        let facets = reservation.facets(caller.organization_id());
        batch.put(key, Precondition::Absent, facets, encode(reservation)?);
    }
    // The subnet may have got other addresses, or may be deleted.
    batch.guard(Guard::record(subnet.key, unchanged(Some(subnet))));
    Ok(batch)
}

/// Returns the turn for which the reservations of a network wait. No reservation has the id of a network.
fn turn_of(network: NetworkId) -> BTreeSet<Key> {
    BTreeSet::from([Key::new(ADDRESS_RESERVATION, network.uuid())])
}

fn reservation_id(network: NetworkId, ip: IpAddr) -> AddressReservationId {
    let number = number_of(ip).to_be_bytes();
    derived_id("address reservation", &[network.as_bytes(), &number])
}

fn reservation_key(network: NetworkId, ip: IpAddr) -> Key {
    Key::new(ADDRESS_RESERVATION, reservation_id(network, ip).uuid())
}

fn reserved_address(reservation: &AddressReservation) -> SubnetAddress {
    SubnetAddress {
        ip: reservation.ip,
        state: AddressState::Reserved,
        host_id: None,
        if_entry_id: None,
        mac: None,
        last_seen: None,
        reserved_by: Some(reservation.name.clone()),
        claims: Vec::new(),
    }
}

fn out_of_range(field: &str, max: usize) -> Error {
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    Error::invalid(field, Problem::OutOfRange { min: 1, max })
}
