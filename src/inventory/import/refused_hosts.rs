//! The hosts of refused lines, whose number bounds the work for them.
//!
//! A line with the id of a stored host is checked against it, however large that host is and however short the line. A host that is
//! stored becomes what its line has, but one whose line is refused stays as large for the next line.

use std::collections::HashMap;

use super::parse::ParsedLine;
use crate::model::HostId;
use crate::wire::Refusal;

/// The maximum refused lines of a host. Further ones are refused without reading the host.
const MAX_REFUSED_LINES: u32 = 3;
/// The maximum hosts that are remembered. After this many, counting begins anew.
const MAX_REMEMBERED: usize = 16_384;

/// How many lines of each host an import has refused since it was stored.
#[derive(Debug, Default)]
pub(super) struct RefusedHosts(HashMap<HostId, u32>);

impl RefusedHosts {
    /// Counts a refused line.
    pub(super) fn count(&mut self, id: HostId) {
        if self.0.len() >= MAX_REMEMBERED && !self.0.contains_key(&id) {
            self.0.clear();
        }
        *self.0.entry(id).or_default() += 1;
    }

    /// Counts a host anew that was stored.
    pub(super) fn forget(&mut self, id: HostId) {
        self.0.remove(&id);
    }

    /// Refuses the lines of hosts that have had as many refused lines as they may. Returns the others.
    pub(super) fn refuse(&self, lines: Vec<ParsedLine>, refusals: &mut Vec<Refusal>) -> Vec<ParsedLine> {
        let is_exhausted =
            |line: &ParsedLine| self.0.get(&line.host().id).is_some_and(|count| *count >= MAX_REFUSED_LINES);
        let (exhausted, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_exhausted);
        refusals.extend(exhausted.into_iter().map(|line| Refusal {
            line: line.facts.line,
            field: Some("id".to_owned()),
            reason: format!("names a host of which {MAX_REFUSED_LINES} lines were refused before"),
            code: None,
        }));
        others
    }
}
