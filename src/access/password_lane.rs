//! Hashes passwords on blocking threads, with bounded concurrency and memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use argon2::Block;
use tokio::sync::Semaphore;
use tokio::task;

use super::password::PasswordError;
use crate::figures::{Histogram, Latencies};

/// Permits for concurrent hashes, and the memory of earlier ones. Clones share both.
///
/// The memory of a hash is not returned to the allocator, which would keep one such area for each thread that ever
/// hashed a password. There are never more areas than permits.
#[derive(Clone)]
pub(super) struct PasswordLane {
    permits: Arc<Semaphore>,
    areas: Arc<Mutex<Vec<Vec<Block>>>>,
    waits: Arc<Waits>,
}

/// How long hashes wait for a permit.
#[derive(Debug, Default)]
struct Waits {
    /// Number of hashes that wait for a permit.
    waiting: AtomicU64,
    /// Number of hashes that have a permit.
    running: AtomicU64,
    ended: Histogram,
}

/// The hashes of passwords that run and wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordFigures {
    /// Number of hashes that run.
    pub running: u64,
    /// Number of hashes that wait for others to end.
    pub waiting: u64,
    /// How long hashes have waited for others to end.
    pub waits: Latencies,
}

/// Counts one more until it is dropped.
struct Counted<'c>(&'c AtomicU64);

impl<'c> Counted<'c> {
    fn new(count: &'c AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PasswordLane {
    pub(super) fn new(max: usize) -> Self {
        let permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self { permits, areas: Arc::default(), waits: Arc::default() }
    }

    pub(super) fn figures(&self) -> PasswordFigures {
        let Waits { waiting, running, ended } = &*self.waits;
        let [running, waiting] = [running, waiting].map(|count| count.load(Ordering::Relaxed));
        PasswordFigures { running, waiting, waits: ended.latencies() }
    }

    /// Runs work on a blocking thread, with a permit. An area of more than `kept_blocks` is not kept.
    ///
    /// The work holds the permit, not the future: a client that disconnects must not free capacity for its next
    /// attempt.
    pub(super) async fn run<T, F>(&self, kept_blocks: usize, work: F) -> Result<T, PasswordError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Vec<Block>) -> Result<T, PasswordError> + Send + 'static,
    {
        let permit = {
            let (_waiting, begun_at) = (Counted::new(&self.waits.waiting), Instant::now());
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(PasswordError::failed)?;
            self.waits.ended.record(begun_at.elapsed());
            permit
        };
        let (areas, waits) = (Arc::clone(&self.areas), Arc::clone(&self.waits));
        let task = task::spawn_blocking(move || {
            let _running = Counted::new(&waits.running);
            let mut area = areas.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let result = work(&mut area);
            if area.len() <= kept_blocks {
                areas.lock().unwrap_or_else(PoisonError::into_inner).push(area);
            }
            drop(permit);
            result
        });
        task.await.map_err(PasswordError::failed)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_of_a_hash_is_reused_and_there_are_as_many_areas_as_permits() {
        let lane = PasswordLane::new(2);
        let hash = |blocks: usize| {
            lane.run(64, move |area| {
                let first = area.as_ptr() as usize;
                area.resize(area.len().max(blocks), Block::default());
                Ok((first, area.as_ptr() as usize))
            })
        };
        let (_, address) = hash(64).await.unwrap();
        assert_eq!(hash(64).await.unwrap(), (address, address));
        for _ in 0..50 {
            let (one, other, third) = tokio::join!(hash(64), hash(64), hash(64));
            assert!(one.is_ok() && other.is_ok() && third.is_ok());
            assert!(lane.areas.lock().unwrap().len() <= 2);
        }
    }

    #[tokio::test]
    async fn area_that_is_larger_than_usual_is_given_back() {
        let lane = PasswordLane::new(1);
        let grow = |area: &mut Vec<Block>| {
            area.resize(65, Block::default());
            Ok(())
        };
        lane.run(64, grow).await.unwrap();
        assert_eq!(lane.areas.lock().unwrap().len(), 0);
    }
}
