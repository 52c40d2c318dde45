use std::collections::{HashMap, HashSet};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use super::bodies::Bodies;
use super::builder::{Durability, SledStoreBuilder};
use super::checkpoint::{Changes, Checkpointer, Work};
use super::checkpoints::Checkpoints;
use super::codec::{Head, Place};
use super::committer::Committer;
use super::folder::{Folder, sync_directory};
use super::gather::Gatherer;
use super::journal::{Accepted, Change, Journal, Recovered, Replayed, recover};
use super::queue::Queue;
use super::records::{Base, Records, read_head};
use super::shared::Shared;
use super::state::State;
use super::witness::Witness;
use crate::store::index::Loader;
use crate::store::{Facets, Key, StoreError, Version};

/// An open store: what is shared with readers, and the way to the thread that writes.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Queue,
}

/// Opens a folder, blocking. No thread is begun before everything was found in order.
pub(super) fn open(options: &SledStoreBuilder) -> Result<Opened, StoreError> {
    let folder = Folder::take(&options.folder)?;
    let mut witness = open_witness(&folder)?;
    let records = Records::open(&folder.records())?;
    let base = records.base()?;
    let (mut journal, recovered) = open_journal(&folder, options.durability, base.applied)?;
    require_all(&folder, &mut witness, &recovered)?;
    journal.discard(&recovered.unreached).map_err(|error| unreadable(&folder, error))?;

    let (version, body) = (base.version.max(recovered.version), base.body.max(recovered.body));
    let latest = latest(recovered.batches);
    let state = load(&records, &base, &latest, Version(version), options.cache_size)?;
    let graves = unneeded(records.graves()?, &latest);
    let changes: Changes = latest.into_iter().map(|(key, latest)| (key, latest.change)).collect();
    let shared = Arc::new(Shared { state: RwLock::new(state), records, folder, checkpoint: Mutex::new(()) });
    let work =
        Work { changes, sealed: recovered.sealed, unsynced: None, applied: recovered.last, version, body };
    let checkpoints = begin_checkpoints(&shared, graves, work)?;
    let (queue, jobs) = Queue::new();
    let committer = Committer {
        shared: Arc::clone(&shared),
        jobs: Gatherer::new(jobs),
        journal,
        witness,
        witnesses: options.durability == Durability::Durable,
        checkpoints,
        changes: Changes::new(),
        sequence: recovered.last,
        body,
    };
    begin_thread("toposcope-writer", || committer.run())?;
    Ok(Opened { shared, queue })
}

/// The witness comes before the records, so that a folder with records always has one.
fn open_witness(folder: &Folder) -> Result<Witness, StoreError> {
    let open = || {
        let mut witness = Witness::open(&folder.witness())?;
        if folder.is_new() && witness.read()?.is_none() {
            witness.write(0)?;
            witness.sync()?;
        }
        Ok(witness)
    };
    open().map_err(|error| unreadable(folder, error))
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
fn load(
    records: &Records,
    base: &Base,
    latest: &HashMap<Key, Latest>,
    version: Version,
    cache_size: usize,
) -> Result<State, StoreError> {
    let mut loader = Loader::default();
    let mut bodies = Bodies::new(cache_size);
    let mut found = Base { heads: 0, sum: 0, ..*base };
    records.heads(|key, bytes| {
        found.add(Head::checksum(bytes));
        let Head { version, body, facets } = read_head(key, bytes)?;
        if !latest.contains_key(&key) {
            bodies.set_place(loader.add(key, version, &facets)?, body);
        }
        Ok(())
    })?;
    if found != *base {
        return Err(StoreError::corrupt(format!(
            "records are missing or from another time: there are {} of {}",
            found.heads, base.heads
        )));
    }
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

/// Begins the thread, and gives it what the journal was found to hold.
fn begin_checkpoints(
    shared: &Arc<Shared>,
    graves: Vec<Place>,
    recovered: Work,
) -> Result<Checkpoints, StoreError> {
    let checkpointer = Checkpointer::new(Arc::clone(shared), graves);
    let ((works, to_do), (done, outcomes)) = (channel(), channel());
    begin_thread("toposcope-records", || checkpointer.run(to_do, done))?;
    let mut checkpoints = Checkpoints::new(works, outcomes);
    if !recovered.sealed.is_empty() {
        checkpoints.begin(recovered);
    }
    Ok(checkpoints)
}

fn begin_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let begun = thread::Builder::new().name(name.to_owned()).spawn(run);
    begun.map(|_| ()).map_err(|error| StoreError::unavailable("a thread cannot be begun").with_source(error))
}

fn unreadable(folder: &Folder, error: std::io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be read", folder.path().display())).with_source(error)
}
