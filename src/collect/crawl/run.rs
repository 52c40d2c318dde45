//! The run of a device while it is read.
//!
//! Tables of a device belong together only if it has neither started again nor changed its interfaces between the first and the last of
//! them: many devices number their interfaces anew then, and the numbers in one table would lead to the interfaces of another.

use std::time::Duration;

use tokio::time::Instant;

use crate::collect::snmp::{AgentClock, ObjectId, SnmpAgent, SnmpValue, SystemIdentity};

/// `sysUpTime.0`, `sysName.0` and `ifTableLastChange.0`.
const UP_TIME: &[u32] = &[1, 3, 6, 1, 2, 1, 1, 3, 0];
const NAME: &[u32] = &[1, 3, 6, 1, 2, 1, 1, 5, 0];
const INTERFACES_CHANGED: &[u32] = &[1, 3, 6, 1, 2, 1, 31, 1, 5, 0];

/// The age of a change below which it is none: some devices state their present time as that of the last change.
const MIN_AGE: Duration = Duration::from_millis(30);

/// The run of a device since the time when reading it began.
#[derive(Debug)]
pub(super) struct DeviceRun {
    clock: Option<AgentClock>,
    name: Option<Vec<u8>>,
    began: Instant,
}

impl DeviceRun {
    /// Begins with the first answer of a device.
    pub(super) fn begin(agent: &SnmpAgent) -> Self {
        Self { clock: agent.clock(), name: agent.system().name.clone(), began: Instant::now() }
    }

    /// Returns the time since then.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Asks the device whether it has started again, changed its interfaces or become another one. Returns its run from now on if it has.
    pub(super) async fn change(&self, agent: &mut SnmpAgent) -> Option<Self> {
        let mut read = agent.get(&[UP_TIME, NAME, INTERFACES_CHANGED].map(ObjectId::new)).await.ok()?;
        // Agents of SNMPv1 answer with nothing if they lack one of them.
        if read.is_empty() {
            read = agent.get(&[UP_TIME, NAME].map(ObjectId::new)).await.ok()?;
        }
        let value = |object: &[u32]| {
            read.iter().find(|variable| variable.id.arcs() == object).map(|variable| &variable.value)
        };
        let clock = value(UP_TIME).and_then(|value| AgentClock::new(value, Instant::now()));
        let name = value(NAME).and_then(SystemIdentity::name_of);
        let has_restarted =
            clock.zip(self.clock).is_some_and(|(clock, former)| clock.has_restarted_since(former));
        let has_other_name = name.is_some() && self.name.is_some() && name != self.name;
        let has_other_interfaces = match (clock, value(INTERFACES_CHANGED)) {
            // Zero is the time before the device started.
            (Some(clock), Some(SnmpValue::TimeTicks(changed))) if *changed > 0 => {
                (MIN_AGE..self.elapsed()).contains(&clock.time_since(*changed))
            }
            _ => false,
        };
        let is_changed = has_restarted || has_other_name || has_other_interfaces;
        is_changed.then(|| Self { clock, name, began: Instant::now() })
    }
}
