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

/// A time that something will end at, which must not be over already.
pub(super) fn future(field: &str, time: Option<Timestamp>, now: Timestamp) -> Result<(), Error> {
    if time.is_some_and(|time| time <= now) {
        return Err(Error::invalid(field, Problem::NotInFuture { now }));
    }
    Ok(())
}
