//! Values that an invariant of this crate guarantees.
//!
//! A broken invariant must not hide behind a default. The crate treats a value that may be missing in one of four ways:
//!
//! | Why it may be missing | Code |
//! |---|---|
//! | It is allowed to be: absent counts as zero, empty or false | `map_or(0, …)`, `unwrap_or(&[])` |
//! | Input, or stored data that may be damaged, lacks it | an error |
//! | Never, as the code of the module shows | indexing, where a module allows it and states the invariant |
//! | Never, but only the callers or other modules ensure it | [`Invariant`] |

/// An [`Option`] that is `None` only if an invariant of this crate is broken.
///
/// Debug builds, and with them all tests, panic in that case. Release builds continue without the value, because a
/// request should not fail where its answer may still be right.
pub(crate) trait Invariant<T>: Sized {
    /// Asserts in debug builds that there is a value, and returns the option unchanged.
    #[must_use]
    fn asserted(self) -> Option<T>;

    /// Returns the value. If there is none, debug builds panic, and release builds return the default.
    #[inline]
    #[must_use]
    #[track_caller]
    fn asserted_or_default(self) -> T
    where
        T: Default,
    {
        self.asserted().unwrap_or_default()
    }
}

impl<T> Invariant<T> for Option<T> {
    #[inline]
    #[track_caller]
    fn asserted(self) -> Self {
        debug_assert!(self.is_some(), "an invariant is broken: there is no value");
        self
    }
}
