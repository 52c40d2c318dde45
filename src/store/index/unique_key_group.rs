use super::names::NameId;

/// Unique keys of one name whose values have one length, as they stand in the packed facets of a row: sorted, so that one of
/// thousands is found quickly, and with name and length once for all. More than [`MOST`] are several groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct UniqueKeyGroup<'a> {
    pub(super) name: NameId,
    length: usize,
    count: usize,
    values: &'a [u8],
}

/// How many bytes a group takes beside its values.
pub(super) const GROUP_HEADER: usize = 2 + 2 + 2;

/// How many unique keys a group has at most.
const MOST: usize = u16::MAX as usize;

impl<'a> UniqueKeyGroup<'a> {
    /// Appends unique keys, which must be in the order of name, length and value, each once.
    pub(super) fn write_all(unique_keys: &[(NameId, &[u8])], bytes: &mut Vec<u8>) {
        let alike = unique_keys.chunk_by(|left, right| left.0 == right.0 && left.1.len() == right.1.len());
        for group in alike.flat_map(|alike| alike.chunks(MOST)) {
            let Some((name, first)) = group.first() else { continue };
            bytes.extend_from_slice(&name.to_le_bytes());
            bytes.extend_from_slice(&(first.len() as u16).to_le_bytes());
            bytes.extend_from_slice(&(group.len() as u16).to_le_bytes());
            group.iter().for_each(|(_, value)| bytes.extend_from_slice(value));
        }
    }

    /// The group that bytes begin with, and the bytes behind it.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (name, bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let (count, bytes) = bytes.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let count = usize::from(u16::from_le_bytes(*count));
        let (values, bytes) = bytes.split_at_checked(count * length)?;
        Some((Self { name: NameId::from_le_bytes(*name), length, count, values }, bytes))
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
        self.values.get(start..start + self.length).unwrap_or_default()
    }
}
