//! `PostgresStore`, on private clusters.

mod cluster;
#[cfg(feature = "testing")]
mod conformance;
#[cfg(feature = "sled")]
mod durability;
mod faults;
mod instances;
mod opening;
mod proxy;
mod secrets;
mod servers;
mod sql;

use toposcope::store::{PostgresStore, PostgresStoreBuilder};

#[cfg(feature = "sled")]
pub(crate) use self::cluster::hold as hold_cluster;
#[cfg(feature = "sled")]
pub(crate) use self::durability::write;

/// Returns the database name in a connection string.
fn database_of(connection: &str) -> &str {
    connection.rsplit_once("dbname=").unwrap().1
}

async fn open(builder: PostgresStoreBuilder) -> PostgresStore {
    builder.open().await.unwrap()
}
