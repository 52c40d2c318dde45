use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toposcope::store::{Entry, Key, SledStore};

use super::Original;
use crate::child::say;
use crate::compare::{Kept, Truth, compare, compare_entries, faults};
use crate::contents::{Fault, chain, entries};
use crate::durability::workload::{Ledger, WRITERS, Writer, truth_of};

/// Outcome of opening a damaged folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// All data is right, and no damage was reported.
    Right,
    /// All data is right, and verification or the final check reported the damage.
    RightAndReported(Vec<String>),
    /// All returned data is right, and all other data was reported as missing or damaged.
    InPart(Vec<String>),
    /// The folder was not opened.
    Refused(String),
    /// Wrong data was returned.
    Wrong(String),
}

/// Opens the folder and reads everything by every kind of read.
pub(crate) async fn read(arguments: &[&str]) {
    let original: Original = serde_json::from_str(arguments[0]).unwrap();
    let outcome = look(arguments[1], &original).await;
    say(&serde_json::to_string(&outcome).unwrap());
}

async fn look(folder: &str, original: &Original) -> Outcome {
    let store = match SledStore::builder(folder).cache_size(100_000).open().await {
        Ok(store) => store,
        Err(error) => return Outcome::Refused(chain(&error)),
    };
    let mut reported = Vec::new();
    for fault in faults(&store, &truth_of(&original.writers())).await {
        match fault {
            Fault::Reported(text) => reported.push(text),
            Fault::Wrong(text) => return Outcome::Wrong(text),
        }
    }
    let mut findings = Vec::new();
    match store.verify().await {
        Ok(found) => findings.extend(found.problems.iter().map(chain)),
        Err(error) => findings.push(chain(&error)),
    }
    if !reported.is_empty() && findings.is_empty() {
        return Outcome::Wrong(format!("verified as sound, although there was reported: {}", reported[0]));
    }
    findings.extend(store.close().await.err().as_ref().map(chain));
    match (reported.is_empty(), findings.is_empty()) {
        (true, true) => Outcome::Right,
        (true, false) => Outcome::RightAndReported(findings),
        (false, _) => Outcome::InPart(reported),
    }
}

/// Outcome of repairing a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Saved {
    Everything,
    /// Numbers of records: unchanged, in total, in an older version, and restored although deleted.
    Some {
        as_they_were: usize,
        older: usize,
        of: usize,
    },
    /// The folder cannot be repaired.
    Nothing(String),
    Wrong(String),
}

/// Repairs the folder, and compares its contents with the report of the repair.
pub(crate) async fn repair(arguments: &[&str]) {
    let original: Original = serde_json::from_str(arguments[0]).unwrap();
    let saved = try_to_repair(arguments[1], &original).await.unwrap_or_else(Saved::Wrong);
    say(&serde_json::to_string(&saved).unwrap());
}

async fn try_to_repair(folder: &str, original: &Original) -> Result<Saved, String> {
    let report = match SledStore::repair(folder).await {
        Ok(report) => report,
        Err(error) => return Ok(Saved::Nothing(chain(&error))),
    };
    let store =
        SledStore::open(folder).await.map_err(|error| format!("repaired, to open: {}", chain(&error)))?;
    let found = store.verify().await.map_err(|error| format!("repaired, to verify: {}", chain(&error)))?;
    if !found.is_sound() {
        return Err(format!("repaired, not sound: {found}"));
    }
    let entries = entries(&store).await.map_err(|fault| format!("repaired, to read: {fault}"))?;
    if entries.len() as u64 != report.records {
        return Err(format!("{} records were saved, and {} are there", report.records, entries.len()));
    }
    let truth = truth_of(&original.writers());
    if report.is_complete() {
        compare(&store, &truth).await.map_err(|problem| format!("the repair is complete, but {problem}"))?;
        return Ok(Saved::Everything);
    }
    compare(&store, &truth_in(&entries, &truth, original)?).await?;
    let damaged: BTreeSet<Key> = report.damaged.iter().copied().collect();
    let is_reported = |key: &Key| report.is_behind || damaged.contains(key);
    let is_same = |key: &Key| is_as(&entries, *key, &truth.records[key]);
    if let Some(key) = truth.records.keys().find(|key| !is_same(key) && !is_reported(key)) {
        return Err(format!("the repair does not tell that {key} is older or missing"));
    }
    if let Some(key) = entries.keys().find(|key| !truth.records.contains_key(key) && !report.is_behind) {
        return Err(format!("the repair does not tell that it brought {key} back"));
    }
    let as_they_were = truth.records.keys().filter(|key| is_same(key)).count();
    Ok(Saved::Some { as_they_were, older: entries.len() - as_they_were, of: truth.records.len() })
}

/// Returns the contents that the repaired store must have. Fails unless each record is in one of its earlier states.
fn truth_in(entries: &BTreeMap<Key, Entry>, truth: &Truth, original: &Original) -> Result<Truth, String> {
    let mut past = Past::new(original);
    let mut records = BTreeMap::new();
    for key in entries.keys() {
        let kept = past.states(*key).find(|kept| is_as(entries, *key, kept));
        records.insert(*key, kept.ok_or_else(|| format!("{key} never was as it was saved"))?.clone());
    }
    Ok(Truth { records, unique_keys: truth.unique_keys.clone() })
}

fn is_as(entries: &BTreeMap<Key, Entry>, key: Key, kept: &Kept) -> bool {
    let only = |entry: &Entry| BTreeMap::from([(key, entry.clone())]);
    let truth = Truth { records: BTreeMap::from([(key, kept.clone())]), ..Truth::default() };
    entries.get(&key).is_some_and(|entry| compare_entries(&only(entry), &truth).is_ok())
}

/// All earlier states of every record.
struct Past(BTreeMap<Key, Vec<Kept>>);

impl Past {
    /// Determines the earlier states. The states of the ledger are known too, because the writers took turns.
    fn new(original: &Original) -> Self {
        let mut writers: Vec<Writer> =
            (0..WRITERS).map(|number| Writer::new(original.seed, number)).collect();
        let mut states: BTreeMap<Key, Vec<Kept>> = BTreeMap::new();
        for turn in 0..original.batches * WRITERS {
            let writer = &mut writers[(turn % WRITERS) as usize];
            writer.go_on();
            let records = writer.truth().records.into_iter();
            for (key, kept) in records.chain(Ledger::of(&writers).kept().map(|kept| (Ledger::KEY, kept))) {
                let states = states.entry(key).or_default();
                if states.last() != Some(&kept) {
                    states.push(kept);
                }
            }
        }
        Self(states)
    }

    fn states(&mut self, key: Key) -> impl Iterator<Item = &Kept> {
        self.0.get(&key).into_iter().flatten().rev()
    }
}
