/// Figures of a store, for monitoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreFigures {
    /// Number of records; `None` if the store does not know it without counting.
    pub records: Option<u64>,
    /// Memory of the index in bytes, estimated from a sample of the records; `None` without an index in memory.
    pub index_bytes: Option<u64>,
}
