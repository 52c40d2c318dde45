//! Scenes that run in processes of their own, so that they can be killed.

use crate::support::{scene, start_runtime};
use crate::{crash, damage, faults, opening};

/// Does nothing unless another test has started this process.
#[test]
#[ignore = "it is a part of other tests, which begin it in a process of its own"]
fn the_scene_of_a_child() {
    let Some((scene, arguments)) = scene() else { return };
    let runtime = start_runtime();
    match scene.as_str() {
        "write" => runtime.block_on(crash::write(&arguments)),
        "fault" => runtime.block_on(faults::fault(&arguments)),
        "hold" => runtime.block_on(opening::hold(&arguments)),
        #[cfg(unix)]
        "modes" => runtime.block_on(opening::modes_scene(&arguments)),
        "read" => runtime.block_on(damage::read(&arguments)),
        "repair" => runtime.block_on(damage::repair(&arguments)),
        _ => panic!("there is no scene {scene}"),
    }
}
