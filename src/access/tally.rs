use std::collections::HashMap;
use std::hash::Hash;

/// Counts what each holder holds. It has entries only for holders that hold something.
#[derive(Debug)]
pub(crate) struct Tally<K>(HashMap<K, usize>);

impl<K: Eq + Hash> Tally<K> {
    pub(crate) fn of(&self, holder: &K) -> usize {
        self.0.get(holder).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, holder: K) {
        *self.0.entry(holder).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, holder: &K) {
        if let Some(count) = self.0.get_mut(holder) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(holder);
            }
        }
    }
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}
