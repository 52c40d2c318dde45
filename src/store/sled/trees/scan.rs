//! Scans over all headers or bodies of a copy, in batches.
//!
//! A batch is read under the database lock and passed on after the lock is released. So a callback may call any
//! method of either copy, and closing a copy waits for at most one batch.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use uuid::Uuid;

use super::database::{Database, damaged_file};
use super::layout::{self as keys, Manifest, ScanPosition};
use super::tree_copy::TreeCopy;
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordHeader, decode_header};
use crate::store::{Key, StoreError};

/// Maximum number of headers in a batch.
const MAX_HEADERS: usize = 128;

/// Maximum size of the headers in a batch, in bytes. A single header may be larger.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Maximum number of keys of bodies or pending deletes visited for a batch.
const MAX_KEYS: usize = 1024;

/// A batch of headers, in key order.
#[derive(Debug)]
pub(crate) struct HeaderBatch {
    /// Each key with its encoded header, which may be damaged.
    pub(crate) headers: Vec<(Key, Vec<u8>)>,
    /// Where the next batch begins; `None` if this is the last one.
    pub(crate) next: Result<Option<ScanPosition>, StoreError>,
}

impl TreeCopy {
    /// Calls `each` for every header, in key order, with its bytes, which may be damaged.
    ///
    /// # Errors
    /// The error of the first call of `each` that fails, and read errors.
    pub(crate) fn headers(
        &self,
        mut each: impl FnMut(Key, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut from = ScanPosition::before_headers();
        loop {
            let HeaderBatch { headers, next } = self.headers_from(&from);
            headers.iter().try_for_each(|(key, bytes)| each(*key, bytes))?;
            match next? {
                Some(next) => from = next,
                None => return Ok(()),
            }
        }
    }

    /// Reads the headers after a position. It ends at the maximum size of a batch or at the first unreadable header.
    pub(crate) fn headers_from(&self, from: &ScanPosition) -> HeaderBatch {
        let mut headers: Vec<(Key, Vec<u8>)> = Vec::new();
        let mut size = 0;
        let scanned = self.with(|database| {
            database.scan(keys::HEADERS, &from.0, |key, value| {
                let (key, _) =
                    keys::decode_header_key(key).ok_or_else(|| damaged_file("a key", &self.folder))?;
                let is_full = headers.len() >= MAX_HEADERS || size >= MAX_HEADER_BYTES;
                match headers.last_mut() {
                    Some((of, bytes)) if *of == key => bytes.extend_from_slice(value),
                    _ if is_full => return Ok(ControlFlow::Break(())),
                    _ => headers.push((key, value.to_vec())),
                }
                size += value.len();
                Ok(ControlFlow::Continue(()))
            })
        });
        let after_last = || headers.last().map(|(key, _)| ScanPosition::after_header(*key));
        let next = scanned.map(|end| if end.is_break() { after_last() } else { None });
        HeaderBatch { headers, next }
    }

    /// Reads the distinct body numbers after a position, and where the next batch begins.
    pub(crate) fn body_ids_from(
        &self,
        from: &ScanPosition,
    ) -> Result<(Vec<u64>, Option<ScanPosition>), StoreError> {
        let mut ids: Vec<u64> = Vec::new();
        let mut visited = 0;
        let end = self.with(|database| {
            database.scan(keys::BODIES, &from.0, |key, _| {
                if visited == MAX_KEYS {
                    return Ok(ControlFlow::Break(()));
                }
                visited += 1;
                let (id, _) =
                    keys::decode_body_key(key).ok_or_else(|| damaged_file("a key", &self.folder))?;
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        let after_last = || ids.last().map(|id| ScanPosition(keys::after_parts(keys::body_key(*id))));
        let next = if end.is_break() { after_last() } else { None };
        Ok((ids, next))
    }

    /// Returns all bodies that are to be deleted once no reader needs them.
    pub(crate) fn pending_deletes(&self) -> Result<Vec<BodyRef>, StoreError> {
        let mut pending_deletes = Vec::new();
        let mut from = keys::PENDING_DELETES.to_vec();
        loop {
            let mut visited = 0;
            let mut last = Vec::new();
            let end = self.with(|database| {
                database.scan(keys::PENDING_DELETES, &from, |key, value| {
                    if visited == MAX_KEYS {
                        return Ok(ControlFlow::Break(()));
                    }
                    visited += 1;
                    last = key.to_vec();
                    pending_deletes.extend(keys::decode_pending_delete(key, value));
                    Ok(ControlFlow::Continue(()))
                })
            })?;
            if end.is_continue() {
                return Ok(pending_deletes);
            }
            from = keys::after_parts(last);
        }
    }

    /// Returns whether a body is pending deletion.
    pub(crate) fn is_pending_delete(&self, id: u64) -> Result<bool, StoreError> {
        self.with(|database| Ok(database.get(&keys::pending_delete_key(id))?.is_some()))
    }

    /// Returns the manifest after checking every header against it.
    pub(crate) fn verified_manifest(&self) -> Result<Manifest, StoreError> {
        self.manifest()?.check(self.counted_manifest()?)
    }

    /// Returns the manifest with the record count and checksum sum of the headers present.
    pub(super) fn counted_manifest(&self) -> Result<Manifest, StoreError> {
        let mut manifest = Manifest { record_count: 0, checksum_sum: 0, ..self.manifest()? };
        self.headers(|key, bytes| {
            decode_header(key, bytes)?;
            manifest.count_in(RecordHeader::checksum(bytes));
            Ok(())
        })?;
        Ok(manifest)
    }

    /// Checks that every record has its intact body and no body is orphaned. It reads everything.
    ///
    /// # Errors
    /// `Corrupt` when a record is damaged or a body belongs to no record.
    pub(crate) fn check_all_records(&self) -> Result<(), StoreError> {
        let mut known = HashSet::new();
        self.headers(|key, bytes| {
            let body_ref = decode_header(key, bytes)?.body;
            known.insert(body_ref.id);
            self.stored_body(key, body_ref).map(|_| ())
        })?;
        known.extend(self.pending_deletes()?.iter().map(|pending| pending.id));
        let mut from = Some(ScanPosition::before_bodies());
        while let Some(begin) = from {
            let (ids, next) = self.body_ids_from(&begin)?;
            if ids.iter().any(|id| !known.contains(id)) {
                return Err(damaged_file("a body without a record", &self.folder));
            }
            from = next;
        }
        Ok(())
    }
}

/// Number of prefetch threads. A disk serves several reads in the time of one; more threads gain little.
const THREADS: usize = 8;

/// Number of ranges per kind. The ranges are small, so that the threads stay close ahead of the reader.
const RANGES_PER_KIND: u128 = 256;

/// The keys of some headers of one kind.
#[derive(Debug)]
struct KeyRange {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl TreeCopy {
    /// Runs `read`, while other threads load the pages ahead of it. `read` must read all headers in order.
    ///
    /// Headers are spread over the whole file. Without prefetching, a cold page cache costs one disk read after the
    /// other.
    pub(crate) fn with_prefetch<T>(&self, read: impl FnOnce() -> T) -> T {
        // Read errors are left to `read`, which meets them too.
        let key_ranges = self.with(key_ranges).unwrap_or_default();
        let (next, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
        let prefetch = || {
            while !is_done.load(Ordering::Relaxed)
                && let Some(range) = key_ranges.get(next.fetch_add(1, Ordering::Relaxed))
                && self.with(|database| database.load_range(&range.from, &range.to)).is_ok()
            {}
        };
        thread::scope(|scope| {
            for _ in 0..THREADS.min(key_ranges.len()) {
                // With fewer threads it only takes longer.
                let _ =
                    thread::Builder::new().name("toposcope-fetch".to_owned()).spawn_scoped(scope, prefetch);
            }
            let read = read();
            is_done.store(true, Ordering::Relaxed);
            read
        })
    }
}

/// Divides the headers of each kind into ranges between the lowest and the highest id.
///
/// The bounds matter because ids generated in sequence share their first bytes.
fn key_ranges(database: &Database) -> Result<Vec<KeyRange>, StoreError> {
    let mut key_ranges = Vec::new();
    let mut from = keys::HEADERS.to_vec();
    while let Some(first) = database.first_key_from(&from)?.as_deref().and_then(keys::decode_header_key) {
        let kind = first.0.kind;
        let end = keys::after_kind(kind);
        let last =
            database.last_key_before(&end)?.as_deref().and_then(keys::decode_header_key).unwrap_or(first);
        let (lowest, highest) = (first.0.id.as_u128(), last.0.id.as_u128());
        let step = (highest.saturating_sub(lowest) / RANGES_PER_KIND).max(1);
        let mut begin = keys::header_key(first.0);
        for begins in (1..RANGES_PER_KIND).map_while(|number| lowest.checked_add(step.checked_mul(number)?)) {
            let next = keys::header_key(Key::new(kind, Uuid::from_u128(begins)));
            key_ranges.push(KeyRange { from: std::mem::replace(&mut begin, next.clone()), to: next });
        }
        key_ranges.push(KeyRange { from: begin, to: end.clone() });
        from = end;
    }
    Ok(key_ranges)
}
