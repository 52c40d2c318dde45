//! Decoys: accounts that a login reads when its address lacks one.
//!
//! A lookup without a result is faster than one that reads a body, above all from disk, so the duration of a failed
//! login would reveal whether the address has an account and a password. Every login therefore makes the same calls
//! and reads the same number of bodies; records that the address lacks are read from another user's account. That
//! account's password hash is verified too, so that the duration also matches when hashes have other parameters. The
//! result of this verification is discarded.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{Timestamp, UserId};

/// The maximum number of decoys. Only their ids are kept, 16 bytes each.
pub(super) const MAX_DECOYS: usize = 256;

/// The time until decoys are chosen again, from the accounts that exist then.
const LIFETIME_MICROS: i64 = 60 * 60 * 1_000_000;

/// The accounts that serve as decoys.
#[derive(Default)]
pub(in crate::inventory) struct Decoys {
    hasher: RandomState,
    chosen: Mutex<Option<Chosen>>,
}

#[derive(Clone)]
struct Chosen {
    at: Timestamp,
    /// Ids of users with a password. Not empty.
    users: Arc<[UserId]>,
}

impl Decoys {
    /// Returns the decoy for an address. It is stable, so that repeated logins do not distinguish it from a user.
    pub(super) fn of(&self, address: &str, now: Timestamp) -> Option<UserId> {
        let Chosen { at, users } = self.lock().clone()?;
        if !(0..LIFETIME_MICROS).contains(&(now.unix_micros() - at.unix_micros())) {
            return None;
        }
        let count = u64::try_from(users.len()).ok()?;
        let index = usize::try_from(self.hasher.hash_one(address).checked_rem(count)?).ok()?;
        users.get(index).copied()
    }

    /// Makes these users with a password the decoys.
    pub(super) fn choose(&self, users: Arc<[UserId]>, at: Timestamp) {
        *self.lock() = (!users.is_empty()).then_some(Chosen { at, users });
    }

    /// Makes the next login choose new decoys.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Chosen>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
