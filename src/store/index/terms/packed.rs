//! The packed form of terms in a row.
//!
//! Terms are sorted by name and value. A name is stored before its values: [`NAME`] and its number. A value is stored as
//! its length and its bytes, or as its number among the common values, in two bytes of which the first has its highest
//! bit set.

use super::CommonValues;
use crate::store::Term;
use crate::store::index::interner::NameId;

/// Marks a name. Greater than any length of a value.
const NAME: u8 = 0x7F;

const IS_COMMON: u16 = 1 << 15;

const _: () = assert!(Term::MAX_LENGTH < NAME as usize);

/// Packs terms, which must be sorted and without duplicates.
pub(in crate::store::index) fn pack_terms(terms: &[(NameId, &[u8])], common: &CommonValues) -> Vec<u8> {
    let mut bytes = Vec::new();
    for alike in terms.chunk_by(|left, right| left.0 == right.0) {
        let Some((name, _)) = alike.first() else { continue };
        bytes.push(NAME);
        bytes.extend_from_slice(&name.to_le_bytes());
        for (_, value) in alike {
            match common.number(value) {
                Some(number) => bytes.extend_from_slice(&(IS_COMMON | number).to_be_bytes()),
                None => {
                    bytes.push(value.len() as u8);
                    bytes.extend_from_slice(value);
                }
            }
        }
    }
    bytes
}

/// Iterates over packed terms.
pub(in crate::store::index) fn terms_of<'a>(
    mut bytes: &'a [u8],
    common: &'a CommonValues,
) -> impl Iterator<Item = (NameId, &'a [u8])> {
    let mut name = NameId::default();
    std::iter::from_fn(move || {
        let (mut first, mut rest) = bytes.split_first()?;
        if *first == NAME {
            let (number, after) = rest.split_first_chunk()?;
            name = NameId::from_le_bytes(*number);
            (first, rest) = after.split_first()?;
        }
        if let Some((number, after)) = bytes_of_number(*first, rest) {
            bytes = after;
            return Some((name, common.value(number)));
        }
        let (value, after) = rest.split_at_checked(usize::from(*first))?;
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
                let packed = pack_terms(&terms, &numbers);
                assert!(terms_of(&packed, &numbers).eq(terms));
            }
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
