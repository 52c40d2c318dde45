//! The text of JSON bodies, and the errors of bodies that cannot be parsed.

use crate::invariant::Invariant;
use crate::lines::is_utf_16;
use crate::service::response::error::ApiError;

/// Returns the text of a body.
pub(super) fn as_text(body: &[u8]) -> Result<&str, ApiError> {
    std::str::from_utf8(body).map_err(|error| {
        let (valid, _) = body.split_at_checked(error.valid_up_to()).asserted_or_default();
        let (line, column) = position_after(valid);
        let message = unreadable(body).map_or_else(
            || format!("The body is not UTF-8 text: error at line {line}, column {column}."),
            str::to_owned,
        );
        ApiError::malformed_json(message, line, column)
    })
}

/// Returns the error for a body that is not JSON of the expected form.
pub(super) fn malformed(text: &str, expected: &str, error: &serde_json::Error) -> ApiError {
    let (line, column) = (error.line(), error.column().max(1));
    let message = unreadable(text.as_bytes()).map_or_else(
        || format!("The body is not a valid JSON {expected}: error at line {line}, column {column}."),
        str::to_owned,
    );
    ApiError::malformed_json(message, line, column)
}

/// Returns the fault of a body of which no part can be JSON; `None` for other bodies.
fn unreadable(body: &[u8]) -> Option<&'static str> {
    match body {
        _ if body.trim_ascii().is_empty() => Some("The body is empty. Send JSON."),
        [0xEF, 0xBB, 0xBF, ..] => {
            Some("The body begins with a byte order mark. Send JSON as UTF-8 text without one.")
        }
        _ if is_utf_16(body) => Some("The body is UTF-16 or UTF-32 text. Send JSON as UTF-8 text."),
        _ => None,
    }
}

/// Returns the line and column right after a text, counted from 1 as serde_json does.
fn position_after(text: &[u8]) -> (usize, usize) {
    let line_start = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
    (1 + memchr::memchr_iter(b'\n', text).count(), 1 + text.len() - line_start)
}
