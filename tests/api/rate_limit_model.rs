//! The rate limit against the most naive bucket there is, over random histories.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use http::Request;
use toposcope::service::{ClientAddr, RateLimit};

use crate::common::{Server, SplitMix64, World, get, with_key};

/// What one request takes out of a bucket into which `per_minute` flow in each microsecond.
const REQUEST: u64 = 60_000_000;

struct Bucket {
    level: u64,
    filled_at: u64,
}

struct Model {
    per_minute: u64,
    capacity: u64,
    /// In microseconds.
    now: u64,
    buckets: HashMap<usize, Bucket>,
}

/// Status 429 or not, remaining, reset, and how long to wait where refused.
type Expected = (bool, u64, u64, Option<u64>);

impl Model {
    fn take(&mut self, client: usize) -> Expected {
        let full = Bucket { level: self.capacity, filled_at: self.now };
        let bucket = self.buckets.entry(client).or_insert(full);
        let inflow = (self.now - bucket.filled_at) * self.per_minute;
        bucket.level = self.capacity.min(bucket.level + inflow);
        bucket.filled_at = self.now;
        let is_refused = bucket.level < REQUEST;
        let seconds = |missing: u64| missing.div_ceil(self.per_minute * 1_000_000);
        let wait = is_refused.then(|| seconds(REQUEST - bucket.level).max(1));
        if !is_refused {
            bucket.level -= REQUEST;
        }
        (is_refused, bucket.level / REQUEST, seconds(self.capacity - bucket.level), wait)
    }
}

fn from(last: u8, mut request: Request<String>) -> Request<String> {
    request.extensions_mut().insert(ClientAddr(IpAddr::from([192, 0, 2, last])));
    request
}

#[tokio::test]
async fn every_figure_is_that_of_a_naive_bucket() {
    let world = World::new().await;
    let others = [world.owner_key(&world.home).await, world.owner_key(&world.abroad).await];
    let mut random = SplitMix64(8);
    for (per_minute, burst) in [(300, 150), (60, 3), (600, 20), (4, 2), (1, 1), (6000, 7), (1200, 40)] {
        let limit = RateLimit::new(NonZeroU32::new(per_minute).unwrap(), NonZeroU32::new(burst).unwrap());
        let server = Server::new(world.inventory.clone(), limit);
        let capacity = u64::from(burst) * REQUEST;
        let per_minute = u64::from(per_minute);
        let mut model = Model { per_minute, capacity, now: 0, buckets: HashMap::new() };
        for step in 0..300 {
            let client = random.below(6);
            let request = match client {
                0 => with_key(get("/api/v1/hosts?limit=1"), &world.key),
                1 => from(7, with_key(get("/nothing"), &others[0])),
                2 => with_key(get("/api/v1/hosts?limit=x"), &others[1]),
                3 => from(1, with_key(get("/api/v1/hosts"), "nonsense")),
                4 => from(2, get("/api/version")),
                _ => get("/api/v1/hosts"),
            };
            let reply = server.send(request).await;
            let number = |name: &str| reply.number(name);
            let told = (
                reply.status == 429,
                number("x-ratelimit-remaining"),
                number("x-ratelimit-reset"),
                reply.headers.contains_key("retry-after").then(|| number("retry-after")),
            );
            assert_eq!(told, model.take(client), "step {step} of {per_minute} a minute, {burst} at once");
            // Most often no time passes, so that buckets do run dry; sometimes exactly what a request takes to come back.
            let passed = match random.below(12) {
                0 => REQUEST / per_minute,
                1 => REQUEST / per_minute - 1,
                2 => random.next() % (2 * REQUEST / per_minute),
                3 => random.next() % 3,
                4 if random.once_in(8) => random.next() % (2 * capacity / per_minute),
                _ => 0,
            };
            model.now += passed;
            world.clock.advance(Duration::from_micros(passed));
        }
    }
}
