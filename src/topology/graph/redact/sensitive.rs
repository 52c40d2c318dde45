//! Detection of concealed values within texts.

use std::collections::BTreeMap;

use crate::model::Redaction;
use crate::topology::graph::HostSummary;

/// Minimum length in bytes of a value that is searched within texts. Shorter values occur by chance.
const SEARCHED: usize = 4;

/// Names and serial numbers that must not occur in any text.
#[derive(Clone, Default)]
pub struct SensitiveValues {
    /// Values in lower case, by their first bytes.
    by_start: BTreeMap<[u8; SEARCHED], Vec<String>>,
}

/// Omits the values.
impl std::fmt::Debug for SensitiveValues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SensitiveValues").finish_non_exhaustive()
    }
}

impl SensitiveValues {
    /// Collects what is to be concealed of the hosts of a network. Hosts that a graph does not show are included.
    #[must_use]
    pub fn of<'a>(hosts: impl IntoIterator<Item = &'a HostSummary>, kinds: &[Redaction]) -> Self {
        let mut values = Self::default();
        for host in hosts {
            if kinds.contains(&Redaction::Names) {
                host.names.iter().for_each(|name| values.insert(name));
            }
            if kinds.contains(&Redaction::Serials) {
                host.serial_number.iter().for_each(|serial| values.insert(serial));
            }
        }
        for candidates in values.by_start.values_mut() {
            candidates.sort_unstable();
            candidates.dedup();
        }
        values
    }

    /// Adds a value, such as the name of a subnet or of the network.
    pub fn insert(&mut self, value: &str) {
        let value = value.trim().to_lowercase();
        if let Some(start) = value.as_bytes().first_chunk::<SEARCHED>() {
            self.by_start.entry(*start).or_default().push(value);
        }
    }

    /// Returns whether a text contains one of the values, in upper or lower case.
    #[must_use]
    pub fn occur_in(&self, text: &str) -> bool {
        if self.by_start.is_empty() {
            return false;
        }
        let text = text.to_lowercase();
        let bytes = text.as_bytes();
        bytes.windows(SEARCHED).enumerate().any(|(index, window)| {
            let Some(candidates) = window.first_chunk().and_then(|start| self.by_start.get(start)) else {
                return false;
            };
            let rest = bytes.get(index..).unwrap_or_default();
            candidates.iter().any(|value| rest.starts_with(value.as_bytes()))
        })
    }
}

/// Returns whether a text contains something like a MAC address, in any usual notation.
pub(super) fn contains_mac(text: &str) -> bool {
    runs(text, |character| character.is_ascii_hexdigit() || ":-. _".contains(character))
        .any(|run| run.chars().filter(char::is_ascii_hexdigit).count() >= 12)
}

/// Returns whether a text contains something like an IP address. Host names contain addresses with dashes as dots.
pub(super) fn contains_address(text: &str) -> bool {
    let is_v4 = runs(text, |character| character.is_ascii_digit() || ".-_".contains(character))
        .any(|run| run.split(['.', '-', '_']).filter(|part| (1..=3).contains(&part.len())).count() >= 4);
    let is_v6 = runs(text, |character| character.is_ascii_hexdigit() || character == ':')
        .any(|run| run.matches(':').count() >= 7 || (run.contains("::") && run.len() > 2));
    is_v4 || is_v6
}

/// Returns the longest parts of a text that consist of such characters.
fn runs(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |character| !is_part(character)).filter(|run| !run.is_empty())
}
