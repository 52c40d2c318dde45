//! Finding rows by key, unique key and link.

mod hashed_rows;
mod ids;
mod links;
mod unique_keys;

pub(super) use self::ids::Ids;
pub(super) use self::links::{LinkedRows, Links};
pub(super) use self::unique_keys::UniqueKeys;
