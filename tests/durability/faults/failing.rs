use std::path::Path;

use super::disk::{Ballast, run, text, unmount};
use super::full::{said, said_last};
use super::world::World;
use crate::support::{Child, PATIENCE};
use crate::workload::Progress;

/// A process continues after a failed sync, and is then killed.
pub(super) async fn journal(folder: &Path) {
    let (below, path) = (folder.join("below"), folder.join("disk/store"));
    let child = Child::start("fault", &["write on".to_owned(), text(&path).to_owned()]);
    let (mut ballast, mut progress, mut refusals, mut rounds_after) = (None, Progress::new(), 0, 0);
    while let Some(line) = child.next(PATIENCE) {
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
    let mut world = World::open(&path, progress).await;
    world.assert_sound().await;
    world.write_all(1).await;
    world.close().await;
}

pub(super) async fn records(folder: &Path) {
    let (below, path) = (folder.join("below"), folder.join("disk/store"));
    let mut world = World::new(&path).await;
    world.write_all(2).await;
    world.assert_sound().await;
    // Only writes that need new space below can fail.
    let mut failures = 0;
    for _ in 0..20 {
        world.write_all(4).await;
        let ballast = Ballast::fill(&below);
        failures += usize::from(world.store.verify().await.is_err());
        world.assert_read_or_told().await;
        drop(ballast);
        world.assert_sound().await;
        if failures == 2 {
            break;
        }
    }
    assert_eq!(failures, 2);
    world.write_all(1).await;
    let progress = world.close().await;
    forget(folder);
    World::open(&path, progress).await.assert_sound().await;
}

/// Unmounts the disk and mounts it again, which discards data that is only in the system's memory.
fn forget(folder: &Path) {
    let (disk, image) = (folder.join("disk"), folder.join("below/image"));
    unmount(&disk);
    run("mount", &["-o", "loop", text(&image), text(&disk)]);
}
