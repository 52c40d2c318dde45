use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::codec::{Head, Place};
use super::super::copies::Side;
use super::super::progress::Progress;
use super::super::records::{Base, Cursor, Heads, damaged, read_head};
use super::super::shared::Shared;
use super::Verification;
use crate::store::index::RowId;
use crate::store::{Facets, Key, StoreError};

/// After how long a piece ends at the next record. A checkpoint waits for one slice at most, which is a piece or a turn.
const SLICE: Duration = Duration::from_millis(20);

/// How long a slice takes that had to wait for a checkpoint: where checkpoints follow each other without a break, the walk
/// gets one slice between two of them, and would take very long with short ones.
const TURN: Duration = Duration::from_millis(50);

/// How many rows of the index are looked at in one slice: commits wait for the lock of the state meanwhile.
const ROWS: usize = 4096;

/// A record that the index does not know, with the number of its body.
pub(super) type Unclear = (Key, u64);

/// One walk over both copies of the records.
///
/// Checkpoints may run between two slices. What they change is taken into account in three ways: [`Progress`] keeps the
/// count of the heads that were passed in step; a head that was not passed yet is read as the checkpoint has left it; and
/// bodies with numbers given since the walk began count as written, not as lost or left over.
#[derive(Debug)]
pub(super) struct Walk {
    shared: Arc<Shared>,
    stage: Stage,
    verification: Verification,
    unclear: Vec<Unclear>,
    /// The number of failed checkpoints at the beginning.
    failures: u64,
    /// The base of the first copy at the beginning.
    begun: Base,
    /// The numbers of the bodies of all heads that were read in the current copy: 8 bytes for each record.
    bodies: HashSet<u64>,
}

/// What the next slice reads.
#[derive(Debug)]
enum Stage {
    Begin,
    Heads(Side),
    /// The rows of the index that are still to be looked at.
    Rows(Vec<RowId>),
    Bodies {
        side: Side,
        from: Cursor,
        strays: u64,
    },
    Over,
}

impl Walk {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            stage: Stage::Begin,
            verification: Verification::default(),
            unclear: Vec::new(),
            failures: 0,
            begun: Base::default(),
            bodies: HashSet::new(),
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    pub(super) fn finish(self) -> (Verification, Vec<Unclear>) {
        (self.verification, self.unclear)
    }

    /// Does a bounded part of the work, during which the records stay as they are: one piece, or as many as take some time
    /// where the walk had to wait for its turn.
    pub(super) fn slice(mut self) -> Result<Self, StoreError> {
        let shared = Arc::clone(&self.shared);
        let asked = Instant::now();
        let mut progress = shared.records.blocking_lock();
        let begin = Instant::now();
        let has_waited = begin.duration_since(asked) > SLICE;
        loop {
            self.piece(&mut progress)?;
            if self.is_over() || !has_waited || begin.elapsed() > TURN {
                return Ok(self);
            }
        }
    }

    fn piece(&mut self, progress: &mut Progress) -> Result<(), StoreError> {
        let is_second =
            matches!(self.stage, Stage::Heads(Side::Second) | Stage::Bodies { side: Side::Second, .. });
        self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Begin => self.begin(progress),
            stage => progress.require_unchanged(self.failures).and_then(|()| {
                match self.advance(stage, progress) {
                    // The store can do without the second copy, so this is a finding.
                    Err(problem) if is_second => {
                        self.verification.add(problem);
                        Ok(Stage::Over)
                    }
                    next => next,
                }
            }),
        }?;
        Ok(())
    }

    fn begin(&mut self, progress: &mut Progress) -> Result<Stage, StoreError> {
        self.failures = progress.require_applied()?;
        self.begun = self.shared.copies.first.base()?;
        progress.begin(Side::First);
        Ok(Stage::Heads(Side::First))
    }

    fn advance(&mut self, stage: Stage, progress: &mut Progress) -> Result<Stage, StoreError> {
        match stage {
            Stage::Heads(side) => self.heads(side, progress),
            Stage::Rows(rows) => self.rows(rows),
            Stage::Bodies { side, from, strays } => self.bodies(side, &from, strays, progress),
            Stage::Begin | Stage::Over => Ok(Stage::Over),
        }
    }

    /// Reads some heads with their bodies.
    fn heads(&mut self, side: Side, progress: &mut Progress) -> Result<Stage, StoreError> {
        let begin = Instant::now();
        let Heads { heads, next } = self.shared.copies.of(side).heads_from(&progress.position());
        for (key, bytes) in heads {
            match side {
                Side::First => self.first_head(key, &bytes)?,
                Side::Second => self.second_head(key, &bytes),
            }
            progress.pass(key, Head::checksum(&bytes));
            if begin.elapsed() > SLICE {
                return Ok(Stage::Heads(side));
            }
        }
        if next?.is_some() {
            return Ok(Stage::Heads(side));
        }
        self.require_all(side, &progress.finish())?;
        Ok(match side {
            Side::First => Stage::Rows(self.shared.read_state()?.index.rows().collect()),
            Side::Second => Stage::Bodies { side, from: Cursor::before_bodies(), strays: 0 },
        })
    }

    /// Compares the heads that were found with those that there should be. No checkpoint is under way, so both copies are
    /// from the same time.
    fn require_all(&mut self, side: Side, found: &Base) -> Result<(), StoreError> {
        let base = self.shared.copies.of(side).base()?;
        let is_same = base.counts_same(found);
        match side {
            Side::First if !is_same => self.add_of_folder("records are missing or from another time"),
            Side::Second if !is_same || base != self.shared.copies.first.base()? => {
                self.add_of_folder("the second copy of the records is not the same as the first");
            }
            Side::First | Side::Second => {}
        }
        Ok(())
    }

    fn first_head(&mut self, key: Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.verification.records += 1;
        let head = match read_head(key, bytes) {
            Ok(head) => head,
            Err(problem) => {
                self.verification.add(problem);
                return Ok(());
            }
        };
        self.bodies.insert(head.body.id);
        self.verification.bytes += u64::from(head.body.length);
        if let Err(problem) = self.shared.copies.first.body(key, head.body) {
            self.verification.add(problem);
        }
        self.compare(key, head)
    }

    fn second_head(&mut self, key: Key, bytes: &[u8]) {
        let body = read_head(key, bytes).and_then(|head| {
            self.bodies.insert(head.body.id);
            self.shared.copies.second.body(key, head.body)
        });
        if body.is_err() {
            self.verification.add(StoreError::corrupt(format!("{key} is damaged in the second copy")));
        }
    }

    /// Checks that the index has the record as it is here, unless a newer version waits for the next checkpoint.
    fn compare(&mut self, key: Key, head: Head) -> Result<(), StoreError> {
        let state = self.shared.read_state()?;
        let Some(row) = state.index.find(key) else {
            self.unclear.push((key, head.body.id));
            return Ok(());
        };
        let is_same = state.bodies.place(row) == Some(head.body)
            && state.index.key(row) == Some((key, head.version))
            && state.index.facets(row).map(in_order) == Some(in_order(head.facets));
        if !is_same && !state.bodies.is_pinned(row) {
            drop(state);
            self.verification.add(damaged(key));
        }
        Ok(())
    }

    /// Checks that the records have some of the rows of the index, unless these wait for the next checkpoint.
    fn rows(&mut self, mut rows: Vec<RowId>) -> Result<Stage, StoreError> {
        let is_new = self.given_since_begun(Side::First)?;
        let state = self.shared.read_state()?;
        let some = rows.split_off(rows.len().saturating_sub(ROWS));
        let applied = some.into_iter().filter(|row| !state.bodies.is_pinned(*row));
        let located = applied.filter_map(|row| Some((state.index.key(row)?.0, state.bodies.place(row)?)));
        let is_missing = |place: &Place| !self.bodies.contains(&place.id) && !is_new(place.id);
        let missing = located.filter(|(_, place)| is_missing(place)).map(|(key, _)| key);
        let missing: Vec<Key> = missing.collect();
        drop(state);
        missing.into_iter().for_each(|key| self.verification.add(damaged(key)));
        Ok(if rows.is_empty() {
            Stage::Bodies { side: Side::First, from: Cursor::before_bodies(), strays: 0 }
        } else {
            Stage::Rows(rows)
        })
    }

    /// Counts bodies that belong neither to a record nor to those that are to be removed.
    fn bodies(
        &mut self,
        side: Side,
        from: &Cursor,
        mut strays: u64,
        progress: &mut Progress,
    ) -> Result<Stage, StoreError> {
        let is_new = self.given_since_begun(side)?;
        let copy = self.shared.copies.of(side);
        let (ids, next) = copy.bodies_from(from)?;
        for id in ids {
            let is_known = self.bodies.contains(&id) || is_new(id) || copy.has_grave(id)?;
            strays += u64::from(!is_known);
        }
        if let Some(from) = next {
            return Ok(Stage::Bodies { side, from, strays });
        }
        self.bodies.clear();
        match side {
            Side::First => {
                if strays > 0 {
                    self.add_of_folder(&format!("{strays} bodies belong to no record"));
                }
                progress.begin(Side::Second);
                Ok(Stage::Heads(Side::Second))
            }
            Side::Second => {
                if strays > 0 {
                    self.add_of_folder(&format!("{strays} bodies of the second copy belong to no record"));
                }
                Ok(Stage::Over)
            }
        }
    }

    /// Returns a function that tells whether the number of a body was given after the walk began and is in the records now.
    fn given_since_begun(&self, side: Side) -> Result<impl Fn(u64) -> bool + use<>, StoreError> {
        let (begun, now) = (self.begun.body, self.shared.copies.of(side).base()?.body);
        Ok(move |id| begun < id && id <= now)
    }

    fn add_of_folder(&mut self, problem: &str) {
        let folder = self.shared.folder.path().display();
        self.verification.add(StoreError::corrupt(format!("{problem} in {folder}")));
    }
}

/// Returns a problem for each record that the index does not know and that the records still have with the same body: one
/// that was put and deleted again has another.
pub(super) fn still_wrong(shared: &Shared, unclear: &[Unclear]) -> Result<Vec<StoreError>, StoreError> {
    let progress = shared.records.blocking_lock();
    progress.require_applied()?;
    let mut problems = Vec::new();
    for (key, body) in unclear {
        let is_known = shared.read_state()?.index.find(*key).is_some();
        let head = if is_known { None } else { shared.copies.first.head(*key)? };
        let is_another = |bytes: Vec<u8>| read_head(*key, &bytes).is_ok_and(|head| head.body.id != *body);
        if !head.is_none_or(is_another) {
            problems.push(damaged(*key));
        }
    }
    drop(progress);
    Ok(problems)
}

/// Sorts links, sort keys and unique keys and removes duplicates: their order has no meaning.
fn in_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.unique_keys.sort_unstable();
    facets.unique_keys.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
