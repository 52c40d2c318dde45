//! The layouts whose changes wait to be recorded.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::Key;

/// The number of layouts whose changes wait in memory. Those of further ones wait for the next change of their layout.
const MAX_WAITING: usize = 10_000;

/// The layouts whose changes wait to be recorded.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct WaitingLayouts(Mutex<HashMap<Key, Waiting>>);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Instant,
    /// The number of times that the layout was stored meanwhile.
    stored: u64,
}

/// A layout whose changes are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueLayout {
    pub(super) layout: Key,
    stored: u64,
}

impl WaitingLayouts {
    /// Adds layouts that were stored. Returns whether none waits yet, so that they need a task.
    pub(super) fn add(&self, layouts: &[Key], wait: Duration) -> bool {
        let mut waiting = self.waiting();
        let is_first = waiting.is_empty();
        for key in layouts {
            if waiting.len() < MAX_WAITING || waiting.contains_key(key) {
                let new = || Waiting { due: Instant::now() + wait, stored: 0 };
                waiting.entry(*key).or_insert_with(new).stored += 1;
            }
        }
        is_first
    }

    /// Returns the layouts that are due. `None`: nothing waits any more, and the next change needs a task.
    pub(super) fn take_due(&self) -> Option<Vec<DueLayout>> {
        let waiting = self.waiting();
        let now = Instant::now();
        let due = waiting.iter().filter(|(_, waiting)| waiting.due <= now);
        let due = due.map(|(layout, waiting)| DueLayout { layout: *layout, stored: waiting.stored });
        (!waiting.is_empty()).then(|| due.collect())
    }

    /// Lets a layout wait again, for `left`, or if it was stored meanwhile for `wait`. Otherwise, it is forgotten.
    pub(super) fn put_back(&self, due: DueLayout, left: Option<Duration>, wait: Duration) {
        let mut all = self.waiting();
        let Some(waiting) = all.get_mut(&due.layout) else { return };
        match left.or_else(|| (waiting.stored != due.stored).then_some(wait)) {
            Some(left) => waiting.due = Instant::now() + left,
            None => drop(all.remove(&due.layout)),
        }
    }

    /// Forgets all layouts, because nothing can record their changes.
    pub(super) fn clear(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Key, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
