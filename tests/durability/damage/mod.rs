//! Damaged folders: each read returns the right data or reports the damage, and a repair saves what is
//! intact.

mod harm;
mod original;
mod read;
mod repair;
mod table;

use std::path::Path;

use tempfile::TempDir;

use self::harm::{Harm, damage};
use self::original::{Original, originals};
use self::read::Outcome;
pub(crate) use self::read::read;
use self::repair::Saved;
pub(crate) use self::repair::repair;
use self::table::Table;
use crate::support::{Child, PATIENCE, SplitMix64, copy, rounds, seed, start_runtime};

#[test]
fn a_damaged_folder_gives_what_is_right_or_an_error_and_can_be_repaired() {
    let (rounds, mut random) = (rounds("TOPOSCOPE_DAMAGE_ROUNDS", 6), SplitMix64(seed()));
    let folder = TempDir::new().unwrap();
    let originals = start_runtime().block_on(originals(folder.path(), random.next()));
    let (mut table, mut problems) = (Table::default(), Vec::new());
    for round in 1..=rounds {
        let original = random.choose(&originals);
        let damaged = TempDir::new_in(folder.path()).unwrap();
        copy(&original.folder, damaged.path());
        let harms = damage(damaged.path(), &mut random);
        let played = Scene { original: &original, folder: damaged.path() }.play();
        match played.and_then(|played| require_the_other_copy(&harms, played)) {
            Ok((outcome, saved)) => table.count(&harms, &outcome, saved.as_ref()),
            Err(problem) => {
                let harms: Vec<String> = harms.iter().map(ToString::to_string).collect();
                println!("{}, {}: {problem}", original.name, harms.join(", "));
                problems.push(problem);
            }
        }
        if round % 50 == 0 {
            println!("{round} of {rounds} folders damaged");
        }
    }
    println!("{table}");
    assert!(problems.is_empty(), "{} of {rounds} rounds went wrong: {problems:#?}", problems.len());
}

/// Requires that nothing is missing and that a repair saves everything if only one copy is damaged.
fn require_the_other_copy(harms: &[Harm], played: Played) -> Result<Played, String> {
    let is_in = |copy: &str| harms.iter().all(|harm| harm.file.starts_with(copy));
    if !is_in("records") && !is_in("records.second") {
        return Ok(played);
    }
    match played {
        (Outcome::Right, None) | (Outcome::RightAndTold(_), Some(Saved::Everything)) => Ok(played),
        (outcome, saved) => Err(format!("with one copy whole: {outcome:?}, repaired {saved:?}")),
    }
}

/// Outcome of opening a folder, and of its repair if it needed one.
type Played = (Outcome, Option<Saved>);

/// A folder that was damaged.
struct Scene<'a> {
    original: &'a Original,
    folder: &'a Path,
}

impl Scene<'_> {
    /// Reads the folder twice and repairs it. What is refused at first must be refused again, or right, until
    /// the repair.
    fn play(&self) -> Result<Played, String> {
        let outcome = self.read()?;
        if outcome == Outcome::Right {
            return Ok((outcome, None));
        }
        self.read().map_err(|problem| format!("{outcome:?}, then {problem}"))?;
        let saved = self.repair().map_err(|problem| format!("{outcome:?}, then {problem}"))?;
        Ok((outcome, Some(saved)))
    }

    fn read(&self) -> Result<Outcome, String> {
        let outcome = self.child("read")?;
        let texts = match &outcome {
            Outcome::Wrong(text) => return Err(format!("wrong: {text}")),
            Outcome::Right => &[][..],
            Outcome::Refused(text) => std::slice::from_ref(text),
            Outcome::RightAndTold(texts) | Outcome::InPart(texts) => texts,
        };
        texts.iter().try_for_each(|text| self.require_clear(text))?;
        Ok(outcome)
    }

    fn repair(&self) -> Result<Saved, String> {
        let saved = self.child("repair")?;
        match &saved {
            Saved::Wrong(text) => return Err(text.clone()),
            Saved::Nothing(text) => self.require_clear(text)?,
            Saved::Everything | Saved::Some { .. } => {}
        }
        Ok(saved)
    }

    /// Requires that a text names the folder or a record.
    fn require_clear(&self, text: &str) -> Result<(), String> {
        let is_kind = ["Corrupt: ", "Invalid: ", "Unavailable: "].iter().any(|kind| text.starts_with(kind));
        let names_record = ["note ", "host ", "ledger "].iter().any(|kind| text.contains(kind));
        let is_clear = is_kind && (names_record || text.contains(self.folder.to_str().unwrap()));
        if is_clear { Ok(()) } else { Err(format!("an error that names nothing: {text}")) }
    }

    fn child<T: serde::de::DeserializeOwned>(&self, scene: &str) -> Result<T, String> {
        let arguments =
            [serde_json::to_string(self.original).unwrap(), self.folder.to_str().unwrap().to_owned()];
        let ended =
            Child::start(scene, &arguments).finish(PATIENCE).ok_or_else(|| format!("{scene} hangs"))?;
        match ended.lines.last() {
            Some(line) if ended.status.success() => Ok(serde_json::from_str(line).unwrap()),
            _ => Err(format!("{scene} ended with {}: {}", ended.status, ended.errors)),
        }
    }
}
