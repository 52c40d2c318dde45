//! Damaged folders.
//!
//! Each read returns the right data or reports the damage, and a repair saves the intact data.

mod outcome;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use toposcope::store::SledStore;

use self::outcome::{Outcome, Saved};
pub(super) use self::outcome::{read, repair};
use super::workload::{WRITERS, Writer, commit};
use super::{fresh_generator, once_in, rounds, start_runtime};
use crate::child::{Child, TIMEOUT};
use crate::fixture::{copy, files};

#[test]
fn damaged_folder_returns_right_data_or_an_error_and_can_be_repaired() {
    let (rounds, mut random) = (rounds("TOPOSCOPE_DAMAGE_ROUNDS", 6), fresh_generator());
    let folder = TempDir::new().unwrap();
    let originals = start_runtime().block_on(originals(folder.path(), random.u64(..)));
    let (mut counts, mut problems) = (BTreeMap::<_, usize>::new(), Vec::new());
    for round in 1..=rounds {
        let original = random.choice(&originals).unwrap();
        let damaged = TempDir::new_in(folder.path()).unwrap();
        copy(&original.folder, damaged.path());
        let harms = damage(damaged.path(), &mut random);
        let played = DamagedFolder { original, folder: damaged.path() }.play();
        match played.and_then(|played| require_the_other_copy(&harms, played)) {
            Ok(played) => *counts.entry(row(&harms, &played)).or_default() += 1,
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
    counts.iter().for_each(|(row, count)| println!("{count:>6} x {row}"));
    assert!(problems.is_empty(), "{} of {rounds} rounds went wrong: {problems:#?}", problems.len());
}

/// Describes the kind of damage and its outcome, without values that differ between two rounds.
fn row(harms: &[Harm], (outcome, saved): &Played) -> String {
    let damaged = match harms {
        [harm] if harm.file.to_string_lossy().contains("snap.") => format!("records/snap {:?}", harm.kind),
        [harm] => format!("{} {:?}", harm.file.display(), harm.kind),
        _ => "two files".to_owned(),
    };
    let name = |text: String| text.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let saved = saved.as_ref().map_or_else(|| "not needed".to_owned(), |saved| name(format!("{saved:?}")));
    format!("{damaged}: {}, repaired: {saved}", name(format!("{outcome:?}")))
}

/// Requires that damage to a single copy loses nothing, and that a repair saves everything.
fn require_the_other_copy(harms: &[Harm], played: Played) -> Result<Played, String> {
    let is_in = |copy: &str| harms.iter().all(|harm| harm.file.starts_with(copy));
    if !is_in("records") && !is_in("records.second") {
        return Ok(played);
    }
    match played {
        (Outcome::Right, None) | (Outcome::RightAndReported(_), Some(Saved::Everything)) => Ok(played),
        (outcome, saved) => Err(format!("with one copy whole: {outcome:?}, repaired {saved:?}")),
    }
}

/// Outcome of opening a folder, and of its repair if it needed one.
type Played = (Outcome, Option<Saved>);

/// A folder that was damaged.
struct DamagedFolder<'a> {
    original: &'a Original,
    folder: &'a Path,
}

impl DamagedFolder<'_> {
    /// Reads the folder twice and repairs it. Data that is refused at first must be refused again, or be right, until
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
            Outcome::RightAndReported(texts) | Outcome::InPart(texts) => texts,
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
        let original = serde_json::to_string(self.original).unwrap();
        let ended = Child::start(scene, &[&original, self.folder.to_str().unwrap()])
            .finish(TIMEOUT)
            .ok_or_else(|| format!("{scene} hangs"))?;
        match ended.lines.last() {
            Some(line) if ended.status.success() => Ok(serde_json::from_str(line).unwrap()),
            _ => Err(format!("{scene} ended with {}: {}", ended.status, ended.errors)),
        }
    }
}

/// An undamaged folder and its expected contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Original {
    name: String,
    folder: PathBuf,
    seed: u64,
    /// Number of batches that each writer has written.
    batches: u64,
}

impl Original {
    fn writers(&self) -> Vec<Writer> {
        (0..WRITERS).map(|number| Writer::after(self.seed, number, self.batches)).collect()
    }
}

/// Creates folders in several states. They were closed properly, left by a killed process, or opened many times.
async fn originals(folder: &Path, seed: u64) -> Vec<Original> {
    let mut originals = Vec::new();
    for (name, closings, batches) in [("closed", 1, 12), ("killed", 0, 8), ("continued", 1, 6), ("old", 6, 2)]
    {
        let (work, kept) = (folder.join(format!("{name}.work")), folder.join(name));
        let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(seed, number)).collect();
        for _ in 0..closings {
            let store = SledStore::open(&work).await.unwrap();
            write(&store, &mut writers, batches).await;
            store.close().await.unwrap();
        }
        if name == "closed" {
            copy(&work, &kept);
        } else {
            let store = SledStore::open(&work).await.unwrap();
            store.verify().await.unwrap();
            write(&store, &mut writers, batches).await;
            // No work is in progress, so this copy is what a kill would leave.
            copy(&work, &kept);
            store.close().await.unwrap();
        }
        originals.push(Original { name: name.to_owned(), folder: kept, seed, batches: writers[0].done });
    }
    originals
}

async fn write(store: &SledStore, writers: &mut [Writer], batches: u64) {
    for _ in 0..batches {
        for writer in &mut *writers {
            commit(store, writer).await.unwrap();
            writer.go_on();
        }
    }
}

/// Longest piece of a file that is damaged, in bytes.
const MAX_PIECE: usize = 100_000;

/// Kind of damage to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Cut,
    Zeros,
    /// Every byte of a piece is replaced by a different one.
    Changed,
    Removed,
}

/// The kind of damage and the file, to diagnose a failure.
#[derive(Clone, Debug)]
struct Harm {
    file: PathBuf,
    kind: Kind,
    place: u64,
    length: usize,
}

impl fmt::Display for Harm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, kind, place, length } = self;
        write!(formatter, "{} {kind:?} at {place}, {length} bytes", file.display())
    }
}

/// Damages one file of a folder, or occasionally two.
fn damage(folder: &Path, random: &mut Rng) -> Vec<Harm> {
    let mut files = files(folder);
    let count = if once_in(random, 6) { 2 } else { 1 };
    (0..count)
        .map(|_| {
            let file = files.swap_remove(pick(&files, random));
            damage_file(folder, file, random)
        })
        .collect()
}

/// Chooses a file, with a preference for the few large ones. They hold nearly everything, and a uniform choice would
/// rarely select them.
fn pick(files: &[PathBuf], random: &mut Rng) -> usize {
    let is_large = |file: &PathBuf| file.ends_with("db") || file.to_string_lossy().starts_with("journal");
    let large: Vec<usize> = (0..files.len()).filter(|place| is_large(&files[*place])).collect();
    if random.bool() && !large.is_empty() {
        *random.choice(&large).unwrap()
    } else {
        random.usize(..files.len())
    }
}

fn damage_file(folder: &Path, file: PathBuf, random: &mut Rng) -> Harm {
    let path = folder.join(&file);
    let size = fs::metadata(&path).unwrap().len();
    let kind =
        random.choice([Kind::Cut, Kind::Zeros, Kind::Zeros, Kind::Changed, Kind::Changed, Kind::Removed]);
    // Damage to the beginning or the end of a file may have special effects.
    let place = match random.u8(..6) {
        0 => random.u64(..size.clamp(1, 64)),
        1 => size.saturating_sub(1 + random.u64(..size.clamp(1, 64))),
        _ => random.u64(..size.max(1)),
    };
    let longest = 1 << random.u8(..17);
    let length = if once_in(random, 3) { 1 } else { random.usize(1..=MAX_PIECE.min(longest)) };
    let kind = kind.unwrap();
    match kind {
        Kind::Cut => File::options().write(true).open(&path).unwrap().set_len(place).unwrap(),
        Kind::Removed => fs::remove_file(&path).unwrap(),
        Kind::Zeros => change(&path, place, length, |_| 0),
        Kind::Changed => change(&path, place, length, |byte| byte ^ random.u8(1..)),
    }
    Harm { file, kind, place, length }
}

fn change(path: &Path, place: u64, length: usize, mut changed: impl FnMut(u8) -> u8) {
    let mut file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut piece = Vec::new();
    file.seek(SeekFrom::Start(place)).unwrap();
    (&file).take(length as u64).read_to_end(&mut piece).unwrap();
    piece.iter_mut().for_each(|byte| *byte = changed(*byte));
    file.seek(SeekFrom::Start(place)).unwrap();
    file.write_all(&piece).unwrap();
}
