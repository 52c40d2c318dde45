use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toposcope::store::SledStore;

use super::original::Original;
use crate::support::{Fault, chain, faults, say};
use crate::workload::truth_of;

/// Outcome of opening a damaged folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// All data is right, and no damage was reported.
    Right,
    /// All data is right, and verification or the final check reported the damage.
    RightAndTold(Vec<String>),
    /// All returned data is right, and all other data was reported as missing or damaged.
    InPart(Vec<String>),
    /// The folder was not opened.
    Refused(String),
    /// Wrong data was returned.
    Wrong(String),
}

/// Opens the folder and reads everything by every kind of read.
pub(crate) async fn read(arguments: &[String]) {
    let original: Original = serde_json::from_str(&arguments[0]).unwrap();
    let outcome = look(PathBuf::from(&arguments[1]), &original).await;
    say(&serde_json::to_string(&outcome).unwrap());
}

async fn look(folder: PathBuf, original: &Original) -> Outcome {
    let store = match SledStore::builder(folder).cache_size(100_000).open().await {
        Ok(store) => store,
        Err(error) => return Outcome::Refused(chain(&error)),
    };
    let mut told = Vec::new();
    for fault in faults(&store, &truth_of(&original.writers())).await {
        match fault {
            Fault::Told(text) => told.push(text),
            Fault::Wrong(text) => return Outcome::Wrong(text),
        }
    }
    let mut findings = Vec::new();
    match store.verify().await {
        Ok(found) => findings.extend(found.problems.iter().map(chain)),
        Err(error) => findings.push(chain(&error)),
    }
    if !told.is_empty() && findings.is_empty() {
        return Outcome::Wrong(format!("verified as sound, although there was told: {}", told[0]));
    }
    findings.extend(store.close().await.err().as_ref().map(chain));
    match (told.is_empty(), findings.is_empty()) {
        (true, true) => Outcome::Right,
        (true, false) => Outcome::RightAndTold(findings),
        (false, _) => Outcome::InPart(told),
    }
}
