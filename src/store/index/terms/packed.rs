//! The packed form of terms in a row.
//!
//! Terms are sorted by name and value. A name is stored before its values: [`NAME`] and its number. A value is stored
//! in the first of these forms that fits:
//!
//! - *common*: its number among the common values, in two bytes of which the first has its highest bit set;
//! - *slice*: [`SLICE_MARK`] plus its length, and its offset in the text of the row; a row has its name and its addresses as
//!   sort keys, and most of its rare words are parts of them;
//! - *verbatim*: its length and its bytes.

use crate::invariant::Invariant;
use crate::store::Term;
use crate::store::index::interner::NameId;
use crate::store::index::rows::common_values::CommonValues;
use crate::store::index::varint;

/// Mark of a name. It is greater than the length of any value.
const NAME: u8 = 0x7F;

const IS_COMMON: u16 = 1 << 15;

/// Number added to the length of a slice. The sum lies between the lengths of verbatim values and [`NAME`].
const SLICE_MARK: u8 = NAME - 1 - Term::MAX_LENGTH as u8;

/// Length of the shortest slice: a shorter value takes as few bytes verbatim.
const MIN_SLICE: usize = Term::MAX_LENGTH + 1 - SLICE_MARK as usize;

const _: () = assert!(Term::MAX_LENGTH < NAME as usize && MIN_SLICE > 1);

/// Appends terms, which must be sorted and without duplicates, for a row with this text.
pub(in crate::store::index) fn pack_terms(
    terms: &[(NameId, &[u8])],
    text: &[u8],
    common: &CommonValues,
    bytes: &mut Vec<u8>,
) {
    for alike in terms.chunk_by(|left, right| left.0 == right.0) {
        let Some((name, _)) = alike.first() else { continue };
        bytes.push(NAME);
        varint::write(u32::from(*name), bytes);
        for (_, value) in alike {
            match common.number(value) {
                Some(number) => bytes.extend_from_slice(&(IS_COMMON | number).to_be_bytes()),
                None => pack_rare(value, text, bytes),
            }
        }
    }
}

fn pack_rare(value: &[u8], text: &[u8], bytes: &mut Vec<u8>) {
    if let Some(offset) = offset_in(text, value) {
        bytes.extend_from_slice(&[SLICE_MARK + value.len() as u8, offset]);
        return;
    }
    bytes.push(value.len() as u8);
    bytes.extend_from_slice(value);
}

/// Returns where a value is in a text. Only its first 256 places are searched, so a long text takes no longer.
fn offset_in(text: &[u8], value: &[u8]) -> Option<u8> {
    if value.len() < MIN_SLICE {
        return None;
    }
    (0..=u8::MAX).zip(text.windows(value.len())).find(|(_, place)| *place == value).map(|(offset, _)| offset)
}

/// Iterates over the packed terms of a row with this text.
pub(in crate::store::index) fn terms_of<'a>(
    mut bytes: &'a [u8],
    text: &'a [u8],
    common: &'a CommonValues,
) -> impl Iterator<Item = (NameId, &'a [u8])> {
    let mut name = NameId::default();
    std::iter::from_fn(move || {
        let (mut first, mut rest) = bytes.split_first()?;
        if *first == NAME {
            let (number, after) = varint::split(rest).asserted()?;
            name = number as NameId;
            (first, rest) = after.split_first().asserted()?;
        }
        if let Some((number, after)) = bytes_of_number(*first, rest) {
            bytes = after;
            return Some((name, common.value(number)));
        }
        if usize::from(*first) > Term::MAX_LENGTH {
            let (offset, after) = rest.split_first().asserted()?;
            let (start, length) = (usize::from(*offset), usize::from(*first - SLICE_MARK));
            bytes = after;
            return Some((name, text.get(start..start + length).asserted()?));
        }
        let (value, after) = rest.split_at_checked(usize::from(*first)).asserted()?;
        bytes = after;
        Some((name, value))
    })
}

fn bytes_of_number(first: u8, rest: &[u8]) -> Option<(u16, &[u8])> {
    let (second, after) = rest.split_first()?;
    let number = u16::from_be_bytes([first, *second]);
    (number & IS_COMMON != 0).then_some((number & !IS_COMMON, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_whether_their_values_are_common_or_not() {
        let longest = [7; Term::MAX_LENGTH];
        let values = [&b""[..], b"\0", b"\0\0", b"core", b"core\0", &longest, b"\xff\xff"];
        for common in 0..1_u32 << values.len() {
            let mut numbers = CommonValues::default();
            let is_common = |place: &usize| common >> place & 1 == 1;
            (0..values.len()).filter(is_common).for_each(|place| numbers.insert(values[place]));
            for names in [&[3][..], &[0, 3, NameId::MAX]] {
                let terms = names.iter().flat_map(|name| values.map(|value| (*name, value)));
                let terms: Vec<(NameId, &[u8])> = terms.collect();
                for text in [&b""[..], b"core", b"--core\0--\0\0", &[7; 400]] {
                    let mut packed = Vec::new();
                    pack_terms(&terms, text, &numbers, &mut packed);
                    assert!(terms_of(&packed, text, &numbers).eq(terms.iter().copied()));
                }
            }
        }
    }

    #[test]
    fn values_that_are_parts_of_the_text_take_two_bytes_within_its_first_places() {
        let mut text = vec![b'-'; 600];
        for (place, value) in [(0, b"first"), (255, b"last."), (270, b"later")] {
            text[place..place + value.len()].copy_from_slice(value);
        }
        text[300..364].fill(b'+');
        let terms: [(NameId, &[u8]); 5] =
            [(1, b"fi"), (1, b"first"), (1, b"last."), (1, b"later"), (1, &[b'+'; 64])];
        let lengths = [3, 2, 2, 6, 65];
        for (term, length) in terms.into_iter().zip(lengths) {
            let mut packed = Vec::new();
            pack_terms(&[term], &text, &CommonValues::default(), &mut packed);
            assert_eq!(packed.len(), 2 + length, "{term:?}");
            assert!(terms_of(&packed, &text, &CommonValues::default()).eq([term]));
        }
    }

    #[test]
    fn common_values_keep_their_numbers_and_are_limited() {
        let mut numbers = CommonValues::default();
        (0..40_000_u32).for_each(|number| numbers.insert(&number.to_be_bytes()));
        for number in (0..40_000_u32).step_by(77) {
            let known = numbers.number(&number.to_be_bytes());
            assert_eq!(known.map(u32::from), Some(number).filter(|number| *number < 1 << 15));
            assert!(known.is_none_or(|known| numbers.value(known) == number.to_be_bytes()));
        }
    }
}
