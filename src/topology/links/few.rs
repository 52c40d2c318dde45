//! Maps from a value to the few hosts that have it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use uuid::Uuid;

/// The hosts that have a value; most values belong to one host.
#[derive(Clone, Debug)]
enum Few {
    One(Uuid),
    Many(BTreeSet<Uuid>),
}

/// The hosts by each value that they have.
#[derive(Clone, Debug)]
pub(super) struct HostsBy<V>(HashMap<V, Few>);

impl<V> Default for HostsBy<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V: Copy + Eq + Hash> HostsBy<V> {
    pub(super) fn add(&mut self, value: V, host: Uuid) {
        let few = self.0.entry(value).or_insert(Few::One(host));
        match few {
            Few::One(one) if *one == host => {}
            Few::One(one) => *few = Few::Many(BTreeSet::from([*one, host])),
            Few::Many(many) => {
                many.insert(host);
            }
        }
    }

    pub(super) fn remove(&mut self, value: V, host: Uuid) {
        match self.0.get_mut(&value) {
            Some(Few::One(one)) if *one == host => {
                self.0.remove(&value);
            }
            Some(Few::Many(many)) => {
                many.remove(&host);
                if many.is_empty() {
                    self.0.remove(&value);
                }
            }
            _ => {}
        }
    }

    /// Returns the hosts with a value, in order.
    pub(super) fn get(&self, value: V) -> impl Iterator<Item = Uuid> + use<'_, V> {
        let (one, many) = match self.0.get(&value) {
            Some(Few::One(one)) => (Some(*one), None),
            Some(Few::Many(many)) => (None, Some(many)),
            None => (None, None),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }

    pub(super) fn len(&self, value: V) -> usize {
        match self.0.get(&value) {
            Some(Few::Many(many)) => many.len(),
            Some(Few::One(_)) => 1,
            None => 0,
        }
    }

    /// Returns the only host with a value.
    pub(super) fn only(&self, value: V) -> Option<Uuid> {
        self.get(value).next().filter(|_| self.len(value) == 1)
    }
}
