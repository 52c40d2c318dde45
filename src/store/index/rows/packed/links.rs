//! The packed form of links in a row.
//!
//! A link is stored as its relation with a flag, and its target. A common target, such as a tag of many hosts, is
//! stored as its number of two bytes, any other target as an id of 16 bytes.

use uuid::Uuid;

use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::rows::common_values::CommonValues;
use crate::store::index::varint;

/// Set beside the relation if the number of a common target follows.
const IS_COMMON: u32 = 1;

/// Maximum length of a packed link in bytes.
pub(super) const MAX_LENGTH: usize = 3 + 16;

/// Appends links.
pub(super) fn pack_links(links: &[(NameId, Uuid)], common: &CommonValues, bytes: &mut Vec<u8>) {
    for (relation, target) in links {
        let relation = u32::from(*relation) << 1;
        match common.number(target.as_bytes()) {
            Some(number) => {
                varint::write(relation | IS_COMMON, bytes);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            None => {
                varint::write(relation, bytes);
                bytes.extend_from_slice(target.as_bytes());
            }
        }
    }
}

/// Iterates over packed links.
pub(super) fn links_of<'a>(
    mut bytes: &'a [u8],
    common: &'a CommonValues,
) -> impl Iterator<Item = (NameId, Uuid)> + 'a {
    std::iter::from_fn(move || {
        let (relation, target) = varint::split(bytes)?;
        let (target, rest) = if relation & IS_COMMON == 0 {
            target.split_at_checked(size_of::<Uuid>()).asserted()?
        } else {
            let (number, rest) = target.split_first_chunk().asserted()?;
            (common.value(u16::from_le_bytes(*number)), rest)
        };
        bytes = rest;
        Some(((relation >> 1) as NameId, Uuid::from_slice(target).ok().asserted()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_back_whether_their_targets_are_common_or_not() {
        let targets = [0, 1, u128::MAX].map(Uuid::from_u128);
        let links: Vec<(NameId, Uuid)> = [0, 3, 200, NameId::MAX]
            .iter()
            .flat_map(|relation| targets.map(|target| (*relation, target)))
            .collect();
        for chosen in 0..1_u8 << targets.len() {
            let mut common = CommonValues::default();
            let is_common = |place: &usize| chosen >> place & 1 == 1;
            (0..targets.len()).filter(is_common).for_each(|place| common.insert(targets[place].as_bytes()));
            let mut packed = Vec::new();
            pack_links(&links, &common, &mut packed);
            assert!(links_of(&packed, &common).eq(links.iter().copied()));
            assert!(packed.len() <= links.len() * MAX_LENGTH);
        }
    }
}
