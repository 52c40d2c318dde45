use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;
use toposcope::store::{SledStore, StoreError, StoreErrorKind};

use super::disk::Ballast;
use super::world::{Served, World};
use crate::support::{Child, PATIENCE, chain, say};
use crate::workload::Progress;

/// More than what fits into the preallocated part of the log.
const MANY: usize = 100;

pub(super) async fn while_committing(folder: &Path) {
    let disk = folder.join("disk");
    let mut world = World::new(&disk.join("store")).await;
    world.write_all(6).await;
    world.assert_sound().await;
    for _ in 0..2 {
        let ballast = Ballast::fill(&disk);
        let tally = world.write(MANY).await;
        assert!(tally.refused > 0, "{tally:?}");
        world.assert_read().await;
        drop(ballast);
        world.write_all(2).await;
        world.assert_sound().await;
    }
    let world = World::open(&disk.join("store"), world.close().await).await;
    world.assert_sound().await;
    serve(&disk).await;
}

/// Asserts that the API refuses writes with 503 and still serves reads while the disk is full.
async fn serve(disk: &Path) {
    let world = World::new(&disk.join("served")).await;
    let served = Served::new(&world.store).await;
    let ballast = Ballast::fill(disk);
    let mut answers = Vec::new();
    for _ in 0..2000 {
        answers.push(served.write().await);
        assert_eq!(served.read().await, (200, Value::Null));
        if answers.last().is_some_and(|(status, _)| *status == 503) {
            break;
        }
    }
    assert_eq!(answers.pop(), Some((503, Value::from("store_unavailable"))));
    assert!(answers.iter().all(|answer| *answer == (200, Value::Null)), "{answers:?}");
    drop(ballast);
    assert_eq!(served.write().await, (200, Value::Null));
    assert_eq!(served.read().await, (200, Value::Null));
}

pub(super) async fn at_a_checkpoint(folder: &Path) {
    let disk = folder.join("disk");
    let mut world = World::new(&disk.join("store")).await;
    world.write_all(4).await;
    // Even preallocation fails at first; then a little more space is free each time, until there is enough.
    let ballast = Ballast::fill(&disk);
    let mut refusals = 0;
    loop {
        match world.store.verify().await {
            Ok(found) => {
                assert!(found.is_sound(), "{found}");
                break;
            }
            Err(error) => assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error)),
        }
        refusals += 1;
        world.assert_read().await;
        ballast.give_back(1 << 20);
    }
    assert!(refusals > 0);
    drop(ballast);
    world.write_all(1).await;
    world.assert_sound().await;
    let world = World::open(&disk.join("store"), world.close().await).await;
    world.assert_sound().await;
}

/// Space is taken and freed at any moment, also in the middle of sled's writes.
pub(super) async fn now_and_then(folder: &Path) {
    let disk = folder.join("disk");
    let mut world = World::new(&disk.join("store")).await;
    let go_on = Arc::new(());
    let (is_wanted, filled) = (Arc::downgrade(&go_on), disk.clone());
    let filling = thread::spawn(move || {
        while is_wanted.strong_count() > 0 {
            drop(Ballast::fill(&filled));
        }
    });
    let (mut refused, mut unsound) = (0, 0);
    for _ in 0..6 {
        refused += world.write(2).await.refused;
        world.assert_read_or_told().await;
        unsound += usize::from(world.store.verify().await.is_err());
    }
    say(&format!("{refused} batches and {unsound} checkpoints refused"));
    drop(go_on);
    filling.join().unwrap();
    world.write_all(1).await;
    world.assert_sound().await;
    let world = World::open(&disk.join("store"), world.close().await).await;
    world.assert_sound().await;
}

pub(super) async fn when_opened(folder: &Path) {
    let disk = folder.join("disk");
    let path = disk.join("store");
    let mut world = World::new(&path).await;
    world.write_all(2).await;
    let mut progress = world.close().await;
    for _ in 0..3 {
        let ballast = Ballast::fill(&disk);
        match World::try_to_open(&path, progress.clone()).await {
            Ok(world) => progress = world.close().await,
            Err(error) => assert_unavailable(&error, &path),
        }
        drop(ballast);
        let mut world = World::open(&path, progress).await;
        world.assert_sound().await;
        world.write_all(1).await;
        progress = world.close().await;
    }
    let _ballast = Ballast::fill(&disk);
    let new = disk.join("new");
    if let Err(error) = SledStore::open(&new).await {
        assert_unavailable(&error, &new);
    }
}

pub(super) fn assert_unavailable(error: &StoreError, folder: &Path) {
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(error));
    assert!(chain(error).contains(folder.to_str().unwrap()), "{}", chain(error));
}

pub(super) async fn when_killed(folder: &Path) {
    let disk = folder.join("disk");
    for _ in 0..3 {
        let store = TempDir::new_in(&disk).unwrap();
        let path = store.path().to_str().unwrap().to_owned();
        let child = Child::start("fault", &["write on".to_owned(), path]);
        let (mut ballast, mut progress) = (None, Progress::new());
        while let Some(line) = child.next(PATIENCE) {
            match line.as_str() {
                "ready" if ballast.is_none() => ballast = Some(Ballast::fill(&disk)),
                "ready" => {}
                "refused" => break,
                line => progress = said(line),
            }
        }
        let ended = child.kill();
        assert!(ended.status.code().is_none(), "{ended:?}");
        progress = said_last(&ended.lines).unwrap_or(progress);
        if let Ok(world) = World::try_to_open(store.path(), progress.clone()).await {
            progress = world.progress.clone();
        }
        drop(ballast);
        let mut world = World::open(store.path(), progress).await;
        world.assert_sound().await;
        world.write_all(1).await;
        world.close().await;
    }
}

/// Progress that a child reported before it began another round.
pub(super) fn said(line: &str) -> Progress {
    serde_json::from_str::<Progress>(line).unwrap().with_all_begun()
}

/// The last progress that a child reported and that was not read yet: the child goes on until it is killed.
pub(super) fn said_last(lines: &[String]) -> Option<Progress> {
    lines.iter().rfind(|line| !["ready", "refused"].contains(&line.as_str())).map(|line| said(line))
}

/// Runs in a child process: writes until it is killed, and reports the progress of every writer and each
/// refusal.
pub(super) async fn write_on(folder: &Path) {
    let mut world = World::new(folder).await;
    world.write_all(2).await;
    let mut refused = 0;
    loop {
        say(&serde_json::to_string(&world.progress).unwrap());
        say(if refused > 0 { "refused" } else { "ready" });
        refused = world.write(1).await.refused;
    }
}
