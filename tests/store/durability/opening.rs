//! Opening of folders in every state, in use or free.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toposcope::store::{Batch, Facets, Key, Name, Precondition, SledStore, Store, StoreErrorKind};

use crate::child::{Child, TIMEOUT, say};
use crate::compare::compare;
use crate::fixture::{Fixture, assert_error, batch, fill, open, truth};

/// Returns the files of a folder, without those in its subfolders.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

async fn assert_refused(folder: &Path, kind: StoreErrorKind) {
    for _ in 0..2 {
        let error = SledStore::open(folder).await.unwrap_err();
        assert_error(&error, &kind, folder);
    }
}

#[tokio::test]
async fn empty_or_missing_folder_becomes_a_store() {
    let empty = Fixture::new();
    fs::create_dir(empty.path()).unwrap();
    fill(empty.path()).await;
    empty.assert_holds([1]).await;
    let missing = empty.beside("not/there/yet");
    fill(&missing).await;
    compare(&open(&missing).await, &truth([1])).await.unwrap();
}

#[tokio::test]
async fn relative_path_is_opened() {
    let folder = TempDir::new_in("target").or_else(|_| TempDir::new_in(".")).unwrap();
    assert!(folder.path().is_relative() || fs::metadata(folder.path()).is_ok());
    fill(folder.path()).await;
    let store = open(folder.path()).await;
    compare(&store, &truth([1])).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn folder_with_other_files_is_refused_and_left_unchanged() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path()).unwrap();
    fs::write(fixture.file("a letter"), "Dear Sir").unwrap();
    let before = files(fixture.path());
    assert_refused(fixture.path(), StoreErrorKind::Invalid).await;
    assert_eq!(files(fixture.path()), before);
}

#[tokio::test]
async fn file_in_place_of_the_folder_is_refused_and_left_unchanged() {
    let fixture = Fixture::new();
    fs::write(fixture.path(), "Dear Sir").unwrap();
    assert_refused(fixture.path(), StoreErrorKind::Unavailable).await;
    assert_refused(&fixture.file("within"), StoreErrorKind::Unavailable).await;
    assert_eq!(fs::read(fixture.path()).unwrap(), b"Dear Sir");
}

#[tokio::test]
async fn folder_of_another_format_is_refused_until_the_format_is_restored() {
    let fixture = Fixture::filled().await;
    let path = fixture.file("format");
    let format = fs::read_to_string(&path).unwrap();
    let next = ["0", "3", "20"].map(|number| format.replace('2', number));
    for other in next.into_iter().chain([String::new(), "something".to_owned()]) {
        fs::write(&path, &other).unwrap();
        let before = files(fixture.path());
        assert_refused(fixture.path(), StoreErrorKind::Corrupt).await;
        assert_eq!(files(fixture.path()), before, "{other:?}");
    }
    fs::write(&path, format).unwrap();
    fixture.assert_holds([1]).await;
}

#[tokio::test]
async fn folder_of_the_format_without_compression_is_opened_and_gets_the_new_format() {
    let fixture = Fixture::filled().await;
    let path = fixture.file("format");
    let format = fs::read_to_string(&path).unwrap();
    fs::write(&path, format.replace('2', "1")).unwrap();
    let store = fixture.open().await;
    store.commit(batch(2)).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format);
    fixture.assert_holds([1, 2]).await;
}

#[tokio::test]
async fn folder_without_its_durable_lsn_is_refused_until_it_is_repaired() {
    let fixture = Fixture::filled().await;
    fs::remove_file(fixture.file("acknowledged")).unwrap();
    assert_refused(fixture.path(), StoreErrorKind::Corrupt).await;
    let repair = SledStore::repair(fixture.path()).await.unwrap();
    assert!(!repair.is_complete(), "later commits may have been lost: {repair}");
    let store = fixture.open().await;
    compare(&store, &truth([1])).await.unwrap();
    store.commit(batch(2)).await.unwrap();
}

#[tokio::test]
async fn repair_writes_a_small_file_again_and_leaves_intact_records_unchanged() {
    for (name, damage) in [
        ("acknowledged", &b"\0\0\0\0\0\0\0\x01\0\0\0\0"[..]),
        ("acknowledged", b""),
        ("format", b"toposcope stpre, f"),
        ("format", b""),
    ] {
        let fixture = Fixture::filled().await;
        fs::write(fixture.file(name), damage).unwrap();
        assert_refused(fixture.path(), StoreErrorKind::Corrupt).await;
        let repair = SledStore::repair(fixture.path()).await.unwrap();
        assert_eq!(repair.rewritten_files, [name]);
        assert_eq!((repair.damaged_count, repair.is_behind), (0, name == "acknowledged"));
        assert!(repair.records > 0);
        assert!(!fixture.file("records.damaged").exists(), "the records were not written again");
        fixture.assert_holds([1]).await;
    }
}

#[tokio::test]
async fn compacted_folder_is_smaller_and_holds_the_same_records() {
    let fixture = Fixture::filled().await;
    let store = fixture.open().await;
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..12 {
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(2 << 20).collect();
        let key = Key::new(Name::new("noise"), uuid::Uuid::nil());
        store.commit(put(key, noise)).await.unwrap();
        assert!(store.verify().await.unwrap().is_sound());
    }
    let mut delete = Batch::new();
    delete.delete(Key::new(Name::new("noise"), uuid::Uuid::nil()), Precondition::Any);
    store.commit(delete).await.unwrap();
    store.close().await.unwrap();
    let compaction = SledStore::compact(fixture.path()).await.unwrap();
    assert!(compaction.bytes_after < compaction.bytes_before / 2, "{compaction:?}");
    let store = fixture.open().await;
    assert!(store.verify().await.unwrap().is_sound());
    store.close().await.unwrap();
    fixture.assert_holds([1]).await;
}

/// Copies whose keys come in another order take 2.6 times as much as the records.
#[tokio::test]
async fn compacted_folder_of_small_records_takes_about_twice_their_size() {
    const RECORDS: usize = 10_000;
    const BODY: usize = 500;
    let fixture = Fixture::new();
    let store = fixture.open().await;
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..RECORDS / 500 {
        let mut batch = Batch::new();
        for _ in 0..500 {
            let key = Key::new(Name::new("noise"), uuid::Uuid::from_u128(random.u128(..)));
            let body: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(BODY).collect();
            batch.put(key, Precondition::Absent, Facets::default(), body);
        }
        store.commit(batch).await.unwrap();
    }
    store.close().await.unwrap();
    let compaction = SledStore::compact(fixture.path()).await.unwrap();
    // Of each record, two copies with key and header.
    let records = (2 * RECORDS * (BODY + 80)) as u64;
    let times = compaction.bytes_after as f64 / records as f64;
    assert!(times < 2.3, "{times} times as much, {compaction:?}");
    let store = fixture.open().await;
    assert!(store.verify().await.unwrap().is_sound());
    store.close().await.unwrap();
}

fn put(key: Key, body: Vec<u8>) -> Batch {
    let mut batch = Batch::new();
    batch.put(key, Precondition::Any, Facets::default(), body);
    batch
}

/// Set in the process whose files have a limited size, to the folder to open.
const FOLDER: &str = "TOPOSCOPE_LIMITED_FOLDER";

/// The limit stands for a disk on which little space is left: to preallocate more fails like on a full disk.
#[cfg(unix)]
#[tokio::test]
async fn log_is_applied_with_space_for_a_piece_of_it_and_an_error_names_the_bytes() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..24 {
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(1 << 20).collect();
        let key = Key::new(Name::new("noise"), uuid::Uuid::from_u128(number));
        store.commit(put(key, noise)).await.unwrap();
    }
    // The copy of a crashed process: 24 MiB are in the log alone.
    let crashed = fixture.beside("crashed");
    copy_folder(fixture.path(), &crashed);
    let open_with = |megabytes: u64| {
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", megabytes * 2048);
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .args(["open_limited_folder", "--ignored", "--nocapture", "--test-threads=1"])
            .env(FOLDER, &crashed)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text + &String::from_utf8_lossy(&output.stderr))
    };
    let (succeeds, text) = open_with(8);
    assert!(!succeeds && text.contains("the next step needs 18874368 bytes, free are"), "{text}");
    let (succeeds, text) = open_with(100);
    assert!(succeeds && text.contains("1 passed"), "{text}");
    let store = SledStore::open(&crashed).await.unwrap();
    assert!(store.verify().await.unwrap().is_sound());
    store.close().await.unwrap();
}

#[tokio::test]
#[ignore = "runs in a process with a limited file size"]
async fn open_limited_folder() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = SledStore::open(PathBuf::from(folder)).await.unwrap();
    let keys: Vec<Key> =
        (0..24).map(|number| Key::new(Name::new("noise"), uuid::Uuid::from_u128(number))).collect();
    let found = store.get(&keys).await.unwrap();
    assert!(found.iter().flatten().all(|record| record.body.len() == 1 << 20), "reads need no space");
    assert_eq!(found.iter().flatten().count(), 24);
    if let Err(error) = store.close().await {
        panic!("{error}");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn unfinished_snapshots_of_sled_do_not_prevent_opening() {
    let fixture = Fixture::filled().await;
    for content in [&b""[..], b"half a snapshot", &[0; 5000]] {
        for name in ["snap.0000000000000F00.generating", "snap.FFFFFFFFFFFFFFF0.generating"] {
            fs::write(fixture.file("records").join(name), content).unwrap();
        }
        let store = fixture.open().await;
        compare(&store, &truth([1])).await.unwrap();
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn folder_of_an_interrupted_creation_or_checkpoint_is_opened() {
    let files: [(&str, &[u8]); 2] = [("lock", b""), ("format.new", b"topo")];
    for count in 1..=2 {
        let fixture = Fixture::new();
        fs::create_dir(fixture.path()).unwrap();
        for (name, content) in &files[..count] {
            fs::write(fixture.file(name), content).unwrap();
        }
        fill(fixture.path()).await;
        fixture.assert_holds([1]).await;
    }
    // A process was killed while it preallocated space for a checkpoint.
    let fixture = Fixture::filled().await;
    fs::write(fixture.file("room"), [0; 100]).unwrap();
    let store = fixture.open().await;
    store.commit(batch(2)).await.unwrap();
    compare(&store, &truth([1, 2])).await.unwrap();
    store.close().await.unwrap();
    assert!(!fixture.file("room").exists());
}

#[tokio::test]
async fn moved_folder_holds_the_same() {
    let fixture = Fixture::new();
    let first = fixture.beside("first");
    fill(&first).await;
    fs::rename(&first, fixture.path()).unwrap();
    fixture.assert_holds([1]).await;
}

/// Time within which an attempt to open a folder in use must fail.
const SOON: Duration = Duration::from_secs(20);

async fn assert_in_use(fixture: &Fixture) {
    let begin = Instant::now();
    let error = SledStore::open(fixture.path()).await.unwrap_err();
    assert_error(&error, &StoreErrorKind::Unavailable, fixture.path());
    assert!(begin.elapsed() < SOON);
}

#[tokio::test]
async fn folder_open_in_this_process_is_refused_and_the_first_store_stays_usable() {
    let fixture = Fixture::new();
    let first = fixture.open().await;
    assert_in_use(&fixture).await;
    first.commit(batch(1)).await.unwrap();
    compare(&first, &truth([1])).await.unwrap();
}

/// Runs in the child: adds a record, and keeps the folder open until killed.
pub(super) async fn hold(arguments: &[&str]) {
    let store = open(Path::new(arguments[0])).await;
    store.commit(batch(2)).await.unwrap();
    say("held");
    std::future::pending::<()>().await;
}

#[cfg(unix)]
#[tokio::test]
async fn folder_open_in_another_process_is_refused_until_that_process_ends() {
    let fixture = Fixture::filled().await;
    let child = Child::start("hold", &[fixture.path().to_str().unwrap()]);
    assert_eq!(child.next(TIMEOUT).as_deref(), Some("held"));
    assert_in_use(&fixture).await;
    child.kill();
    fixture.assert_holds([1, 2]).await;
}

#[tokio::test]
async fn folder_opens_at_once_after_its_store_was_closed_or_dropped() {
    let fixture = Fixture::new();
    for round in 0..10 {
        let store = fixture.open().await;
        compare(&store, &truth(0..round)).await.unwrap();
        store.commit(batch(round)).await.unwrap();
        if round % 3 == 0 {
            store.close().await.unwrap();
        }
    }
    fixture.assert_holds(0..10).await;
}

#[tokio::test]
async fn opening_waits_for_a_store_that_is_being_dropped() {
    let fixture = Fixture::new();
    let first = fixture.open().await;
    first.commit(batch(1)).await.unwrap();
    let (second, ()) = tokio::join!(SledStore::open(fixture.path()), async { drop(first) });
    compare(&second.unwrap(), &truth([1])).await.unwrap();
}

#[tokio::test]
async fn dropped_opening_leaves_the_folder_to_the_next_one() {
    let fixture = Fixture::filled().await;
    for _ in 0..5 {
        let mut opening = pin!(SledStore::open(fixture.path()));
        // Started on a thread of its own; this test does not wait for it.
        assert!(opening.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    fixture.assert_holds([1]).await;
}
