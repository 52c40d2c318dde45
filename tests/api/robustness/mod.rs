//! Every answer to any input follows the contract and is not an internal error.
//! [`Server::send`](crate::common::Server::send) checks each one, and a panic inside would be a 500.

mod body;
mod contended;
mod draft;
mod endpoint;
mod ground;
mod sent;
mod spoil;
mod tally;
mod target;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request};
use tokio::runtime;
use toposcope::model::Permission;
use uuid::Uuid;

use self::draft::Draft;
use self::endpoint::Endpoint;
use self::ground::Ground;
use self::sent::Sent;
use self::tally::Tally;
use crate::backend::Backend;
use crate::common::{SplitMix64, World, bare, with_session};

/// Each round begins with new records, so that their number is bounded.
fn rounds() -> u64 {
    Backend::current().effort(2, 400) as u64
}
const REQUESTS: u64 = 2_500;

/// Prints the request when a check of its answer fails.
struct Suspect(Request<Sent>, u64);

impl Drop for Suspect {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("in round {}: {:?}", self.1, self.0);
        }
    }
}

fn draft(ground: &Ground, random: &mut SplitMix64) -> Request<Sent> {
    loop {
        let mut draft = Draft::right(ground, random);
        for _ in 0..random.below(4) {
            draft.spoil(ground, random);
        }
        if let Some(request) = draft.request(random) {
            return request;
        }
    }
}

async fn run(round: u64) -> Tally {
    let mut ground = Ground::new(round).await;
    let mut random = SplitMix64(round);
    let mut tally = Tally::default();
    for number in 0..REQUESTS {
        let request = draft(&ground, &mut random);
        let endpoint = Endpoint::of(request.method(), request.uri().path());
        let suspect = Suspect(request.clone(), round);
        ground.store.set_contended(random.once_in(50));
        let reply = ground.server.send(request).await;
        ground.store.set_contended(false);
        assert!(!reply.status.is_server_error(), "{}", reply.json);
        drop(suspect);
        tally.count(endpoint, &reply);
        if reply.status == 200 && endpoint.is_some_and(Endpoint::takes_session) {
            ground.mend().await;
        }
        // Some requests come faster than the rate limit allows.
        if number % 500 >= 150 {
            ground.pass_time(&mut random);
        }
    }
    ground.store.verify().await;
    tally
}

#[test]
fn whatever_is_sent_the_answer_is_of_the_contract_and_no_fault() {
    let next = AtomicU64::new(0);
    let work = || {
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        let mut tally = Tally::default();
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= rounds() {
                return tally;
            }
            tally.add(runtime.block_on(run(round)));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            tally.add(worker.join().unwrap());
        }
    });
    println!("{tally}");
    assert_eq!(tally.total(), rounds() * REQUESTS);
    tally.assert_varied();
}

#[tokio::test]
async fn however_deep_a_body_is_nested_it_is_read_to_its_end() {
    let world = World::new().await;
    let owner = world.user(&world.home, Permission::Owner, &[]).await;
    let session = world.sign_in(&owner).await;
    let depth = 150_000;
    for (open, close) in [("[", "]"), ("{\"\":", "}")] {
        let value = [&*open.repeat(depth), "0", &*close.repeat(depth)].concat();
        for endpoint in Endpoint::WITH_BODY {
            for field in ["name", "tags", "number", "email", "referral_source", "permissions", "unheard of"] {
                let target = [endpoint.path(), &Uuid::nil().to_string()].concat();
                let target = if endpoint.path().ends_with('/') { &target } else { endpoint.path() };
                let mut request = with_session(bare(endpoint.method().as_str(), target), &session);
                request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                let request = request.map(|_| format!("{{\"{field}\":{value}}}"));
                let reply = world.server.send(request).await;
                let code = reply.json["code"].as_str().unwrap();
                assert!(code == "validation_invalid_format" || code == "validation_required", "{code}");
            }
        }
    }
}
