use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::varint;

/// Unique keys of one name and one length in the packed facets of a row.
///
/// They are sorted, for binary search, and share one header. More than [`MOST`] of them form several groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct UniqueKeyGroup<'a> {
    pub(super) name: NameId,
    length: usize,
    count: usize,
    values: &'a [u8],
}

/// Maximum length of the header of a group, in bytes. The header holds the name, the length of a value, and the
/// number of values.
pub(super) const MAX_HEADER: usize = 3 * 3;

/// Maximum number of unique keys in a group.
const MOST: usize = u16::MAX as usize;

impl<'a> UniqueKeyGroup<'a> {
    /// Appends unique keys. They must be in the order of name, length and value, without duplicates.
    pub(super) fn write_all(unique_keys: &[(NameId, &[u8])], bytes: &mut Vec<u8>) {
        let alike = unique_keys.chunk_by(|left, right| left.0 == right.0 && left.1.len() == right.1.len());
        for group in alike.flat_map(|alike| alike.chunks(MOST)) {
            let Some((name, first)) = group.first() else { continue };
            let header = [usize::from(*name), first.len(), group.len()];
            header.into_iter().for_each(|number| varint::write(number as u32, bytes));
            group.iter().for_each(|(_, value)| bytes.extend_from_slice(value));
        }
    }

    /// Reads a group, and returns it with the bytes after it. `None` at the end.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (name, bytes) = varint::split(bytes)?;
        let (length, bytes) = varint::split(bytes).asserted()?;
        let (count, bytes) = varint::split(bytes).asserted()?;
        let (length, count) = (length as usize, count as usize);
        let (values, bytes) = bytes.split_at_checked(count * length).asserted()?;
        Some((Self { name: name as NameId, length, count, values }, bytes))
    }

    pub(super) fn values(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.count).map(move |place| self.value(place))
    }

    pub(super) fn contains(self, name: NameId, value: &[u8]) -> bool {
        if name != self.name || value.len() != self.length {
            return false;
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            if self.value(middle) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low < self.count && self.value(low) == value
    }

    fn value(self, place: usize) -> &'a [u8] {
        let start = place * self.length;
        &self.values[start..start + self.length]
    }
}
