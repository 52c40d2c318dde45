use std::sync::Arc;

use uuid::Uuid;

use super::names::NameId;
use crate::model::Timestamp;

/// The facets of one row in one allocation.
///
/// A store of a million hosts holds a million of these, so they are packed: a header of counts, the ends of the sort
/// keys, the sort keys, the links, the aliases. Offsets count from the beginning. A frozen index shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedFacets(Arc<[u8]>);

const NO_EXPIRY: i64 = i64::MIN;
const EXPIRY: usize = 0;
const SORT_KEYS: usize = EXPIRY + 8;
const LINKS: usize = SORT_KEYS + 2;
const HEADER: usize = LINKS + 4;
const LINK_SIZE: usize = 2 + 16;
const ALIAS_HEADER: usize = 2 + 2;

/// Where an alias stands in the packed bytes of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AliasOffset(pub(super) u32);

impl PackedFacets {
    /// `sort_keys` stand in the table's order of sort names; `links` must be sorted, so that equal facets pack equally.
    pub(super) fn pack<'a>(
        expires_at: Option<Timestamp>,
        sort_keys: &[&[u8]],
        links: &[(NameId, Uuid)],
        aliases: impl Iterator<Item = (NameId, &'a [u8])>,
    ) -> Self {
        let keys_length: usize = sort_keys.iter().map(|key| key.len() + 4).sum();
        let mut bytes = Vec::with_capacity(HEADER + keys_length + links.len() * LINK_SIZE);
        bytes.extend_from_slice(&expires_at.map_or(NO_EXPIRY, Timestamp::unix_micros).to_le_bytes());
        bytes.extend_from_slice(&(sort_keys.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&(links.len() as u32).to_le_bytes());
        let mut end = HEADER + sort_keys.len() * 4;
        for key in sort_keys {
            end += key.len();
            bytes.extend_from_slice(&(end as u32).to_le_bytes());
        }
        for key in sort_keys {
            bytes.extend_from_slice(key);
        }
        for (relation, target) in links {
            bytes.extend_from_slice(&relation.to_le_bytes());
            bytes.extend_from_slice(target.as_bytes());
        }
        for (name, value) in aliases {
            bytes.extend_from_slice(&name.to_le_bytes());
            bytes.extend_from_slice(&(value.len() as u16).to_le_bytes());
            bytes.extend_from_slice(value);
        }
        Self(bytes.into())
    }

    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        let micros = i64::from_le_bytes(self.array(EXPIRY));
        if micros == NO_EXPIRY { None } else { Timestamp::from_unix_micros(micros).ok() }
    }

    /// The sort key in this place of the table's sort names; empty when the row has none.
    pub(super) fn sort_key(&self, slot: usize) -> &[u8] {
        let count = self.sort_key_count();
        if slot >= count {
            return &[];
        }
        let start =
            if slot == 0 { HEADER + count * 4 } else { self.u32_at(HEADER + (slot - 1) * 4) as usize };
        let end = self.u32_at(HEADER + slot * 4) as usize;
        self.0.get(start..end).unwrap_or_default()
    }

    pub(super) fn links(&self) -> impl Iterator<Item = (NameId, Uuid)> + '_ {
        self.links_bytes().chunks_exact(LINK_SIZE).filter_map(|link| {
            let (relation, target) = link.split_first_chunk::<2>()?;
            Some((NameId::from_le_bytes(*relation), Uuid::from_slice(target).ok()?))
        })
    }

    pub(super) fn aliases(&self) -> impl Iterator<Item = (AliasOffset, NameId, &[u8])> + '_ {
        let mut offset = self.aliases_start();
        std::iter::from_fn(move || {
            let place = AliasOffset(u32::try_from(offset).ok()?);
            let (name, value) = self.alias(place)?;
            offset += ALIAS_HEADER + value.len();
            Some((place, name, value))
        })
    }

    pub(super) fn alias(&self, offset: AliasOffset) -> Option<(NameId, &[u8])> {
        let rest = self.0.get(offset.0 as usize..)?;
        let (name, rest) = rest.split_first_chunk::<2>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        Some((NameId::from_le_bytes(*name), rest.get(..usize::from(u16::from_le_bytes(*length)))?))
    }

    /// Whether these are the very links of the other.
    pub(super) fn has_links_of(&self, other: &Self) -> bool {
        self.links_bytes() == other.links_bytes()
    }

    /// Whether these are the very aliases of the other, at the same offsets.
    pub(super) fn has_aliases_of(&self, other: &Self) -> bool {
        let (own, others) = (self.aliases_start(), other.aliases_start());
        own == others && self.0.get(own..) == other.0.get(others..)
    }

    fn links_bytes(&self) -> &[u8] {
        self.0.get(self.links_start()..self.aliases_start()).unwrap_or_default()
    }

    fn sort_key_count(&self) -> usize {
        usize::from(u16::from_le_bytes(self.array(SORT_KEYS)))
    }

    fn links_start(&self) -> usize {
        match self.sort_key_count() {
            0 => HEADER,
            count => self.u32_at(HEADER + (count - 1) * 4) as usize,
        }
    }

    fn aliases_start(&self) -> usize {
        self.links_start() + self.u32_at(LINKS) as usize * LINK_SIZE
    }

    fn u32_at(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.array(offset))
    }

    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
}
