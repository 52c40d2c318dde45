use std::sync::Arc;

use bytes::Bytes;

use super::bodies::{Bodies, Found};
use super::codec::Place;
use super::journal::{Accepted, Change};
use crate::store::index::{Index, Packs, RowId};
use crate::store::{Facets, Key, Precondition, Record, Version, Write};

/// What readers see: the index and the bodies in memory. Only what is in the journal gets here, one group after the other.
#[derive(Debug)]
pub(super) struct State {
    pub(super) index: Index,
    pub(super) bodies: Bodies,
    lease: Lease,
}

/// Whoever holds one may read any body of the state that it was taken from: none of them is removed from the records.
pub(super) type Lease = Arc<()>;

/// A record whose body may have to be read from the records.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) row: RowId,
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) body: Found,
}

impl State {
    pub(super) fn new(index: Index, bodies: Bodies) -> Self {
        Self { index, bodies, lease: Lease::default() }
    }

    /// A record whose body is in memory.
    pub(super) fn record(&self, row: RowId) -> Option<Record> {
        let (key, version) = self.index.key(row)?;
        Some(Record { key, version, body: self.bodies.read(row)?.clone() })
    }

    pub(super) fn locate(&self, row: RowId) -> Option<Located> {
        let (key, version) = self.index.key(row)?;
        Some(Located { row, key, version, body: self.bodies.find(row)? })
    }

    pub(super) fn lease(&self) -> Lease {
        Arc::clone(&self.lease)
    }

    /// Begins a new lease and gives back the one that all readers so far hold.
    pub(super) fn renew_lease(&mut self) -> Lease {
        std::mem::take(&mut self.lease)
    }

    /// Carries out a batch. What is dropped of memory is given back, for the caller to drop where nobody waits.
    pub(super) fn apply(&mut self, accepted: &Accepted, facets: Vec<Facets>, dropped: &mut Vec<Bytes>) {
        let mut facets = facets.into_iter();
        let mut places: Vec<Place> = Vec::new();
        let writes = accepted.changes.iter().map(|(key, change)| match change {
            Change::Delete => Write::Delete { key: *key, precondition: Precondition::Any },
            Change::Put { place, body, .. } => {
                places.push(*place);
                let facets = facets.next().unwrap_or_default();
                Write::Put { key: *key, precondition: Precondition::Any, facets, body: body.clone() }
            }
        });
        let writes: Vec<Write> = writes.collect();
        // The index tells of every put, in the order of the writes.
        let mut places = places.into_iter();
        let bodies = &mut self.bodies;
        self.index.apply(accepted.version, &writes, Packs::default(), |row, body| match body {
            None => dropped.extend(bodies.remove(row)),
            Some(body) => dropped.extend(places.next().and_then(|place| bodies.pin(row, place, body))),
        });
    }
}
