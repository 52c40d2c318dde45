use std::collections::BTreeMap;
use std::fmt;

use super::harm::{Harm, Kind};
use super::read::Outcome;
use super::repair::Saved;

/// Counts the outcomes of each kind of damage.
#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<(String, Option<Kind>), Row>);

#[derive(Debug, Default)]
struct Row {
    right: usize,
    right_and_told: usize,
    in_part: usize,
    refused: usize,
    saved: usize,
    saved_in_part: usize,
    lost: usize,
}

impl Table {
    pub(super) fn count(&mut self, harms: &[Harm], outcome: &Outcome, saved: Option<&Saved>) {
        let file = match harms {
            [harm] => (name(harm), Some(harm.kind)),
            _ => ("two files".to_owned(), None),
        };
        let row = self.0.entry(file).or_default();
        match outcome {
            Outcome::Right => row.right += 1,
            Outcome::RightAndTold(_) => row.right_and_told += 1,
            Outcome::InPart(_) => row.in_part += 1,
            Outcome::Refused(_) => row.refused += 1,
            Outcome::Wrong(_) => {}
        }
        match saved {
            Some(Saved::Everything) => row.saved += 1,
            Some(Saved::Some { .. }) => row.saved_in_part += 1,
            Some(Saved::Nothing(_)) => row.lost += 1,
            Some(Saved::Wrong(_)) | None => {}
        }
    }
}

/// Returns the name of a file without the numbers that distinguish files of one kind.
fn name(harm: &Harm) -> String {
    let name = harm.file.to_string_lossy().into_owned();
    if name.contains("snap.") { "records/snap".to_owned() } else { name }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{:<24} {:>6} {:>10} {:>8} {:>8} | repaired {:>10} {:>8} {:>5}",
            "damaged", "right", "right+told", "in part", "refused", "everything", "in part", "not"
        )?;
        for ((file, kind), row) in &self.0 {
            let damaged = kind.map_or_else(|| file.clone(), |kind| format!("{file} {kind:?}"));
            let Row { right, right_and_told, in_part, refused, saved, saved_in_part, lost } = row;
            writeln!(
                formatter,
                "{damaged:<24} {right:>6} {right_and_told:>10} {in_part:>8} {refused:>8} |          {saved:>10} \
                 {saved_in_part:>8} {lost:>5}"
            )?;
        }
        Ok(())
    }
}
