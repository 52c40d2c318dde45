use tokio::time::Instant;

use super::value::SnmpValue;

/// The ticks of `TimeTicks` in a second.
const TICKS: u128 = 100;

/// The ticks by which clocks of one device may differ: ten seconds, for slow answers, and a hundredth of the time in between.
const TOLERANCE: u128 = 10 * TICKS;

/// `sysUpTime` of a device at one time. Two devices that did not start at the same moment differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collect) struct AgentClock {
    ticks: u32,
    at: Instant,
}

impl AgentClock {
    pub(super) fn new(value: &SnmpValue, at: Instant) -> Option<Self> {
        match value {
            SnmpValue::TimeTicks(ticks) => Some(Self { ticks: *ticks, at }),
            _ => None,
        }
    }

    /// Returns whether both may be the clock of one device. A clock that stands still is one.
    pub(in crate::collect) fn is_of(self, other: Self) -> bool {
        let (earlier, later) = if self.at <= other.at { (self, other) } else { (other, self) };
        let elapsed = (later.at - earlier.at).as_millis() * TICKS / 1_000;
        // The counter begins again after 497 days.
        let grown = u128::from(later.ticks.wrapping_sub(earlier.ticks));
        // An answer that took longer may have the earlier time.
        let shrunk = u128::from(earlier.ticks.wrapping_sub(later.ticks));
        let tolerance = TOLERANCE + elapsed / 100;
        grown == 0 || grown.abs_diff(elapsed) <= tolerance || shrunk <= TOLERANCE
    }
}
