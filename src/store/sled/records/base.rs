use super::super::codec::Reader;
use crate::store::StoreError;

/// Up to where the records have come, and what they are in all. Written in the same batch as what it tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store::sled) struct Base {
    /// The sequence of the last frame that is wholly in the records.
    pub(in crate::store::sled) applied: u64,
    /// The greatest version that was given by then.
    pub(in crate::store::sled) version: u64,
    /// The number of the last body that was written by then.
    pub(in crate::store::sled) body: u64,
    /// How many heads there are.
    pub(in crate::store::sled) heads: u64,
    /// The sum of their checksums: what is missing or from another time is noticed.
    pub(in crate::store::sled) sum: u64,
}

impl Base {
    pub(super) fn encode(&self) -> Vec<u8> {
        let fields = [self.applied, self.version, self.body, self.heads, self.sum];
        let mut bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        let mut reader = Reader(content);
        let mut field = || reader.u64();
        let base =
            Self { applied: field()?, version: field()?, body: field()?, heads: field()?, sum: field()? };
        let is_whole = crc32fast::hash(content).to_le_bytes() == *checksum;
        (is_whole && reader.0.is_empty()).then_some(base)
    }

    /// That what was found is what there is to be.
    pub(in crate::store::sled) fn require(self, found: Self) -> Result<Self, StoreError> {
        if found == self {
            return Ok(self);
        }
        Err(StoreError::corrupt(format!(
            "records are missing or from another time: there are {} of {}",
            found.heads, self.heads
        )))
    }

    /// Up to where both have come, with the greater of the numbers that were given.
    pub(in crate::store::sled) fn before(self, other: Self) -> Self {
        Self {
            applied: self.applied.min(other.applied),
            version: self.version.max(other.version),
            body: self.body.max(other.body),
            ..self
        }
    }

    /// Counts a head in.
    pub(in crate::store::sled) fn add(&mut self, checksum: u32) {
        self.heads = self.heads.wrapping_add(1);
        self.sum = self.sum.wrapping_add(u64::from(checksum));
    }

    /// Counts a head out.
    pub(in crate::store::sled) fn subtract(&mut self, checksum: u32) {
        self.heads = self.heads.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(u64::from(checksum));
    }

    /// Counts in what a change has counted in or out of the base of the records.
    pub(in crate::store::sled) const fn follow(&mut self, before: &Self, after: &Self) {
        self.heads = self.heads.wrapping_add(after.heads.wrapping_sub(before.heads));
        self.sum = self.sum.wrapping_add(after.sum.wrapping_sub(before.sum));
    }

    /// Returns whether another base counts the same heads.
    pub(in crate::store::sled) const fn counts_same(&self, other: &Self) -> bool {
        self.heads == other.heads && self.sum == other.sum
    }
}
