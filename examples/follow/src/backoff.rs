use std::time::Duration;

/// Delays between attempts: each is twice as long as the one before, up to a limit.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Returns delays from `first` to `longest`.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Begins with the shortest delay again.
    pub(crate) const fn reset(&mut self) {
        self.next = self.first;
    }

    /// Returns the next delay, or the requested one if that is longer, but never more than the limit.
    pub(crate) fn delay(&mut self, asked: Option<Duration>) -> Duration {
        let delay = self.next.max(asked.unwrap_or_default()).min(self.longest);
        self.next = self.next.saturating_mul(2).min(self.longest);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(1), seconds(5));
        let delays: Vec<u64> = (0..4).map(|_| backoff.delay(None).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5]);
        backoff.reset();
        assert_eq!(backoff.delay(Some(seconds(3))), seconds(3));
        assert_eq!(backoff.delay(Some(seconds(9))), seconds(5));
    }
}
