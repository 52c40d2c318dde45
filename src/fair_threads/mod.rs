//! Heavy work on blocking threads, shared fairly among organizations.
//!
//! Without the feature `service`, functions run on the caller's thread, and no threads are shared.

#[cfg(feature = "service")]
mod abort_on_drop;
#[cfg(feature = "service")]
mod jobs;
mod long_list;
#[cfg(feature = "service")]
mod threads;

#[cfg(feature = "service")]
pub(crate) use self::jobs::{FairThreads, NotRun, yield_turn};
pub(crate) use self::long_list::long_list;

/// Lets the jobs of other organizations work. Without a service, there are none.
#[cfg(not(feature = "service"))]
pub(crate) const fn yield_turn() {}
