//! The keys of JSON documents.

use std::collections::BTreeSet;

/// The deepest nesting of JSON in which keys are read. The answers of NX-OS have their entries at up to 18 levels.
const MAX_DEPTH: usize = 20;

/// The keys of a JSON document by depth. Those of the outermost object have depth 1.
#[derive(Default)]
pub(super) struct Keys<'t> {
    /// As deep as the keys are. Inputs may have any number of small documents.
    by_depth: Vec<BTreeSet<&'t [u8]>>,
    /// Whether the outermost object has a value that is neither a list nor `null`.
    pub(super) has_other_values: bool,
}

impl<'t> Keys<'t> {
    pub(super) fn is_empty(&self) -> bool {
        self.by_depth.is_empty()
    }

    /// Returns one more than the depth of the deepest keys.
    pub(super) fn depths(&self) -> usize {
        self.by_depth.len()
    }

    pub(super) fn at(&self, depth: usize) -> &BTreeSet<&'t [u8]> {
        static NONE: BTreeSet<&[u8]> = BTreeSet::new();
        self.by_depth.get(depth).unwrap_or(&NONE)
    }

    pub(super) fn has(&self, depth: usize, key: &str) -> bool {
        self.at(depth).contains(key.as_bytes())
    }

    /// Adds a key and the text behind its colon.
    fn add(&mut self, depth: usize, key: &'t [u8], behind: &[u8]) {
        if self.by_depth.len() <= depth {
            self.by_depth.resize_with(depth + 1, BTreeSet::new);
        }
        if let Some(keys) = self.by_depth.get_mut(depth) {
            keys.insert(key);
        }
        let is_list = || matches!(behind.trim_ascii_start().first(), None | Some(b'[' | b'n'));
        self.has_other_values |= depth == 1 && !is_list();
    }
}

/// Collects the keys of a document that may be cut off. Returns them with the text behind the document.
pub(super) fn keys(text: &[u8]) -> (Keys<'_>, &[u8]) {
    let mut keys = Keys::default();
    let (mut depth, mut last) = (0_usize, None);
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'"' => {
                let end = end_of_string(behind);
                last = behind.get(..end);
                // Nothing is behind a string that does not end.
                rest = behind.get(end + 1..).unwrap_or(&[]);
            }
            b':' => {
                if let Some(key) = last.take().filter(|_| depth <= MAX_DEPTH) {
                    keys.add(depth, key, rest);
                }
            }
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' if depth <= 1 => return (keys, rest.trim_ascii_start()),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    (keys, &[])
}

/// Returns the length of a string up to its closing quote.
fn end_of_string(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}
