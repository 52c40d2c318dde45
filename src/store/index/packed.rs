use std::sync::Arc;

use uuid::Uuid;

use super::interner::NameId;
use super::terms::{CommonValues, pack_terms, terms_of};
use super::unique_key_group::{GROUP_HEADER, UniqueKeyGroup};
use crate::model::Timestamp;

/// The facets of one row in a single allocation.
///
/// A store of a million hosts holds a million of these, so they are packed: flags, numbers, the expiry if there is
/// one, sort keys, links, unique keys, terms. The numbers are the count of sort keys, the offset of the unique keys,
/// and the end of each sort key; each takes two bytes, or four in long facets. If there are terms, one more number at
/// the end is their offset.
///
/// A sort key that starts with the whole previous sort key shares its bytes: many hostnames start with the name of
/// the host. Terms that are parts of the stored sort keys share their bytes. An index snapshot shares the facets.
#[derive(Clone, Debug)]
pub(super) struct PackedFacets(Arc<[u8]>);

const IS_WIDE: u8 = 1;
const EXPIRES: u8 = 2;
const HAS_TERMS: u8 = 4;
const NUMBERS: usize = 1;
const EXPIRY_SIZE: usize = 8;
/// Most bytes that a packed term takes beside its value: the mark and number of its name, and its length.
const MAX_TERM_HEADER: usize = 1 + 2 + 1;
const LINK_SIZE: usize = 2 + 16;

/// Places of the numbers.
const SORT_KEY_COUNT: usize = 0;
const UNIQUE_KEYS_START: usize = 1;
const SORT_KEY_ENDS: usize = 2;

/// Longer facets have numbers of four bytes. The lowest bit of a sort key's end is a flag.
const MAX_NARROW: usize = u16::MAX as usize / 2;

impl PackedFacets {
    /// Packs facets.
    ///
    /// `sort_keys` are in the table's order of sort names. `links` are sorted, so that equal facets pack equally.
    /// `unique_keys` are in the order of name, length and value, without duplicates. `terms` are
    /// sorted and without duplicates.
    pub(super) fn pack(
        expires_at: Option<Timestamp>,
        sort_keys: &[&[u8]],
        links: &[(NameId, Uuid)],
        unique_keys: &[(NameId, &[u8])],
        terms: &[(NameId, &[u8])],
        common: &CommonValues,
    ) -> Self {
        let keys_length: usize = sort_keys.iter().map(|key| 4 + key.len()).sum();
        let unique_keys_length: usize = unique_keys.iter().map(|(_, value)| GROUP_HEADER + value.len()).sum();
        let terms_length: usize = terms.iter().map(|(_, value)| MAX_TERM_HEADER + value.len()).sum();
        let others_length = links.len() * LINK_SIZE + unique_keys_length + terms_length;
        let most = NUMBERS + 3 * 4 + EXPIRY_SIZE + keys_length + others_length;
        let is_wide = most > MAX_NARROW;
        let width = if is_wide { 4 } else { 2 };
        let expiry_length = if expires_at.is_some() { EXPIRY_SIZE } else { 0 };
        let keys_start = NUMBERS + (SORT_KEY_ENDS + sort_keys.len()) * width + expiry_length;
        let keys = SharedKeys::new(sort_keys, keys_start);
        let unique_keys_start = keys.end + links.len() * LINK_SIZE;

        let mut bytes = Vec::with_capacity(most);
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        let has_terms = !terms.is_empty();
        bytes.push(flag(IS_WIDE, is_wide) | flag(EXPIRES, expires_at.is_some()) | flag(HAS_TERMS, has_terms));
        let numbers = [sort_keys.len(), unique_keys_start].into_iter().chain(keys.ends);
        numbers.for_each(|number| push_number(&mut bytes, number, width));
        bytes.extend(expires_at.into_iter().flat_map(|time| time.unix_micros().to_le_bytes()));
        keys.stored.iter().for_each(|key| bytes.extend_from_slice(key));
        for (relation, target) in links {
            bytes.extend_from_slice(&relation.to_le_bytes());
            bytes.extend_from_slice(target.as_bytes());
        }
        UniqueKeyGroup::write_all(unique_keys, &mut bytes);
        if has_terms {
            let start = bytes.len();
            let mut packed = Vec::with_capacity(terms_length);
            let text = bytes.get(keys_start..keys.end).unwrap_or_default();
            pack_terms(terms, text, common, &mut packed);
            bytes.extend_from_slice(&packed);
            push_number(&mut bytes, start, width);
        }
        Self(bytes.into())
    }

    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        if !self.has(EXPIRES) {
            return None;
        }
        let start = NUMBERS + (SORT_KEY_ENDS + self.number(SORT_KEY_COUNT)) * self.width();
        Timestamp::from_unix_micros(i64::from_le_bytes(self.array(start))).ok()
    }

    /// Returns the sort key at this place of the table's sort names; empty when the row has none.
    pub(super) fn sort_key(&self, slot: usize) -> &[u8] {
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
        self.0.get(start..SharedKeys::end(last)).unwrap_or_default()
    }

    pub(super) fn links(&self) -> impl Iterator<Item = (NameId, Uuid)> + '_ {
        self.links_bytes().chunks_exact(LINK_SIZE).filter_map(|link| {
            let (relation, target) = link.split_first_chunk::<2>()?;
            Some((NameId::from_le_bytes(*relation), Uuid::from_slice(target).ok()?))
        })
    }

    pub(super) fn unique_keys(&self) -> impl Iterator<Item = (NameId, &[u8])> {
        self.unique_key_groups().flat_map(|group| group.values().map(move |value| (group.name, value)))
    }

    /// Iterates over the unique keys that the other facets do not have.
    pub(super) fn unique_keys_beside<'a>(
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

    pub(super) fn has_unique_key(&self, name: NameId, value: &[u8]) -> bool {
        self.unique_key_groups().any(|group| group.contains(name, value))
    }

    /// Iterates over the terms, sorted by name and value.
    pub(super) fn terms<'a>(&'a self, common: &'a CommonValues) -> impl Iterator<Item = (NameId, &'a [u8])> {
        terms_of(self.terms_bytes(), self.text(), common)
    }

    /// Iterates over the terms that the other facets do not have.
    pub(super) fn terms_beside<'a>(
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
    pub(super) fn has_terms_of(&self, other: &Self, common: &CommonValues) -> bool {
        let packs_alike = self.terms_bytes() == other.terms_bytes() && self.text() == other.text();
        // Equal terms are packed differently with other sort keys, or if a value has become common in the meantime.
        packs_alike || self.terms(common).eq(other.terms(common))
    }

    /// Returns whether the other facets have the same links.
    pub(super) fn has_links_of(&self, other: &Self) -> bool {
        self.links_bytes() == other.links_bytes()
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
        self.0.get(self.number(UNIQUE_KEYS_START)..self.terms_start()).unwrap_or_default()
    }

    /// Returns the stored sort keys, of which terms may be slices.
    fn text(&self) -> &[u8] {
        self.0.get(self.keys_end(0)..self.keys_end(self.number(SORT_KEY_COUNT))).unwrap_or_default()
    }

    fn terms_bytes(&self) -> &[u8] {
        if !self.has(HAS_TERMS) {
            return &[];
        }
        self.0.get(self.terms_start()..self.0.len() - self.width()).unwrap_or_default()
    }

    /// Returns where the unique keys end.
    fn terms_start(&self) -> usize {
        if !self.has(HAS_TERMS) {
            return self.0.len();
        }
        let number = self.0.get(self.0.len() - self.width()..).unwrap_or_default();
        number.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn links_bytes(&self) -> &[u8] {
        let start = self.keys_end(self.number(SORT_KEY_COUNT));
        self.0.get(start..self.number(UNIQUE_KEYS_START)).unwrap_or_default()
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
        self.0.first().is_some_and(|flags| flags & flag != 0)
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

    /// Returns the numbers, followed by whatever is stored after them.
    fn numbers<const WIDTH: usize>(&self) -> &[[u8; WIDTH]] {
        self.0.get(NUMBERS..).unwrap_or_default().as_chunks().0
    }

    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
}

fn push_number(bytes: &mut Vec<u8>, number: usize, width: usize) {
    bytes.extend_from_slice((number as u32).to_le_bytes().get(..width).unwrap_or_default());
}

fn number_at<const WIDTH: usize>(numbers: &[[u8; WIDTH]], place: usize) -> usize {
    let bytes = numbers.get(place).copied().unwrap_or([0; WIDTH]);
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Sort keys in their stored form: a key that starts with the whole previous key shares its bytes.
#[derive(Debug)]
struct SharedKeys<'a> {
    /// The bytes of each key that the previous key does not contain.
    stored: Vec<&'a [u8]>,
    /// Twice the end of each key, plus one if the key shares the bytes of the previous one.
    ends: Vec<usize>,
    end: usize,
}

impl<'a> SharedKeys<'a> {
    fn new(keys: &[&'a [u8]], start: usize) -> Self {
        let mut shared =
            Self { stored: Vec::with_capacity(keys.len()), ends: Vec::with_capacity(keys.len()), end: start };
        let mut former: &[u8] = &[];
        for key in keys {
            let rest = key.strip_prefix(former).filter(|_| !former.is_empty());
            let stored = rest.unwrap_or(key);
            shared.end += stored.len();
            shared.stored.push(stored);
            shared.ends.push(2 * shared.end + usize::from(rest.is_some()));
            former = key;
        }
        shared
    }

    const fn is_shared(end: usize) -> bool {
        end % 2 == 1
    }

    const fn end(end: usize) -> usize {
        end / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type UniqueKeys<'a> = Vec<(NameId, &'a [u8])>;

    fn without_terms(
        sort_keys: &[&[u8]],
        links: &[(NameId, Uuid)],
        unique_keys: &[(NameId, &[u8])],
    ) -> PackedFacets {
        PackedFacets::pack(None, sort_keys, links, unique_keys, &[], &CommonValues::default())
    }

    /// Packs facets and asserts that everything can be read back.
    fn assert_comes_back(sort_keys: &[&[u8]], links: &[(NameId, Uuid)], unique_keys: &UniqueKeys<'_>) {
        for expires_at in [None, Some(Timestamp::UNIX_EPOCH.plus_micros(-1))] {
            let choices: [UniqueKeys<'_>; 3] =
                [vec![], vec![(1, b"a")], vec![(1, b""), (1, b"a"), (3, &[7; 64])]];
            for terms in choices {
                let common = CommonValues::default();
                let packed = PackedFacets::pack(expires_at, sort_keys, links, unique_keys, &terms, &common);
                assert_eq!(packed.expires_at(), expires_at);
                for (slot, key) in sort_keys.iter().enumerate() {
                    assert_eq!(packed.sort_key(slot), *key, "key {slot} of {sort_keys:?}");
                }
                assert_eq!(packed.sort_key(sort_keys.len()), b"");
                assert_eq!(packed.links().collect::<Vec<_>>(), links);
                assert_eq!(packed.unique_keys().collect::<UniqueKeys<'_>>(), *unique_keys);
                assert!(unique_keys.iter().all(|(name, value)| packed.has_unique_key(*name, value)));
                assert!(!packed.has_unique_key(7, b"never there"));
                assert_eq!(packed.terms(&common).collect::<UniqueKeys<'_>>(), terms);
            }
        }
    }

    #[test]
    fn sort_keys_come_back_whatever_they_share_with_those_before() {
        let keys: [&[u8]; 5] = [b"", b"a", b"ab", b"abc", b"b"];
        for number in 0..keys.len().pow(4) {
            let place = |digit: u32| keys[number / keys.len().pow(digit) % keys.len()];
            assert_comes_back(&[place(0), place(1), place(2), place(3)], &[], &vec![]);
        }
    }

    #[test]
    fn facets_come_back_whether_their_numbers_are_narrow_or_wide() {
        let links = [(1, Uuid::from_u128(1)), (2, Uuid::from_u128(0))];
        let unique_keys: UniqueKeys<'_> = vec![(1, b""), (1, b"\0"), (1, b"\x01"), (1, b"\0\0"), (3, b"\0")];
        let lengths = [0, 1, 300, 32_600, 32_700, 32_767, 32_768, 65_535, 65_536, 200_000];
        for length in lengths {
            let long = vec![b'a'; length];
            let longer = vec![b'a'; length + 1];
            assert_comes_back(&[], &[], &vec![]);
            assert_comes_back(&[&long], &links, &vec![]);
            assert_comes_back(&[b"b", &long, &longer, b"", b"c"], &links, &unique_keys);
        }
    }

    #[test]
    fn every_one_of_many_unique_keys_is_found_and_nothing_between_them() {
        const COUNT: u32 = 2 * u16::MAX as u32 + 2;
        let values: Vec<[u8; 4]> = (0..COUNT).map(|number| (3 * number + 1).to_be_bytes()).collect();
        let unique_keys: UniqueKeys<'_> = values.iter().map(|value| (5, value.as_slice())).collect();
        let packed = without_terms(&[], &[], &unique_keys);
        assert_eq!(packed.unique_keys().collect::<UniqueKeys<'_>>(), unique_keys);
        for number in 0..=3 * COUNT {
            assert_eq!(packed.has_unique_key(5, &number.to_be_bytes()), number % 3 == 1, "{number}");
        }
        assert!(!packed.has_unique_key(4, &1_u32.to_be_bytes()));
    }

    #[test]
    fn unique_keys_and_links_are_the_same_whatever_else_is_there() {
        let (links, unique_keys) = ([(1, Uuid::from_u128(1))], [(1, &b"value"[..])]);
        let packed = without_terms(&[b"key"], &links, &unique_keys);
        let (time, long, terms) = (Some(Timestamp::UNIX_EPOCH), [0; 100_000], [(1, &b"term"[..])]);
        let other =
            PackedFacets::pack(time, &[&long], &links, &unique_keys, &terms, &CommonValues::default());
        assert!(packed.unique_keys_beside(&other).next().is_none() && packed.has_links_of(&other));
        let other = without_terms(&[b"key"], &[(1, Uuid::nil())], &[(1, b"valuf")]);
        assert!(packed.unique_keys_beside(&other).eq(packed.unique_keys()) && !packed.has_links_of(&other));
    }

    #[test]
    fn terms_are_compared_by_value_where_the_sort_keys_that_they_share_differ() {
        let common = CommonValues::default();
        let packed =
            |key: &[u8], value: &[u8]| PackedFacets::pack(None, &[key], &[], &[], &[(1, value)], &common);
        let (old, renamed) = (packed(b"switch", b"switch"), packed(b"router", b"router"));
        assert!(!old.has_terms_of(&renamed, &common));
        assert!(renamed.terms_beside(Some(&old), &common).eq([(1, &b"router"[..])]));
        let kept = packed(b"router", b"switch");
        assert!(old.has_terms_of(&kept, &common) && kept.terms_beside(Some(&old), &common).next().is_none());
    }

    #[test]
    fn terms_are_the_same_also_where_their_values_have_become_common() {
        let terms = |name, value: &'static [u8]| [(1, &b"core"[..]), (name, value)];
        let none = CommonValues::default();
        let mut common = CommonValues::default();
        common.insert(b"core");
        let packed =
            |terms: &[(NameId, &[u8])], common| PackedFacets::pack(None, &[], &[], &[], terms, common);
        let old = packed(&terms(2, b"old"), &none);
        let same = packed(&terms(2, b"old"), &common);
        let new = packed(&terms(2, b"new"), &common);
        assert!(old.has_terms_of(&same, &common) && old.terms_beside(Some(&same), &common).next().is_none());
        assert!(!old.has_terms_of(&new, &common));
        assert!(old.terms_beside(Some(&new), &common).eq([(2, &b"old"[..])]));
        assert!(new.terms_beside(Some(&old), &common).eq([(2, &b"new"[..])]));
        assert!(new.terms_beside(None, &common).eq(terms(2, b"new")));
    }

    #[test]
    fn unique_keys_beside_those_of_another_are_the_difference_of_the_sets() {
        let values: Vec<Vec<u8>> =
            (0..6_u8).map(|number| vec![number; usize::from(number % 3) + 1]).collect();
        let chosen = |set: u32| {
            let keys = values.iter().enumerate().filter(|(place, _)| set & (1 << place) != 0);
            let mut keys: UniqueKeys<'_> =
                keys.map(|(place, value)| ((place % 2) as NameId, value.as_slice())).collect();
            keys.sort_unstable_by_key(|(name, value)| (*name, value.len(), *value));
            keys
        };
        for (left, right) in (0..64).flat_map(|left| (0..64).map(move |right| (left, right))) {
            let packed = |set| without_terms(&[], &[], &chosen(set));
            let difference: UniqueKeys<'_> = chosen(left & !right);
            let (left, right) = (packed(left), packed(right));
            assert_eq!(left.unique_keys_beside(&right).collect::<UniqueKeys<'_>>(), difference);
        }
    }
}
