//! The cost of the worst requests to every endpoint, compared with what the guide promises.
//!
//! The promises are the table in the operations page of the guide.

mod bodies;
mod incoming;
mod inputs;
mod large_device;
mod measure;
mod promises;
mod reports;
#[cfg(feature = "sled")]
mod whole_server;
mod world;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::process::{Child, Command, Stdio};

use self::inputs::cases;
use self::measure::Ballast;
use self::promises::Promise;
use self::world::World;
use crate::requests::routes::{Route, routes};

/// Set in a process that measures requests alone, so that its memory is theirs. It measures every third endpoint.
const ALONE: &str = "TOPOSCOPE_BUDGET_ALONE";

#[test]
fn every_endpoint_has_one_promise_and_every_promise_has_an_endpoint() {
    let promises = Promise::all();
    for route in routes() {
        let count = promises.iter().filter(|promise| promise.is_about(route)).count();
        assert_eq!(count, 1, "rows of {}", route.name());
    }
    let known: BTreeSet<String> = routes().iter().map(Route::name).collect();
    for endpoint in promises.iter().flat_map(|promise| &promise.endpoints) {
        assert!(known.contains(endpoint), "{endpoint} does not exist");
    }
}

#[test]
fn requests_keep_the_promises_of_the_guide() {
    if env::var_os(ALONE).is_some() {
        return;
    }
    let children: Vec<Child> = ["0", "1", "2"].map(begin).into();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        println!("{text}");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"));
    }
}

/// Begins to measure in another process.
fn begin(share: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["budget::measure_requests", "--test-threads=1", "--nocapture", "--ignored", "--exact"])
        .env(ALONE, share)
        // Freed memory goes back to the system, so that none that one request frees hides what the next one takes.
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_MMAP_THRESHOLD_", "32768")
        .env("MALLOC_TRIM_THRESHOLD_", "32768")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn measure_requests() {
    let world = World::new().await;
    let promises = Promise::all();
    let share = env::var(ALONE).map_or(0, |share| share.parse().unwrap());
    let mut routes: Vec<&Route> = routes().iter().skip(share).step_by(3).collect();
    routes.sort_by_key(|route| disturbance(route));
    let (mut broken, mut ballast) = (String::new(), Ballast::default());
    for route in routes {
        let promise = promises.iter().find(|promise| promise.is_about(route));
        // The sizes cannot be read with a session that has ended.
        let is_readable = disturbance(route) < 3;
        let mut sizes = if is_readable { world.sizes().await } else { [0; 3] };
        for case in cases(route, &world) {
            if is_readable && route.method != "GET" && route.path.contains("/hosts") {
                // An earlier request has changed them.
                sizes = world.sizes().await;
            }
            ballast.fill();
            let (mut cost, answer) =
                measure::measure(&world.api, &world.counter, case.request, case.piece, case.items).await;
            [cost.hosts, cost.stored, cost.largest] = sizes;
            println!("{} {}: {}", route.name(), case.name, cost);
            let mut faults =
                promise.map_or_else(|| vec!["no promise".to_owned()], |row| row.broken_by(&cost));
            let is_success = (200..300).contains(&cost.status);
            if is_success != case.is_valid && (case.is_valid || cost.status >= 500) {
                faults.push(format!("{} {}", cost.status, String::from_utf8_lossy(&answer)));
            }
            for fault in faults {
                writeln!(broken, "{} {}: {fault}", route.name(), case.name).unwrap();
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

/// Orders endpoints so that none takes from others the records or the session that they need.
fn disturbance(route: &Route) -> u8 {
    match route.path {
        "/api/auth/logout" => 4,
        "/api/auth/password" => 3,
        path if route.method == "DELETE" || path.ends_with("delete") || path.ends_with("delete-stale") => 2,
        path if path.ends_with("/split") || path.contains("/consolidate/") => 1,
        // They add many hosts.
        path if ["/bulk", "/import"].iter().any(|end| path.ends_with(end)) => 1,
        _ => 0,
    }
}
