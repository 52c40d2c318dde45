use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use super::super::blocking::Cancellation;
use super::super::folder::Folder;
use super::super::trees::{HeaderBatch, Manifest, ScanPosition, TreeCopy};
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordHeader, damaged, decode_header};
use crate::store::{Key, StoreError};

const UNREADABLE: &str = "neither copy of the records can be read: restore an export into a new folder";

/// The copies that can be opened.
pub(super) struct Sources(Vec<Source>);

/// The combined contents of the copies.
pub(super) struct Salvaged {
    /// The lowest applied LSN and the highest numbers of any copy. `None`: a manifest is unreadable.
    pub(super) manifest: Option<Manifest>,
    pub(super) headers: BTreeMap<Key, RecordHeader>,
    /// Records whose key is readable, but whose header is damaged.
    pub(super) damaged: BTreeSet<Key>,
    /// Whether further records may be missing, or some may be older than their last commit.
    pub(super) is_behind: bool,
}

/// One copy.
struct Source {
    copy: TreeCopy,
    manifest: Option<Manifest>,
    headers: BTreeMap<Key, RecordHeader>,
    damaged: BTreeSet<Key>,
    /// Whether a change of this copy was interrupted. The copy may then lack bodies that are still in the write-ahead
    /// log.
    is_dirty: bool,
    /// Whether every header that the manifest counts was seen, damaged or not.
    has_all_records: bool,
}

impl Sources {
    pub(super) fn open(folder: &Folder, cancellation: &Cancellation) -> Result<Self, StoreError> {
        let copies = [folder.primary(), folder.mirror()];
        let existing = copies.iter().filter(|copy| copy.exists());
        let mut sources = Vec::new();
        let mut unreadable = StoreError::corrupt(UNREADABLE);
        for copy in existing {
            let opened = Source::open(copy, cancellation);
            cancellation.check()?;
            match opened {
                Ok(source) => sources.push(source),
                Err(error) => unreadable = StoreError::corrupt(UNREADABLE).with_source(error),
            }
        }
        if sources.is_empty() { Err(unreadable) } else { Ok(Self(sources)) }
    }

    /// Takes all headers of an intact copy, if there is one. Otherwise takes the newest version of each record from
    /// any copy.
    ///
    /// Of two intact copies, a clean one is preferred, then the one with the higher LSN.
    pub(super) fn salvage(&mut self) -> Salvaged {
        let intact = self.0.iter_mut().filter(|source| source.has_all_records && source.damaged.is_empty());
        if let Some(source) = intact.max_by_key(|source| (!source.is_dirty, source.applied())) {
            let headers = std::mem::take(&mut source.headers);
            return Salvaged {
                manifest: source.manifest,
                headers,
                damaged: BTreeSet::new(),
                is_behind: false,
            };
        }
        let manifests = self.0.iter().map(|source| source.manifest);
        let have_same_manifest =
            manifests.clone().zip(manifests.clone().skip(1)).all(|(one, next)| one == next);
        let is_behind = !have_same_manifest || !self.0.iter().all(|source| source.has_all_records);
        let manifest = manifests.reduce(|one, other| Some(one?.combine(other?)));
        let mut salvaged = Salvaged {
            manifest: manifest.flatten(),
            headers: BTreeMap::new(),
            damaged: BTreeSet::new(),
            is_behind,
        };
        for source in &mut self.0 {
            salvaged.damaged.append(&mut source.damaged);
            for (key, header) in std::mem::take(&mut source.headers) {
                let newest = salvaged.headers.entry(key).or_insert_with(|| header.clone());
                if newest.version < header.version {
                    *newest = header;
                }
            }
        }
        salvaged
    }

    /// Returns the highest LSN that any copy has applied.
    pub(super) fn applied(&self) -> u64 {
        self.0.iter().map(Source::applied).max().unwrap_or(0)
    }

    /// Returns a body from any copy where it is intact.
    pub(super) fn stored_body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        self.0
            .iter()
            .find_map(|source| source.copy.stored_body(key, body_ref).ok())
            .ok_or_else(|| damaged(key))
    }

    pub(super) fn close(self) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|source| source.copy.close())
    }
}

impl Source {
    fn open(copy: &Path, cancellation: &Cancellation) -> Result<Self, StoreError> {
        let opened = open_damaged(copy)?;
        let manifest = opened.manifest().ok();
        let (mut headers, mut damaged) = (BTreeMap::new(), BTreeSet::new());
        let mut seen = Manifest { record_count: 0, checksum_sum: 0, ..manifest.unwrap_or_default() };
        let gaps = readable_headers(&opened, |key, bytes| {
            cancellation.check()?;
            seen.count_in(RecordHeader::checksum(bytes));
            match decode_header(key, bytes) {
                Ok(header) => {
                    headers.insert(key, header);
                }
                Err(_) => {
                    damaged.insert(key);
                }
            }
            Ok(())
        })?;
        let has_all_records = gaps == 0 && manifest == Some(seen);
        let is_dirty = opened.is_dirty();
        Ok(Self { copy: opened, manifest, headers, damaged, is_dirty, has_all_records })
    }

    fn applied(&self) -> u64 {
        self.manifest.map_or(0, |manifest| manifest.applied_lsn)
    }
}

/// Opens a copy that may be damaged. If it does not open with sled's index snapshots, it is opened without them.
fn open_damaged(folder: &Path) -> Result<TreeCopy, StoreError> {
    if TreeCopy::open(folder).and_then(|copy| copy.close()).is_err() {
        remove_snapshots(folder).map_err(|error| {
            let text = format!("the records in {} cannot be read", folder.display());
            StoreError::unavailable(text).with_source(error)
        })?;
    }
    TreeCopy::open(folder)
}

/// Calls `each` for every readable header, valid or not. Returns the number of unreadable gaps.
///
/// # Errors
/// The error of the first call of `each` that fails.
fn readable_headers(
    copy: &TreeCopy,
    mut each: impl FnMut(Key, &[u8]) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let mut gaps = 0;
    let mut from = ScanPosition::before_headers();
    loop {
        let HeaderBatch { headers, next } = copy.headers_from(&from);
        headers.iter().try_for_each(|(key, bytes)| each(*key, bytes))?;
        let next = next.unwrap_or_else(|_| {
            gaps += 1;
            // Resumes after the last header that was read; if none was read, a little further on.
            headers.last().map_or(from, |(key, _)| ScanPosition::at_header(*key)).skip_ahead()
        });
        match next {
            Some(next) => from = next,
            None => return Ok(gaps),
        }
    }
}

fn remove_snapshots(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
