use toposcope::store::{Facets, Key, Name, Record};
use uuid::Uuid;

use super::{WRITERS, Writer};
use crate::support::{Content, Kept};

/// The one record that all writers change; it holds the last batch in which each writer did so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger(pub(crate) Vec<u64>);

impl Ledger {
    pub(crate) const KEY: Key = Key::new(Name::new("ledger"), Uuid::from_u128(0xC000));

    pub(crate) fn of(writers: &[Writer]) -> Self {
        Self(writers.iter().map(|writer| writer.in_ledger).collect())
    }

    pub(crate) fn read(record: Option<&Record>) -> Self {
        let entries = record.map_or(&[][..], |record| &record.body).chunks_exact(8);
        let mut entries: Vec<u64> =
            entries.map(|entry| u64::from_le_bytes(entry.try_into().unwrap())).collect();
        entries.resize(WRITERS as usize, 0);
        Self(entries)
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        self.0.iter().flat_map(|entry| entry.to_le_bytes()).collect()
    }

    /// Returns the record, or `None` before the first write.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let content = Content::Given(self.body().into());
        self.0.iter().any(|entry| *entry > 0).then_some(Kept { facets: Facets::default(), content })
    }
}
