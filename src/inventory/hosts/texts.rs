//! The texts of hosts and their parts, and the limit of their length.
//!
//! The limit applies to texts that clients and devices send. A longer text that is stored already may stay, so that
//! the rest of the host can still be changed.

use crate::inventory::{Error, Problem};
use crate::model::{Host, HostPart, MAX_TEXT, Record, Text, for_each_part_type};

/// Limits the texts of a host and its parts. Texts of `before`, the host as stored, may have any length.
///
/// # Errors
/// `Invalid` with the path of the first text that is too long.
pub(in crate::inventory) fn check_host_texts(host: &Host, before: Option<&Host>) -> Result<(), Error> {
    let may_stay = |text: &str| before.is_some_and(|before| all_texts(before).any(|stored| stored == text));
    if let Some(field) = first_too_long(host.texts(), may_stay) {
        return Err(too_long(field));
    }
    for_each_part_type!(P => check_parts::<P>(host, may_stay)?);
    Ok(())
}

/// Limits the texts of a part of a host. Texts of `before`, the part as stored, may have any length.
///
/// # Errors
/// `Invalid` with the path of the first text that is too long.
pub(super) fn check_part_texts<P: Record>(part: &P, before: Option<&P>) -> Result<(), Error> {
    let is_in = |before: &P, text: &str| before.texts().any(|stored| stored.text == text);
    let may_stay = |text: &str| before.is_some_and(|before| is_in(before, text));
    first_too_long(part.texts(), may_stay).map_or(Ok(()), |field| Err(too_long(field)))
}

/// Returns whether a text has more than 65,536 characters.
pub(super) fn is_too_long(text: &str) -> bool {
    text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT
}

pub(super) fn too_long(field: impl Into<String>) -> Error {
    Error::invalid(field, Problem::MaxLength { max: MAX_TEXT })
}

fn check_parts<P: HostPart>(host: &Host, may_stay: impl Fn(&str) -> bool + Copy) -> Result<(), Error> {
    for (index, part) in P::list(host).iter().enumerate() {
        if let Some(field) = first_too_long(part.texts(), may_stay) {
            return Err(too_long(format!("{}.{index}.{field}", P::LIST)));
        }
    }
    Ok(())
}

/// Returns the path of the first text that is too long.
fn first_too_long<'t>(
    mut texts: impl Iterator<Item = Text<'t>>,
    may_stay: impl Fn(&str) -> bool,
) -> Option<String> {
    texts.find(|text| is_too_long(text.text) && !may_stay(text.text)).map(|text| text.path())
}

fn all_texts(host: &Host) -> impl Iterator<Item = &str> {
    let interfaces = host.interfaces.iter().flat_map(Record::texts);
    let services = host.services.iter().flat_map(Record::texts);
    let entries = host.if_entries.iter().flat_map(Record::texts);
    host.texts().chain(interfaces).chain(services).chain(entries).map(|text| text.text)
}
