use std::path::Path;

use toposcope::store::SledStore;

use super::full::{assert_unavailable, said, said_last};
use super::{Ballast, run, text, unmount};
use crate::child::{Child, TIMEOUT};
use crate::durability::workload::{Progress, Workload};

/// A process continues after a failed sync, and is then killed.
pub(super) async fn wal(folder: &Path) {
    let (below, path) = (folder.join("below"), folder.join("disk/store"));
    let child = Child::start("fault", &["write on", text(&path)]);
    let (mut ballast, mut progress, mut refusals, mut rounds_after) = (None, Progress::new(), 0, 0);
    while let Some(line) = child.next(TIMEOUT) {
        match line.as_str() {
            "ready" if refusals == 0 && ballast.is_none() => ballast = Some(Ballast::fill(&below)),
            "ready" if refusals == 0 => {}
            "ready" if rounds_after < 2 => rounds_after += 1,
            "ready" => break,
            "refused" => {
                refusals += 1;
                ballast = None;
            }
            line => progress = said(line),
        }
    }
    let ended = child.kill();
    assert!(ended.status.code().is_none(), "{ended:?}");
    progress = said_last(&ended.lines).unwrap_or(progress);
    forget(folder);
    let mut workload = Workload::open(&path, progress).await;
    workload.assert_sound().await;
    workload.write_all(1).await;
    workload.close().await;
}

pub(super) async fn records(folder: &Path) {
    let (below, path) = (folder.join("below"), folder.join("disk/store"));
    let mut workload = Workload::new(&path).await;
    workload.write_all(2).await;
    workload.assert_sound().await;
    // Only writes that need new space below can fail.
    let mut failures = 0;
    for _ in 0..20 {
        workload.write_all(4).await;
        let ballast = Ballast::fill(&below);
        failures += usize::from(workload.store.verify().await.is_err());
        workload.assert_read_or_told().await;
        drop(ballast);
        workload.assert_sound().await;
        if failures == 2 {
            break;
        }
    }
    assert_eq!(failures, 2);
    workload.write_all(1).await;
    let progress = workload.close().await;
    forget(folder);
    Workload::open(&path, progress).await.assert_sound().await;
}

/// Unmounts and remounts the disk. This discards data that is only in the system's memory.
fn forget(folder: &Path) {
    let (disk, image) = (folder.join("disk"), folder.join("below/image"));
    unmount(&disk);
    run("mount", &["-o", "loop", text(&image), text(&disk)]);
}

pub(super) async fn read_only_when_opened(folder: &Path) {
    let disk = folder.join("disk");
    let path = disk.join("store");
    let mut workload = Workload::new(&path).await;
    workload.write_all(1).await;
    let mut progress = workload.close().await;
    run("mount", &["-o", "remount,ro", text(&disk)]);
    for path in [&path, &disk.join("new")] {
        let error = SledStore::open(path).await.unwrap_err();
        assert_unavailable(&error, path);
    }
    run("mount", &["-o", "remount,rw", text(&disk)]);
    let mut workload = Workload::open(&path, progress).await;
    workload.assert_sound().await;
    workload.write_all(1).await;
    progress = workload.close().await;
    Workload::open(&path, progress).await.assert_sound().await;
}

pub(super) async fn read_only_while_open(folder: &Path) {
    let (disk, below) = (folder.join("disk"), folder.join("below"));
    let path = disk.join("store");
    let mut workload = Workload::new(&path).await;
    workload.write_all(3).await;
    workload.assert_sound().await;
    workload.write_all(1).await;
    let ballast = Ballast::fill(&below);
    // The disk below is full. The file system notices on its next write, and is read-only from then on.
    let tally = workload.write(60).await;
    assert!(tally.refused > 0, "{tally:?}");
    workload.assert_read_or_told().await;
    let progress = workload.close().await;
    let error = SledStore::open(&path).await.unwrap_err();
    assert_unavailable(&error, &path);
    drop(ballast);
    unmount(&disk);
    run("sh", &["-c", "e2fsck -fy \"$1\" || [ $? = 1 ]", "sh", text(&below.join("image"))]);
    run("mount", &["-o", "loop", text(&below.join("image")), text(&disk)]);
    let mut workload = Workload::open(&path, progress).await;
    workload.assert_sound().await;
    workload.write_all(1).await;
    workload.close().await;
}

pub(super) async fn limited_files(folder: &Path) {
    let path = folder.join("disk/store");
    let mut workload = Workload::new(&path).await;
    let tally = workload.write(40).await;
    assert!(tally.refused > 0 && tally.done > 50, "{tally:?}");
    workload.assert_read().await;
    let progress = serde_json::to_string(&workload.close().await).unwrap();
    let way = ["sh", "-c", "ulimit -S -f unlimited && exec \"$@\"", "sh"];
    let child = Child::start_through(&way, "fault", &["look", text(&path), &progress]);
    let ended = child.finish(TIMEOUT).unwrap();
    assert!(ended.status.success(), "{}", ended.errors);
}

/// Runs in a child process without a limit on file sizes.
pub(super) async fn open_and_write(folder: &Path, progress: &str) {
    let mut workload = Workload::open(folder, serde_json::from_str(progress).unwrap()).await;
    workload.assert_sound().await;
    workload.write_all(1).await;
    workload.close().await;
}
