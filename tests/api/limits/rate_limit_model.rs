//! The rate limit over random histories, compared to a naive bucket and to another implementation.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use fastrand::Rng;
use governor::clock::FakeRelativeClock;
use governor::middleware::StateInformationMiddleware;
use governor::{Quota, RateLimiter};
use http::Request;
use toposcope::model::Permission;
use toposcope::service::{ClientAddr, RateLimit};

use crate::common::{Fixture, OFFICE, Reply, Server, at, bare, get, key_for, with_key, with_session};

/// Cost of one request, in units of which `per_minute` flow into a bucket per microsecond.
const REQUEST: u64 = 60_000_000;

struct Bucket {
    level: u64,
    filled_at: u64,
}

struct Model {
    per_minute: u64,
    capacity: u64,
    /// The present, in microseconds.
    now: u64,
    buckets: HashMap<usize, Bucket>,
}

/// Whether the status is 429, then `remaining`, `reset`, and the wait after a refusal.
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

/// Number of requests to each of the seven limits. In release builds the total exceeds 10,000.
const STEPS: usize = if cfg!(debug_assertions) { 400 } else { 1_500 };

fn from(last: u8, mut request: Request<String>) -> Request<String> {
    request.extensions_mut().insert(ClientAddr(IpAddr::from([192, 0, 2, last])));
    request
}

/// The clients. Each has a bucket, whatever its requests carry.
struct Clients {
    /// One key of each of two users.
    keys: [String; 2],
    /// Two keys of a third user.
    twins: [String; 2],
    /// Sessions of the third user.
    sessions: [String; 2],
    expired: String,
}

impl Clients {
    async fn new(fixture: &Fixture) -> Self {
        let keys = [fixture.owner_key(&fixture.home).await, fixture.owner_key(&fixture.abroad).await];
        let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let key = key_for(&user, Permission::Viewer, &[OFFICE]);
        let mut expired = key.clone();
        expired.expires_at = Some(at(1));
        let expired = fixture.issue(expired).await;
        fixture.clock.advance(Duration::from_secs(1));
        let twins = [fixture.issue(key.clone()).await, fixture.issue(key).await];
        let sessions = [fixture.sign_in(&user).await, fixture.sign_in(&user).await];
        Self { keys, twins, sessions, expired }
    }

    /// Returns a request and the number of the bucket that it is charged to.
    fn ask(&self, random: &mut Rng) -> (usize, Request<String>) {
        let client = random.usize(0..6);
        let request = match client {
            0 => with_key(get("/api/v1/hosts?limit=1"), &self.keys[0]),
            1 => from(7, with_key(get("/nothing"), &self.keys[1])),
            2 => from(*random.choice(&[1, 2, 3]).unwrap(), self.ask_as_third(random)),
            3 => from(1, self.ask_as_nobody(random)),
            4 => from(
                2,
                random.choice([get("/api/version"), with_key(get("/api/version"), &self.keys[0])]).unwrap(),
            ),
            _ => random.choice([get("/api/v1/hosts"), with_key(get("/nothing"), "nonsense")]).unwrap(),
        };
        (client, request)
    }

    fn ask_as_third(&self, random: &mut Rng) -> Request<String> {
        let path = *random.choice(&["/api/v1/hosts", "/api/v1/hosts?limit=x", "/nothing"]).unwrap();
        match random.usize(0..3) {
            0 => with_key(get(path), random.choice(&self.twins).unwrap()),
            1 => with_session(get(path), random.choice(&self.sessions).unwrap()),
            _ => with_session(bare("PUT", path), random.choice(&self.sessions).unwrap()),
        }
    }

    /// Returns a request without a valid credential.
    fn ask_as_nobody(&self, random: &mut Rng) -> Request<String> {
        let request = get("/api/v1/hosts");
        match random.usize(0..5) {
            0 => request,
            1 => with_key(request, "nonsense"),
            2 => with_key(request, &self.expired),
            3 => with_session(request, "nonsense"),
            // The key decides; the session is ignored.
            _ => with_key(with_session(request, &self.sessions[0]), "nonsense"),
        }
    }
}

/// Returns the time until the next request, in microseconds. It is usually zero, so that buckets run empty, and
/// sometimes exactly the time in which one request is refilled.
fn pause(random: &mut Rng, model: &Model) -> u64 {
    let request = REQUEST / model.per_minute;
    match random.usize(0..12) {
        0 => request,
        1 => request - 1,
        2 => random.u64(0..2 * request),
        3 => random.u64(0..3),
        4 if random.usize(0..8) == 0 => random.u64(0..2 * model.capacity / model.per_minute),
        _ => 0,
    }
}

fn figures(reply: &Reply) -> Expected {
    (
        reply.status == 429,
        reply.number("x-ratelimit-remaining"),
        reply.number("x-ratelimit-reset"),
        reply.headers.contains_key("retry-after").then(|| reply.number("retry-after")),
    )
}

#[tokio::test]
async fn figures_match_a_naive_bucket() {
    let fixture = Fixture::new().await;
    let clients = Clients::new(&fixture).await;
    let mut random = Rng::with_seed(8);
    for (per_minute, burst) in [(300, 150), (60, 3), (600, 20), (4, 2), (1, 1), (6000, 7), (1200, 40)] {
        let limit = RateLimit::new(NonZeroU32::new(per_minute).unwrap(), NonZeroU32::new(burst).unwrap());
        let server = Server::new(fixture.inventory.clone(), limit);
        let capacity = u64::from(burst) * REQUEST;
        let mut model = Model { per_minute: per_minute.into(), capacity, now: 0, buckets: HashMap::new() };
        for step in 0..STEPS {
            let (client, request) = clients.ask(&mut random);
            let reply = server.send(request).await;
            assert_eq!(
                figures(&reply),
                model.take(client),
                "step {step} of {per_minute} a minute, {burst} at once"
            );
            let passed = pause(&mut random, &model);
            model.now += passed;
            fixture.clock.advance(Duration::from_micros(passed));
        }
    }
}

/// Rates at which a request is refilled in a whole number of microseconds. The other implementation counts in
/// nanoseconds, so both round alike.
const RATES: [(u32, u32); 5] = [(300, 150), (60, 3), (1200, 40), (6000, 7), (1, 1)];

#[tokio::test]
async fn decisions_match_another_implementation() {
    let fixture = Fixture::new().await;
    let mut random = Rng::with_seed(11);
    for (per_minute, burst) in RATES {
        let number = |number| NonZeroU32::new(number).unwrap();
        let server =
            Server::new(fixture.inventory.clone(), RateLimit::new(number(per_minute), number(burst)));
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
            let passed = match random.usize(0..10) {
                0 => request,
                1 => request - Duration::from_micros(1),
                2 => request * u32::try_from(random.usize(0..5)).unwrap(),
                3 if random.usize(0..10) == 0 => request * burst,
                _ => Duration::ZERO,
            };
            fixture.clock.advance(passed);
            clock.advance(passed);
        }
    }
}
