//! `PostgresStore`, on private clusters.

mod cluster;

#[cfg(feature = "sled")]
pub(crate) use self::cluster::hold as hold_cluster;
