//! Temporary folders with a store, and files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use toposcope::store::{
    Batch, Facets, Key, Name, Precondition, SledStore, SledStoreBuilder, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

use crate::compare::{Content, Kept, Truth, compare};
use crate::contents::chain;
use crate::place::Place;

/// A temporary folder for a store, and for other files beside it.
#[derive(Debug)]
pub(crate) struct Fixture {
    place: Place,
    path: PathBuf,
}

impl Fixture {
    /// Creates a fixture whose store does not exist yet.
    pub(crate) fn new() -> Self {
        let place = Place::new();
        let path = place.path().join("store");
        Self { place, path }
    }

    /// Creates a fixture with a closed store that holds the first note.
    pub(crate) async fn filled() -> Self {
        let fixture = Self::new();
        fill(fixture.path()).await;
        fixture
    }

    /// Returns the folder of the store.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the folder of the store.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns a path beside the folder of the store.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) async fn open(&self) -> SledStore {
        open(self.path()).await
    }

    pub(crate) async fn open_with(
        &self,
        options: impl FnOnce(SledStoreBuilder) -> SledStoreBuilder,
    ) -> SledStore {
        options(SledStore::builder(self.path())).open().await.unwrap()
    }

    /// Opens the store and asserts that it holds exactly these notes.
    pub(crate) async fn assert_holds(&self, numbers: impl IntoIterator<Item = u128>) {
        compare(&self.open().await, &truth(numbers)).await.unwrap();
    }
}

pub(crate) async fn open(path: &Path) -> SledStore {
    SledStore::open(path).await.unwrap()
}

/// Creates a closed store that holds the first note.
pub(crate) async fn fill(path: &Path) {
    let store = open(path).await;
    store.commit(batch(1)).await.unwrap();
    store.close().await.unwrap();
}

/// Checkpoints and verifies a store.
pub(crate) async fn assert_sound(store: &SledStore) {
    let found = store.verify().await.unwrap_or_else(|error| panic!("{}", chain(&error)));
    assert!(found.is_sound(), "{found}");
}

pub(crate) const fn key(number: u128) -> Key {
    Key::new(Name::new("note"), Uuid::from_u128(number))
}

/// Returns a batch that creates one note; a number always gives the same note.
pub(crate) fn batch(number: u128) -> Batch {
    let mut batch = Batch::new();
    batch.put(key(number), Precondition::Absent, Facets::default(), body(number));
    batch
}

/// Returns the body of a note. Bodies of even numbers are long enough to be compressed.
pub(crate) fn body(number: u128) -> String {
    format!("the body of {number}").repeat(if number.is_multiple_of(2) { 100 } else { 1 })
}

/// Returns what a store holds after these batches.
pub(crate) fn truth(numbers: impl IntoIterator<Item = u128>) -> Truth {
    let kept = |number| Kept { facets: Facets::default(), content: Content::Given(body(number).into()) };
    let records = numbers.into_iter().map(|number| (key(number), kept(number))).collect();
    Truth { records, ..Truth::default() }
}

/// Asserts that an error is of this kind and names the folder.
pub(crate) fn assert_error(error: &StoreError, kind: &StoreErrorKind, folder: &Path) {
    assert_eq!(error.kind(), kind, "{}", chain(error));
    assert!(error.to_string().contains(folder.to_str().unwrap()), "{}", chain(error));
}

/// Returns all files in a folder, by their relative paths.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files);
    files.sort_unstable();
    files
}

fn collect(folder: &Path, within: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(within)).unwrap() {
        let entry = entry.unwrap();
        let path = within.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(folder, &path, files);
        } else {
            files.push(path);
        }
    }
}

/// Copies a folder as it is.
///
/// If a store has it open without any background work, the copy is what a kill would leave. The background
/// work of an opening is over once the store was verified.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), target).unwrap();
    }
}
