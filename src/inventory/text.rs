use std::collections::HashSet;

use uuid::Uuid;

use super::{Error, Problem};
use crate::model::Timestamp;

/// The ids, each once, in their order.
pub(super) fn distinct(ids: Vec<Uuid>) -> Vec<Uuid> {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

/// A name without the white space around it, of 1 to `max` characters.
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

/// A text in lower case, letter by letter: that of a whole text depends on what stands beside a letter.
pub(super) fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// As long as an address is that has something on both sides of its `@`.
const MIN_EMAIL: usize = 3;
const MAX_EMAIL: usize = 254;

/// What could be an e-mail address by its length, in lower case and without the white space around it.
pub(super) fn email_length(field: &str, text: &str) -> Result<String, Error> {
    let text = lower_case(&name(field, text, MAX_EMAIL)?);
    if text.chars().count() < MIN_EMAIL {
        return Err(Error::invalid(field, Problem::MinLength { min: MIN_EMAIL }));
    }
    Ok(text)
}

/// An e-mail address in lower case. Whether mail arrives there only mail can tell; the form is checked loosely.
pub(super) fn email(field: &str, text: &str) -> Result<String, Error> {
    let text = email_length(field, text)?;
    match text.split_once('@') {
        Some((local, domain))
            if !local.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace) =>
        {
            Ok(text)
        }
        _ => Err(Error::invalid(field, Problem::InvalidFormat)),
    }
}

/// A time that something will end at, which must not be over already.
pub(super) fn future(field: &str, time: Option<Timestamp>, now: Timestamp) -> Result<(), Error> {
    if time.is_some_and(|time| time <= now) {
        return Err(Error::invalid(field, Problem::NotInFuture { now }));
    }
    Ok(())
}
