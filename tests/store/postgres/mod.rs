//! `PostgresStore`, on private clusters.

mod cluster;
#[cfg(feature = "testing")]
mod conformance;
mod damaged_log;
#[cfg(feature = "sled")]
mod durability;
mod faults;
mod instances;
mod opening;
mod pooler;
mod proxy;
mod secrets;
mod servers;
mod sessions;
mod sql;

use toposcope::store::{PostgresStore, PostgresStoreBuilder};

#[cfg(feature = "sled")]
pub(crate) use self::cluster::hold as hold_cluster;
#[cfg(feature = "sled")]
pub(crate) use self::durability::write;
#[cfg(feature = "sled")]
pub(crate) use self::servers::resolve_names;

/// Returns the database name in a connection string.
fn database_of(connection: &str) -> &str {
    connection.rsplit_once("dbname=").unwrap().1
}

async fn open(builder: PostgresStoreBuilder) -> PostgresStore {
    builder.open().await.unwrap()
}

/// Opens a connection beside those of a store.
async fn connect(connection: &str) -> tokio_postgres::Client {
    let (client, driver) = tokio_postgres::connect(connection, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}
