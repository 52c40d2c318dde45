//! The figures of a gate: its packets, and the results of its crawls.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::crawl::CrawlFailureReason;
use super::snmp::{AskError, TruncationReason};
use crate::figures::{Counter, Histogram, Latencies, MetricKind, OpenMetrics};

/// The figures of a gate and of all crawls through it. See [`Gate::figures`](super::Gate::figures).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectFigures {
    /// Number of packets that were sent, including repeated ones and those of sweeps.
    pub packets: u64,
    /// Number of requests that were answered.
    pub answers: u64,
    /// Number of messages whose time has passed without an answer: they or their answers were lost, or the device is silent.
    pub unanswered: u64,
    /// Number of received datagrams that answer no request: late and repeated answers, and those of other addresses.
    pub ignored: u64,
    /// Number of requests that wait for the pace or an answer now.
    pub waiting: u64,
    /// The times of answers since the last message of a request.
    pub answer_times: Latencies,
    /// Number of addresses that crawls have asked.
    pub asked: u64,
    /// Number of devices that crawls have read.
    pub devices: u64,
    /// Number of these devices whose tables were unchanged.
    pub unchanged: u64,
    /// Number of addresses without a report, by the reason: a variant of [`AskError`], or `not_reported`.
    pub failures: BTreeMap<&'static str, u64>,
    /// Number of tables that are incomplete, by the reason: a variant of [`TruncationReason`].
    pub truncated: BTreeMap<&'static str, u64>,
}

/// The counters behind the figures.
#[derive(Debug, Default)]
pub(super) struct CollectCounters {
    pub(super) packets: Counter,
    pub(super) answer_times: Histogram,
    pub(super) unanswered: Counter,
    pub(super) ignored: Counter,
    pub(super) asked: Counter,
    pub(super) devices: Counter,
    pub(super) unchanged: Counter,
    failures: ReasonCounters,
    truncated: ReasonCounters,
}

/// Counters by reasons, of which there is a fixed number.
#[derive(Debug, Default)]
struct ReasonCounters(Mutex<BTreeMap<&'static str, u64>>);

impl ReasonCounters {
    fn increment(&self, reason: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }

    fn get(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl CollectCounters {
    /// Counts an address of which there is no report.
    pub(super) fn count_failure(&self, reason: &CrawlFailureReason) {
        self.failures.increment(match reason {
            CrawlFailureReason::NotAnswered(error) => ask_error(*error),
            CrawlFailureReason::NotReported(_) => "not_reported",
        });
    }

    /// Counts a table that is incomplete.
    pub(super) fn count_truncation(&self, reason: TruncationReason) {
        self.truncated.increment(match reason {
            TruncationReason::Silent => "silent",
            TruncationReason::Undecodable => "undecodable",
            TruncationReason::Status(_) => "status",
            TruncationReason::Repeats => "repeats",
            TruncationReason::Backwards => "backwards",
            TruncationReason::EmptyAnswer => "empty_answer",
            TruncationReason::RowLimit => "row_limit",
            TruncationReason::ByteLimit => "byte_limit",
            TruncationReason::TimeLimit => "time_limit",
            TruncationReason::Changed => "changed",
            TruncationReason::NotAsked(error) => ask_error(error),
        });
    }

    /// Returns the figures, with the number of requests that wait now.
    pub(super) fn figures(&self, waiting: usize) -> CollectFigures {
        let answer_times = self.answer_times.latencies();
        CollectFigures {
            packets: self.packets.get(),
            answers: answer_times.count(),
            unanswered: self.unanswered.get(),
            ignored: self.ignored.get(),
            waiting: waiting as u64,
            answer_times,
            asked: self.asked.get(),
            devices: self.devices.get(),
            unchanged: self.unchanged.get(),
            failures: self.failures.get(),
            truncated: self.truncated.get(),
        }
    }
}

const fn ask_error(error: AskError) -> &'static str {
    match error {
        AskError::NotAllowed => "not_allowed",
        AskError::NoSecret => "no_secret",
        AskError::Silent => "silent",
        AskError::Undecodable => "undecodable",
        AskError::NotSent(_) => "not_sent",
        AskError::Refused(_) => "refused",
        AskError::Denied(_) => "denied",
        AskError::NotEncoded => "not_encoded",
        AskError::NoRandomNumbers => "no_random_numbers",
    }
}

impl CollectFigures {
    /// Returns the figures as text in the format of OpenMetrics. Its type is [`CONTENT_TYPE`](crate::figures::CONTENT_TYPE).
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        use MetricKind::{Counter, Gauge};
        let mut text = OpenMetrics::default();
        let numbers = [
            ("toposcope_collect_packets", Counter, "Packets that were sent.", self.packets),
            ("toposcope_collect_unanswered", Counter, "Messages without an answer in time.", self.unanswered),
            ("toposcope_collect_ignored", Counter, "Datagrams that answer no request.", self.ignored),
            (
                "toposcope_collect_waiting",
                Gauge,
                "Requests that wait for the pace or an answer.",
                self.waiting,
            ),
            ("toposcope_collect_asked", Counter, "Addresses that crawls have asked.", self.asked),
            ("toposcope_collect_devices", Counter, "Devices that crawls have read.", self.devices),
            ("toposcope_collect_unchanged", Counter, "Devices whose tables were unchanged.", self.unchanged),
        ];
        for (name, kind, help, value) in numbers {
            text.family(name, kind, help).value(&[], value);
        }
        let reasons = [
            ("toposcope_collect_failures", "Addresses without a report.", &self.failures),
            ("toposcope_collect_truncated", "Tables that are incomplete.", &self.truncated),
        ];
        for (name, help, counts) in reasons {
            let mut family = text.family(name, Counter, help);
            for (reason, count) in counts {
                family.value(&[("reason", reason)], *count);
            }
        }
        text.family("toposcope_collect_answer_seconds", MetricKind::Histogram, "Times of answers.")
            .latencies(&[], &self.answer_times);
        text.finish()
    }
}
