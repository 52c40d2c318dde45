use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toposcope::store::SledStore;

use super::original::Original;
use crate::support::{Fault, chain, faults, say};
use crate::workload::truth_of;

/// What came of opening a damaged folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// Everything is there, and nothing else was said.
    Right,
    /// Everything is there, and the damage was told by what verifies, or at the end.
    RightAndTold(Vec<String>),
    /// What is there is right, and of what is not it is said that it is not.
    InPart(Vec<String>),
    /// It was not opened.
    Refused(String),
    /// Something was given that is not so.
    Wrong(String),
}

/// Opens the folder and reads everything, whichever way it can be read.
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
