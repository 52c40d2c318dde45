//! Writing to the index. A write is one batch of any size, or all records when a store is opened.

mod apply;
mod check;
mod difference;
mod insert;
#[cfg(any(feature = "sled", feature = "postgres"))]
mod load;
mod pack;
mod parallel;

pub(crate) use self::difference::Replaced;
#[cfg(all(test, any(feature = "sled", feature = "postgres")))]
pub(super) use self::load::FEW_ROWS;
#[cfg(any(feature = "sled", feature = "postgres"))]
pub(crate) use self::load::Loader;
#[cfg(feature = "sled")]
pub(crate) use self::pack::Packer;
pub(crate) use self::pack::{Packs, is_large};
