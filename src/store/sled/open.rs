use std::sync::mpsc::channel;
use std::sync::{Arc, RwLock};
use std::thread;

use tokio::sync::{Mutex, watch};

use super::builder::{Durability, SledStoreBuilder};
use super::checkpoint::{Changes, Checkpointed, Checkpointer, Work};
use super::checkpoints::Checkpoints;
use super::codec::Place;
use super::committer::Committer;
use super::copies::Copies;
use super::folder::Folder;
use super::gather::Gatherer;
use super::load::{Loaded, load, unreadable};
use super::progress::Progress;
use super::queue::Queue;
use super::shared::Shared;
use super::witness::Witness;
use crate::store::StoreError;

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
    let Loaded { records, state, graves, journal, recovered } = load(&folder, &mut witness, options)?;
    let (sequence, body) = (recovered.applied, recovered.body);
    // All of it is on the disk now, also what nobody was promised: a copy that is behind must not be taken for the newest.
    witness.write(sequence).map_err(|error| unreadable(&folder, error))?;
    let copies = Copies::new(records, &folder);
    let (verifying, records) = (Mutex::new(()), Mutex::new(Progress::default()));
    let (checkpointed, _) = watch::channel(Checkpointed::default());
    let state = RwLock::new(state);
    let shared = Arc::new(Shared { state, copies, folder, checkpointed, verifying, records });
    let checkpoints = begin_checkpoints(&shared, graves, recovered)?;
    let (queue, jobs) = Queue::new();
    let committer = Committer {
        shared: Arc::clone(&shared),
        jobs: Gatherer::new(jobs),
        journal,
        witness,
        witnesses: options.durability == Durability::Durable,
        checkpoints,
        changes: Changes::new(),
        sequence,
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

/// Begins the thread, and gives it what the journal was found to hold: also nothing, for it to open the second copy.
fn begin_checkpoints(
    shared: &Arc<Shared>,
    graves: Vec<Place>,
    recovered: Work,
) -> Result<Checkpoints, StoreError> {
    let checkpointer = Checkpointer::new(Arc::clone(shared), graves);
    let ((works, to_do), (done, outcomes)) = (channel(), channel());
    begin_thread("toposcope-records", || checkpointer.run(to_do, done))?;
    let mut checkpoints = Checkpoints::new(works, outcomes);
    checkpoints.begin(recovered);
    Ok(checkpoints)
}

fn begin_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let begun = thread::Builder::new().name(name.to_owned()).spawn(run);
    begun.map(|_| ()).map_err(|error| StoreError::unavailable("a thread cannot be begun").with_source(error))
}
