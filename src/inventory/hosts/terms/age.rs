//! The terms of when reports last showed a host.

use crate::model::{Host, Timestamp};
use crate::store::{Name, Term, TermRange};

pub(super) const SEEN: Name = Name::new("seen");
pub(super) const STALE: Name = Name::new("stale");

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Returns the terms of the age of a host.
pub(super) fn age_terms(host: &Host) -> impl Iterator<Item = Term> {
    let seen = host.last_seen_at.map(|time| Term::new(SEEN, hour(time)));
    seen.into_iter().chain([Term::new(STALE, [u8::from(host.is_stale)])])
}

/// Returns the range of hosts that reports have shown in the hour of a time, or later.
pub(super) fn seen_since(time: Timestamp) -> TermRange {
    TermRange::new(hour(time), None)
}

/// Encodes the hour of a time, so that the bytes sort by time.
fn hour(time: Timestamp) -> [u8; 8] {
    (time.unix_micros().div_euclid(HOUR) ^ i64::MIN).to_be_bytes()
}

/// Returns the filter of hosts that reports have shown in the hour of a time at the latest.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn seen_until(time: Timestamp) -> crate::store::TermFilter {
    crate::store::TermFilter::new(SEEN, [TermRange::between([0; 8], hour(time))])
}

/// Returns the filter of hosts that are not stale.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn not_stale() -> crate::store::TermFilter {
    crate::store::TermFilter::new(STALE, [TermRange::exact([0])])
}
