//! Guarantees of the store in a folder.
//!
//! They hold whatever happens to the process, the disk or the folder.
//!
//! Acknowledged batches are present, and other batches are present completely or not at all. Damage is reported as an
//! error; damaged data is never returned.
//!
//! `TOPOSCOPE_CRASH_ROUNDS` (default 3) and `TOPOSCOPE_DAMAGE_ROUNDS` (default 6) set the number of rounds:
//!
//! ```sh
//! TOPOSCOPE_CRASH_ROUNDS=200 TOPOSCOPE_DAMAGE_ROUNDS=200 cargo test --release --test store -- --nocapture durability::
//! ```

mod backup;
mod closing;
#[cfg(unix)]
mod crash;
mod damage;
mod faults;
#[cfg(unix)]
mod import;
mod mirror;
#[cfg(unix)]
mod modes;
mod opening;
mod reopening;
mod verify;
pub(crate) mod workload;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use tokio::runtime::Runtime;

use crate::child::scene;

/// Runs the scene of a child process. It does nothing in the process of the tests.
#[test]
#[ignore = "other tests run it in child processes"]
fn child_process_entry_point() {
    let Some((scene, arguments)) = scene() else { return };
    let runtime = start_runtime();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match scene.as_str() {
        "backup" => runtime.block_on(backup::write_backups(&arguments)),
        #[cfg(unix)]
        "write" => runtime.block_on(crash::write(&arguments)),
        #[cfg(all(feature = "postgres", unix))]
        "cluster" => crate::postgres::hold_cluster(),
        #[cfg(all(feature = "postgres", unix))]
        "instance" => runtime.block_on(crate::postgres::write(&arguments)),
        #[cfg(all(feature = "postgres", unix))]
        "names" => runtime.block_on(crate::postgres::resolve_names(&arguments)),
        "fault" => runtime.block_on(faults::fault(&arguments)),
        "hold" => runtime.block_on(opening::hold(&arguments)),
        #[cfg(unix)]
        "import" => runtime.block_on(import::import(&arguments)),
        #[cfg(unix)]
        "modes" => runtime.block_on(modes::run_part(&arguments)),
        "read" => runtime.block_on(damage::read(&arguments)),
        "repair" => runtime.block_on(damage::repair(&arguments)),
        _ => panic!("there is no scene {scene}"),
    }
}

fn start_runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Returns a generator that is independent for each list of numbers.
fn generator_of(seed: u64, numbers: &[u64]) -> Rng {
    numbers.iter().fold(Rng::with_seed(seed), |mut random, number| Rng::with_seed(random.u64(..) ^ number))
}

/// Returns `true` once in `times` calls on average.
fn once_in(random: &mut Rng, times: usize) -> bool {
    random.usize(..times) == 0
}

/// Returns a subset that contains each value with a probability of one half.
fn some_of<T: Clone>(random: &mut Rng, values: &[T]) -> Vec<T> {
    values.iter().filter(|_| random.bool()).cloned().collect()
}

/// Returns a generator with the seed in `TOPOSCOPE_SEED`, or with a new one. The seed is printed, so that a run can be
/// repeated.
pub(crate) fn fresh_generator() -> Rng {
    let seed = match env::var("TOPOSCOPE_SEED") {
        Ok(seed) => seed.parse().expect("TOPOSCOPE_SEED is no number"),
        Err(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
    };
    println!("TOPOSCOPE_SEED={seed}");
    Rng::with_seed(seed)
}

/// Returns the number of rounds set in the environment, or the usual one.
pub(crate) fn rounds(variable: &str, usual: usize) -> usize {
    env::var(variable)
        .map_or(usual, |rounds| rounds.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}
