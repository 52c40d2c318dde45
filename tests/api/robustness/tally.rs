use std::collections::BTreeMap;
use std::fmt;

use super::endpoint::Endpoint;
use crate::common::{CODES, Reply};

/// Errors that only a failing store or a quota causes; neither occurs here.
const NEVER: [&str; 3] = ["internal_error", "quota_exceeded", "store_unavailable"];
/// Outcomes that may be missing if there are fewer requests than these.
const RARE: [&str; 1] = ["validation_min_length"];
const MANY: u64 = 50_000;

/// Counts the outcomes of the requests.
#[derive(Default)]
pub(super) struct Tally {
    statuses: BTreeMap<u16, u64>,
    codes: BTreeMap<String, u64>,
    successes: BTreeMap<Endpoint, u64>,
}

impl Tally {
    pub(super) fn count(&mut self, endpoint: Option<Endpoint>, reply: &Reply) {
        *self.statuses.entry(reply.status.as_u16()).or_default() += 1;
        if let Some(code) = reply.json["code"].as_str() {
            *self.codes.entry(code.to_owned()).or_default() += 1;
        }
        if reply.status == 200 {
            let endpoint = endpoint.expect("only an endpoint succeeds");
            *self.successes.entry(endpoint).or_default() += 1;
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        merge(&mut self.statuses, other.statuses);
        merge(&mut self.codes, other.codes);
        merge(&mut self.successes, other.successes);
    }

    pub(super) fn total(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Asserts variety: every endpoint succeeded, and every code occurred often enough to rule out an accident.
    pub(super) fn assert_varied(&self) {
        let least = (self.total() / 20_000).max(1);
        for endpoint in Endpoint::ALL {
            assert!(
                self.successes.get(&endpoint).is_some_and(|count| *count >= least),
                "{endpoint:?}: {self}"
            );
        }
        for (_, code, _) in CODES {
            match self.codes.get(code) {
                Some(count) => assert!(*count >= least && !NEVER.contains(&code), "{code}: {self}"),
                None => {
                    let is_rare = self.total() < MANY && RARE.contains(&code);
                    assert!(is_rare || NEVER.contains(&code), "{code}: {self}");
                }
            }
        }
    }
}

fn merge<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key).or_default() += count;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} requests: {:?}", self.total(), self.statuses)?;
        writeln!(formatter, "errors: {:#?}", self.codes)?;
        writeln!(formatter, "successes: {:#?}", self.successes)
    }
}
