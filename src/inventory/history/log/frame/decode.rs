//! Decoding of bodies.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::{ENTRY_BITS, FORMAT, Former, Frame, HAS_CAUSE, HAS_REQUEST, HAS_VERSION, IS_ERASED, Selection};
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, NetworkId, OrganizationId, Timestamp, UserId};

/// Reads the selected entries of a body. Commits that do not know their version have that of the record.
///
/// `None`: the body is damaged.
pub(in crate::inventory::history::log) fn decode(
    body: &Bytes,
    version: u64,
    selection: &Selection,
) -> Option<Frame> {
    let mut rest = Rest(body);
    if rest.byte()? != FORMAT {
        return None;
    }
    let organization_id = OrganizationId::new(rest.id()?);
    let audience = audience(&mut rest)?;
    let class = match rest.byte()? {
        0 => Class::Records,
        1 => Class::Security,
        _ => return None,
    };
    let end = match rest.byte()? {
        0 => None,
        1 => Some(rest.place()?),
        _ => return None,
    };
    let (actors, kinds) = (actors(&mut rest)?, kinds(&mut rest)?);
    let mut directory = Rest(rest.text()?);
    let mut contents = Contents { body, place: body.len() - rest.0.len() };
    let mut former = Former::default();
    let mut commits = Vec::new();
    for _ in 0..directory.number()? {
        let head = CommitHead::read(&mut directory, &mut former)?;
        let version = head.version.unwrap_or(version);
        let place = |number| Place { era: head.era, version, number, commit: head.commit };
        let entries =
            entries(&mut directory, &mut contents, &kinds, |id, number| selection.has(id, place(number)))?;
        let actor = actors.get(head.actor)?;
        // A record that is not a run keeps its commit even if no entry is selected: the commit identifies it.
        if end.is_none() || !entries.is_empty() {
            commits.push(CommitChanges {
                organization_id,
                era: head.era,
                version: Some(version),
                commit: head.commit,
                count: head.count,
                at: head.at,
                actor: Arc::clone(actor),
                audience,
                class,
                request_id: head.request_id.map(str::to_owned),
                entries,
            });
        }
    }
    let is_whole = directory.0.is_empty() && contents.place == body.len();
    is_whole.then_some(Frame { organization_id, audience, class, end, commits })
}

fn audience(rest: &mut Rest<'_>) -> Option<Audience> {
    Some(match rest.byte()? {
        0 => Audience::Everyone,
        1 => Audience::Network(NetworkId::new(rest.id()?)),
        2 => Audience::User(UserId::new(rest.id()?)),
        3 => Audience::Admins,
        _ => return None,
    })
}

fn actors(rest: &mut Rest<'_>) -> Option<Vec<Arc<ChangeActor>>> {
    let count = rest.number()?;
    (0..count).map(|_| serde_json::from_slice(rest.text()?).ok().map(Arc::new)).collect()
}

fn kinds(rest: &mut Rest<'_>) -> Option<Vec<(ChangeAction, ChangedEntity)>> {
    let count = rest.number()?;
    (0..count).map(|_| Some((rest.string()?.parse().ok()?, rest.string()?.parse().ok()?))).collect()
}

/// The values of a commit in a directory, without its entries.
struct CommitHead<'b> {
    era: u32,
    version: Option<u64>,
    commit: u64,
    count: u32,
    at: Timestamp,
    /// The place of its actor in the table.
    actor: usize,
    request_id: Option<&'b str>,
}

impl<'b> CommitHead<'b> {
    fn read(directory: &mut Rest<'b>, former: &mut Former) -> Option<Self> {
        let bits = directory.byte()?;
        if bits & !(HAS_VERSION | HAS_REQUEST) != 0 {
            return None;
        }
        let has = |bit| bits & bit != 0;
        former.era = former.era.wrapping_add(directory.short_number()?);
        if has(HAS_VERSION) {
            former.version = former.version.wrapping_add(directory.number()?);
        }
        let (commit, count) = (directory.fixed_number()?, directory.short_number()?);
        former.at = former.at.wrapping_add(unfolded(directory.number()?));
        Some(Self {
            era: former.era,
            version: has(HAS_VERSION).then_some(former.version),
            commit,
            count,
            at: Timestamp::from_unix_micros(former.at).ok()?,
            actor: usize::try_from(directory.number()?).ok()?,
            request_id: if has(HAS_REQUEST) { Some(directory.string()?) } else { None },
        })
    }
}

/// Reads the selected ones of the entries of a commit, by their records and numbers.
fn entries(
    directory: &mut Rest<'_>,
    contents: &mut Contents<'_>,
    kinds: &[(ChangeAction, ChangedEntity)],
    is_selected: impl Fn(Uuid, u32) -> bool,
) -> Option<Vec<ChangeEntry>> {
    let mut selected = Vec::new();
    let mut next = 0_u32;
    for _ in 0..directory.number()? {
        let number = next.wrapping_add(directory.short_number()?);
        next = number.wrapping_add(1);
        let kind = directory.number()?;
        let (action, entity) = *kinds.get(usize::try_from(kind >> ENTRY_BITS).ok()?)?;
        let has = |bit| kind & u64::from(bit) != 0;
        let cause = if has(HAS_CAUSE) { Some(directory.place()?) } else { None };
        let (id, name) = (directory.id()?, directory.text()?);
        let content = contents.next(directory.number()?)?;
        if is_selected(id, number) {
            let name = std::str::from_utf8(name).ok()?.to_owned();
            let (content, is_erased) = (contents.body.slice(content), has(IS_ERASED));
            selected.push(ChangeEntry { number, action, entity, id, name, content, cause, is_erased });
        }
    }
    Some(selected)
}

/// The contents of a body, as far as the directory has not come to them.
struct Contents<'b> {
    body: &'b Bytes,
    place: usize,
}

impl Contents<'_> {
    /// Returns where the next content is, which has this length.
    fn next(&mut self, length: u64) -> Option<Range<usize>> {
        let end = self.place.checked_add(usize::try_from(length).ok()?)?;
        let start = std::mem::replace(&mut self.place, end);
        (end <= self.body.len()).then_some(start..end)
    }
}

/// The bytes that are still to be read.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn chunk<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*chunk)
    }

    fn id(&mut self) -> Option<Uuid> {
        self.chunk().map(Uuid::from_bytes)
    }

    fn fixed_number(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << place;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn short_number(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn place(&mut self) -> Option<Place> {
        Some(Place {
            era: self.short_number()?,
            version: self.number()?,
            number: self.short_number()?,
            commit: self.fixed_number()?,
        })
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn string(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.text()?).ok()
    }
}

const fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}
