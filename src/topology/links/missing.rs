//! Claims that their devices no longer make.

use super::{Evidence, Method};
use crate::discovery::reconcile::STALE_AFTER;
use crate::inventory::MissingRows;
use crate::model::Timestamp;

/// When a device made a claim last, and since when its tables lack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missing {
    pub(super) last_seen: Timestamp,
    pub(super) since: Timestamp,
    /// The number of complete tables without the claim.
    scans: u32,
}

impl Missing {
    pub(super) const fn of(rows: &MissingRows) -> Self {
        Self { last_seen: rows.last_seen_at, since: rows.missing_since, scans: rows.missed_scans }
    }

    /// Returns whether the claim still counts.
    ///
    /// It counts for a few scans, and longer for a host that no report has shown since: such a host is switched off, or
    /// cannot be reached. `far_seen_at` is the time of the latest report of that host; `None` for other devices.
    pub(super) fn counts(&self, far_seen_at: Option<Timestamp>) -> bool {
        self.scans < STALE_AFTER || far_seen_at.is_some_and(|seen| seen < self.since)
    }
}

/// Returns whether only claims that are missing by now support a link.
///
/// A claim of one end that is older than the report in which the other end lacks the link supports nothing. Neighbor
/// caches say nothing about cables.
pub(super) fn is_stale<'e>(evidence: impl Iterator<Item = &'e Evidence> + Clone) -> bool {
    let claims = evidence.filter(|evidence| evidence.method != Method::Arp);
    let Some(since) = claims.clone().filter_map(|evidence| evidence.missing_since).max() else {
        return false;
    };
    let is_old = |evidence: &Evidence| {
        evidence.missing_since.is_some() || evidence.last_seen.is_some_and(|seen| seen < since)
    };
    claims.into_iter().all(is_old)
}
