//! The entries of neighbor caches and forwarding databases that change together.
//!
//! Addresses that too many devices state or have learned mean nothing. Several changes at once may lead an address across this limit,
//! so that the numbers before and after all of them count.

use std::collections::{BTreeMap, BTreeSet};

use super::device::{Device, LearnedAddress};
use super::devices::Devices;
use super::key::IdentityKey;
use super::rules::fdb::MAX_LEARNERS;
use crate::model::{HostId, MacAddress};

/// The entries of devices that were set or removed.
#[derive(Debug, Default)]
pub(super) struct ChangedEntries {
    /// The IP addresses of the devices and in their neighbor caches, each with the number of these entries.
    ips: BTreeMap<IdentityKey, usize>,
    /// The MAC addresses in their neighbor caches.
    told: BTreeSet<MacAddress>,
    /// The MAC addresses that devices have learned, or no longer have.
    learned: BTreeMap<MacAddress, LearnerChange>,
}

/// The numbers of devices.
#[derive(Clone, Copy, Debug, Default)]
struct LearnerChange {
    more: usize,
    fewer: usize,
}

impl ChangedEntries {
    /// Adds the change of a device.
    pub(super) fn add(&mut self, former: Option<&Device>, current: Option<&Device>) {
        for device in former.into_iter().chain(current) {
            for key in device.keys.iter().filter(|key| key.ip().is_some()) {
                self.ips.entry(*key).or_default();
            }
            let former_rows = device.formerly_resolved.iter().map(|(row, _)| row);
            for row in device.resolved.iter().chain(former_rows) {
                *self.ips.entry(row.ip).or_default() += 1;
                self.told.insert(row.mac_address);
            }
        }
        let (before, after) = (learned(former), learned(current));
        let has = |rows: &[LearnedAddress], address: MacAddress| {
            rows.binary_search_by_key(&address, |row| row.address).is_ok()
        };
        for row in before.iter().filter(|row| after.binary_search(row).is_err()) {
            self.learned.entry(row.address).or_default().fewer += usize::from(!has(after, row.address));
        }
        for row in after.iter().filter(|row| before.binary_search(row).is_err()) {
            self.learned.entry(row.address).or_default().more += usize::from(!has(before, row.address));
        }
    }

    /// Adds the hosts whose forwarding databases may have another meaning because of the changes: those that share an entry that was
    /// learned, lost, or learned elsewhere, and those with an address that may lead to another host.
    pub(super) fn add_learners(&self, devices: &Devices, learners: &mut BTreeSet<HostId>) {
        for (address, change) in &self.learned {
            let after = devices.learner_count(*address);
            let before = after.saturating_add(change.fewer).saturating_sub(change.more);
            if before.min(after) <= MAX_LEARNERS {
                learners.extend(devices.learners(*address));
            }
        }
        let mut told = self.told.clone();
        for (ip, entries) in &self.ips {
            told.extend(devices.stated_macs_before(*ip, *entries));
        }
        for address in told {
            devices.add_joined_learners(address, learners);
        }
    }
}

fn learned(device: Option<&Device>) -> &[LearnedAddress] {
    device.map_or(&[], |device| &device.learned)
}
