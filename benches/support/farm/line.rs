//! The line that packets take: loss, delays and duplicates.

use std::time::Duration;

/// The line between a collector and all agents. The default one loses and delays nothing.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The part of packets that is lost, from 0 to 1, in each direction.
    pub(crate) loss: f64,
    /// The part of answers that arrives twice, from 0 to 1.
    pub(crate) duplicates: f64,
    /// The shortest time of an answer.
    pub(crate) delay: Duration,
    /// The time that an answer takes longer at most. Answers overtake each other by it.
    pub(crate) jitter: Duration,
    random: fastrand::Rng,
}

impl Default for Line {
    fn default() -> Self {
        Self::new(0.0, 0.0, Duration::ZERO, Duration::ZERO)
    }
}

impl Line {
    pub(crate) fn new(loss: f64, duplicates: f64, delay: Duration, jitter: Duration) -> Self {
        Self { loss, duplicates, delay, jitter, random: fastrand::Rng::with_seed(1) }
    }

    /// Decides whether a packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        self.loss > 0.0 && self.random.f64() < self.loss
    }

    /// Returns the delays of the copies of an answer that arrive.
    pub(crate) fn arrivals(&mut self) -> Vec<Duration> {
        let copies = if self.duplicates > 0.0 && self.random.f64() < self.duplicates { 2 } else { 1 };
        let mut delays = Vec::new();
        for _ in 0..copies {
            if !self.loses() {
                delays.push(self.one_delay());
            }
        }
        delays
    }

    fn one_delay(&mut self) -> Duration {
        if self.jitter.is_zero() { self.delay } else { self.delay + self.jitter.mul_f64(self.random.f64()) }
    }
}
