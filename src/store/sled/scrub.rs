//! Scrub: verifies the checksums of both copies and compares them with the index in memory.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::blocking::blocking;
use super::handle::Handle;
use super::state::Shared;
use super::trees::{HeaderBatch, Manifest, ScanPosition, ScrubProgress, Side, closed_during_scrub};
use crate::store::index::RowId;
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordHeader, damaged, decode_header};
use crate::store::{Facets, Key, StoreError};

/// Maximum number of problems listed in [`Verification::problems`].
const MAX_PROBLEMS: usize = 100;

/// Number of unindexed records looked up again in one slice.
const LOOKUPS_PER_SLICE: usize = 256;

/// Result of [`SledStore::verify`](super::SledStore::verify).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Number of records read from the primary copy.
    pub records: u64,
    /// Total size of their bodies as they are stored, in bytes.
    pub bytes: u64,
    /// Number of problems found, including those that are not in `problems`.
    pub problem_count: u64,
    /// The first 100 problems, each of which names the damaged record or the folder.
    pub problems: Vec<StoreError>,
}

impl Verification {
    /// Returns whether no problem was found.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }

    fn add(&mut self, problem: StoreError) {
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, bytes, problem_count, problems } = self;
        write!(formatter, "{records} records, {bytes} bytes, {problem_count} problems")?;
        problems.iter().try_for_each(|problem| write!(formatter, "\n{problem}"))
    }
}

/// Runs one scrub pass, slice by slice, each on a blocking thread.
///
/// Between slices only `scrub_turn` is locked. A record that is on disk but not in the index may have been deleted
/// after the last checkpoint, so it is looked up again after the next one.
pub(super) async fn scrub(handle: &Arc<Handle>) -> Result<Verification, StoreError> {
    let shared = handle.shared();
    let _turn = shared.scrub_turn.lock().await;
    handle.wait_for_checkpoint().await?;
    let mut pass = ScrubPass::new(Arc::clone(shared));
    while !pass.is_done() {
        handle.require_open().map_err(|_| closed_during_scrub())?;
        pass = blocking(move || pass.slice()).await??;
    }
    let (mut verification, unindexed) = pass.finish();
    if !unindexed.is_empty() {
        handle.wait_for_checkpoint().await?;
    }
    for unindexed in unindexed.chunks(LOOKUPS_PER_SLICE) {
        handle.require_open().map_err(|_| closed_during_scrub())?;
        let (shared, unindexed) = (Arc::clone(shared), unindexed.to_vec());
        let problems = blocking(move || recheck_unindexed(&shared, &unindexed)).await??;
        problems.into_iter().for_each(|problem| verification.add(problem));
    }
    Ok(verification)
}

/// Time after which a step ends at the next record. A checkpoint waits for at most one slice.
const SLICE_TIME: Duration = Duration::from_millis(20);

/// Duration of a slice that had to wait for a checkpoint.
///
/// Under back-to-back checkpoints the pass gets one slice between two of them; slices of one step would take very
/// long.
const MAX_SLICE_TIME: Duration = Duration::from_millis(50);

/// Number of index rows compared in one slice. Commits wait for the state lock meanwhile.
const ROWS_PER_STEP: usize = 4096;

/// The key of an unindexed record, and the number of its body. The record is on disk, but the index does not contain
/// it.
type Unindexed = (Key, u64);

/// One scrub pass over both copies.
///
/// Checkpoints may run between two slices. Their changes are accounted for in three ways: [`ScrubProgress`] adjusts
/// the count of the headers already read; a header that is not read yet is read as the checkpoint has left it; and
/// bodies whose numbers were assigned since the pass began count as neither lost nor orphaned.
#[derive(Debug)]
struct ScrubPass {
    shared: Arc<Shared>,
    stage: Stage,
    verification: Verification,
    unindexed: Vec<Unindexed>,
    /// Number of failed checkpoints when the pass began.
    failures: u64,
    /// Manifest of the primary copy when the pass began.
    start: Manifest,
    /// Body numbers of all headers read in the current copy: 8 bytes for each record.
    bodies: HashSet<u64>,
}

/// The data that the next step reads.
#[derive(Debug)]
enum Stage {
    Begin,
    Headers(Side),
    /// Index rows that are still to be compared.
    Rows(Vec<RowId>),
    Bodies {
        side: Side,
        from: ScanPosition,
        orphans: u64,
    },
    Done,
}

impl ScrubPass {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            stage: Stage::Begin,
            verification: Verification::default(),
            unindexed: Vec::new(),
            failures: 0,
            start: Manifest::default(),
            bodies: HashSet::new(),
        }
    }

    const fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    fn finish(self) -> (Verification, Vec<Unindexed>) {
        (self.verification, self.unindexed)
    }

    /// Does a bounded part of the work, while the trees stay unchanged.
    ///
    /// That is one step, or as many steps as fit into [`MAX_SLICE_TIME`] if the pass had to wait for the lock.
    fn slice(mut self) -> Result<Self, StoreError> {
        let shared = Arc::clone(&self.shared);
        let requested_at = Instant::now();
        let mut progress = shared.trees_lock.blocking_lock();
        let begin = Instant::now();
        let waited = begin.duration_since(requested_at) > SLICE_TIME;
        loop {
            self.step(&mut progress)?;
            if self.is_done() || !waited || begin.elapsed() > MAX_SLICE_TIME {
                return Ok(self);
            }
        }
    }

    fn step(&mut self, progress: &mut ScrubProgress) -> Result<(), StoreError> {
        let is_mirror =
            matches!(self.stage, Stage::Headers(Side::Mirror) | Stage::Bodies { side: Side::Mirror, .. });
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Begin => self.begin(progress),
            stage => progress.require_unchanged(self.failures).and_then(|()| {
                match self.advance(stage, progress) {
                    // The store works without the mirror, so this is a finding and not an error.
                    Err(problem) if is_mirror => {
                        self.verification.add(problem);
                        Ok(Stage::Done)
                    }
                    next => next,
                }
            }),
        }?;
        Ok(())
    }

    fn begin(&mut self, progress: &mut ScrubProgress) -> Result<Stage, StoreError> {
        self.failures = progress.require_applied()?;
        self.start = self.shared.trees.primary.manifest()?;
        progress.begin(Side::Primary);
        Ok(Stage::Headers(Side::Primary))
    }

    fn advance(&mut self, stage: Stage, progress: &mut ScrubProgress) -> Result<Stage, StoreError> {
        match stage {
            Stage::Headers(side) => self.headers(side, progress),
            Stage::Rows(rows) => self.rows(rows),
            Stage::Bodies { side, from, orphans } => self.bodies(side, &from, orphans, progress),
            Stage::Begin | Stage::Done => Ok(Stage::Done),
        }
    }

    /// Reads a batch of headers with their bodies.
    fn headers(&mut self, side: Side, progress: &mut ScrubProgress) -> Result<Stage, StoreError> {
        let begin = Instant::now();
        let HeaderBatch { headers, next } = self.shared.trees.of(side).headers_from(&progress.position());
        for (key, bytes) in headers {
            match side {
                Side::Primary => self.primary_header(key, &bytes)?,
                Side::Mirror => self.mirror_header(key, &bytes),
            }
            progress.advance(key, RecordHeader::checksum(&bytes));
            if begin.elapsed() > SLICE_TIME {
                return Ok(Stage::Headers(side));
            }
        }
        if next?.is_some() {
            return Ok(Stage::Headers(side));
        }
        self.check_complete(side, &progress.finish())?;
        Ok(match side {
            Side::Primary => Stage::Rows(self.shared.state.read()?.index.rows().collect()),
            Side::Mirror => Stage::Bodies { side, from: ScanPosition::before_bodies(), orphans: 0 },
        })
    }

    /// Compares the number and checksums of the headers read with the manifest.
    ///
    /// No checkpoint is running, so both copies have the same LSN.
    fn check_complete(&mut self, side: Side, found: &Manifest) -> Result<(), StoreError> {
        let manifest = self.shared.trees.of(side).manifest()?;
        let is_same = manifest.same_records(found);
        match side {
            Side::Primary if !is_same => self.add_folder_problem("records are missing or outdated"),
            Side::Mirror if !is_same || manifest != self.shared.trees.primary.manifest()? => {
                self.add_folder_problem("the mirror differs from the primary copy");
            }
            Side::Primary | Side::Mirror => {}
        }
        Ok(())
    }

    fn primary_header(&mut self, key: Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.verification.records += 1;
        let header = match decode_header(key, bytes) {
            Ok(header) => header,
            Err(problem) => {
                self.verification.add(problem);
                return Ok(());
            }
        };
        self.bodies.insert(header.body.id);
        self.verification.bytes += header.body.length() as u64;
        if let Err(problem) = self.shared.trees.primary.stored_body(key, header.body) {
            self.verification.add(problem);
        }
        self.compare(key, header)
    }

    fn mirror_header(&mut self, key: Key, bytes: &[u8]) {
        let body = decode_header(key, bytes).and_then(|header| {
            self.bodies.insert(header.body.id);
            self.shared.trees.mirror.stored_body(key, header.body)
        });
        if body.is_err() {
            self.verification.add(StoreError::corrupt(format!("{key} is damaged in the mirror")));
        }
    }

    /// Checks that the index agrees with a header. They may differ while a newer version waits for the next
    /// checkpoint.
    fn compare(&mut self, key: Key, header: RecordHeader) -> Result<(), StoreError> {
        let state = self.shared.state.read()?;
        let Some(row) = state.index.find(key) else {
            self.unindexed.push((key, header.body.id));
            return Ok(());
        };
        let is_same = state.bodies.body_ref(row) == Some(header.body)
            && state.index.key(row) == Some((key, header.version))
            && state.index.facets(row).map(normalized) == Some(normalized(header.facets));
        if !is_same && !state.bodies.is_pinned(row) {
            drop(state);
            self.verification.add(damaged(key));
        }
        Ok(())
    }

    /// Checks that a batch of index rows is on disk. Rows that wait for the next checkpoint are excepted.
    fn rows(&mut self, mut rows: Vec<RowId>) -> Result<Stage, StoreError> {
        let is_new = self.assigned_since_start(Side::Primary)?;
        let state = self.shared.state.read()?;
        let some = rows.split_off(rows.len().saturating_sub(ROWS_PER_STEP));
        let applied = some.into_iter().filter(|row| !state.bodies.is_pinned(*row));
        let located = applied.filter_map(|row| Some((state.index.key(row)?.0, state.bodies.body_ref(row)?)));
        let is_missing = |body_ref: &BodyRef| !self.bodies.contains(&body_ref.id) && !is_new(body_ref.id);
        let missing = located.filter(|(_, body_ref)| is_missing(body_ref)).map(|(key, _)| key);
        let missing: Vec<Key> = missing.collect();
        drop(state);
        missing.into_iter().for_each(|key| self.verification.add(damaged(key)));
        Ok(if rows.is_empty() {
            Stage::Bodies { side: Side::Primary, from: ScanPosition::before_bodies(), orphans: 0 }
        } else {
            Stage::Rows(rows)
        })
    }

    /// Counts orphaned bodies: they belong to no record and are not pending deletion.
    fn bodies(
        &mut self,
        side: Side,
        from: &ScanPosition,
        mut orphans: u64,
        progress: &mut ScrubProgress,
    ) -> Result<Stage, StoreError> {
        let is_new = self.assigned_since_start(side)?;
        let copy = self.shared.trees.of(side);
        let (ids, next) = copy.body_ids_from(from)?;
        for id in ids {
            let is_known = self.bodies.contains(&id) || is_new(id) || copy.is_pending_delete(id)?;
            orphans += u64::from(!is_known);
        }
        if let Some(from) = next {
            return Ok(Stage::Bodies { side, from, orphans });
        }
        self.bodies.clear();
        match side {
            Side::Primary => {
                if orphans > 0 {
                    self.add_folder_problem(&format!("{orphans} bodies belong to no record"));
                }
                progress.begin(Side::Mirror);
                Ok(Stage::Headers(Side::Mirror))
            }
            Side::Mirror => {
                if orphans > 0 {
                    self.add_folder_problem(&format!("{orphans} bodies of the mirror belong to no record"));
                }
                Ok(Stage::Done)
            }
        }
    }

    /// Returns a predicate for body numbers assigned since the pass began and applied by now.
    fn assigned_since_start(&self, side: Side) -> Result<impl Fn(u64) -> bool + use<>, StoreError> {
        let (start, now) = (self.start.last_body_id, self.shared.trees.of(side).manifest()?.last_body_id);
        Ok(move |id| start < id && id <= now)
    }

    fn add_folder_problem(&mut self, problem: &str) {
        let folder = self.shared.folder.path().display();
        self.verification.add(StoreError::corrupt(format!("{problem} in {folder}")));
    }
}

/// Returns a problem for each record that is still on disk but not indexed.
///
/// A record that was put and deleted again has another body number, and is not a problem.
fn recheck_unindexed(shared: &Shared, unindexed: &[Unindexed]) -> Result<Vec<StoreError>, StoreError> {
    let progress = shared.trees_lock.blocking_lock();
    progress.require_applied()?;
    let mut problems = Vec::new();
    for (key, body) in unindexed {
        let is_known = shared.state.read()?.index.find(*key).is_some();
        let header = if is_known { None } else { shared.trees.primary.header(*key)? };
        let is_another =
            |bytes: Vec<u8>| decode_header(*key, &bytes).is_ok_and(|header| header.body.id != *body);
        if !header.is_none_or(is_another) {
            problems.push(damaged(*key));
        }
    }
    drop(progress);
    Ok(problems)
}

/// Sorts links, terms, sort keys and unique keys, and removes duplicates. Their order and duplicates have no meaning.
fn normalized(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.terms.sort_unstable();
    facets.terms.dedup();
    facets.unique_keys.sort_unstable();
    facets.unique_keys.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
