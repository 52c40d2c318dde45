//! What a folder holds, from the records and the journal together.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io;
use std::path::Path;

use super::bodies::Bodies;
use super::builder::{Durability, SledStoreBuilder};
use super::checkpoint::{Changes, Work};
use super::codec::{Head, Place};
use super::folder::{Folder, sync_directory};
use super::journal::{Accepted, Change, Journal, Recovered, Replayed, recover};
use super::records::{Base, Records, read_head};
use super::state::State;
use super::witness::Witness;
use crate::store::index::Loader;
use crate::store::{Facets, Key, StoreError, Version};

/// What was found in a folder.
pub(super) struct Loaded {
    pub(super) records: Records,
    pub(super) state: State,
    pub(super) graves: Vec<Place>,
    pub(super) journal: Journal,
    /// What the journal holds beyond the records.
    pub(super) recovered: Work,
}

/// Loads the first copy of the records with what the journal has beyond it, or else the second copy, which becomes the first.
pub(super) fn load(
    folder: &Folder,
    witness: &mut Witness,
    options: &SledStoreBuilder,
) -> Result<Loaded, StoreError> {
    avoid_change(folder).map_err(|error| unreadable(folder, error))?;
    load_first(folder, witness, options).or_else(|error| {
        if !folder.has_second() || folder.exchange_copies().is_err() {
            return Err(error);
        }
        tracing::warn!(error = &error as &dyn Error, "the second copy of the records is tried instead");
        load_first(folder, witness, options).map_err(|_| {
            // Both stay where they were, for a repair.
            let _ = folder.exchange_copies();
            error
        })
    })
}

/// Of two copies the one is read that nobody was changing.
fn avoid_change(folder: &Folder) -> io::Result<()> {
    let is_in_change = |copy: &Path| Records::closed(copy).is_in_change();
    let is_better = folder.has_second() && !is_in_change(&folder.second_records());
    if is_better && is_in_change(&folder.records()) { folder.exchange_copies() } else { Ok(()) }
}

fn load_first(
    folder: &Folder,
    witness: &mut Witness,
    options: &SledStoreBuilder,
) -> Result<Loaded, StoreError> {
    let records = Records::open(&folder.records())?;
    match load_from(&records, folder, witness, options) {
        Ok((state, graves, journal, recovered)) => Ok(Loaded { records, state, graves, journal, recovered }),
        Err(error) => {
            let _ = records.close();
            Err(error)
        }
    }
}

/// The same from records that are open.
fn load_from(
    records: &Records,
    folder: &Folder,
    witness: &mut Witness,
    options: &SledStoreBuilder,
) -> Result<(State, Vec<Place>, Journal, Work), StoreError> {
    let base = records.base()?;
    let (mut journal, recovered) = open_journal(folder, options.durability, base.applied)?;
    require_all(folder, witness, &recovered)?;
    journal.discard(&recovered.unreached).map_err(|error| unreadable(folder, error))?;
    let Recovered { batches, last, sealed, .. } = recovered;
    let (version, body) = (base.version.max(recovered.version), base.body.max(recovered.body));
    let latest = latest(batches);
    let state = fill(records, &base, &latest, Version(version), options.cache_size)?;
    let graves = unneeded(records.graves()?, &latest);
    let changes: Changes = latest.into_iter().map(|(key, latest)| (key, latest.change)).collect();
    Ok((state, graves, journal, Work { changes, sealed, unsynced: None, applied: last, version, body }))
}

/// Opens the journal and reads it. What it holds is on the disk then, with the names of all files.
fn open_journal(
    folder: &Folder,
    durability: Durability,
    applied: u64,
) -> Result<(Journal, Recovered), StoreError> {
    let open = || {
        let mut journal = Journal::open(folder.path(), durability == Durability::Durable)?;
        let recovered = recover(&mut journal, applied)?;
        sync_directory(folder.path())?;
        Ok((journal, recovered))
    };
    open().map_err(|error| unreadable(folder, error))
}

/// That everything is there which anybody was told of.
fn require_all(folder: &Folder, witness: &mut Witness, recovered: &Recovered) -> Result<(), StoreError> {
    let folder_name = folder.path().display();
    let Some(acknowledged) = witness.read().map_err(|error| unreadable(folder, error))? else {
        return Err(StoreError::corrupt(format!("the file `acknowledged` in {folder_name} is damaged")));
    };
    if recovered.has_gap || recovered.last < acknowledged {
        return Err(StoreError::corrupt(format!(
            "commits are missing in {folder_name}: the last that was acknowledged is {acknowledged}, the last that is \
             whole is {}",
            recovered.last
        )));
    }
    Ok(())
}

/// What the journal makes of a record in the end.
#[derive(Debug)]
struct Latest {
    version: Version,
    change: Change,
    /// Those of what is put.
    facets: Facets,
}

fn latest(batches: Vec<Replayed>) -> HashMap<Key, Latest> {
    let mut latest = HashMap::new();
    for Replayed { accepted: Accepted { version, changes }, facets } in batches {
        let mut facets = facets.into_iter();
        for (key, change) in changes {
            let facets = match change {
                Change::Put { .. } => facets.next().unwrap_or_default(),
                Change::Delete => Facets::default(),
            };
            latest.insert(key, Latest { version, change, facets });
        }
    }
    latest
}

/// The index and the bodies of what is in the records, but for what the journal changes: a checkpoint that was cut off has put
/// a part of that into the records, so that only with all of it they come from one time.
fn fill(
    records: &Records,
    base: &Base,
    latest: &HashMap<Key, Latest>,
    version: Version,
    cache_size: usize,
) -> Result<State, StoreError> {
    let mut loader = Loader::default();
    let mut bodies = Bodies::new(cache_size);
    let mut found = Base { heads: 0, sum: 0, ..*base };
    records.read_ahead(|| {
        records.heads(|key, bytes| {
            found.add(Head::checksum(bytes));
            let Head { version, body, facets } = read_head(key, bytes)?;
            if !latest.contains_key(&key) {
                bodies.set_place(loader.add(key, version, &facets)?, body);
            }
            Ok(())
        })
    })?;
    base.require(found)?;
    for (key, Latest { version, change, facets }) in latest {
        if let Change::Put { place, body, .. } = change {
            let row = loader.add(*key, *version, facets)?;
            bodies.pin(row, *place, body.clone());
        }
    }
    Ok(State::new(loader.finish(version), bodies))
}

/// Bodies that are to be removed, but for those that were not written to their end and are about to be.
fn unneeded(mut graves: Vec<Place>, latest: &HashMap<Key, Latest>) -> Vec<Place> {
    let places = latest.values().filter_map(|latest| match &latest.change {
        Change::Put { place, .. } => Some(place.id),
        Change::Delete => None,
    });
    let written: HashSet<u64> = places.collect();
    graves.retain(|grave| !written.contains(&grave.id));
    graves
}

pub(super) fn unreadable(folder: &Folder, error: io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be read", folder.path().display())).with_source(error)
}
