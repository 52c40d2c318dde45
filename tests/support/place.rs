use std::cell::RefCell;
use std::fs::{self, File};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::{Handle, RuntimeFlavor};

thread_local! {
    static HELD: RefCell<Held> = const { RefCell::new(Held(Vec::new())) };
}

/// Far longer than a store takes to release its folder.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Locks in folders that were dropped on the only thread of a runtime. The thread waits for them when it ends.
struct Held(Vec<File>);

/// A temporary folder for stores. It is removed once no store holds a lock in it: files that a dropped store
/// still writes would otherwise stay behind.
#[derive(Debug)]
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let locks = locks(self.path());
        // Removed before the stores have closed, so that they do not checkpoint data that is discarded.
        let _ = fs::remove_dir_all(self.path());
        // A task that was aborted holds its store until its runtime runs again, which this thread would prevent.
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::CurrentThread) => HELD.with_borrow_mut(|held| held.0.extend(locks)),
            _ => assert_released(locks),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        assert_released(mem::take(&mut self.0));
    }
}

fn assert_released(locks: Vec<File>) {
    let is_released = locks.is_empty() || are_released(locks);
    assert!(is_released || thread::panicking(), "a store outlives its folder");
}

/// Returns the lock files of the stores in a folder.
fn locks(folder: &Path) -> Vec<File> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let own = paths.iter().filter(|path| path.ends_with("lock")).filter_map(|path| File::open(path).ok());
    let within = paths.iter().filter(|path| path.is_dir()).flat_map(|path| locks(path));
    own.chain(within).collect()
}

/// Returns whether all of them are released within the time limit.
fn are_released(locks: Vec<File>) -> bool {
    let (release, released) = channel();
    thread::spawn(move || {
        let all = locks.iter().all(|lock| lock.lock().is_ok());
        // The receiver may have given up.
        let _ = release.send(all);
    });
    released.recv_timeout(TIMEOUT).is_ok_and(|all| all)
}
