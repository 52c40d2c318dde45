//! Backups of a store that is in use.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tempfile::TempDir;
use tokio::task::{JoinSet, yield_now};
use toposcope::store::{
    Batch, Durability, Facets, Key, Link, Name, Precondition, SledStore, SortKey, Store, StoreErrorKind,
    Term, UniqueKey, Version,
};
use uuid::Uuid;

use super::faults::Ballast;
use super::{fresh_generator, rounds, start_runtime};
use crate::child::{Child, TIMEOUT, say};
use crate::contents::entries;
use crate::fixture::{Fixture, assert_error, assert_sound, batch, fill, key, open};

/// A record with the number of the last commit.
const CLOCK: Key = Key::new(Name::new("clock"), Uuid::nil());

/// Number of the notes that the commits write and delete.
const NOTES: u64 = 300;
const WRITERS: usize = 4;

/// The facets and the body of a note.
type Note = (Facets, Vec<u8>);

/// Returns the notes that a commit writes, with facets and a body, or deletes. They are three different ones.
fn changes(number: u64) -> [(Key, Option<Note>); 3] {
    std::array::from_fn(|place| {
        let key = key(u128::from((number * 7 + place as u64 * 13) % NOTES));
        // Bodies that can be compressed, and some that need several parts.
        let body = number.to_be_bytes().repeat(if number.is_multiple_of(50) { 10_000 } else { 40 });
        (key, (place != 2).then(|| (facets(number, key), body)))
    })
}

fn facets(number: u64, key: Key) -> Facets {
    Facets::default()
        .with_organization(Uuid::from_u128(7))
        .with_links([Link::new(Name::new("of"), Uuid::from_u128(u128::from(number)))])
        .with_terms([Term::new(Name::new("number"), number.to_be_bytes())])
        .with_sort_keys([SortKey::new(Name::new("rank"), number.to_be_bytes())])
        .with_unique_keys([UniqueKey::new(Name::new("id"), key.id.as_bytes())])
}

/// Returns the notes after the first commits.
fn notes_after(commits: u64) -> BTreeMap<Key, Note> {
    let mut notes = BTreeMap::new();
    for (key, note) in (1..=commits).flat_map(changes) {
        match note {
            Some(note) => drop(notes.insert(key, note)),
            None => drop(notes.remove(&key)),
        }
    }
    notes
}

/// Makes the next commit. Returns its number, or `None` if another writer was faster.
async fn commit_next(store: &SledStore) -> Option<u64> {
    let clock = store.get(&[CLOCK]).await.unwrap().remove(0);
    let number = clock.as_ref().map_or(0, |clock| number_in(&clock.body)) + 1;
    let precondition = clock.map_or(Precondition::Absent, |clock| Precondition::Version(clock.version));
    let mut batch = Batch::new();
    batch.put(CLOCK, precondition, Facets::default(), number.to_be_bytes().to_vec());
    for (key, note) in changes(number) {
        match note {
            Some((facets, body)) => batch.put(key, Precondition::Any, facets, body),
            None => batch.delete(key, Precondition::Any),
        };
    }
    match store.commit(batch).await {
        Ok(()) => Some(number),
        Err(error) => {
            assert_eq!(*error.kind(), StoreErrorKind::Conflict(CLOCK), "{error}");
            None
        }
    }
}

fn number_in(body: &[u8]) -> u64 {
    u64::from_be_bytes(body.try_into().unwrap())
}

/// Asserts that a backup is the state after one of the commits, and returns the number of that commit.
async fn assert_one_moment(folder: &Path) -> u64 {
    let store = open(folder).await;
    assert_sound(&store).await;
    let mut found = entries(&store).await.unwrap();
    let clock = number_in(&found.remove(&CLOCK).unwrap().record.body);
    let newest = found.values().map(|entry| entry.record.version).max().unwrap();
    let found: BTreeMap<_, _> =
        found.into_iter().map(|(key, entry)| (key, (entry.facets, entry.record.body.to_vec()))).collect();
    assert!(found == notes_after(clock), "not the notes after commit {clock}: {:?}", found.keys());
    // The backup continues at the state of the store.
    assert_eq!(commit_next(&store).await, Some(clock + 1));
    assert!(version(&store).await > newest);
    store.close().await.unwrap();
    clock
}

async fn version(store: &SledStore) -> Version {
    store.get(&[CLOCK]).await.unwrap()[0].as_ref().unwrap().version
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn backup_while_four_writers_write_is_the_state_of_one_moment() {
    let fixture = Fixture::new();
    let store = fixture.open_with(|builder| builder.cache_size(0).durability(Durability::Buffered)).await;
    while commit_next(&store).await.unwrap() < 200 {}
    // The bodies so far are read from the copies, those of later commits from memory.
    assert_sound(&store).await;

    let (is_over, last) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(200)));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (store, is_over, last) = (store.clone(), Arc::clone(&is_over), Arc::clone(&last));
        writers.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                if let Some(number) = commit_next(&store).await {
                    last.fetch_max(number, Ordering::SeqCst);
                }
            }
        });
    }
    let mut moments = Vec::new();
    for number in 0..3 {
        let before = last.load(Ordering::SeqCst);
        while last.load(Ordering::SeqCst) < before + 20 {
            yield_now().await;
        }
        let (path, from) = (fixture.beside(&format!("backup-{number}")), last.load(Ordering::SeqCst));
        let backup = store.backup(&path).await.unwrap();
        // A commit may be in the backup before its writer has noted it.
        let until = last.load(Ordering::SeqCst) + WRITERS as u64;
        moments.push((path, backup, from..=until));
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    for (path, backup, possible) in moments {
        let clock = assert_one_moment(&path).await;
        assert!(possible.contains(&clock), "{clock} is not in {possible:?}");
        assert_eq!(backup.records, notes_after(clock).len() as u64 + 1);
        assert!(backup.bytes > 0);
    }
    assert_sound(&store).await;
}

#[tokio::test]
async fn backup_into_a_folder_that_is_not_empty_is_refused_and_changes_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.commit(batch(1)).await.unwrap();
    let (other, file) = (fixture.beside("other"), fixture.beside("other/file"));
    fs::create_dir(&other).unwrap();
    fs::write(&file, "of others").unwrap();
    for path in [other.as_path(), fixture.path()] {
        let error = store.backup(path).await.unwrap_err();
        assert_error(&error, &StoreErrorKind::Invalid, path);
    }
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "of others");
    let another = fixture.beside("another");
    fill(&another).await;
    let error = store.backup(&another).await.unwrap_err();
    assert_error(&error, &StoreErrorKind::Invalid, &another);
    assert_sound(&open(&another).await).await;
    assert_sound(&store).await;
}

#[tokio::test]
async fn backup_to_an_unwritable_path_is_unavailable_and_leaves_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.commit(batch(1)).await.unwrap();
    let file = fixture.beside("file");
    fs::write(&file, "a file").unwrap();
    let path = file.join("below/backup");
    let error = store.backup(&path).await.unwrap_err();
    assert_error(&error, &StoreErrorKind::Unavailable, &path);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a file");

    store.close().await.unwrap();
    let path = fixture.beside("of a closed store");
    assert_eq!(*store.backup(&path).await.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert!(!path.exists());
}

#[tokio::test]
async fn empty_folder_and_missing_parents_become_a_backup() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.commit(batch(1)).await.unwrap();
    let (empty, deep) = (fixture.beside("empty"), fixture.beside("not/there"));
    fs::create_dir(&empty).unwrap();
    for path in [empty, deep] {
        assert_eq!(store.backup(&path).await.unwrap().records, 1);
        let copy = open(&path).await;
        assert_eq!(copy.get(&[key(1)]).await.unwrap(), store.get(&[key(1)]).await.unwrap());
        assert_sound(&copy).await;
    }
}

#[tokio::test]
async fn dropped_backup_leaves_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open_with(|builder| builder.durability(Durability::Buffered)).await;
    while commit_next(&store).await.unwrap() < 300 {}
    let path = fixture.beside("not/there/dropped");
    // A backup may be complete before this test notices that it has begun.
    for round in 0..20 {
        {
            let mut backup = pin!(store.backup(&path));
            while !path.join("records.new").exists() {
                tokio::select! {
                    biased;
                    _ended = &mut backup => break,
                    () = yield_now() => {}
                }
            }
        }
        // Waits for the dropped one.
        let next = fixture.beside(&format!("next {round}"));
        store.backup(&next).await.unwrap();
        assert_one_moment(&next).await;
        if !path.join("format").exists() {
            assert!(!fixture.beside("not").exists());
            return;
        }
        fs::remove_dir_all(fixture.beside("not")).unwrap();
    }
    panic!("each backup was complete before it was dropped");
}

#[tokio::test]
async fn clone_of_a_store_is_the_same_open_store() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    let clone = store.clone();
    clone.commit(batch(1)).await.unwrap();
    assert!(store.get(&[key(1)]).await.unwrap()[0].is_some());
    drop(store);
    clone.commit(batch(2)).await.unwrap();
    clone.clone().close().await.unwrap();
    let error = clone.get(&[key(1)]).await.unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable);
    fixture.assert_holds([1, 2]).await;
}

#[test]
fn backup_of_a_killed_process_is_complete_or_refused() {
    let mut random = fresh_generator();
    for _ in 0..rounds("TOPOSCOPE_CRASH_ROUNDS", 3) {
        let folder = TempDir::new().unwrap();
        let child = Child::start("backup", &[folder.path().to_str().unwrap()]);
        let completed: usize = random.usize(0..3);
        for _ in 0..=completed {
            child.next(TIMEOUT).unwrap();
        }
        // The next backup is being written.
        for _ in 0..random.usize(..2_000) {
            std::thread::yield_now();
        }
        child.kill();
        start_runtime().block_on(assert_complete_or_refused(folder.path()));
    }
}

async fn assert_complete_or_refused(folder: &Path) {
    for number in 0.. {
        let path = folder.join(format!("backup-{number}"));
        if !path.exists() {
            break;
        }
        if path.join("format").exists() {
            assert_one_moment(&path).await;
            continue;
        }
        match SledStore::open(&path).await {
            // A folder in which nothing was written yet becomes a new store, as any empty folder does.
            Ok(empty) => assert!(entries(&empty).await.unwrap().is_empty()),
            Err(error) => {
                assert_error(&error, &StoreErrorKind::Invalid, &path);
                match SledStore::repair(&path).await {
                    // Only the file `format` was missing.
                    Ok(repair) => {
                        assert!(repair.is_complete(), "{repair}");
                        assert_one_moment(&path).await;
                    }
                    Err(error) => assert_error(&error, &StoreErrorKind::Invalid, &path),
                }
            }
        }
    }
}

/// Writes one backup after the other until the process is killed.
pub(super) async fn write_backups(arguments: &[&str]) {
    let folder = Path::new(arguments[0]);
    let store = open(&folder.join("store")).await;
    while commit_next(&store).await.unwrap() < 100 {}
    for number in 0.. {
        say("next");
        store.backup(folder.join(format!("backup-{number}"))).await.unwrap();
    }
}

/// A backup runs out of space before it begins, and in the middle.
pub(super) async fn on_a_full_disk(folder: &Path) {
    let disk = folder.join("disk");
    let store = open(&folder.join("store")).await;
    let mut random = fastrand::Rng::with_seed(7);
    for number in 0..300 {
        let mut body = vec![0; 100 << 10];
        random.fill(&mut body);
        let mut batch = Batch::new();
        batch.put(key(number), Precondition::Absent, Facets::default(), body);
        store.commit(batch).await.unwrap();
    }
    let ballast = Ballast::fill(&disk);
    let path = disk.join("deep/backup");
    let mut refusals = 0;
    while let Err(error) = store.backup(&path).await {
        assert_error(&error, &StoreErrorKind::Unavailable, &path);
        let left: Vec<_> = fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["ballast"]);
        refusals += 1;
        // The first step needs 18 MB, and all of them more than 30 MB.
        ballast.give_back(12 << 20);
    }
    assert!(refusals > 2, "only {refusals} refusals");
    drop(ballast);
    let copy = open(&path).await;
    assert!(entries(&copy).await.unwrap() == entries(&store).await.unwrap());
    assert_sound(&store).await;
}
