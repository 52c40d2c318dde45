//! Claims that their devices no longer make.

use super::device::Device;
use super::key::PortKey;
use super::link::midway;
use super::{Evidence, Method};
use crate::discovery::MissingRows;
use crate::discovery::reconcile::STALE_AFTER;
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
    /// cannot be reached. `host` is `None` if the claim names another device. Where a port is down, which explains why the
    /// claim is missing, it counts anyway: [`is_explained`](Self::is_explained).
    pub(super) fn counts(&self, host: Option<&Device>) -> bool {
        let gone_at = midway(self.last_seen, self.since);
        let is_away = |host: &Device| host.seen_at.is_none_or(|seen| seen < gone_at);
        self.scans < STALE_AFTER || host.is_some_and(is_away)
    }

    /// Returns whether a port that is down explains why a device no longer names a host. The port is one of the device
    /// or of that host.
    ///
    /// A port that had a neighbor while the claim was missing explains nothing: it went down later, and explains only
    /// the loss of that neighbor.
    pub(super) fn is_explained(
        &self,
        (device, own): (&Device, Option<&PortKey>),
        named: Option<(&Device, &PortKey)>,
    ) -> bool {
        let explains = |device: &Device, port: &PortKey| {
            device.is_out(port) && device.named_at(port).is_none_or(|named| named < self.since)
        };
        own.is_some_and(|port| explains(device, port))
            || named.is_some_and(|(host, port)| explains(host, port))
    }
}

/// Returns whether only claims that are missing by now support a link.
///
/// A claim of one end supports nothing if it is from before the link was removed at the other end. Neighbor caches are
/// no evidence of cables.
pub(super) fn is_stale<'e>(evidence: impl Iterator<Item = &'e Evidence> + Clone) -> bool {
    let claims = evidence.filter(|evidence| evidence.method != Method::Arp);
    let Some(gone_at) = claims.clone().filter_map(Evidence::gone_at).max() else { return false };
    let is_old = |evidence: &Evidence| {
        evidence.missing_since.is_some() || evidence.last_seen.is_some_and(|seen| seen < gone_at)
    };
    claims.into_iter().all(is_old)
}
