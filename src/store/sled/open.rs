use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use super::bodies::Bodies;
use super::builder::{Durability, SledStoreBuilder};
use super::checkpoint::{Changes, Checkpointer, Work};
use super::codec::{Head, Place};
use super::committer::{Checkpoints, Committer};
use super::folder::Folder;
use super::journal::{Journal, Recovered, recover};
use super::queue::Queue;
use super::records::{Base, Records, read_head};
use super::shared::Shared;
use super::state::State;
use super::witness::Witness;
use crate::store::index::Loader;
use crate::store::{StoreError, Version};

/// An open store: what is shared with readers, and the way to the thread that writes.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Queue,
}

/// Opens a folder, blocking. No thread is begun before everything was found in order.
pub(super) fn open(options: &SledStoreBuilder) -> Result<Opened, StoreError> {
    let folder = Folder::take(&options.folder)?;
    let is_durable = options.durability == Durability::Durable;
    let mut witness = open_witness(&folder)?;
    let records = Records::open(&folder.records())?;
    let base = records.base()?;
    let graves = records.graves()?;
    let mut journal = Journal::open(folder.path(), is_durable).map_err(|error| unreadable(&folder, error))?;
    let mut recovered = recover(&mut journal, base.applied).map_err(|error| unreadable(&folder, error))?;
    require_all(&folder, &mut witness, &recovered)?;

    let mut state = load(&records, &base, options.cache_size)?;
    let mut changes = Changes::new();
    for replayed in std::mem::take(&mut recovered.batches) {
        state.apply(&replayed.accepted, replayed.facets, &mut Vec::new());
        changes.extend(replayed.accepted.changes);
    }
    let (version, body) = (base.version.max(recovered.version), base.body.max(recovered.body));
    let shared = Arc::new(Shared { state: RwLock::new(state), records, folder, checkpoint: Mutex::new(()) });
    let work = Work { changes, sealed: recovered.sealed, applied: recovered.last, version, body };
    let checkpoints = begin_checkpoints(&shared, graves, work)?;
    let (queue, jobs) = Queue::new();
    let committer = Committer {
        shared: Arc::clone(&shared),
        jobs,
        journal,
        witness: is_durable.then_some(witness),
        checkpoints,
        changes: Changes::new(),
        sequence: recovered.last,
        body,
        deferred: VecDeque::new(),
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

/// The index and the places of the bodies, of what is in the records.
fn load(records: &Records, base: &Base, cache_size: usize) -> Result<State, StoreError> {
    let mut loader = Loader::default();
    let mut bodies = Bodies::new(cache_size);
    let mut found = Base { heads: 0, sum: 0, ..*base };
    records.heads(|key, bytes| {
        let Head { version, body, facets } = read_head(key, bytes)?;
        let row = loader.add(key, version, &facets)?;
        bodies.set_place(row, body);
        found.add(Head::checksum(bytes));
        Ok(())
    })?;
    if found != *base {
        return Err(StoreError::corrupt(format!(
            "records are missing or from another time: there are {} of {}",
            found.heads, base.heads
        )));
    }
    Ok(State::new(loader.finish(Version(base.version)), bodies))
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
