//! A store in a PostgreSQL database that many instances share.
//!
//! The database holds five tables: a log of commit groups, the facets, bodies and revisions of all records, and the format of
//! these. Each instance holds a [replica](super::log::replica) in memory: the index of all facets as of a position of the log.
//!
//! * A [`read`] finds its records in the replica, and asks the log, in one statement with the bodies that it lacks,
//!   whether the replica is current. If not, it applies what is missing and finds its records again.
//! * A [`commit`] is checked against the replica, and [appended](append) to the log after the replica's position, together
//!   with others. The primary key of the log allows one entry at each place, so instances that commit at the same time
//!   are serialized by it.
//! * Opening [`load`]s all facets. An instance whose replica does not continue the log loads them again: after a failover
//!   that lost commits, after a backup was restored, or when the log was trimmed beyond its position.
//!
//! All [connections](connector) of an instance lead to one [server]. When that is in doubt, they are closed at once, and
//! opened to the server of the highest timeline among those that answer, for which they are [raced](race). A background task [watches](watch) all hosts of
//! the connection string for a promoted one. A statement that is late leads to [doubt] first.
//!
//! All tasks and connections live on the runtime on which the store was opened; only the [names of hosts](host_name) are
//! resolved on threads of their own. A call that is dropped leaves its work to a task, so that it costs no connection.

mod addresses;
mod append;
mod builder;
mod commit;
mod connection;
mod connector;
mod doubt;
mod error;
mod follow;
mod host_name;
mod hosts;
mod load;
mod maintain;
mod pool;
mod race;
mod read;
mod server;
mod shared;
mod single_flight;
mod snapshot;
mod sql;
mod store;
mod value;
mod watch;

pub use builder::PostgresStoreBuilder;
pub use store::{PostgresStatus, PostgresStore};
