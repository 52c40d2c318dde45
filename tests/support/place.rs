use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// Far longer than a store takes to let its folder go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where stores have their folders. It goes with all that is in it, once none of them has its folder any more: what a store
/// that was dropped puts away meanwhile would stay behind.
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
        // Before the stores have closed, so that nothing is put away that nobody will look for.
        let _ = fs::remove_dir_all(self.path());
        assert!(are_released(locks) || thread::panicking(), "{:?}: a store outlives its folder", self.path());
    }
}

/// What the stores in a folder hold until they are closed.
fn locks(folder: &Path) -> Vec<File> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let own = paths.iter().filter(|path| path.ends_with("lock")).filter_map(|path| File::open(path).ok());
    let within = paths.iter().filter(|path| path.is_dir()).flat_map(|path| locks(path));
    own.chain(within).collect()
}

/// Whether all of them are free before long.
fn are_released(locks: Vec<File>) -> bool {
    let (release, released) = channel();
    thread::spawn(move || {
        let all = locks.iter().all(|lock| lock.lock().is_ok());
        // Nobody may wait for it any more.
        let _ = release.send(all);
    });
    released.recv_timeout(PATIENCE).is_ok_and(|all| all)
}
