//! Validation of single values, and the paths of values in errors.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use uuid::Uuid;

use super::{Entity, Error, ErrorKind, Problem};
use crate::access::PasswordHasher;
use crate::model::{LONG_INTEGER, RecordId, Timestamp};
use crate::printable::printable;

/// Removes duplicate ids, keeping the first occurrence of each.
pub(super) fn distinct<I: RecordId>(ids: Vec<I>) -> Vec<I> {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

/// Validates a name of 1 to `max` characters and trims white space around it.
pub(super) fn name(field: &str, text: &str, max: usize) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid(field, Problem::Empty));
    }
    if text.chars().count() > max {
        return Err(Error::invalid(field, Problem::MaxLength { max }));
    }
    Ok(text.to_owned())
}

/// Maximum number of characters of a description.
const MAX_DESCRIPTION: usize = 500;

/// Validates a description.
pub(super) fn description(field: &str, text: Option<&str>) -> Result<(), Error> {
    if text.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return Err(Error::invalid(field, Problem::MaxLength { max: MAX_DESCRIPTION }));
    }
    Ok(())
}

/// Validates the length of a new password.
pub(super) fn password(field: &str, password: &str) -> Result<(), Error> {
    let (min, max) = (PasswordHasher::MIN_LENGTH, PasswordHasher::MAX_LENGTH);
    match password.chars().count() {
        length if length < min => Err(Error::invalid(field, Problem::MinLength { min })),
        length if length > max => Err(Error::invalid(field, Problem::MaxLength { max })),
        _ => Ok(()),
    }
}

/// Validates that an expiry time lies in the future.
pub(super) fn future(field: &str, time: Option<Timestamp>, now: Timestamp) -> Result<(), Error> {
    if time.is_some_and(|time| time <= now) {
        return Err(Error::invalid(field, Problem::NotInFuture { now }));
    }
    Ok(())
}

/// Maximum number of steps of a path. No field lies deeper; the values of a client may.
const MAX_DEPTH: usize = 8;

/// Maximum number of characters of one step of a path.
const MAX_STEP: usize = 32;

/// Returns the dotted path of a value, such as `tags.3`; `None` for the root. Paths that are too long are cut.
pub(crate) fn dotted(path: &Path) -> Option<String> {
    let steps = path.iter().take(MAX_DEPTH).filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(printable(key, MAX_STEP)),
        Segment::Enum { variant } => Some(printable(variant, MAX_STEP)),
        Segment::Unknown => None,
    });
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() { None } else { Some(steps.join(".")) }
}

/// Converts a parser's error about the value at a path. Serde reports the kind of fault only in the message.
pub(crate) fn invalid_json(path: String, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    for (beginning, problem) in [("missing", Problem::Required), ("duplicate", Problem::Duplicate)] {
        let name = message.strip_prefix(beginning).and_then(|rest| rest.strip_prefix(" field `"));
        if let Some((name, _)) = name.and_then(|rest| rest.split_once('`')) {
            let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            return Error::invalid(field, problem);
        }
    }
    let is_element = path.rsplit('.').next().is_some_and(|step| step.parse::<usize>().is_ok());
    let problem = if message.starts_with("invalid type: null") && !is_element {
        Problem::Required
    } else if message.starts_with(LONG_INTEGER) {
        Problem::LongInteger
    } else if message.starts_with("invalid value: integer") && path.ends_with(".number") {
        Problem::OutOfRange { min: 1, max: i64::from(u16::MAX) }
    } else if message.starts_with("unknown variant ")
        && let Some((_, expected)) = message.rsplit_once(", expected ")
    {
        // Every other piece is a value: "one of `a`, `b`".
        Problem::NotAmong { values: expected.split('`').skip(1).step_by(2).map(str::to_owned).collect() }
    } else {
        expected_form(&message).map_or(Problem::InvalidFormat, |form| Problem::NotOfForm { form })
    };
    Error::invalid(path, problem)
}

/// Returns the form that the message of a deserializer expects, in the words of the API.
fn expected_form(message: &str) -> Option<Cow<'static, str>> {
    let (message, _) = message.rsplit_once(" at line ").unwrap_or((message, ""));
    if message.starts_with("UUID parsing failed") {
        return Some("a UUID".into());
    }
    // Errors of the types of this crate begin so, and those of serde end with the form.
    let expected = message.rsplit_once(", expected ").map(|(_, form)| form);
    let stated = message.strip_prefix("not ").or(expected);
    let form = match stated.unwrap_or(message) {
        "invalid IP address syntax" | "IP address" => "an IP address",
        "a formatted UUID string" => "a UUID",
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "a nonzero u16" => "an integer",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        form if form.starts_with("struct ") => "an object",
        _ => {
            let is_noun = |form: &&str| form.starts_with("a ") || form.starts_with("an ");
            return stated.filter(is_noun).map(|form| form.to_owned().into());
        }
    };
    Some(form.into())
}

/// Checks that a record is the one that a client has read: its `updated_at` is the expected one.
///
/// # Errors
/// `Outdated`.
pub(crate) fn check_expected_time(
    expected: Option<Timestamp>,
    entity: Entity,
    id: impl Into<Uuid>,
    updated_at: Timestamp,
) -> Result<(), Error> {
    if expected.is_none_or(|expected| expected == updated_at) {
        return Ok(());
    }
    Err(ErrorKind::Outdated { entity, id: id.into() }.into())
}

/// The maximum nesting depth of JSON values within records.
const MAX_NESTING: usize = 64;

/// The prefix of field names reserved by `serde_json`.
const RESERVED: &str = "$serde_json::private::";

/// Returns whether `serde_json` can read an object back.
///
/// It rejects deep nesting and reserved field names on reading but not on writing.
pub(super) fn is_readable(object: &Map<String, Value>) -> bool {
    are_members_readable(object, MAX_NESTING)
}

/// Returns whether `serde_json` can read a value back, as [`is_readable`] does for an object.
pub(super) fn is_readable_value(value: &Value) -> bool {
    is_value_readable(value, MAX_NESTING)
}

fn are_members_readable(object: &Map<String, Value>, depth: usize) -> bool {
    object.iter().all(|(name, value)| !name.starts_with(RESERVED) && is_value_readable(value, depth))
}

fn is_value_readable(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(elements) => {
            depth > 0 && elements.iter().all(|element| is_value_readable(element, depth - 1))
        }
        Value::Object(fields) => depth > 0 && are_members_readable(fields, depth - 1),
        _ => true,
    }
}
