//! The time that a policy may take.

use std::collections::HashSet;
use std::time::Duration;

use uuid::Uuid;

use crate::inventory::Entity;

/// The time for one answer of a policy, and for all its answers about the first record of a
/// request.
const FIRST: Duration = Duration::from_secs(5);

/// The time for each further record of a request.
const FURTHER: Duration = Duration::from_millis(50);

/// The time that a policy takes for one request.
#[derive(Debug, Default)]
pub(super) struct RequestTime {
    /// The records that the policy was asked about. Asking again about one adds no time.
    records: HashSet<(Entity, Uuid)>,
    taken: Duration,
}

impl RequestTime {
    /// Notes that the policy is asked about a record. Returns the time within which it must answer.
    pub(super) fn begin(&mut self, record: (Entity, Uuid)) -> Duration {
        self.records.insert(record);
        let further = u32::try_from(self.records.len().saturating_sub(1)).unwrap_or(u32::MAX);
        (FIRST + FURTHER.saturating_mul(further)).saturating_sub(self.taken).min(FIRST)
    }

    /// Notes that the policy has taken some time.
    pub(super) fn end(&mut self, taken: Duration) {
        self.taken += taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_further_record_adds_time_and_each_answer_takes_it() {
        let mut time = RequestTime::default();
        let record = |number| (Entity::Host, Uuid::from_u128(number));
        assert_eq!(time.begin(record(1)), FIRST);
        time.end(Duration::from_secs(4));
        assert_eq!(time.begin(record(1)), Duration::from_secs(1), "the record is the same");
        assert_eq!(time.begin(record(2)), Duration::from_millis(1_050));
        time.end(Duration::from_secs(2));
        assert_eq!(time.begin(record(3)), Duration::ZERO);
        for number in 4..1_000 {
            time.begin(record(number));
        }
        assert_eq!(time.begin(record(1_000)), FIRST, "no answer takes longer than the first");
    }
}
