#![allow(
    clippy::indexing_slicing,
    reason = "offsets in packed facets are those that `PackedFacets::pack` wrote"
)]

mod keys;
mod links;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use uuid::Uuid;

use self::keys::{SharedKeys, UniqueKeyGroup};
use self::links::{links_of, pack_links};
use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::store::index::interner::NameId;
use crate::store::index::rows::common_values::CommonValues;
use crate::store::index::terms::{pack_terms, terms_of};

/// The facets of one row in a single allocation.
///
/// A store of a million hosts holds a million of these, so they are packed: flags, numbers, the expiry if there is
/// one, sort keys, links, unique keys, terms. The numbers are the count of sort keys, the offset of the unique keys,
/// and the end of each sort key; each takes two bytes, or four in long facets. If there are terms, one more number at
/// the end is their offset.
///
/// A sort key that starts with the whole previous sort key shares its bytes: many hostnames start with the name of
/// the host. Terms that are parts of the stored sort keys share their bytes. An index snapshot shares the facets.
///
/// Links and terms are read with the common values of the same index, as of the time of packing or later.
#[derive(Clone, Debug)]
pub(in crate::store::index) struct PackedFacets(Arc<[u8]>);

const IS_WIDE: u8 = 1;
const EXPIRES: u8 = 2;
const HAS_TERMS: u8 = 4;
const NUMBERS: usize = 1;
const EXPIRY_SIZE: usize = 8;
/// Maximum number of bytes that a packed term takes beside its value. These are the mark and number of its name, and
/// its length.
const MAX_TERM_HEADER: usize = 1 + 3 + 1;

/// Size of a line of the processor's cache, in bytes.
const CACHE_LINE: usize = 64;

/// Places of the numbers.
const SORT_KEY_COUNT: usize = 0;
const UNIQUE_KEYS_START: usize = 1;
const SORT_KEY_ENDS: usize = 2;

/// Maximum length of facets, in bytes, whose numbers take two bytes. Longer facets have numbers of four bytes. The
/// lowest bit of a sort key's end is a flag.
const MAX_NARROW: usize = u16::MAX as usize / 2;

impl PackedFacets {
    /// Returns the length in bytes.
    pub(in crate::store::index) fn length(&self) -> usize {
        self.0.len()
    }

    /// Packs facets.
    ///
    /// `sort_keys` are in the table's order of sort names. `links` are sorted and without duplicates.
    /// `unique_keys` are in the order of name, length and value, without duplicates. `terms` are
    /// sorted and without duplicates.
    pub(in crate::store::index) fn pack(
        expires_at: Option<Timestamp>,
        sort_keys: &[&[u8]],
        links: &[(NameId, Uuid)],
        unique_keys: &[(NameId, &[u8])],
        terms: &[(NameId, &[u8])],
        common: &CommonValues,
    ) -> Self {
        let keys_length: usize = sort_keys.iter().map(|key| 4 + key.len()).sum();
        let unique_keys_length: usize =
            unique_keys.iter().map(|(_, value)| keys::MAX_HEADER + value.len()).sum();
        let terms_length: usize = terms.iter().map(|(_, value)| MAX_TERM_HEADER + value.len()).sum();
        let others_length = links.len() * links::MAX_LENGTH + unique_keys_length + terms_length;
        let max = NUMBERS + 3 * 4 + EXPIRY_SIZE + keys_length + others_length;
        let is_wide = max > MAX_NARROW;
        let width = if is_wide { 4 } else { 2 };
        let expiry_length = if expires_at.is_some() { EXPIRY_SIZE } else { 0 };
        let keys_start = NUMBERS + (SORT_KEY_ENDS + sort_keys.len()) * width + expiry_length;
        let keys = SharedKeys::new(sort_keys, keys_start);
        let mut packed_links = Vec::with_capacity(links.len() * links::MAX_LENGTH);
        pack_links(links, common, &mut packed_links);
        let unique_keys_start = keys.end + packed_links.len();

        let mut bytes = Vec::with_capacity(max);
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        let has_terms = !terms.is_empty();
        bytes.push(flag(IS_WIDE, is_wide) | flag(EXPIRES, expires_at.is_some()) | flag(HAS_TERMS, has_terms));
        let numbers = [sort_keys.len(), unique_keys_start].into_iter().chain(keys.ends);
        numbers.for_each(|number| push_number(&mut bytes, number, width));
        bytes.extend(expires_at.into_iter().flat_map(|time| time.unix_micros().to_le_bytes()));
        keys.stored.iter().for_each(|key| bytes.extend_from_slice(key));
        bytes.extend_from_slice(&packed_links);
        UniqueKeyGroup::write_all(unique_keys, &mut bytes);
        if has_terms {
            let start = bytes.len();
            let mut packed = Vec::with_capacity(terms_length);
            let text = &bytes[keys_start..keys.end];
            pack_terms(terms, text, common, &mut packed);
            bytes.extend_from_slice(&packed);
            push_number(&mut bytes, start, width);
        }
        Self(bytes.into())
    }

    /// Reads the first bytes, where the sort keys are, into the cache of the processor.
    ///
    /// The result has no meaning; a caller that uses it keeps the compiler from removing the reads.
    pub(in crate::store::index) fn read_ahead(&self) -> u8 {
        // Short facets end before the second line.
        let byte = |place| self.0.get(place).map_or(0, |byte| *byte);
        byte(0) ^ byte(CACHE_LINE)
    }

    pub(in crate::store::index) fn expires_at(&self) -> Option<Timestamp> {
        if !self.has(EXPIRES) {
            return None;
        }
        let start = NUMBERS + (SORT_KEY_ENDS + self.number(SORT_KEY_COUNT)) * self.width();
        let bytes = self.0[start..].first_chunk().copied().asserted_or_default();
        Timestamp::from_unix_micros(i64::from_le_bytes(bytes)).ok().asserted()
    }

    /// Returns the sort key at this place of the table's sort names. It is empty when the row has none.
    pub(in crate::store::index) fn sort_key(&self, slot: usize) -> &[u8] {
        // The width is decided once for all numbers: a page reads a hundred sort keys.
        if self.has(IS_WIDE) { self.sort_key_of_width::<4>(slot) } else { self.sort_key_of_width::<2>(slot) }
    }

    fn sort_key_of_width<const WIDTH: usize>(&self, slot: usize) -> &[u8] {
        let numbers = self.numbers::<WIDTH>();
        if slot >= number_at(numbers, SORT_KEY_COUNT) {
            return &[];
        }
        let last = number_at(numbers, SORT_KEY_ENDS + slot);
        let (mut before, mut end) = (slot, last);
        while before > 0 && SharedKeys::is_shared(end) {
            before -= 1;
            end = number_at(numbers, SORT_KEY_ENDS + before);
        }
        let start = match before.checked_sub(1) {
            Some(former) => SharedKeys::end(number_at(numbers, SORT_KEY_ENDS + former)),
            None => self.keys_end(0),
        };
        &self.0[start..SharedKeys::end(last)]
    }

    /// Iterates over the links, sorted.
    pub(in crate::store::index) fn links<'a>(
        &'a self,
        common: &'a CommonValues,
    ) -> impl Iterator<Item = (NameId, Uuid)> + 'a {
        links_of(self.links_bytes(), common)
    }

    /// Returns the number of bytes that packed links take.
    pub(in crate::store::index) fn links_length(&self) -> usize {
        self.links_bytes().len()
    }

    /// Returns the number of bytes that packed terms take.
    pub(in crate::store::index) fn terms_length(&self) -> usize {
        self.terms_bytes().len()
    }

    pub(in crate::store::index) fn unique_keys(&self) -> impl Iterator<Item = (NameId, &[u8])> {
        self.unique_key_groups().flat_map(|group| group.values().map(move |value| (group.name, value)))
    }

    /// Iterates over the unique keys that the other facets do not have.
    pub(in crate::store::index) fn unique_keys_beside<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (NameId, &'a [u8])> + 'a {
        // Most records keep all their unique keys on an update.
        let is_same = self.unique_keys_bytes() == other.unique_keys_bytes();
        let own = (!is_same).then(|| self.unique_keys()).into_iter().flatten();
        let mut others = other.unique_keys().peekable();
        let order = |(name, value): &(NameId, &'a [u8])| (*name, value.len(), *value);
        own.filter(move |key| {
            while others.next_if(|other| order(other) < order(key)).is_some() {}
            others.peek() != Some(key)
        })
    }

    pub(in crate::store::index) fn has_unique_key(&self, name: NameId, value: &[u8]) -> bool {
        self.unique_key_groups().any(|group| group.contains(name, value))
    }

    /// Iterates over the terms, sorted by name and value.
    pub(in crate::store::index) fn terms<'a>(
        &'a self,
        common: &'a CommonValues,
    ) -> impl Iterator<Item = (NameId, &'a [u8])> {
        terms_of(self.terms_bytes(), self.text(), common)
    }

    /// Iterates over the terms that the other facets do not have.
    pub(in crate::store::index) fn terms_beside<'a>(
        &'a self,
        other: Option<&'a Self>,
        common: &'a CommonValues,
    ) -> impl Iterator<Item = (NameId, &'a [u8])> + 'a {
        let mut others = other.into_iter().flat_map(|other| other.terms(common)).peekable();
        self.terms(common).filter(move |term| {
            while others.next_if(|other| other < term).is_some() {}
            others.peek() != Some(term)
        })
    }

    /// Returns whether the other facets have the same terms.
    pub(in crate::store::index) fn has_terms_of(&self, other: &Self, common: &CommonValues) -> bool {
        let packs_alike = self.terms_bytes() == other.terms_bytes() && self.text() == other.text();
        // Equal terms are packed differently with other sort keys, or if a value has become common in the meantime.
        packs_alike || self.terms(common).eq(other.terms(common))
    }

    /// Iterates over the links that the other facets do not have.
    pub(in crate::store::index) fn links_beside<'a>(
        &'a self,
        other: &'a Self,
        common: &'a CommonValues,
    ) -> impl Iterator<Item = (NameId, Uuid)> + 'a {
        let mut others = other.links(common).peekable();
        self.links(common).filter(move |link| {
            while others.next_if(|other| other < link).is_some() {}
            others.peek() != Some(link)
        })
    }

    /// Returns whether the other facets have the same links.
    pub(in crate::store::index) fn has_links_of(&self, other: &Self, common: &CommonValues) -> bool {
        // Equal links are packed differently if a target has become common in the meantime.
        self.links_bytes() == other.links_bytes() || self.links(common).eq(other.links(common))
    }

    fn unique_key_groups(&self) -> impl Iterator<Item = UniqueKeyGroup<'_>> {
        let mut bytes = self.unique_keys_bytes();
        std::iter::from_fn(move || {
            let (group, rest) = UniqueKeyGroup::read(bytes)?;
            bytes = rest;
            Some(group)
        })
    }

    fn unique_keys_bytes(&self) -> &[u8] {
        &self.0[self.number(UNIQUE_KEYS_START)..self.terms_start()]
    }

    /// Returns the stored sort keys, of which terms may be slices.
    fn text(&self) -> &[u8] {
        &self.0[self.keys_end(0)..self.keys_end(self.number(SORT_KEY_COUNT))]
    }

    fn terms_bytes(&self) -> &[u8] {
        if !self.has(HAS_TERMS) {
            return &[];
        }
        &self.0[self.terms_start()..self.0.len() - self.width()]
    }

    /// Returns where the unique keys end.
    fn terms_start(&self) -> usize {
        if !self.has(HAS_TERMS) {
            return self.0.len();
        }
        let number = &self.0[self.0.len() - self.width()..];
        number.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn links_bytes(&self) -> &[u8] {
        let start = self.keys_end(self.number(SORT_KEY_COUNT));
        &self.0[start..self.number(UNIQUE_KEYS_START)]
    }

    /// Returns where the first `count` sort keys end.
    fn keys_end(&self, count: usize) -> usize {
        match count.checked_sub(1) {
            Some(last) => SharedKeys::end(self.number(SORT_KEY_ENDS + last)),
            None => {
                let numbers = (SORT_KEY_ENDS + self.number(SORT_KEY_COUNT)) * self.width();
                NUMBERS + numbers + if self.has(EXPIRES) { EXPIRY_SIZE } else { 0 }
            }
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.0[0] & flag != 0
    }

    fn width(&self) -> usize {
        if self.has(IS_WIDE) { 4 } else { 2 }
    }

    fn number(&self, place: usize) -> usize {
        if self.has(IS_WIDE) {
            number_at(self.numbers::<4>(), place)
        } else {
            number_at(self.numbers::<2>(), place)
        }
    }

    /// Returns the numbers, followed by everything that is stored after them.
    fn numbers<const WIDTH: usize>(&self) -> &[[u8; WIDTH]] {
        self.0[NUMBERS..].as_chunks().0
    }
}

fn push_number(bytes: &mut Vec<u8>, number: usize, width: usize) {
    bytes.extend_from_slice(&(number as u32).to_le_bytes()[..width]);
}

fn number_at<const WIDTH: usize>(numbers: &[[u8; WIDTH]], place: usize) -> usize {
    numbers[place].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
