use std::path::Path;

use toposcope::store::SledStore;

use super::disk::{Ballast, run, text, unmount};
use super::full::assert_unavailable;
use super::world::World;

pub(super) async fn when_opened(folder: &Path) {
    let disk = folder.join("disk");
    let path = disk.join("store");
    let mut world = World::new(&path).await;
    world.write_all(1).await;
    let mut progress = world.close().await;
    run("mount", &["-o", "remount,ro", text(&disk)]);
    for path in [&path, &disk.join("new")] {
        let error = SledStore::open(path).await.unwrap_err();
        assert_unavailable(&error, path);
    }
    run("mount", &["-o", "remount,rw", text(&disk)]);
    let mut world = World::open(&path, progress).await;
    world.assert_sound().await;
    world.write_all(1).await;
    progress = world.close().await;
    World::open(&path, progress).await.assert_sound().await;
}

pub(super) async fn while_open(folder: &Path) {
    let (disk, below) = (folder.join("disk"), folder.join("below"));
    let path = disk.join("store");
    let mut world = World::new(&path).await;
    world.write_all(3).await;
    world.assert_sound().await;
    world.write_all(1).await;
    let ballast = Ballast::fill(&below);
    // The disk below is full. The file system notices on its next write, and is read-only from then on.
    let tally = world.write(60).await;
    assert!(tally.refused > 0, "{tally:?}");
    world.assert_read_or_told().await;
    let progress = world.close().await;
    let error = SledStore::open(&path).await.unwrap_err();
    assert_unavailable(&error, &path);
    drop(ballast);
    unmount(&disk);
    run("sh", &["-c", "e2fsck -fy \"$1\" || [ $? = 1 ]", "sh", text(&below.join("image"))]);
    run("mount", &["-o", "loop", text(&below.join("image")), text(&disk)]);
    let mut world = World::open(&path, progress).await;
    world.assert_sound().await;
    world.write_all(1).await;
    world.close().await;
}
