//! The engineer's drawings: networks with known tiers, of a file and generated, drawn with all roles, with half of them
//! and without.
//!
//! Each measure has a bar. Values beyond it are marked with `!`.

mod further;
#[allow(dead_code, reason = "tests draw the small networks")]
mod generated;
mod measure;
mod picture;
mod read;

use std::path::Path;

use self::measure::{Measures, last_tier_is_of_devices, order_of_heights, shift_by_a_stub};
use self::picture::Drawn;
use self::read::{Roles, Scene};

/// Prints the measures of all scenes whose names contain the filter.
pub(crate) fn print(data: Option<&Path>, filter: Option<&str>, folder: Option<&str>, choice: Choice) {
    println!(
        "\n## Scenes\n\nA value beyond its bar is followed by `!`; `–` stands for a measure without meaning there.\n"
    );
    println!(
        "| scene | roles | heights of a tier | links not downward | order without roles | a stub more, px | ring | chain | ports drawn | labels struck | shared uplinks | area | ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    println!(
        "| **bar** | | 1; 2 contiguous | ≤ 2 % | ≥ 0.95 | ≤ 1 node | < 0.15 | ≤ 12 | ≥ 95 % | ≤ 2 % | 0 | ≥ 12 % | |"
    );
    let mut scenes = data.map(read::scenes).unwrap_or_default();
    scenes.extend(generated::large());
    if choice.has_further {
        scenes.extend(further::all());
    }
    let (mut missed, mut rows) = (0, 0);
    for scene in scenes.into_iter().filter(|scene| filter.is_none_or(|filter| scene.name.contains(filter))) {
        for row in rows_of(&scene, folder) {
            rows += 1;
            missed += usize::from(row.contains(BEYOND));
            if !choice.only_missed || row.contains(BEYOND) {
                println!("{row}");
            }
        }
    }
    println!("\n{missed} of {rows} drawings have a value beyond its bar.");
}

/// Which scenes and rows are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// Whether networks of further sizes and kinds are drawn.
    pub(crate) has_further: bool,
    /// Whether only drawings with a value beyond its bar are printed.
    pub(crate) only_missed: bool,
}

/// Returns the row of a scene with each of the choices of roles.
fn rows_of(scene: &Scene, folder: Option<&str>) -> Vec<String> {
    let with_roles = Drawn::of(scene, Roles::All, false);
    let has_devices = last_tier_is_of_devices(scene);
    let row = |roles: Roles| {
        let drawn = Drawn::of(scene, roles, false);
        let larger = Drawn::of(scene, roles, true);
        let measures = Measures::of(scene, &drawn, has_devices);
        let order = order_of_heights(&with_roles, &drawn);
        let (shift, width) = shift_by_a_stub(&drawn, &larger);
        if let Some(folder) = folder {
            drawn.write(folder, &format!("{} {}", scene.name, roles.text()));
            larger.write(folder, &format!("{} {} with a stub", scene.name, roles.text()));
        }
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            scene.name,
            roles.text(),
            measures.heights(),
            measures.not_downward(),
            if scene.tiers.is_empty() {
                "–".to_owned()
            } else {
                marked(order >= 0.95, &format!("{order:.2}"))
            },
            marked(shift <= width, &format!("{shift:.0}")),
            measures.ring(),
            measures.chain(),
            measures.ports(),
            measures.struck(),
            measures.shared(),
            measures.area(),
            drawn.time.as_secs_f64() * 1e3,
        )
    };
    [Roles::All, Roles::Half, Roles::None].map(row).into()
}

/// The mark of a value that is beyond its bar.
const BEYOND: &str = " !";

/// Marks a value that is beyond its bar.
fn marked(is_within: bool, value: &str) -> String {
    if is_within { value.to_owned() } else { format!("{value}{BEYOND}") }
}
