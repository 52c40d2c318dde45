//! The hosts that lines were checked against, whose number bounds the work for them.
//!
//! A line with the id of a stored host is checked against it, however large that host is and however short the line. A host that is
//! stored becomes what its line has, but one whose line is refused stays as large for the next line, and so does one of whose fields
//! a row of a CSV has a few.

use std::collections::HashMap;

use super::parse::ParsedLine;
use crate::model::HostId;
use crate::wire::Refusal;

/// The maximum lines that leave a host as large. Further ones are refused without reading the host.
const MAX_LINES: u32 = 3;
/// The maximum hosts that are remembered. After this many, counting begins anew.
const MAX_REMEMBERED: usize = 16_384;

/// How many lines of an import have left each host as large.
#[derive(Debug, Default)]
pub(super) struct CheckedHosts(HashMap<HostId, u32>);

impl CheckedHosts {
    /// Counts a line that leaves its host as large.
    pub(super) fn count(&mut self, id: HostId) {
        if self.0.len() >= MAX_REMEMBERED && !self.0.contains_key(&id) {
            self.0.clear();
        }
        *self.0.entry(id).or_default() += 1;
    }

    /// Counts the lines of a host anew, which has become what its line has.
    pub(super) fn forget(&mut self, id: HostId) {
        self.0.remove(&id);
    }

    /// Refuses the lines of hosts that have had as many such lines as they may. Returns the others.
    pub(super) fn refuse(&self, lines: Vec<ParsedLine>, refusals: &mut Vec<Refusal>) -> Vec<ParsedLine> {
        let is_exhausted =
            |line: &ParsedLine| self.0.get(&line.host().id).is_some_and(|count| *count >= MAX_LINES);
        let (exhausted, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_exhausted);
        refusals.extend(exhausted.into_iter().map(|line| Refusal {
            line: line.facts.line,
            field: Some("id".to_owned()),
            reason: format!("names a host of which {MAX_LINES} lines were refused, or rows read, before"),
            code: None,
        }));
        others
    }
}
