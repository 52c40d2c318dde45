//! Finding rows by key, unique key and link.

mod hashed_rows;
mod keys;
mod links;

pub(super) use self::keys::{Ids, UniqueKeys};
pub(super) use self::links::{LinkIndex, LinkedRows};
