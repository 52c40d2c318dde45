//! Several servers in one connection string, of which some fail, or which all accept writes.
//!
//! `TOPOSCOPE_POSTGRES_ROUNDS` (default 1) sets the number of rounds of each test:
//!
//! ```sh
//! TOPOSCOPE_POSTGRES=all TOPOSCOPE_POSTGRES_ROUNDS=20 \
//!     cargo test --release --all-features --test store -- --nocapture --test-threads 1 postgres::servers::
//! ```

mod busy;
mod history;
mod host_faults;
mod load;
#[cfg(feature = "sled")]
mod names;
pub(crate) mod network;
mod other_data;
mod promotion;
mod reloads;

use std::env;
use std::time::Duration;

#[cfg(feature = "sled")]
pub(crate) use self::names::run_part as resolve_names;
use crate::cluster::Cluster;

/// The time within which an instance must work again. It takes less than three seconds, but a machine with busy
/// neighbors may stand still for some.
const MAX_OUTAGE: Duration = Duration::from_secs(6);

/// Returns the number of rounds of each test.
fn rounds() -> usize {
    env::var("TOPOSCOPE_POSTGRES_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap())
}

/// Returns the connection string of these hosts, in this order.
pub(super) fn connection(hosts: &[(String, u16)], database: &str) -> String {
    let join = |part: fn(&(String, u16)) -> String| hosts.iter().map(part).collect::<Vec<_>>().join(",");
    let (names, ports) = (join(|(name, _)| name.clone()), join(|(_, port)| port.to_string()));
    format!("host={names} port={ports} user=postgres target_session_attrs=read-write dbname={database}")
}

/// Returns the host of a server without a proxy.
fn direct(server: &Cluster) -> (String, u16) {
    (server.folder().display().to_string(), 5432)
}
