//! Saves what can be saved out of a folder that does not open any more.

mod sources;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use self::sources::Sources;
use super::blocking::Stop;
use super::codec::Head;
use super::folder::{Folder, sync_directory};
use super::journal::{Change, Journal, Recovered, first_sequence, recover};
use super::private;
use super::records::{Base, Records};
use super::witness::Witness;
use super::writer::Writer;
use crate::store::index::Loader;
use crate::store::{Key, StoreError, Version};

/// How many records are named one by one.
const NAMED: usize = 100;

/// By how much the numbers go on that may have been given to what is lost.
const LEAP: u64 = 1 << 32;

/// What [`SledStore::repair`](super::SledStore::repair) has saved, and what not.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repair {
    /// How many records were saved. Each is as it was once acknowledged.
    pub records: u64,
    /// How many records were seen that could not be saved.
    pub damaged_count: u64,
    /// The first hundred of them.
    pub damaged: Vec<Key>,
    /// Whether anything else is missing: records of which nothing was seen any more, or commits, so that records that were
    /// saved may be older than the newest acknowledged, and some may be there that were deleted.
    pub is_behind: bool,
}

impl Repair {
    /// Whether everything was saved that was ever acknowledged.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.damaged_count == 0 && !self.is_behind
    }

    fn leave_out(&mut self, key: Key) {
        self.damaged_count += 1;
        if self.damaged.len() < NAMED {
            self.damaged.push(key);
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, damaged_count, damaged, is_behind } = self;
        write!(formatter, "{records} records saved, {damaged_count} damaged")?;
        formatter.write_str(if *is_behind { ", and others or newer ones lost" } else { "" })?;
        damaged.iter().try_for_each(|key| write!(formatter, "\n{key} is damaged"))
    }
}

/// A record that was found, with its body if that stands in the journal.
type Found = (Head, Option<Bytes>);

/// Repairs a folder, blocking. Takes nothing away before the last step, and can be stopped up to there.
pub(super) fn repair(path: &Path, stop: &Stop) -> Result<Repair, StoreError> {
    let folder = Folder::take_damaged(path)?;
    let unusable = |error: io::Error| {
        StoreError::unavailable(format!("{} cannot be repaired", path.display())).with_source(error)
    };
    set_aside(&folder).map_err(unusable)?;
    stop.check()?;
    let mut witness = Witness::open(&folder.witness()).map_err(unusable)?;
    let acknowledged = witness.read().map_err(unusable)?;
    let mut journal = Journal::open(path, true).map_err(unusable)?;

    let mut sources = Sources::open(&folder, stop)?;
    let saved = sources.save();
    let base = saved.base;
    let mut found: BTreeMap<Key, Found> =
        saved.heads.into_iter().map(|(key, head)| (key, (head, None))).collect();
    let recovered = read_journal(&mut journal, base, &mut found).map_err(unusable)?;
    let sequence = recovered.last.max(acknowledged.unwrap_or(0)).max(sources.applied());
    let is_behind = saved.is_behind || recovered.has_gap || recovered.last < sequence;
    let mut repair = Repair { is_behind: is_behind || acknowledged.is_none(), ..Repair::default() };
    saved.damaged.into_iter().filter(|key| !found.contains_key(key)).for_each(|key| repair.leave_out(key));
    leave_out_rivals(&mut found, &mut repair);

    let numbers = numbers_after(base, &found, &recovered, sequence, &repair);
    let new = Records::open(&folder.new_records())?;
    write_records(&sources, &new, found, numbers, &mut repair, stop)?;
    sources.close()?;
    new.close()?;
    put_in_place(&folder).map_err(unusable)?;
    journal.clear().map_err(unusable)?;
    witness.write(sequence).and_then(|()| witness.sync()).map_err(unusable)?;
    folder.write_format().map_err(unusable)?;
    folder.release();
    Ok(repair)
}

/// Keeps the records as they are, since already to open them changes them.
fn set_aside(folder: &Folder) -> io::Result<()> {
    let (records, aside) = (folder.records(), folder.damaged_records());
    if !records.exists() {
        // A repair was broken off between its last two steps, or only the second copy is left.
        return if aside.exists() { copy_files(&aside, &records) } else { Ok(()) };
    }
    if aside.exists() {
        fs::remove_dir_all(&aside)?;
    }
    copy_files(&records, &aside)
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    private::create_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    sync_directory(to)
}

/// Carries out what the journal holds, as much of it as follows without a gap.
fn read_journal(
    journal: &mut Journal,
    base: Option<Base>,
    found: &mut BTreeMap<Key, Found>,
) -> io::Result<Recovered> {
    let first = first_sequence(journal)?;
    let applied = base.map_or(0, |base| base.applied);
    let begins_late = first.is_some_and(|first| first > applied + 1);
    let from = if begins_late { first.unwrap_or(1) - 1 } else { applied };
    let mut recovered = recover(journal, from)?;
    recovered.has_gap |= begins_late;
    for replayed in std::mem::take(&mut recovered.batches) {
        let mut facets = replayed.facets.into_iter();
        for (key, change) in replayed.accepted.changes {
            match change {
                Change::Delete => {
                    found.remove(&key);
                }
                Change::Put { place, body, .. } => {
                    let facets = facets.next().unwrap_or_default();
                    let head = Head { version: replayed.accepted.version, body: place, facets };
                    found.insert(key, (head, Some(body)));
                }
            }
        }
    }
    Ok(recovered)
}

/// Of records that claim one unique key, which are from different times then, the newest stays.
fn leave_out_rivals(found: &mut BTreeMap<Key, Found>, repair: &mut Repair) {
    let mut keys: Vec<(Reverse<Version>, Key)> =
        found.iter().map(|(key, (head, _))| (Reverse(head.version), *key)).collect();
    keys.sort_unstable();
    let mut loader = Loader::default();
    for (_, key) in keys {
        let Some((head, _)) = found.get(&key) else { continue };
        if loader.add(key, head.version, &head.facets).is_err() {
            found.remove(&key);
            repair.leave_out(key);
        }
    }
}

/// Where the numbering goes on: behind whatever was given, also to what is lost.
fn numbers_after(
    base: Option<Base>,
    found: &BTreeMap<Key, Found>,
    recovered: &Recovered,
    sequence: u64,
    repair: &Repair,
) -> Base {
    let base = base.unwrap_or_default();
    // By one at least, so that the second copy is told from this and made anew.
    let leap = if repair.is_behind { LEAP } else { 1 };
    let heads = || found.values().map(|(head, _)| head);
    let version = heads().map(|head| head.version.0).fold(base.version, u64::max).max(recovered.version);
    let body = heads().map(|head| head.body.id).fold(base.body, u64::max).max(recovered.body);
    Base {
        applied: sequence,
        version: version.saturating_add(leap),
        body: body.saturating_add(leap),
        heads: 0,
        sum: 0,
    }
}

fn write_records(
    sources: &Sources,
    new: &Records,
    found: BTreeMap<Key, Found>,
    base: Base,
    repair: &mut Repair,
    stop: &Stop,
) -> Result<(), StoreError> {
    let mut writer = Writer::new(new, base, false);
    for (key, (head, body)) in found {
        stop.check()?;
        let Ok(body) = body.map_or_else(|| sources.body(key, head.body), Ok) else {
            repair.leave_out(key);
            continue;
        };
        writer.write(key, &Change::Put { head: head.encode(key).into(), place: head.body, body })?;
        repair.records += 1;
    }
    writer.finish(base.applied, base.version, base.body)
}

fn put_in_place(folder: &Folder) -> io::Result<()> {
    if folder.records().exists() {
        fs::remove_dir_all(folder.records())?;
    }
    fs::rename(folder.new_records(), folder.records())?;
    sync_directory(folder.path())
}
