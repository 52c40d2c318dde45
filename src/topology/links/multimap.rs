//! A multimap for keys that mostly have one value.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Bound;

/// The values of a key.
#[derive(Clone, Debug)]
enum Values<V> {
    One(V),
    Many(BTreeSet<V>),
}

/// The values of each key.
#[derive(Clone, Debug)]
pub(super) struct SmallMultimap<K, V>(HashMap<K, Values<V>>);

impl<K, V> Default for SmallMultimap<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash, V: Copy + Ord> FromIterator<(K, V)> for SmallMultimap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut map = Self::default();
        for (key, value) in pairs {
            map.add(key, value);
        }
        map
    }
}

impl<K: Eq + Hash, V: Copy + Ord> SmallMultimap<K, V> {
    /// Reserves capacity for more keys.
    pub(super) fn reserve(&mut self, keys: usize) {
        self.0.reserve(keys);
    }

    /// Adds a value of a key. Returns another value of the key.
    pub(super) fn add(&mut self, key: K, value: V) -> Option<V> {
        let values = self.0.entry(key).or_insert(Values::One(value));
        match values {
            Values::One(one) if *one == value => None,
            Values::One(one) => {
                let other = *one;
                *values = Values::Many(BTreeSet::from([other, value]));
                Some(other)
            }
            Values::Many(many) => {
                many.insert(value);
                many.iter().find(|other| **other != value).copied()
            }
        }
    }

    pub(super) fn remove(&mut self, key: &K, value: V) {
        match self.0.get_mut(key) {
            Some(Values::One(one)) if *one == value => {
                self.0.remove(key);
            }
            Some(Values::Many(many)) => {
                many.remove(&value);
                if many.is_empty() {
                    self.0.remove(key);
                }
            }
            _ => {}
        }
    }

    /// Returns the values of a key, in order.
    pub(super) fn get<'f>(&'f self, key: &K) -> impl Iterator<Item = V> + use<'f, K, V> {
        let (one, many) = match self.0.get(key) {
            Some(Values::One(one)) => (Some(*one), None),
            Some(Values::Many(many)) => (None, Some(many)),
            None => (None, None),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }

    /// Returns the first value of each group of a key's values; `None` for more than `max_groups`.
    ///
    /// Values are in the order of their groups, and `last` returns the last value that the group of a value may have.
    pub(super) fn distinct(&self, key: &K, last: impl Fn(V) -> V, max_groups: usize) -> Option<Vec<V>> {
        let many = match self.0.get(key) {
            None => return Some(Vec::new()),
            Some(Values::One(one)) => return Some(vec![*one]),
            Some(Values::Many(many)) => many,
        };
        let mut found = Vec::new();
        let mut next = many.first().copied();
        while let Some(value) = next {
            if found.len() == max_groups {
                return None;
            }
            found.push(value);
            next = many.range((Bound::Excluded(last(value)), Bound::Unbounded)).next().copied();
        }
        Some(found)
    }

    pub(super) fn len(&self, key: &K) -> usize {
        match self.0.get(key) {
            Some(Values::Many(many)) => many.len(),
            Some(Values::One(_)) => 1,
            None => 0,
        }
    }

    /// Returns the value of a key that has only one.
    pub(super) fn only(&self, key: &K) -> Option<V> {
        match self.0.get(key)? {
            Values::One(one) => Some(*one),
            Values::Many(many) => many.first().copied().filter(|_| many.len() == 1),
        }
    }
}
