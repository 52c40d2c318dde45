//! Heads are read one behind the other, and lie all over the file: where the system does not have the file in memory, that
//! is one wait for the disk after the other. Here several threads run ahead of who reads them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use uuid::Uuid;

use super::medium::Medium;
use super::{Records, keys};
use crate::store::{Key, StoreError};

/// A disk serves several reads at once in the time of one; more than this gain little.
const THREADS: usize = 8;

/// Into how many stretches the heads of a kind are divided: small ones, so that the threads stay close before the reader.
const STRETCHES: u128 = 256;

/// Heads of one kind, by the keys between which they are.
#[derive(Debug)]
struct Stretch {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Records {
    /// Carries out what reads all heads in order, while others have their pages brought into memory.
    pub(in crate::store::sled) fn read_ahead<T>(&self, read: impl FnOnce() -> T) -> T {
        // What cannot be read here is told of by the reader.
        let stretches = self.with(stretches).unwrap_or_default();
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let run_ahead = || {
            while !is_over.load(Ordering::Relaxed)
                && let Some(stretch) = stretches.get(next.fetch_add(1, Ordering::Relaxed))
                && self.with(|medium| medium.touch(&stretch.from, &stretch.to)).is_ok()
            {}
        };
        thread::scope(|scope| {
            for _ in 0..THREADS.min(stretches.len()) {
                // With fewer threads it only takes longer.
                let _ =
                    thread::Builder::new().name("toposcope-ahead".to_owned()).spawn_scoped(scope, run_ahead);
            }
            let read = read();
            is_over.store(true, Ordering::Relaxed);
            read
        })
    }
}

/// Divides the heads of each kind evenly between the lowest id and the highest: ids that are made one after the other have
/// their first bytes in common.
fn stretches(medium: &Medium) -> Result<Vec<Stretch>, StoreError> {
    let mut stretches = Vec::new();
    let mut from = keys::HEADS.to_vec();
    while let Some(first) = medium.first_from(&from)?.as_deref().and_then(keys::read_head) {
        let kind = first.0.kind;
        let end = keys::behind(kind);
        let last = medium.last_before(&end)?.as_deref().and_then(keys::read_head).unwrap_or(first);
        let (lowest, highest) = (first.0.id.as_u128(), last.0.id.as_u128());
        let step = (highest.saturating_sub(lowest) / STRETCHES).max(1);
        let mut begin = keys::head(first.0);
        for begins in (1..STRETCHES).map_while(|number| lowest.checked_add(step.checked_mul(number)?)) {
            let next = keys::head(Key::new(kind, Uuid::from_u128(begins)));
            stretches.push(Stretch { from: std::mem::replace(&mut begin, next.clone()), to: next });
        }
        stretches.push(Stretch { from: begin, to: end.clone() });
        from = end;
    }
    Ok(stretches)
}
