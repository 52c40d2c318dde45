use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::varint;

/// Unique keys of one name and one length in the packed facets of a row.
///
/// They are sorted, for binary search, and share one header. More than [`MAX_GROUP`] of them form several groups.
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
const MAX_GROUP: usize = u16::MAX as usize;

impl<'a> UniqueKeyGroup<'a> {
    /// Appends unique keys. They must be in the order of name, length and value, without duplicates.
    pub(super) fn write_all(unique_keys: &[(NameId, &[u8])], bytes: &mut Vec<u8>) {
        let alike = unique_keys.chunk_by(|left, right| left.0 == right.0 && left.1.len() == right.1.len());
        for group in alike.flat_map(|alike| alike.chunks(MAX_GROUP)) {
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

/// Sort keys in their stored form. A key that starts with the whole previous key shares its bytes.
#[derive(Debug)]
pub(super) struct SharedKeys<'a> {
    /// The bytes of each key that the previous key does not contain.
    pub(super) stored: Vec<&'a [u8]>,
    /// Twice the end of each key, plus one for a key that shares bytes. Such a key shares the bytes of the previous
    /// one.
    pub(super) ends: Vec<usize>,
    pub(super) end: usize,
}

impl<'a> SharedKeys<'a> {
    pub(super) fn new(keys: &[&'a [u8]], start: usize) -> Self {
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

    pub(super) const fn is_shared(end: usize) -> bool {
        end % 2 == 1
    }

    pub(super) const fn end(end: usize) -> usize {
        end / 2
    }
}
