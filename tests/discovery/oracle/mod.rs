//! Comparison with what a public poller reads from the recordings of its own test suite.
//!
//! The recordings are in the folder `oracle` of the test data, which is in `TOPOSCOPE_DISCOVERY_DATA`, or in
//! `../shared/data` beside the crate. The poller also reads MIBs of vendors, fills in empty names and hides ports. A
//! disagreement counts against the parser unless the recording itself decides it against the poller.
//! `TOPOSCOPE_EXAMPLES` (default 3) sets the number of examples that each class of disagreement prints.
//!
//! ```text
//! cargo test --all-features --test discovery oracle -- --ignored --nocapture
//! ```

mod addresses;
mod bridge;
mod entities;
mod links;
mod ports;
mod recording;
mod tally;

use std::env;

use crate::account::fault;
use tally::Tally;

/// The least agreement of a kind in percent.
const BARS: &[(&str, f64)] = &[
    ("ifIndex", 99.5),
    ("MAC", 99.5),
    ("IPv4", 99.5),
    ("IPv6", 95.0),
    ("LLDP links", 97.0),
    ("CDP links", 97.0),
    ("port VLANs", 97.0),
    ("system serial", 97.0),
    ("entity serial", 97.0),
];

#[test]
#[ignore = "reads 44 MB of recordings, which takes about ten seconds"]
fn values_agree_with_those_of_a_poller() {
    let max_examples = env::var("TOPOSCOPE_EXAMPLES").ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    let mut tally = Tally::new(max_examples);
    let mut faults = Vec::new();
    let is_found = recording::for_each(|recording| {
        let variables = recording.variables();
        ports::compare(recording, &variables, &mut tally);
        addresses::compare(recording, &variables, &mut tally);
        bridge::compare(recording, &variables, &mut tally);
        entities::compare(recording, &variables, &mut tally);
        links::compare(recording, &variables, &mut tally);
        faults.extend(fault(&recording.report).map(|fault| format!("{}: {fault}", recording.name)));
    });
    if !is_found {
        return;
    }
    tally.print();
    assert!(faults.is_empty(), "{} recordings:\n{}", faults.len(), faults.join("\n"));
    let missed: Vec<String> = BARS.iter().filter_map(|(kind, least)| missed(&tally, kind, *least)).collect();
    assert!(missed.is_empty(), "{}", missed.join("; "));
}

fn missed(tally: &Tally, kind: &str, least: f64) -> Option<String> {
    let (agreed, expected) = tally.of(kind);
    let share = 100.0 * agreed as f64 / expected.max(1) as f64;
    (share < least).then(|| format!("{kind}: {agreed} of {expected} is less than {least} %"))
}
