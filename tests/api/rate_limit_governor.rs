//! The rate limit compared with another implementation of the same algorithm.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use governor::middleware::StateInformationMiddleware;
use governor::{Quota, RateLimiter};
use toposcope::service::RateLimit;

use crate::common::{Server, SplitMix64, World};

/// Rates at which a request is refilled in a whole number of microseconds. The other implementation counts in
/// nanoseconds, so both round alike.
const RATES: [(u32, u32); 5] = [(300, 150), (60, 3), (1200, 40), (6000, 7), (1, 1)];

#[tokio::test]
async fn requests_pass_and_wait_as_another_implementation_has_it() {
    let world = World::new().await;
    let mut random = SplitMix64(11);
    for (per_minute, burst) in RATES {
        let number = |number| NonZeroU32::new(number).unwrap();
        let server = Server::new(world.inventory.clone(), RateLimit::new(number(per_minute), number(burst)));
        let clock = FakeRelativeClock::default();
        let request = Duration::from_secs(60) / per_minute;
        let quota = Quota::with_period(request).unwrap().allow_burst(number(burst));
        let other = RateLimiter::direct_with_clock(quota, clock.clone())
            .with_middleware::<StateInformationMiddleware>();
        for step in 0..500 {
            let reply = server.get("/api/version").await;
            match other.check() {
                Ok(left) => {
                    assert_eq!(reply.status, 200, "step {step} of {per_minute} a minute");
                    let remaining = u64::from(left.remaining_burst_capacity());
                    assert_eq!(reply.number("x-ratelimit-remaining"), remaining, "step {step}");
                }
                Err(refusal) => {
                    reply.refuses(429, "rate_limit_exceeded");
                    let wait = refusal.wait_time_from(governor::clock::Clock::now(&clock));
                    let seconds = wait.as_nanos().div_ceil(1_000_000_000).max(1);
                    assert_eq!(u128::from(reply.number("retry-after")), seconds, "step {step}");
                }
            }
            let passed = match random.below(10) {
                0 => request,
                1 => request - Duration::from_micros(1),
                2 => request * u32::try_from(random.below(5)).unwrap(),
                3 if random.once_in(10) => request * burst,
                _ => Duration::ZERO,
            };
            world.clock.advance(passed);
            clock.advance(passed);
        }
    }
}
