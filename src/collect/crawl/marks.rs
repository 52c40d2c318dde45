//! The marks by which a device shows that tables are the same as before.

use serde::{Deserialize, Serialize};

use crate::collect::snmp::{ObjectId, SnmpAgent, SnmpValue};
use crate::model::Timestamp;

/// `sysUpTime.0`, `ifTableLastChange.0` and `lldpStatsRemTablesLastChangeTime.0`.
const MARKS: [&[u32]; 3] =
    [&[1, 3, 6, 1, 2, 1, 1, 3, 0], &[1, 3, 6, 1, 2, 1, 31, 1, 5, 0], &[1, 0, 8802, 1, 1, 2, 1, 2, 1, 0]];

/// The microseconds of a tick of `TimeTicks`.
const TICK_MICROS: i64 = 10_000;

/// The ticks by which a clock may differ from `sysUpTime`: a minute, and a hundredth of the time in between.
const TOLERANCE: i64 = 6_000;

/// The marks of a device at one time. All of them are in ticks of `sysUpTime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeviceMarks {
    at: Timestamp,
    up_time: u32,
    /// When an interface was added or removed last.
    interfaces: u32,
    /// When a neighbor changed last; `None` if the device does not state it, or always states 0.
    neighbors: Option<u32>,
}

impl DeviceMarks {
    /// Reads the marks. `None`: the device does not have those of its run and of its interfaces.
    pub(super) async fn read(agent: &mut SnmpAgent) -> Option<Self> {
        let at = Timestamp::now();
        let read = agent.get(&MARKS.map(ObjectId::new)).await.ok()?;
        let mark = |object: &[u32]| {
            let found = read.iter().find(|variable| variable.id.arcs() == object)?;
            match found.value {
                SnmpValue::TimeTicks(ticks) => Some(ticks),
                _ => None,
            }
        };
        let [up_time, interfaces, neighbors] = MARKS;
        Some(Self {
            at,
            up_time: mark(up_time)?,
            interfaces: mark(interfaces)?,
            neighbors: mark(neighbors).filter(|ticks| *ticks > 0),
        })
    }

    /// Returns whether the device states changes of its neighbors.
    pub(super) const fn has_neighbors(&self) -> bool {
        self.neighbors.is_some()
    }

    /// Returns whether the device has run on since these marks, and has the same interfaces and neighbors.
    pub(super) fn are_as(&self, former: &Self) -> bool {
        (self.interfaces, self.neighbors) == (former.interfaces, former.neighbors) && self.continues(former)
    }

    /// Returns whether `sysUpTime` has grown as the clock has. After a reboot, it is less.
    fn continues(&self, former: &Self) -> bool {
        let elapsed = self.at.unix_micros().saturating_sub(former.at.unix_micros()) / TICK_MICROS;
        let grown = i64::from(self.up_time) - i64::from(former.up_time);
        // A device that had just started may have started again in the meantime.
        let tolerance = (TOLERANCE + elapsed / 100).min(i64::from(former.up_time) / 2);
        elapsed >= 0 && grown >= 0 && (grown - elapsed).abs() <= tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(seconds: i64, up_time: u32) -> DeviceMarks {
        let at = Timestamp::UNIX_EPOCH.plus_micros(seconds * 1_000_000);
        DeviceMarks { at, up_time: up_time * 100, interfaces: 7, neighbors: Some(9) }
    }

    #[test]
    fn device_whose_time_did_not_run_on_with_the_clock_has_rebooted() {
        let former = marks(0, 10_000);
        for (later, is_same) in [
            (marks(0, 10_000), true),
            (marks(600, 10_600), true),
            (marks(600, 10_660), true),
            (marks(86_400, 96_400), true),
            // It went back, and then went beyond the former time.
            (marks(600, 9_999), false),
            (marks(86_400, 60_000), false),
            // The clock of this machine went back, or that of the device jumps.
            (marks(-600, 10_600), false),
            (marks(600, 99_000), false),
        ] {
            assert_eq!(later.are_as(&former), is_same, "{later:?}");
        }
        assert!(!marks(40, 20).are_as(&marks(0, 8)), "it may have started again");
        let other = DeviceMarks { interfaces: 8, ..marks(600, 10_600) };
        assert!(!other.are_as(&former));
        let other = DeviceMarks { neighbors: None, ..marks(600, 10_600) };
        assert!(!other.are_as(&former));
    }
}
