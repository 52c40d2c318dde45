//! Errors of the host application, with codes of its own.

use http::StatusCode;

use super::{Error, ErrorKind};
use crate::invariant::Invariant;

/// Maximum number of characters of a code.
const MAX_CODE: usize = 100;

/// A stable error code of the host application, with the status of its responses.
///
/// Declare it as a constant, so that an invalid code does not compile:
///
/// ```
/// use toposcope::inventory::ApplicationCode;
///
/// const RACK_FULL: ApplicationCode = ApplicationCode::new("racks.full", 409);
/// assert_eq!((RACK_FULL.as_str(), RACK_FULL.status().as_u16()), ("racks.full", 409));
/// ```
///
/// ```compile_fail
/// # use toposcope::inventory::ApplicationCode;
/// const RACK_FULL: ApplicationCode = ApplicationCode::new("rack full", 409);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApplicationCode {
    text: &'static str,
    status: u16,
}

impl ApplicationCode {
    /// Creates a code.
    ///
    /// `text` is for programs, such as `racks.full`: lower-case letters, digits, `_`, `-`, and a dot that is neither
    /// the first nor the last character; at most 100 characters in all. `status` is from 400 to 599.
    ///
    /// No [`ErrorCode`](crate::wire::ErrorCode) has a dot, also in later versions, so that the codes never collide. The exception is
    /// `policy.refused`, which stands for all codes of the host application.
    ///
    /// # Panics
    /// If the code has another form, or the status is out of range. In a constant, this is an error of the compiler.
    #[must_use]
    pub const fn new(text: &'static str, status: u16) -> Self {
        assert!(
            is_code(text),
            "a code has lower-case letters, digits, `_`, `-`, and a dot within: `racks.full`"
        );
        assert!(400 <= status && status <= 599, "the status of an error is from 400 to 599");
        Self { text, status }
    }

    /// Returns the text of the code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.text
    }

    /// Returns the HTTP status of a response with this code.
    #[must_use]
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.status).ok().asserted().unwrap_or(StatusCode::UNPROCESSABLE_ENTITY)
    }
}

const fn is_code(text: &str) -> bool {
    let mut rest = text.as_bytes();
    let (mut has_dot, mut is_allowed) = (false, text.len() <= MAX_CODE);
    while let [first, after @ ..] = rest {
        let is_within = rest.len() < text.len() && !after.is_empty();
        has_dot |= *first == b'.';
        is_allowed &=
            matches!(first, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') || (*first == b'.' && is_within);
        rest = after;
    }
    has_dot && is_allowed
}

/// An error of the host application: the refusal of a [`Policy`](super::Policy), or the error of an endpoint of its own.
///
/// It becomes an [`Error`], which [`Api::respond`](crate::Api::respond) answers with the code, the status and the sentence.
///
/// ```
/// use toposcope::inventory::{ApplicationCode, ApplicationError, Error};
///
/// const RACK_FULL: ApplicationCode = ApplicationCode::new("racks.full", 409);
///
/// fn check_rack(free_units: u32) -> Result<(), Error> {
///     if free_units == 0 {
///         return Err(ApplicationError::new(RACK_FULL, "The rack is full.").at("rack").into());
///     }
///     Ok(())
/// }
///
/// let error = check_rack(0).unwrap_err();
/// assert_eq!((error.code_text(), error.status().as_u16()), ("racks.full", 409));
/// assert_eq!(error.params()["field"], "rack");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApplicationError {
    code: ApplicationCode,
    message: String,
    field: Option<String>,
}

impl ApplicationError {
    /// Creates an error with a sentence for people.
    #[must_use]
    pub fn new(code: ApplicationCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None }
    }

    /// Sets the path of the value that the error concerns. For a policy, it is the dotted path in the record,
    /// such as `interfaces.0.name`.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// Returns the code.
    #[must_use]
    pub const fn code(&self) -> ApplicationCode {
        self.code
    }

    /// Returns the sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the path of the value that the error concerns.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl From<ApplicationError> for Error {
    fn from(error: ApplicationError) -> Self {
        let ApplicationError { code, message, field } = error;
        ErrorKind::Refused { code, message, field }.into()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;
    use crate::wire::ErrorCode;

    #[test]
    fn codes_of_the_api_have_no_dot() {
        let with_dot = ErrorCode::ALL.iter().filter(|code| code.as_str().contains('.'));
        assert_eq!(with_dot.collect::<Vec<_>>(), [&ErrorCode::PolicyRefused]);
    }

    #[test]
    fn code_without_a_dot_within_is_refused() {
        for text in ["policy.a", "policy.frozen_network", "racks.rack-1.full", "a.1"] {
            assert_eq!(ApplicationCode::new(text, 422).as_str(), text);
        }
        let long: &'static str = format!("policy.{}", "a".repeat(MAX_CODE)).leak();
        for text in ["", ".", "policy.", ".full", "policy", "policy.Frozen", "policy.a b", "policy.ä", long]
        {
            assert!(catch_unwind(|| ApplicationCode::new(text, 422)).is_err(), "{text}");
        }
    }

    #[test]
    fn status_of_a_success_is_refused() {
        for status in [400, 409, 503, 599] {
            assert_eq!(ApplicationCode::new("a.b", status).status(), status);
        }
        for status in [0, 200, 302, 399, 600] {
            assert!(catch_unwind(|| ApplicationCode::new("a.b", status)).is_err(), "{status}");
        }
    }
}
