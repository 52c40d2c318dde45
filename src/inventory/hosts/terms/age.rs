//! The terms of when reports last showed a host.

use crate::model::{Host, Timestamp};
use crate::store::{Name, Term, TermRange};

pub(super) const SEEN: Name = Name::new("seen");
pub(super) const STALE: Name = Name::new("stale");

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// The first byte of the term of a host that is not stale. The hour of the latest report follows, if there is one.
///
/// Hosts that become stale are thus one range, however many are stale already.
const FRESH: u8 = 0;

/// Returns the terms of the age of a host.
pub(super) fn age_terms(host: &Host) -> impl Iterator<Item = Term> {
    let hour = host.last_seen_at.map(hour);
    let seen = hour.map(|hour| Term::new(SEEN, hour));
    let stale = if host.is_stale { vec![1] } else { fresh(hour.as_ref()) };
    seen.into_iter().chain([Term::new(STALE, stale)])
}

fn fresh(hour: Option<&[u8; 8]>) -> Vec<u8> {
    std::iter::once(&FRESH).chain(hour.into_iter().flatten()).copied().collect()
}

/// Returns the range of hosts that reports have shown in the hour of a time, or later.
pub(super) fn seen_since(time: Timestamp) -> TermRange {
    TermRange::new(hour(time), None)
}

/// Returns the range of hosts that are stale, or of those that are not.
pub(super) fn stale_range(is_stale: bool) -> TermRange {
    if is_stale { TermRange::exact([1]) } else { TermRange::prefix([FRESH]) }
}

/// Encodes the hour of a time, so that the bytes sort by time.
fn hour(time: Timestamp) -> [u8; 8] {
    (time.unix_micros().div_euclid(HOUR) ^ i64::MIN).to_be_bytes()
}

/// Returns the filter of hosts that are not stale, and that reports have shown in the hour of a time at the latest.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn becoming_stale(time: Timestamp) -> crate::store::TermFilter {
    let range = TermRange::between(fresh(Some(&[0; 8])), fresh(Some(&hour(time))));
    crate::store::TermFilter::new(STALE, [range])
}
