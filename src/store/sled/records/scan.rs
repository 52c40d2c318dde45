//! Scans that read the records piece by piece.
//!
//! A piece is read under the lock of the medium and handed over after the lock was released. So a callback may call any
//! method of any copy, and closing a copy never waits for more than one piece.

use std::ops::ControlFlow;

use super::super::codec::Place;
use super::{Records, guard, keys};
use crate::store::{Key, StoreError};

/// The most heads of a piece.
const HEADS: usize = 128;

/// The most bytes of the heads of a piece, unless a single head is larger.
const HEAD_BYTES: usize = 1 << 20;

/// The most keys of bodies or graves that are visited for a piece.
const KEYS: usize = 1024;

/// A position in the order of the keys, between two entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store::sled) struct Cursor(Vec<u8>);

/// Some heads, in the order of their keys.
#[derive(Debug)]
pub(in crate::store::sled) struct Heads {
    /// Each key with the bytes of its head, which may be damaged.
    pub(in crate::store::sled) heads: Vec<(Key, Vec<u8>)>,
    /// Where the next piece begins; `None` when this is the last.
    pub(in crate::store::sled) next: Result<Option<Cursor>, StoreError>,
}

impl Cursor {
    /// The position before the first head.
    pub(in crate::store::sled) fn before_heads() -> Self {
        Self(keys::HEADS.to_vec())
    }

    /// The position before the head of a record.
    pub(super) fn at_head(key: Key) -> Self {
        Self(keys::head(key))
    }

    /// The position behind the head of a record.
    pub(in crate::store::sled) fn behind_head(key: Key) -> Self {
        Self(keys::behind_parts(keys::head(key)))
    }

    /// The position before the first body.
    pub(in crate::store::sled) fn before_bodies() -> Self {
        Self(keys::BODIES.to_vec())
    }

    /// Returns whether the head of a record lies before this position.
    pub(in crate::store::sled) fn is_behind(&self, key: Key) -> bool {
        self.0 > keys::head(key)
    }

    /// The same position somewhat further on, for a scan to leave out what cannot be read.
    pub(super) fn skip(&self) -> Option<Self> {
        keys::further(&self.0).map(Self)
    }
}

impl Records {
    /// Calls `each` for every head, in the order of the keys, with its bytes, which may be damaged.
    ///
    /// # Errors
    /// That of the first call that fails, and those of reading.
    pub(in crate::store::sled) fn heads(
        &self,
        mut each: impl FnMut(Key, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut from = Cursor::before_heads();
        loop {
            let Heads { heads, next } = self.heads_from(&from);
            heads.iter().try_for_each(|(key, bytes)| each(*key, bytes))?;
            match next? {
                Some(next) => from = next,
                None => return Ok(()),
            }
        }
    }

    /// Reads the heads that follow a position, up to the size of a piece or to the first that cannot be read.
    pub(in crate::store::sled) fn heads_from(&self, from: &Cursor) -> Heads {
        let mut heads: Vec<(Key, Vec<u8>)> = Vec::new();
        let mut size = 0;
        let scanned = self.with(|medium| {
            medium.scan(keys::HEADS, &from.0, |key, value| {
                let (key, _) = keys::read_head(key).ok_or_else(|| guard::damaged("a key", &self.folder))?;
                let is_full = heads.len() >= HEADS || size >= HEAD_BYTES;
                match heads.last_mut() {
                    Some((of, bytes)) if *of == key => bytes.extend_from_slice(value),
                    _ if is_full => return Ok(ControlFlow::Break(())),
                    _ => heads.push((key, value.to_vec())),
                }
                size += value.len();
                Ok(ControlFlow::Continue(()))
            })
        });
        let behind_last = || heads.last().map(|(key, _)| Cursor::behind_head(*key));
        let next = scanned.map(|end| if end.is_break() { behind_last() } else { None });
        Heads { heads, next }
    }

    /// Reads the numbers of the bodies that follow a position, each once, and where the next piece begins.
    pub(in crate::store::sled) fn bodies_from(
        &self,
        from: &Cursor,
    ) -> Result<(Vec<u64>, Option<Cursor>), StoreError> {
        let mut ids: Vec<u64> = Vec::new();
        let mut visited = 0;
        let end = self.with(|medium| {
            medium.scan(keys::BODIES, &from.0, |key, _| {
                if visited == KEYS {
                    return Ok(ControlFlow::Break(()));
                }
                visited += 1;
                let (id, _) = keys::read_body(key).ok_or_else(|| guard::damaged("a key", &self.folder))?;
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        let behind_last = || ids.last().map(|id| Cursor(keys::behind_parts(keys::body(*id))));
        let next = if end.is_break() { behind_last() } else { None };
        Ok((ids, next))
    }

    /// Reads which bodies are to be removed as soon as no reader needs them.
    pub(in crate::store::sled) fn graves(&self) -> Result<Vec<Place>, StoreError> {
        let mut graves = Vec::new();
        let mut from = keys::GRAVES.to_vec();
        loop {
            let mut visited = 0;
            let mut last = Vec::new();
            let end = self.with(|medium| {
                medium.scan(keys::GRAVES, &from, |key, value| {
                    if visited == KEYS {
                        return Ok(ControlFlow::Break(()));
                    }
                    visited += 1;
                    last = key.to_vec();
                    graves.extend(keys::read_grave(key, value));
                    Ok(ControlFlow::Continue(()))
                })
            })?;
            if end.is_continue() {
                return Ok(graves);
            }
            from = keys::behind_parts(last);
        }
    }

    /// Returns whether a body is noted as one to be removed.
    pub(in crate::store::sled) fn has_grave(&self, id: u64) -> Result<bool, StoreError> {
        self.with(|medium| Ok(medium.get(&keys::grave(id))?.is_some()))
    }
}
