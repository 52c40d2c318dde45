//! How the lines of a walk are laid out: with times in front, and with or without ` = `.

use memchr::memmem;

use super::oid::{Resolution, resolve};
use super::value;
use crate::invariant::Invariant;

/// The layout of the lines of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Number of blanks in front of each line.
    indent: usize,
    /// Whether a program such as `ts` put the time in front of each line.
    is_stamped: bool,
    /// Whether a space separates identifier and value (`-Oq`).
    is_quick: bool,
}

impl Layout {
    /// Recognizes the layout by the first line that has a variable.
    pub(super) fn detect(line: &[u8]) -> Option<Self> {
        let indent = line.len() - line.trim_ascii_start().len();
        let line = line.trim_ascii_start();
        [false, true].into_iter().find_map(|is_stamped| {
            let line = if is_stamped { without_time(line)? } else { line };
            let is_variable = |is_quick: bool| {
                let layout = Self { indent, is_stamped, is_quick };
                let (name, value) = layout.split(line)?;
                let is_first =
                    if is_quick { is_certain(name) } else { begins(name, value) || is_known(name) };
                is_first.then_some(layout)
            };
            is_variable(false).or_else(|| is_variable(true))
        })
    }

    /// Recognizes the layout of a line behind others of another layout, as where one file has two walks.
    ///
    /// The identifier must be certain, because text of several lines may have any other line.
    pub(super) fn detect_behind(line: &[u8]) -> Option<Self> {
        let layout = Self::detect(line)?;
        let (name, _) = layout.split(layout.content(line))?;
        is_certain(name).then_some(layout)
    }

    pub(super) const fn is_quick(self) -> bool {
        self.is_quick
    }

    /// Removes blanks and the time in front of a line.
    pub(super) fn content<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let blanks = line.iter().take(self.indent).take_while(|byte| byte.is_ascii_whitespace()).count();
        let line = line.get(blanks..).asserted_or_default();
        if self.is_stamped { without_time(line).unwrap_or(line) } else { line }
    }

    /// Splits a line into identifier and value.
    pub(super) fn split<'l>(&self, line: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        if self.is_quick {
            let end = end_of_name(line);
            let (name, value) = line.split_at_checked(end)?;
            return (!name.is_empty()).then(|| (name, value.trim_ascii_start()));
        }
        let separator = separator(line)?;
        let (name, rest) = line.split_at_checked(separator)?;
        let value = rest.get(2..)?;
        let is_separated = matches!(value.first(), None | Some(b' ' | b'\t'));
        // Junos aligns the equals signs.
        is_separated.then(|| (name.trim_ascii_end(), value.trim_ascii_start()))
    }

    /// Splits a variable with ` = ` behind others without. `None`: it has no sign, or the layout has signs.
    pub(super) fn split_signed<'l>(&self, content: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        let (name, value) = self.split(content).filter(|_| self.is_quick)?;
        Some((name, without_sign(value)?))
    }

    /// Returns the layout with ` = `.
    pub(super) const fn with_signs(self) -> Self {
        Self { is_quick: false, ..self }
    }

    /// Returns whether a line begins a variable. Other lines continue the value of the variable before.
    ///
    /// Within quotes, a name of letters without a type behind it is text.
    pub(super) fn begins_variable(&self, line: &[u8], is_quoted: impl Fn() -> bool) -> bool {
        let first = line.first().map_or(0, |byte| *byte);
        if first != b'.' && !first.is_ascii_alphanumeric() {
            return false;
        }
        let Some((name, value)) = self.split(line) else { return false };
        if self.is_quick {
            return is_certain(name) || (is_indexed_name(name) && !is_quoted());
        }
        begins(name, value) || ((is_indexed_name(name) || is_known(name)) && !is_quoted())
    }
}

/// Removes the equals sign that begins a value, and the blanks behind it. `None`: there is no sign of its own.
pub(super) fn without_sign(value: &[u8]) -> Option<&[u8]> {
    let value = value.strip_prefix(b"=")?;
    matches!(value.first(), None | Some(b' ' | b'\t')).then(|| value.trim_ascii_start())
}

/// Returns whether a value behind an equals sign has a form that shows that the sign is none of a text.
pub(super) fn follows_sign(value: &[u8]) -> bool {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_number || value.starts_with(b"\"") || value::is_typed(value)
}

/// Returns the place of the first equals sign behind a space or a tab, with that.
fn separator(line: &[u8]) -> Option<usize> {
    let by_space = memmem::find(line, b" =");
    // Most lines have a space.
    by_space.or_else(|| memmem::find(line, b"\t="))
}

/// Returns whether identifier and value together can only be a variable.
fn begins(name: &[u8], value: &[u8]) -> bool {
    let first = name.first().map_or(0, |byte| *byte);
    if first != b'.' && !first.is_ascii_alphanumeric() {
        return false;
    }
    if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return name.contains(&b'.');
    }
    let plain = name.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'[')).unwrap_or(name.len());
    let head = name.get(..plain).asserted_or_default();
    if head.contains(&b' ') {
        return false;
    }
    first == b'.'
        || name.starts_with(b"iso.")
        || memmem::find(head, b"::").is_some()
        || value::is_typed(value)
}

/// Returns whether an identifier alone shows that its line is a variable.
fn is_certain(name: &[u8]) -> bool {
    let is_numeric = name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if is_numeric {
        let name = name.strip_prefix(b".").unwrap_or(name);
        let roots: [&[u8]; 4] = [b"1.3.6.1.", b"1.0.8802.", b"1.3.111.", b"1.2.840."];
        return roots.iter().any(|root| name.starts_with(root));
    }
    name.starts_with(b".iso.")
        || name.starts_with(b"iso.")
        || memmem::find(name, b"-MIB::").is_some()
        || memmem::find(name, b"-SMI::").is_some()
        || is_known(name)
}

/// Returns whether an identifier is that of a variable that a table needs.
pub(super) fn is_known(name: &[u8]) -> bool {
    let mut arcs = Vec::new();
    is_indexed_name(without_path(name))
        && matches!(resolve(name, &mut arcs), Resolution::Complete | Resolution::Lossy)
}

/// Returns whether an identifier has the form `name.index` or `name[index]`.
fn is_indexed_name(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let end = name.iter().position(|byte| !is_letter(byte)).unwrap_or(name.len());
    let Some((head, [separator, index @ ..])) = name.split_at_checked(end) else { return false };
    head.first().is_some_and(u8::is_ascii_lowercase)
        && matches!(separator, b'.' | b'[')
        && index.first().is_some_and(|byte| byte.is_ascii_digit() || b"\"'i[S\\".contains(byte))
        && end_of_name(name) == name.len()
}

/// Removes the names of subtrees, as `-Ou` prints them before the object: `system.sysName.0`.
fn without_path(name: &[u8]) -> &[u8] {
    let mut rest = name;
    while let Some(dot) = memchr::memchr(b'.', rest) {
        let (part, behind) = rest.split_at_checked(dot).unwrap_or((rest, b""));
        let behind = behind.get(1..).asserted_or_default();
        let is_subtree = part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
            && behind.first().is_some_and(u8::is_ascii_lowercase);
        if !is_subtree {
            break;
        }
        rest = behind;
    }
    rest
}

/// Returns the length of the identifier at the beginning of a line: up to a space outside of quotes and brackets.
fn end_of_name(line: &[u8]) -> usize {
    let mut quote = None;
    let mut depth = 0_usize;
    for (position, byte) in line.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'[') => depth += 1,
            (None, b']') => depth = depth.saturating_sub(1),
            (None, b' ' | b'\t') if depth == 0 => return position,
            _ => {}
        }
    }
    line.len()
}

/// The longest time that is recognized in front of a line.
const MAX_TIME: usize = 48;

/// Removes a time such as `Nov 25 20:15:01 `, `[2026-11-25 20:15:01] `, or `2026-11-25T20:15:01.5+01:00 `.
///
/// Returns `None` if the line does not begin with the time of a day.
fn without_time(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    let mut has_time = false;
    loop {
        let end = memchr::memchr(b' ', rest).filter(|end| *end > 0 && *end <= MAX_TIME)?;
        let (word, behind) = rest.split_at_checked(end)?;
        let word = word.strip_prefix(b"[").unwrap_or(word);
        let word = word.strip_suffix(b"]").unwrap_or(word);
        match word_of_time(word) {
            Some(is_time) => has_time |= is_time,
            None => return has_time.then_some(rest),
        }
        rest = behind.trim_ascii_start();
        if line.len() - rest.len() > MAX_TIME {
            return None;
        }
    }
}

/// Returns whether a word is the time of a day, or `None` if it is no part of a date either.
fn word_of_time(word: &[u8]) -> Option<bool> {
    const NAMES: &[&[u8]] = &[
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
        b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun",
    ];
    if NAMES.contains(&word) {
        return Some(false);
    }
    if !word.first()?.is_ascii_digit()
        || !word.iter().all(|byte| byte.is_ascii_digit() || b":-/+.,TZ".contains(byte))
    {
        return None;
    }
    if word.contains(&b':') {
        // Hours and minutes. A number before a colon counts the lines.
        let is_time = word.windows(3).any(|window| {
            matches!(window, [hour, b':', minute] if hour.is_ascii_digit() && minute.is_ascii_digit())
        });
        return is_time.then_some(true);
    }
    let has_marks = word.iter().any(|byte| b"-/T".contains(byte));
    (has_marks || !word.contains(&b'.')).then_some(false)
}
