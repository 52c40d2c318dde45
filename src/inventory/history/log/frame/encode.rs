//! Encoding of bodies.

use bytes::Bytes;
use uuid::Uuid;

use super::{ENTRY_BITS, FORMAT, Former, HAS_CAUSE, HAS_REQUEST, HAS_VERSION, IS_ERASED};
use crate::inventory::Error;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, OrganizationId};

/// About the number of bytes of a commit in a directory, and of an entry without its name, for the capacity of buffers.
const PER_COMMIT: usize = 32;
const PER_ENTRY: usize = 24;

/// Encodes the body of a record that has entries of these commits. `end`: the place of the last entry of the slab, if it is a run.
///
/// All commits have the same organization, class, and audience as the record.
pub(in crate::inventory::history::log) fn encode(
    (organization, audience, class): (OrganizationId, Audience, Class),
    end: Option<Place>,
    commits: &[CommitChanges],
) -> Result<Bytes, Error> {
    let entries = || commits.iter().flat_map(|commit| &commit.entries);
    let names: usize = entries().map(|entry| entry.name.len()).sum();
    let contents: usize = entries().map(|entry| entry.content.len()).sum();
    let mut tables = Tables::default();
    let room = commits.len() * PER_COMMIT + entries().count() * PER_ENTRY + names;
    let mut directory = Vec::with_capacity(room);
    put_number(&mut directory, commits.len() as u64);
    let mut former = Former::default();
    for commit in commits {
        put_commit(commit, &mut former, &mut tables, &mut directory);
    }
    let mut body = Vec::with_capacity(256 + directory.len() + contents);
    body.push(FORMAT);
    body.extend_from_slice(organization.as_bytes());
    put_audience(audience, &mut body);
    body.push(match class {
        Class::Records => 0,
        Class::Security => 1,
    });
    body.push(u8::from(end.is_some()));
    end.iter().for_each(|end| put_place(*end, &mut body));
    tables.put(&mut body)?;
    put_text(&mut body, &directory);
    entries().for_each(|entry| body.extend_from_slice(&entry.content));
    Ok(body.into_boxed_slice().into())
}

/// The tables of values that many entries share.
#[derive(Debug, Default)]
struct Tables<'c> {
    actors: Vec<&'c ChangeActor>,
    kinds: Vec<(ChangeAction, ChangedEntity)>,
}

impl<'c> Tables<'c> {
    fn actor(&mut self, actor: &'c ChangeActor) -> usize {
        place_in(&mut self.actors, actor)
    }

    fn kind(&mut self, entry: &ChangeEntry) -> usize {
        place_in(&mut self.kinds, (entry.action, entry.entity))
    }

    fn put(&self, body: &mut Vec<u8>) -> Result<(), Error> {
        put_number(body, self.actors.len() as u64);
        for actor in &self.actors {
            put_text(body, &serde_json::to_vec(actor).map_err(Error::internal)?);
        }
        put_number(body, self.kinds.len() as u64);
        for (action, entity) in &self.kinds {
            put_text(body, action.as_str().as_bytes());
            put_text(body, entity.as_str().as_bytes());
        }
        Ok(())
    }
}

/// Returns the place of a value in a table, to which it is added if it is new. Most often it is that of the last entry.
fn place_in<T: PartialEq>(table: &mut Vec<T>, value: T) -> usize {
    table.iter().rposition(|known| *known == value).unwrap_or_else(|| {
        table.push(value);
        table.len() - 1
    })
}

fn put_commit<'c>(
    changes: &'c CommitChanges,
    former: &mut Former,
    tables: &mut Tables<'c>,
    directory: &mut Vec<u8>,
) {
    let CommitChanges { era, version, commit, count, at, actor, request_id, entries, .. } = changes;
    let has = |is_there: bool, bit| if is_there { bit } else { 0 };
    directory.push(has(version.is_some(), HAS_VERSION) | has(request_id.is_some(), HAS_REQUEST));
    put_number(directory, u64::from(era.wrapping_sub(former.era)));
    former.era = *era;
    if let Some(version) = version {
        put_number(directory, version.wrapping_sub(former.version));
        former.version = *version;
    }
    directory.extend_from_slice(&commit.to_le_bytes());
    put_number(directory, u64::from(*count));
    let at = at.unix_micros();
    put_number(directory, folded(at.wrapping_sub(former.at)));
    former.at = at;
    put_number(directory, tables.actor(actor) as u64);
    if let Some(request) = request_id {
        put_text(directory, request.as_bytes());
    }
    put_number(directory, entries.len() as u64);
    let mut next = 0_u32;
    for entry in entries {
        put_number(directory, u64::from(entry.number.wrapping_sub(next)));
        next = entry.number.wrapping_add(1);
        let bits = has(entry.is_erased, IS_ERASED) | has(entry.cause.is_some(), HAS_CAUSE);
        put_number(directory, (tables.kind(entry) as u64) << ENTRY_BITS | u64::from(bits));
        entry.cause.iter().for_each(|cause| put_place(*cause, directory));
        directory.extend_from_slice(entry.id.as_bytes());
        put_text(directory, entry.name.as_bytes());
        put_number(directory, entry.content.len() as u64);
    }
}

fn put_audience(audience: Audience, body: &mut Vec<u8>) {
    let (tag, id): (u8, Option<Uuid>) = match audience {
        Audience::Everyone => (0, None),
        Audience::Network(network) => (1, Some(network.uuid())),
        Audience::User(user) => (2, Some(user.uuid())),
        Audience::Admins => (3, None),
    };
    body.push(tag);
    id.iter().for_each(|id| body.extend_from_slice(id.as_bytes()));
}

fn put_place(place: Place, bytes: &mut Vec<u8>) {
    let Place { era, version, number, commit } = place;
    put_number(bytes, u64::from(era));
    put_number(bytes, version);
    put_number(bytes, u64::from(number));
    bytes.extend_from_slice(&commit.to_le_bytes());
}

/// Appends a number with seven bits in each byte.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text after its length.
fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Returns a number that is small if the absolute value of another one is.
const fn folded(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}
