//! Hosts that run on others: they work only as long as those do.

use std::collections::BTreeMap;

use super::super::flood::{Removal, Tree};
use super::PathIndex;

impl PathIndex {
    /// Returns whether each node is connected with the roots of a tree, by itself or by the host that runs it.
    pub(in crate::topology::paths) fn connected(&self, tree: &Tree) -> Vec<bool> {
        let mut connected = self.reached(tree);
        for (guest, hypervisor) in self.guests() {
            connected[*guest as usize] |= connected[*hypervisor as usize];
        }
        connected
    }

    /// Returns whether each node remains connected after a failure: a guest does if the host that runs it does. Wherever the guest's
    /// address was learned, its frames pass that host. Only if no path to the host was known, links of the guest count.
    pub(in crate::topology::paths) fn still_connected(
        &self,
        after: &Tree,
        removal: &Removal,
        before: &[bool],
    ) -> Vec<bool> {
        let mut connected = self.reached(after);
        for (guest, hypervisor) in self.guests() {
            if removal.has_node(*guest) || removal.has_node(*hypervisor) {
                connected[*guest as usize] = false;
            } else if before[*hypervisor as usize] {
                connected[*guest as usize] = connected[*hypervisor as usize];
            }
        }
        connected
    }

    fn reached(&self, tree: &Tree) -> Vec<bool> {
        (0..).take(self.nodes.len()).map(|node| tree.reaches(node)).collect()
    }

    fn guests(&self) -> &[(u32, u32)] {
        self.derived.guests.get_or_init(|| self.find_guests())
    }

    /// Hosts that are stated to run each other in a circle are left out, so that their own links count.
    fn find_guests(&self) -> Vec<(u32, u32)> {
        let mut run_by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut is_guest = vec![false; if self.guests.is_empty() { 0 } else { self.nodes.len() }];
        for (guest, hypervisor) in &self.guests {
            if let Some((guest, hypervisor)) =
                self.number((*guest).into()).zip(self.number((*hypervisor).into()))
            {
                run_by.entry(hypervisor).or_default().push(guest);
                is_guest[guest as usize] = true;
            }
        }
        let mut pending: Vec<u32> = run_by.keys().copied().filter(|host| !is_guest[*host as usize]).collect();
        let mut found = Vec::new();
        while let Some(hypervisor) = pending.pop() {
            let guests = run_by.remove(&hypervisor).unwrap_or_default();
            found.extend(guests.iter().map(|guest| (*guest, hypervisor)));
            pending.extend(guests);
        }
        found
    }
}
