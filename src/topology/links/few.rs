//! Maps from a value to the few things that have it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Bound;

/// The things that have a value; most values belong to one thing.
#[derive(Clone, Debug)]
enum Few<T> {
    One(T),
    Many(BTreeSet<T>),
}

/// The things that have each value.
#[derive(Clone, Debug)]
pub(super) struct FewBy<V, T>(HashMap<V, Few<T>>);

impl<V, T> Default for FewBy<V, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V: Eq + Hash, T: Copy + Ord> FromIterator<(V, T)> for FewBy<V, T> {
    fn from_iter<I: IntoIterator<Item = (V, T)>>(pairs: I) -> Self {
        let mut few = Self::default();
        for (value, thing) in pairs {
            few.add(value, thing);
        }
        few
    }
}

impl<V: Eq + Hash, T: Copy + Ord> FewBy<V, T> {
    /// Makes room for more values.
    pub(super) fn reserve(&mut self, values: usize) {
        self.0.reserve(values);
    }

    /// Adds a thing that has a value. Returns another one that has it as well.
    pub(super) fn add(&mut self, value: V, thing: T) -> Option<T> {
        let few = self.0.entry(value).or_insert(Few::One(thing));
        match few {
            Few::One(one) if *one == thing => None,
            Few::One(one) => {
                let other = *one;
                *few = Few::Many(BTreeSet::from([other, thing]));
                Some(other)
            }
            Few::Many(many) => {
                many.insert(thing);
                many.iter().find(|other| **other != thing).copied()
            }
        }
    }

    pub(super) fn remove(&mut self, value: &V, thing: T) {
        match self.0.get_mut(value) {
            Some(Few::One(one)) if *one == thing => {
                self.0.remove(value);
            }
            Some(Few::Many(many)) => {
                many.remove(&thing);
                if many.is_empty() {
                    self.0.remove(value);
                }
            }
            _ => {}
        }
    }

    /// Returns the things that have a value, in order.
    pub(super) fn get<'f>(&'f self, value: &V) -> impl Iterator<Item = T> + use<'f, V, T> {
        let (one, many) = match self.0.get(value) {
            Some(Few::One(one)) => (Some(*one), None),
            Some(Few::Many(many)) => (None, Some(many)),
            None => (None, None),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }

    /// Returns the first thing of each group that a value has; `None` for more than `most` groups.
    ///
    /// Things are in the order of their groups, and `last` returns the last thing that the group of a thing may have.
    pub(super) fn distinct(&self, value: &V, last: impl Fn(T) -> T, most: usize) -> Option<Vec<T>> {
        let many = match self.0.get(value) {
            None => return Some(Vec::new()),
            Some(Few::One(one)) => return Some(vec![*one]),
            Some(Few::Many(many)) => many,
        };
        let mut found = Vec::new();
        let mut next = many.first().copied();
        while let Some(thing) = next {
            if found.len() == most {
                return None;
            }
            found.push(thing);
            next = many.range((Bound::Excluded(last(thing)), Bound::Unbounded)).next().copied();
        }
        Some(found)
    }

    pub(super) fn len(&self, value: &V) -> usize {
        match self.0.get(value) {
            Some(Few::Many(many)) => many.len(),
            Some(Few::One(_)) => 1,
            None => 0,
        }
    }

    /// Returns the only thing that has a value.
    pub(super) fn only(&self, value: &V) -> Option<T> {
        match self.0.get(value)? {
            Few::One(one) => Some(*one),
            Few::Many(many) => many.first().copied().filter(|_| many.len() == 1),
        }
    }
}
