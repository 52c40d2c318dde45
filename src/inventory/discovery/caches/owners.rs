//! The hosts that have the MAC addresses which neighbor caches state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Stated;
use crate::discovery::reconcile::{Identity, RecognitionNote, own_macs};
use crate::discovery::report::WarningCode;
use crate::inventory::Error;
use crate::inventory::discovery::Reconciler;
use crate::model::{Host, HostId, MacAddress};
use crate::store::Record;

/// Number of MAC addresses whose hosts are read at a time.
const MACS: usize = 256;

/// Number of hosts with the addresses of a chunk. If there are more, each address is looked up by itself.
const MAX_OWNERS_AT_ONCE: usize = 1_024;

/// Maximum number of hosts with a MAC address that a neighbor cache states. If more have it, it identifies none.
const MAX_OWNERS: usize = 16;

/// The hosts that have MAC addresses. `None` where they are too many.
pub(super) type Owners = BTreeMap<MacAddress, Option<Vec<(HostId, Arc<Host>)>>>;

impl Reconciler {
    /// Returns the hosts that have these MAC addresses by reports of their own, by address. Addresses that more than 16
    /// hosts have are `None`.
    pub(super) async fn owners(&self, stated: &[Stated]) -> Result<Owners, Error> {
        let macs: BTreeSet<MacAddress> = stated.iter().map(|stated| stated.mac_address).collect();
        let macs: Vec<MacAddress> = macs.into_iter().collect();
        let mut owners = Owners::new();
        for macs in macs.chunks(MACS) {
            let found = self.hosts_with_macs(macs, MAX_OWNERS_AT_ONCE).await?;
            if found.len() < MAX_OWNERS_AT_ONCE {
                self.add_owners(macs, found, &mut owners).await?;
                continue;
            }
            for address in macs.iter().map(std::slice::from_ref) {
                let found = self.hosts_with_macs(address, MAX_OWNERS + 1).await?;
                if found.len() > MAX_OWNERS {
                    owners.extend(address.iter().map(|address| (*address, None)));
                } else {
                    self.add_owners(address, found, &mut owners).await?;
                }
            }
        }
        for hosts in owners.values_mut() {
            if hosts.as_ref().is_some_and(|hosts| hosts.len() > MAX_OWNERS) {
                *hosts = None;
            }
        }
        Ok(owners)
    }

    /// Warns of a MAC address that identifies none of the hosts that have it.
    pub(super) fn warn_of_shared_mac(&mut self, address: MacAddress) {
        let text = format!("more than {MAX_OWNERS} hosts have the MAC address {address}");
        self.warn(vec![RecognitionNote::new(WarningCode::MacShared, text)]);
    }

    async fn hosts_with_macs(
        &self,
        macs: &[MacAddress],
        limit: usize,
    ) -> Result<BTreeMap<HostId, Record>, Error> {
        let identities: Vec<Identity> =
            macs.iter().filter_map(|address| Identity::of_mac(*address)).collect();
        self.inventory.hosts_with((self.organization, self.network), &identities, limit).await
    }

    async fn add_owners(
        &self,
        macs: &[MacAddress],
        found: BTreeMap<HostId, Record>,
        owners: &mut Owners,
    ) -> Result<(), Error> {
        for (id, record) in found {
            let host: Arc<Host> = Arc::new(self.inventory.decode_host(self.organization, &record).await?);
            let own = own_macs(&host);
            for address in macs.iter().filter(|address| own.contains(*address)) {
                let owners = owners.entry(*address).or_insert_with(|| Some(Vec::new()));
                owners.iter_mut().for_each(|owners| owners.push((id, Arc::clone(&host))));
            }
        }
        Ok(())
    }
}
