//! When keys were last used: recorded at most once a minute, in the background.

use toposcope::model::Timestamp;
use uuid::Uuid;

use super::Arena;
use crate::isolation::oracle::Used;
use crate::isolation::records::{Use, Uses};

const MINUTE: i64 = 60 * 1_000_000;

impl Arena {
    pub(crate) fn use_key(&mut self, used: Used, is_certain: bool) {
        let at = self.model.now;
        let uses = match used {
            Used::User(id) => {
                self.model.user_keys.iter_mut().find(|key| key.id == id).map(|key| &mut key.uses)
            }
            Used::Daemon(id) => {
                self.model.daemon_keys.iter_mut().find(|key| key.id == id).map(|key| &mut key.uses)
            }
        };
        if let Some(uses) = uses {
            uses.all.push(Use { at, is_certain });
        }
    }

    pub(crate) fn organization_of(&self, used: Used) -> Option<Uuid> {
        match used {
            Used::User(id) => {
                self.model.user_keys.iter().find(|key| key.id == id).map(|key| key.organization)
            }
            Used::Daemon(id) => {
                self.model.daemon_keys.iter().find(|key| key.id == id).map(|key| key.organization)
            }
        }
    }

    /// Returns whether a user key may show this time of last use.
    pub(crate) fn check_last_used(&mut self, key: Uuid, told: Option<Timestamp>) {
        let known = self.model.user_keys.iter_mut().find(|known| known.id == key);
        // A key that this request deleted shows nothing.
        if let Some(known) = known {
            check(&mut known.uses, told);
        }
    }
}

/// Allows two minutes for the background update: a use is not recorded within a minute of another recorded
/// one, nor within a minute of one that was skipped for that reason.
pub(super) fn check(uses: &mut Uses, told: Option<Timestamp>) {
    let latest = uses.all.last().map(|last| last.at);
    let is_used = told.is_none_or(|told| uses.all.iter().any(|used| used.at == told));
    assert!(is_used, "the key was not used then: {told:?}, {uses:?}");
    if let (Some(before), Some(told)) = (uses.told, told)
        && before != told
    {
        assert!(told.unix_micros() - before.unix_micros() >= MINUTE, "noted twice in a minute: {uses:?}");
    }
    assert!(uses.told.is_none() || told >= uses.told, "a use was forgotten: {told:?}, {uses:?}");
    if let Some(latest) = latest {
        let since = |micros: i64| latest.plus_micros(-micros);
        let lately = uses.all.iter().filter(|used| used.at >= since(5 * MINUTE));
        if lately.clone().all(|used| used.is_certain) {
            assert!(told.is_some_and(|told| told >= since(2 * MINUTE)), "not noted: {told:?}, {uses:?}");
        }
    }
    uses.told = told;
    // Uses long ago no longer matter.
    let kept = uses.all.iter().filter(|used| {
        latest.is_some_and(|latest| used.at >= latest.plus_micros(-10 * MINUTE)) || Some(used.at) == told
    });
    uses.all = kept.copied().collect();
}
