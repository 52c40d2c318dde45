use std::path::Path;

use super::world::World;
use crate::support::{Child, PATIENCE};

pub(super) async fn files(folder: &Path) {
    let path = folder.join("disk/store");
    let mut world = World::new(&path).await;
    let tally = world.write(40).await;
    assert!(tally.refused > 0 && tally.done > 50, "{tally:?}");
    world.assert_read().await;
    let progress = serde_json::to_string(&world.close().await).unwrap();
    let way = ["sh", "-c", "ulimit -S -f unlimited && exec \"$@\"", "sh"];
    let path = path.to_str().unwrap().to_owned();
    let child = Child::start_through(&way, "fault", &["look".to_owned(), path, progress]);
    let ended = child.finish(PATIENCE).unwrap();
    assert!(ended.status.success(), "{}", ended.errors);
}

/// Runs in a child process without a limit on file sizes.
pub(super) async fn look(folder: &Path, progress: &str) {
    let mut world = World::open(folder, serde_json::from_str(progress).unwrap()).await;
    world.assert_sound().await;
    world.write_all(1).await;
    world.close().await;
}
