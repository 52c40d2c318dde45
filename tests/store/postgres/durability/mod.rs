//! Acknowledged commits survive every failure of the server, an instance or their connections.
//!
//! Other batches are there completely or not at all, a conflict is reported only where another commit changed the
//! record, and the instances go on without being opened again.
//!
//! `TOPOSCOPE_POSTGRES_ROUNDS` (default 2) sets the number of rounds of each test, and `TOPOSCOPE_POSTGRES_READS`
//! (default 3,000) the number of reads of what another instance has just committed:
//!
//! ```sh
//! TOPOSCOPE_POSTGRES_ROUNDS=50 TOPOSCOPE_POSTGRES_READS=1000000 \
//!     cargo test --release --all-features --test store -- --nocapture --test-threads 1 postgres::durability::
//! ```

mod connection;
mod failover;
mod instance;
mod instances;
mod lost_log;
mod server;
mod visibility;

pub(crate) use self::instance::write;
use crate::durability::rounds;

/// Returns the number of rounds of each test.
fn usual_rounds() -> usize {
    rounds("TOPOSCOPE_POSTGRES_ROUNDS", 2)
}
