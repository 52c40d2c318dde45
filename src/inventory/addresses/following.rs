//! Keeps the addresses of a network up to date: reads what has changed since they were last asked for.

use std::collections::HashSet;
use std::net::IpAddr;

use uuid::Uuid;

use super::claims::HostClaims;
use super::table::{NetworkAddresses, Reserved};
use crate::discovery::Claim;
use crate::inventory::schema::{ADDRESS_RESERVATION, CLAIM, HOST, RESERVED, SUBNET, decode, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::{AddressReservation, AddressReservationId, Host, NetworkId, OrganizationId};
use crate::recent_networks::{StateSize, StateSlot};
use crate::store::{Direction, KeyFilter, Name, Order, Query, Record, Start, TermRange, Version};

/// The kinds of records on which the addresses of a network depend.
const KINDS: [Name; 4] = [HOST, CLAIM, SUBNET, ADDRESS_RESERVATION];

/// The number of reservations that are read at a time.
const RESERVATIONS_AT_ONCE: usize = 1_000;

/// The number of times that reservations are read again because others were made meanwhile.
const MAX_READS: usize = 8;

/// The size in bytes of hosts and claims from which reading all of them is long work.
const LARGE_NETWORK_BYTES: usize = 4 * 1024 * 1024;

/// About the memory that a reservation takes, in bytes.
const BYTES_PER_RESERVATION: usize = 256;

/// The state of the records of an organization on which the addresses of its networks depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetworkRevision([u128; KINDS.len()]);

impl NetworkRevision {
    /// Returns the numbers of the revision.
    pub(crate) const fn numbers(&self) -> &[u128] {
        &self.0
    }

    /// Returns whether hosts, claims and subnets are the same as in another state.
    fn has_same_records(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).take(KINDS.len() - 1).all(|(own, other)| own == other)
    }
}

/// The changes of the reservations of a network.
#[derive(Debug, Default)]
pub(super) struct ReservationChanges {
    /// Reservations that are new, or were made again.
    pub(super) put: Vec<(IpAddr, Reserved)>,
    pub(super) removed: Vec<AddressReservationId>,
}

impl Inventory {
    /// Returns the state of the records on which addresses depend; `None` if the store does not support revisions.
    pub(crate) async fn addresses_revision(
        &self,
        organization: OrganizationId,
    ) -> Result<Option<NetworkRevision>, Error> {
        let mut numbers = [0; KINDS.len()];
        for (number, kind) in numbers.iter_mut().zip(KINDS) {
            let Some(revision) = self.store.revision(kind, organization.uuid()).await? else {
                return Ok(None);
            };
            *number = revision.number();
        }
        Ok(Some(NetworkRevision(numbers)))
    }

    /// Calls a function with the present addresses of a network whose access was checked.
    ///
    /// `bytes` is about the size of what the function makes: large work runs on a blocking thread.
    pub(super) async fn with_addresses<T: Send + 'static>(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        bytes: usize,
        work: impl FnOnce(&NetworkAddresses) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let slot: StateSlot<NetworkAddresses> = self.state.addresses.slot(organization, network);
        // Requests for one network wait for each other here. A request that is dropped leaves the slot empty.
        let mut guard = slot.lock().await;
        let revision = self.addresses_revision(organization).await?;
        if let (Some(state), Some(revision)) = (guard.as_ref(), revision)
            && state.revision == Some(revision)
            && bytes == 0
        {
            return Ok(work(state));
        }
        let mut state = guard.take().unwrap_or_default();
        let has_same_records =
            revision.zip(state.revision).is_some_and(|(now, known)| now.has_same_records(&known));
        let records = if has_same_records {
            None
        } else {
            let digest = |host: &Host, claims: &[Claim]| HostClaims::of(host, claims);
            let known = std::mem::take(&mut state.known);
            Some(self.changes_of_network(organization, network, known, digest).await?)
        };
        let is_same = revision.is_some() && state.revision == revision;
        let reservations = if is_same {
            ReservationChanges::default()
        } else {
            self.changed_reservations((organization, network), &state).await?
        };
        let rows = records
            .as_ref()
            .map_or(0, |records| records.changed.iter().map(|host| host.claims.len()).sum::<usize>());
        let changed = rows.saturating_add(reservations.put.len()).saturating_mul(BYTES_PER_RESERVATION);
        let hosts = records.as_ref().map_or_else(|| state.known.len(), |records| records.known.len());
        let work = move || {
            if !is_same {
                state.apply(revision, records, reservations);
            }
            let result = work(&state);
            (state, result)
        };
        let (state, result) = if changed > LARGE_NETWORK_BYTES {
            self.offload_long(organization, work).await?
        } else {
            self.offload(organization, changed.saturating_add(bytes), work).await?
        };
        let bytes = state.bytes + state.reservations_len() * BYTES_PER_RESERVATION;
        self.state.addresses.note_size(organization, network, StateSize { hosts, bytes });
        *guard = Some(state);
        Ok(result)
    }

    /// Reads the reservations that were made or released since a state.
    ///
    /// Every reservation is stored with a sort key that ends in its version. So those that were made since are found by it. Released
    /// ones are noticed by the number of all: only then the ids of all are read.
    async fn changed_reservations(
        &self,
        network: (OrganizationId, NetworkId),
        state: &NetworkAddresses,
    ) -> Result<ReservationChanges, Error> {
        let all = on_network(ADDRESS_RESERVATION, network.0, network.1);
        let mut changes = ReservationChanges::default();
        let mut newest = state.newest_reservation();
        let mut known: HashSet<AddressReservationId> = HashSet::new();
        for _ in 0..MAX_READS {
            for record in self.reservations_since(&all, newest).await? {
                let id = AddressReservationId::new(record.key.id);
                newest = newest.max(Some(record.version));
                // Reservations of a store that was restored keep the sort key that they had in the other one.
                if state.reservation(id) == Some(record.version) {
                    continue;
                }
                let AddressReservation { ip, name, .. } = decode(&record)?;
                if state.reservation(id).is_none() {
                    known.insert(id);
                }
                changes.put.push((ip, Reserved { id, version: record.version, name: name.into() }));
            }
            let total = self.count(all.clone()).await?;
            let expected = (state.reservations_len() + known.len()) as u64;
            if total < expected {
                let present: HashSet<Uuid> = self.reservation_ids(&all).await?.into_iter().collect();
                changes.put.retain(|(_, reserved)| present.contains(&reserved.id.uuid()));
                let released = state.reservations().filter(|id| !present.contains(&id.uuid()));
                changes.removed = released.collect();
                break;
            }
            if total == expected {
                break;
            }
        }
        Ok(changes)
    }

    /// Reads the reservations that were put after a version.
    async fn reservations_since(&self, all: &Query, version: Option<Version>) -> Result<Vec<Record>, Error> {
        let mut query = Query { limit: Some(RESERVATIONS_AT_ONCE), ..all.clone() };
        query.order = vec![Order::new(RESERVED, Direction::Ascending)];
        if let Some(version) = version {
            let after = version.0.saturating_add(1).to_be_bytes().to_vec();
            query.keys = vec![KeyFilter::new(RESERVED, TermRange::new(after, None))];
        }
        let mut found = Vec::new();
        loop {
            let page = self.store.list(&query).await?;
            found.extend(page.records);
            let Some(next) = page.next else { return Ok(found) };
            query.start = Start::After(next);
            tokio::task::yield_now().await;
        }
    }

    /// Reads the ids of all reservations of a network.
    async fn reservation_ids(&self, all: &Query) -> Result<Vec<Uuid>, Error> {
        let page = self.store.list(&Query { max_bytes: Some(1), ..all.clone() }).await?;
        let read = page.records.iter().map(|record| record.key.id);
        Ok(read.chain(page.unread.iter().map(|key| key.id)).collect())
    }
}
