//! A real inventory in a folder. The importing process is killed; all chunks that it reported as stored must
//! be served as after an import into memory. Without the inventory there is nothing to test.

#![cfg(all(feature = "sled", unix))]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod child;
mod expected;
#[path = "../inventory/real/file.rs"]
mod file;
mod home;
mod random;

use self::child::{Child, in_short};
use self::expected::Expected;
use self::file::unpacked;
use self::home::Home;
use self::random::Random;
use tokio::sync::OnceCell;
use toposcope::store::Durability;

static EXPECTED: OnceCell<Option<Expected>> = OnceCell::const_new();

/// Returns `None` if there is no inventory.
async fn expected() -> Option<&'static Expected> {
    EXPECTED.get_or_init(async || Some(Expected::of(unpacked()?).await)).await.as_ref()
}

/// Kills imports at random times, one after the other on the same folder. Returns the final number of chunks.
async fn survives(home: &Home, expected: &Expected, kills: usize) -> usize {
    let mut random = Random::fresh();
    let chunks = expected.chunks.len();
    let mut present = 0;
    for _ in 0..kills {
        let told = Child::start(home).kill_after(random.below(chunks), &mut random);
        let served = home.check(expected).await;
        println!("killed after {told} of {chunks} chunks: {served} are there, {present} were before");
        assert!(served >= told.max(present));
        present = served;
    }
    present
}

#[tokio::test]
async fn an_import_that_is_killed_leaves_what_it_has_stored_and_another_goes_on_to_the_end() {
    let Some(expected) = expected().await else { return };
    let home = Home::new(&expected.input, Durability::Durable).await;
    let present = survives(&home, expected, 2).await;
    let mut report = expected.report.clone();
    report.replaced = expected.chunks[..present].iter().map(|chunk| chunk.len() as u64).sum();
    assert_eq!(Child::start(&home).kill_at_end(), in_short(&report));
    assert_eq!(home.check(expected).await, expected.chunks.len());
}

#[tokio::test]
async fn an_import_that_is_killed_leaves_what_it_has_stored_where_nothing_waits_for_the_disk() {
    let Some(expected) = expected().await else { return };
    let home = Home::new(&expected.input, Durability::Buffered).await;
    survives(&home, expected, 1).await;
}
