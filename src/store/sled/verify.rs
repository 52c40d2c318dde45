use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, PoisonError};

use super::blocking::blocking;
use super::codec::{Head, Place};
use super::records::{Base, Records, damaged, read_head};
use super::shared::Shared;
use super::store::Inner;
use crate::store::{Facets, Key, StoreError};

/// How many problems are named one by one.
const NAMED: usize = 100;

/// What [`SledStore::verify`](super::SledStore::verify) found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// How many records were read.
    pub records: u64,
    /// How many bytes their bodies have.
    pub bytes: u64,
    /// How many problems there are.
    pub problem_count: u64,
    /// The first hundred of them.
    pub problems: Vec<StoreError>,
}

impl Verification {
    /// Whether everything is as it was written.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }

    fn add(&mut self, problem: StoreError) {
        self.problem_count += 1;
        if self.problems.len() < NAMED {
            self.problems.push(problem);
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, bytes, problem_count, problems } = self;
        write!(formatter, "{records} records with {bytes} bytes, {problem_count} problems")?;
        problems.iter().try_for_each(|problem| write!(formatter, "\n{problem}"))
    }
}

/// Walks over everything twice: what a commit is about to change when the first walk comes by is settled in the second.
pub(super) async fn verify(inner: &Arc<Inner>) -> Result<Verification, StoreError> {
    inner.settle().await?;
    let shared = Arc::clone(inner.shared());
    let walk = blocking(move || Walk::new(&shared).run()).await?;
    let (mut verification, unclear) = walk?;
    if !unclear.is_empty() {
        inner.settle().await?;
        let shared = Arc::clone(inner.shared());
        let problems = blocking(move || still_wrong(&shared, &unclear)).await??;
        problems.into_iter().for_each(|problem| verification.add(problem));
    }
    Ok(verification)
}

/// One walk over the records, during which they stay as they are.
struct Walk<'s> {
    shared: &'s Shared,
    verification: Verification,
    /// Records that the index does not know: deleted, or lost. Each with the number of its body.
    unclear: Vec<(Key, u64)>,
    bodies: HashSet<u64>,
    found: Base,
}

impl<'s> Walk<'s> {
    fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            verification: Verification::default(),
            unclear: Vec::new(),
            bodies: HashSet::new(),
            found: Base::default(),
        }
    }

    fn run(mut self) -> Result<(Verification, Vec<(Key, u64)>), StoreError> {
        let shared = self.shared;
        let _still = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let first = &shared.copies.first;
        let base = first.base()?;
        first.heads(|key, bytes| self.head(key, bytes))?;
        if (self.found.heads, self.found.sum) != (base.heads, base.sum) {
            self.add_of_folder("records are missing or from another time");
        }
        self.rows()?;
        let strays = count_strays(first, std::mem::take(&mut self.bodies))?;
        if strays > 0 {
            self.add_of_folder(&format!("{strays} bodies belong to no record"));
        }
        if let Err(problem) = self.second(base) {
            self.verification.add(problem);
        }
        Ok((self.verification, self.unclear))
    }

    /// The second copy has come as far as the first, while nothing is put into the records.
    fn second(&mut self, base: Base) -> Result<(), StoreError> {
        let second = &self.shared.copies.second;
        let mut found = Base { heads: 0, sum: 0, ..second.base()? };
        let mut bodies = HashSet::new();
        second.heads(|key, bytes| {
            found.add(Head::checksum(bytes));
            let body = read_head(key, bytes).and_then(|head| {
                bodies.insert(head.body.id);
                second.body(key, head.body)
            });
            if body.is_err() {
                self.verification.add(StoreError::corrupt(format!("{key} is damaged in the second copy")));
            }
            Ok(())
        })?;
        if found != base {
            self.add_of_folder("the second copy of the records is not the same as the first");
        }
        let strays = count_strays(second, bodies)?;
        if strays > 0 {
            self.add_of_folder(&format!("{strays} bodies of the second copy belong to no record"));
        }
        Ok(())
    }

    fn add_of_folder(&mut self, problem: &str) {
        let folder = self.shared.folder.path().display();
        self.verification.add(StoreError::corrupt(format!("{problem} in {folder}")));
    }

    fn head(&mut self, key: Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.verification.records += 1;
        self.found.add(Head::checksum(bytes));
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

    /// Whether the index has the record as it is here, unless a newer one is on its way.
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

    /// Whether the records have every row that is not on its way there.
    fn rows(&mut self) -> Result<(), StoreError> {
        let state = self.shared.read_state()?;
        let settled = state.index.rows().filter(|row| !state.bodies.is_pinned(*row));
        let located = settled.filter_map(|row| Some((state.index.key(row)?.0, state.bodies.place(row)?)));
        let missing: Vec<(Key, Place)> =
            located.filter(|(_, place)| !self.bodies.contains(&place.id)).collect();
        drop(state);
        for (key, _) in missing {
            self.verification.add(damaged(key));
        }
        Ok(())
    }
}

/// How many bodies are there that belong neither to a record nor to those that are to be removed.
fn count_strays(copy: &Records, mut known: HashSet<u64>) -> Result<u64, StoreError> {
    known.extend(copy.graves()?.iter().map(|place| place.id));
    let mut strays = 0;
    copy.bodies(|id, _| strays += u64::from(!known.contains(&id)))?;
    Ok(strays)
}

/// Those that the records still have with the same body: what was put anew and deleted again meanwhile has another.
fn still_wrong(shared: &Shared, unclear: &[(Key, u64)]) -> Result<Vec<StoreError>, StoreError> {
    let _still = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
    let mut problems = Vec::new();
    for (key, body) in unclear {
        let is_known = shared.read_state()?.index.find(*key).is_some();
        let head = if is_known { None } else { shared.copies.first.head(*key)? };
        let is_another = |bytes: Vec<u8>| read_head(*key, &bytes).is_ok_and(|head| head.body.id != *body);
        if !head.is_none_or(is_another) {
            problems.push(damaged(*key));
        }
    }
    Ok(problems)
}

/// Links, sort keys and aliases once and sorted: what is said by them does not depend on their order.
fn in_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.aliases.sort_unstable();
    facets.aliases.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
