use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bytes::Bytes;

use super::super::blocking::Stop;
use super::super::codec::{Head, Place};
use super::super::folder::Folder;
use super::super::records::{Base, Records, damaged, read_head};
use crate::store::{Key, StoreError};

const UNREADABLE: &str = "the records cannot be read at all: what is left is an export, if there is one";

/// The copies of the records that can be opened.
pub(super) struct Sources(Vec<Source>);

/// What the copies have together.
pub(super) struct Saved {
    /// Up to where all of them have come, with the greatest numbers of any; `None` where that is not known.
    pub(super) base: Option<Base>,
    pub(super) heads: BTreeMap<Key, Head>,
    /// Records of which only that they are there can be read.
    pub(super) damaged: BTreeSet<Key>,
    /// Whether others may be missing, or some be older than they should.
    pub(super) is_behind: bool,
}

/// One copy.
struct Source {
    records: Records,
    base: Option<Base>,
    heads: BTreeMap<Key, Head>,
    damaged: BTreeSet<Key>,
    /// Whether it may lack bodies that are in the journal still.
    is_in_change: bool,
    /// Whether all heads were seen that there are to be, damaged or not.
    is_counted: bool,
}

impl Sources {
    pub(super) fn open(folder: &Folder, stop: &Stop) -> Result<Self, StoreError> {
        let copies = [folder.records(), folder.second_records()];
        let there = copies.iter().filter(|copy| copy.exists());
        let mut sources = Vec::new();
        let mut unreadable = StoreError::corrupt(UNREADABLE);
        for copy in there {
            let opened = Source::open(copy, stop);
            stop.check()?;
            match opened {
                Ok(source) => sources.push(source),
                Err(error) => unreadable = StoreError::corrupt(UNREADABLE).with_source(error),
            }
        }
        if sources.is_empty() { Err(unreadable) } else { Ok(Self(sources)) }
    }

    /// All of a copy that is whole, better of one that nobody was changing, or else the newest that any has of each record.
    pub(super) fn save(&mut self) -> Saved {
        let whole = self.0.iter_mut().filter(|source| source.is_counted && source.damaged.is_empty());
        if let Some(source) = whole.max_by_key(|source| (!source.is_in_change, source.applied())) {
            let heads = std::mem::take(&mut source.heads);
            return Saved { base: source.base, heads, damaged: BTreeSet::new(), is_behind: false };
        }
        let bases = self.0.iter().map(|source| source.base);
        let is_of_one_time = bases.clone().zip(bases.clone().skip(1)).all(|(one, next)| one == next);
        let is_behind = !is_of_one_time || !self.0.iter().all(|source| source.is_counted);
        let base = bases.reduce(|one, other| Some(one?.before(other?)));
        let mut saved =
            Saved { base: base.flatten(), heads: BTreeMap::new(), damaged: BTreeSet::new(), is_behind };
        for source in &mut self.0 {
            saved.damaged.append(&mut source.damaged);
            for (key, head) in std::mem::take(&mut source.heads) {
                let newest = saved.heads.entry(key).or_insert_with(|| head.clone());
                if newest.version < head.version {
                    *newest = head;
                }
            }
        }
        saved
    }

    /// The last sequence that any copy has.
    pub(super) fn applied(&self) -> u64 {
        self.0.iter().map(Source::applied).max().unwrap_or(0)
    }

    /// A body from wherever it is whole.
    pub(super) fn body(&self, key: Key, place: Place) -> Result<Bytes, StoreError> {
        self.0.iter().find_map(|source| source.records.body(key, place).ok()).ok_or_else(|| damaged(key))
    }

    pub(super) fn close(self) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|source| source.records.close())
    }
}

impl Source {
    fn open(copy: &Path, stop: &Stop) -> Result<Self, StoreError> {
        let records = Records::open_damaged(copy)?;
        let base = records.base().ok();
        let (mut heads, mut damaged) = (BTreeMap::new(), BTreeSet::new());
        let mut seen = Base { heads: 0, sum: 0, ..base.unwrap_or_default() };
        let gaps = records.readable_heads(|key, bytes| {
            stop.check()?;
            seen.add(Head::checksum(bytes));
            match read_head(key, bytes) {
                Ok(head) => {
                    heads.insert(key, head);
                }
                Err(_) => {
                    damaged.insert(key);
                }
            }
            Ok(())
        })?;
        let is_counted = gaps == 0 && base == Some(seen);
        let is_in_change = records.is_in_change();
        Ok(Self { records, base, heads, damaged, is_in_change, is_counted })
    }

    fn applied(&self) -> u64 {
        self.base.map_or(0, |base| base.applied)
    }
}
