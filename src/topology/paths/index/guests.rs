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

    /// Returns nodes that fail, these and others, with all guests that run on them.
    pub(in crate::topology::paths) fn with_guests(&self, mut failing: Vec<u32>, others: &[u32]) -> Vec<u32> {
        failing.extend(others);
        if !self.guests().is_empty() {
            let mut fails = vec![false; self.nodes.len()];
            failing.iter().for_each(|node| fails[*node as usize] = true);
            for (guest, hypervisor) in self.guests() {
                if fails[*hypervisor as usize] && !std::mem::replace(&mut fails[*guest as usize], true) {
                    failing.push(*guest);
                }
            }
        }
        failing
    }

    /// Returns the guests on hosts that were connected, and are not after a failure. Wherever the address of a guest was learned, its
    /// frames pass the host that runs it. Only if no path to the host was known, links of the guest count.
    pub(in crate::topology::paths) fn guests_cut_off(
        &self,
        after: &Tree,
        removal: &Removal,
        before: &[bool],
    ) -> Vec<u32> {
        if self.guests().is_empty() {
            return Vec::new();
        }
        let mut connected = self.connected(after);
        let mut lost = Vec::new();
        for (guest, hypervisor) in self.guests().iter().filter(|(guest, _)| after.distance(*guest) != 0) {
            if removal.has_node(*guest) {
                connected[*guest as usize] = false;
            } else if before[*hypervisor as usize] && !connected[*hypervisor as usize] {
                connected[*guest as usize] = false;
                lost.push(*guest);
            }
        }
        lost
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
