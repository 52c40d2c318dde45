//! The error of a case, and the assertions that return it.

use std::fmt::{self, Debug};
use std::panic::Location;

use tokio::task::JoinError;

use crate::invariant::Invariant;
use crate::store::{Key, Page, StoreError, StoreErrorKind};

/// Maximum number of characters shown of a value, since a body may have megabytes.
const MAX_SHOWN: usize = 600;

pub(super) type CaseOutcome<T = ()> = Result<T, Violation>;

/// A description of the violation, and the line of the suite that found it.
#[derive(Debug)]
pub(super) struct Violation {
    text: String,
    at: &'static Location<'static>,
}

impl Violation {
    #[track_caller]
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), at: Location::caller() }
    }

    /// Prepends the circumstances to the description.
    pub(super) fn within(self, circumstances: &str) -> Self {
        Self { text: format!("{circumstances}: {}", self.text), at: self.at }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}:{})", self.text, self.at.file(), self.at.line())
    }
}

impl From<StoreError> for Violation {
    #[track_caller]
    fn from(error: StoreError) -> Self {
        Self::new(format!("a call failed that must succeed: {error}"))
    }
}

impl From<JoinError> for Violation {
    #[track_caller]
    fn from(error: JoinError) -> Self {
        Self::new(format!("a task that called the store panicked or was cancelled: {error}"))
    }
}

#[track_caller]
pub(super) fn expect_equal<A, B>(what: &str, actual: &A, expected: &B) -> CaseOutcome
where
    A: PartialEq<B> + Debug + ?Sized,
    B: Debug + ?Sized,
{
    if actual == expected {
        return Ok(());
    }
    Err(Violation::new(format!("{what}: expected {}, got {}", shown(expected), shown(actual))))
}

#[track_caller]
pub(super) fn expect(condition: bool, otherwise: &str) -> CaseOutcome {
    if condition { Ok(()) } else { Err(Violation::new(otherwise)) }
}

#[track_caller]
pub(super) fn expect_error<T: Debug>(
    what: &str,
    result: &Result<T, StoreError>,
    expected: &StoreErrorKind,
) -> CaseOutcome {
    match result {
        Err(error) => expect_equal(what, error.kind(), expected),
        Ok(value) => {
            Err(Violation::new(format!("{what}: expected {}, got Ok({})", shown(expected), shown(value))))
        }
    }
}

/// Expects that a page is a whole list and has exactly these records.
#[track_caller]
pub(super) fn expect_list(what: &str, page: &Page, expected: &[Key]) -> CaseOutcome {
    expect_equal(what, &keys(page), expected)?;
    expect_equal(&format!("{what}: total"), &page.total, &(expected.len() as u64))?;
    expect_equal(&format!("{what}: next"), &page.next, &None)
}

pub(super) fn keys(page: &Page) -> Vec<Key> {
    page.records.iter().map(|record| record.key).collect()
}

fn shown<T: Debug + ?Sized>(value: &T) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).asserted_or_default()),
        None => text,
    }
}
