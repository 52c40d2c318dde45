use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toposcope::store::{SledStore, Store, StoreErrorKind};

use super::{assert_error, batch, fill, open, truth};
use crate::place::Place;
use crate::support::compare;

/// Returns the files of a folder, without those in its subfolders.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

async fn refusal(folder: &Path, kind: StoreErrorKind) {
    for _ in 0..2 {
        let error = SledStore::open(folder).await.unwrap_err();
        assert_error(&error, &kind, folder);
    }
}

#[tokio::test]
async fn an_empty_folder_and_one_that_is_not_there_become_stores() {
    let folder = Place::new();
    for path in [folder.path().join("empty"), folder.path().join("not/there/yet")] {
        if path.ends_with("empty") {
            fs::create_dir(&path).unwrap();
        }
        fill(&path).await;
        compare(&open(&path).await, &truth([1])).await.unwrap();
    }
}

#[tokio::test]
async fn a_relative_path_is_a_folder_like_any_other() {
    let folder = TempDir::new_in("target").or_else(|_| TempDir::new_in(".")).unwrap();
    assert!(folder.path().is_relative() || fs::metadata(folder.path()).is_ok());
    fill(folder.path()).await;
    let store = open(folder.path()).await;
    compare(&store, &truth([1])).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_folder_of_something_else_is_refused_and_left_as_it_is() {
    let folder = Place::new();
    fs::write(folder.path().join("a letter"), "Dear Sir").unwrap();
    let before = files(folder.path());
    refusal(folder.path(), StoreErrorKind::Invalid).await;
    assert_eq!(files(folder.path()), before);
}

#[tokio::test]
async fn a_file_in_the_place_of_the_folder_is_refused_and_left_as_it_is() {
    let folder = Place::new();
    let path = folder.path().join("file");
    fs::write(&path, "Dear Sir").unwrap();
    refusal(&path, StoreErrorKind::Unavailable).await;
    refusal(&path.join("within"), StoreErrorKind::Unavailable).await;
    assert_eq!(fs::read(&path).unwrap(), b"Dear Sir");
}

#[tokio::test]
async fn a_folder_of_another_format_is_refused_and_opens_when_the_format_is_back() {
    let folder = Place::new();
    fill(folder.path()).await;
    let path = folder.path().join("format");
    let format = fs::read_to_string(&path).unwrap();
    for other in [format.replace('1', "2"), format.replace('1', "10"), String::new(), "something".to_owned()]
    {
        fs::write(&path, &other).unwrap();
        let before = files(folder.path());
        refusal(folder.path(), StoreErrorKind::Corrupt).await;
        assert_eq!(files(folder.path()), before, "{other:?}");
    }
    fs::write(&path, format).unwrap();
    compare(&open(folder.path()).await, &truth([1])).await.unwrap();
}

#[tokio::test]
async fn a_folder_without_its_witness_is_refused_until_it_is_repaired() {
    let folder = Place::new();
    fill(folder.path()).await;
    fs::remove_file(folder.path().join("acknowledged")).unwrap();
    refusal(folder.path(), StoreErrorKind::Corrupt).await;
    let repair = SledStore::repair(folder.path()).await.unwrap();
    assert!(!repair.is_complete(), "nobody knows whether there was more: {repair}");
    let store = open(folder.path()).await;
    compare(&store, &truth([1])).await.unwrap();
    store.commit(batch(2)).await.unwrap();
}

#[tokio::test]
async fn what_a_kill_leaves_of_sleds_own_files_does_not_hinder_the_opening() {
    let folder = Place::new();
    fill(folder.path()).await;
    for content in [&b""[..], b"half a snapshot", &[0; 5000]] {
        for name in ["snap.0000000000000F00.generating", "snap.FFFFFFFFFFFFFFF0.generating"] {
            fs::write(folder.path().join("records").join(name), content).unwrap();
        }
        let store = open(folder.path()).await;
        compare(&store, &truth([1])).await.unwrap();
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_folder_that_was_only_begun_is_one_that_can_be_opened() {
    let begun: [(&str, &[u8]); 3] = [("lock", b""), ("format.new", b"topo"), ("room", &[0; 100])];
    for number in 1..=2 {
        let folder = Place::new();
        for (name, content) in &begun[..number] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        fill(folder.path()).await;
        compare(&open(folder.path()).await, &truth([1])).await.unwrap();
    }
    // A process was killed while it preallocated space for a checkpoint.
    let folder = Place::new();
    fill(folder.path()).await;
    let (name, content) = begun[2];
    fs::write(folder.path().join(name), content).unwrap();
    fill_again(folder.path()).await;
    assert!(!folder.path().join(name).exists());
}

async fn fill_again(folder: &Path) {
    let store = open(folder).await;
    store.commit(batch(2)).await.unwrap();
    compare(&store, &truth([1, 2])).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_folder_that_is_moved_or_copied_holds_the_same() {
    let folder = Place::new();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    fill(&first).await;
    fs::rename(&first, &second).unwrap();
    compare(&open(&second).await, &truth([1])).await.unwrap();
}
