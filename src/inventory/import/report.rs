use std::collections::BTreeMap;

use crate::wire::{Alteration, DroppedPort, ImportReport, Reassignment, Refusal};

impl ImportReport {
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refused += 1;
        if self.refusals.len() < Self::MAX_DETAILS {
            self.refusals.push(refusal);
        }
    }

    pub(super) fn accept(
        &mut self,
        replaced: bool,
        alterations: &Alterations,
        reassignment: Option<Reassignment>,
    ) {
        self.imported += 1;
        self.replaced += u64::from(replaced);
        self.reassigned += u64::from(reassignment.is_some());
        if self.reassignments.len() < Self::MAX_DETAILS {
            self.reassignments.extend(reassignment);
        }
        self.add_alterations(alterations);
    }

    pub(super) fn accept_unchanged(&mut self, alterations: &Alterations) {
        self.unchanged += 1;
        self.add_alterations(alterations);
    }

    fn add_alterations(&mut self, alterations: &Alterations) {
        for (alteration, count) in &alterations.counts {
            *self.alterations.entry(*alteration).or_default() += count;
        }
        let room = Self::MAX_DETAILS.saturating_sub(self.dropped_ports.len());
        self.dropped_ports.extend(alterations.dropped_ports.iter().take(room));
    }
}

/// The alterations made to one host.
#[derive(Debug, Default)]
pub(super) struct Alterations {
    counts: BTreeMap<Alteration, u64>,
    dropped_ports: Vec<DroppedPort>,
    /// The positions of the dropped ports in the document, ascending.
    dropped_indices: Vec<usize>,
}

impl Alterations {
    pub(super) fn count(&mut self, alteration: Alteration, count: u64) {
        if count > 0 {
            *self.counts.entry(alteration).or_default() += count;
        }
    }

    pub(super) fn drop_port(&mut self, port: DroppedPort, index: usize) {
        self.count(Alteration::DroppedPort, 1);
        self.dropped_ports.push(port);
        self.dropped_indices.push(index);
    }

    /// Maps a dotted path in the host to the path in the imported document.
    pub(super) fn document_path(&self, field: String) -> String {
        let port = field.strip_prefix("ports.").and_then(|rest| rest.split_once('.').or(Some((rest, ""))));
        let Some((Ok(index), rest)) = port.map(|(index, rest)| (index.parse::<usize>(), rest)) else {
            return field;
        };
        let index =
            self.dropped_indices.iter().fold(index, |index, dropped| index + usize::from(*dropped <= index));
        if rest.is_empty() { format!("ports.{index}") } else { format!("ports.{index}.{rest}") }
    }
}
