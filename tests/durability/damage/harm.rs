use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::support::{SplitMix64, files};

/// Longest piece of a file that is damaged, in bytes.
const LONGEST: usize = 100_000;

/// Kind of damage to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Cut,
    Zeros,
    /// Every byte of a piece is replaced by a different one.
    Changed,
    Removed,
}

/// The kind of damage and the file, to diagnose a failure.
#[derive(Clone, Debug)]
pub(super) struct Harm {
    pub(super) file: PathBuf,
    pub(super) kind: Kind,
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
pub(super) fn damage(folder: &Path, random: &mut SplitMix64) -> Vec<Harm> {
    let mut files = files(folder);
    let count = if random.once_in(6) { 2 } else { 1 };
    (0..count)
        .map(|_| {
            let file = files.swap_remove(pick(&files, random));
            damage_file(folder, file, random)
        })
        .collect()
}

/// Prefers the few large files: they hold nearly everything, and a uniform choice would rarely hit them.
fn pick(files: &[PathBuf], random: &mut SplitMix64) -> usize {
    let is_large = |file: &PathBuf| file.ends_with("db") || file.to_string_lossy().starts_with("journal");
    let large: Vec<usize> = (0..files.len()).filter(|place| is_large(&files[*place])).collect();
    if random.once_in(2) && !large.is_empty() { random.choose(&large) } else { random.below(files.len()) }
}

fn damage_file(folder: &Path, file: PathBuf, random: &mut SplitMix64) -> Harm {
    let path = folder.join(&file);
    let size = fs::metadata(&path).unwrap().len();
    let kind =
        random.choose(&[Kind::Cut, Kind::Zeros, Kind::Zeros, Kind::Changed, Kind::Changed, Kind::Removed]);
    // Beginnings and ends have a meaning of their own.
    let place = match random.below(6) {
        0 => random.next() % size.clamp(1, 64),
        1 => size.saturating_sub(1 + random.next() % size.clamp(1, 64)),
        _ => random.next() % size.max(1),
    };
    let longest = 1 << random.below(17);
    let length = if random.once_in(3) { 1 } else { 1 + random.below(LONGEST.min(longest)) };
    match kind {
        Kind::Cut => File::options().write(true).open(&path).unwrap().set_len(place).unwrap(),
        Kind::Removed => fs::remove_file(&path).unwrap(),
        Kind::Zeros => change(&path, place, length, |_| 0),
        Kind::Changed => change(&path, place, length, |byte| byte ^ (1 + random.below(255) as u8)),
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
