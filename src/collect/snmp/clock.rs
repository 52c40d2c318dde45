use std::time::Duration;

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
    /// Takes `sysUpTime` as it was answered at a time.
    pub(in crate::collect) fn new(value: &SnmpValue, at: Instant) -> Option<Self> {
        match value {
            SnmpValue::TimeTicks(ticks) => Some(Self { ticks: *ticks, at }),
            _ => None,
        }
    }

    /// Returns whether both may be the clock of one device. A clock that stands still is one.
    pub(in crate::collect) fn is_of(self, other: Self) -> bool {
        let (earlier, later) = if self.at <= other.at { (self, other) } else { (other, self) };
        let elapsed = earlier.elapsed_until(later);
        // The counter begins again after 497 days.
        let grown = u128::from(later.ticks.wrapping_sub(earlier.ticks));
        // An answer that took longer may have the earlier time.
        let shrunk = u128::from(earlier.ticks.wrapping_sub(later.ticks));
        let tolerance = TOLERANCE + elapsed / 100;
        grown == 0 || grown.abs_diff(elapsed) <= tolerance || shrunk <= TOLERANCE
    }
    /// Returns whether the device has started again since an earlier time.
    ///
    /// Its clock then went back, and shows no more than the time in between. A clock that stands still or jumps shows no start.
    pub(in crate::collect) fn has_restarted_since(self, earlier: Self) -> bool {
        let elapsed = earlier.elapsed_until(self);
        // The counter begins again after 497 days.
        let may_have_begun_again = u128::from(earlier.ticks) + elapsed + TOLERANCE > u128::from(u32::MAX);
        let went_back = self.ticks < earlier.ticks && !may_have_begun_again;
        went_back && u128::from(self.ticks) <= elapsed + TOLERANCE
    }

    /// Returns the time since this clock showed a number of ticks.
    pub(in crate::collect) const fn time_since(self, ticks: u32) -> Duration {
        Duration::from_millis(self.ticks.wrapping_sub(ticks) as u64 * 1_000 / TICKS as u64)
    }

    /// Returns the ticks between the times of two answers.
    fn elapsed_until(self, later: Self) -> u128 {
        later.at.saturating_duration_since(self.at).as_millis() * TICKS / 1_000
    }
}
