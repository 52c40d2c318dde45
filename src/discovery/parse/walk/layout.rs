//! How the lines of a walk are laid out: with times in front, and with or without ` = `. Messages of the SNMP tools may
//! stand between the variables.

use std::net::{IpAddr, SocketAddr};

use memchr::memmem;

use super::oid::{Resolution, resolve};
use super::value;
use crate::invariant::Invariant;

/// The layout of all lines of a walk.
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
        is_separated.then(|| (name, value.trim_ascii_start()))
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
    let colons = word.iter().filter(|byte| **byte == b':').count();
    let has_marks = word.iter().any(|byte| b"-/T".contains(byte));
    let has_dots = word.contains(&b'.');
    match colons {
        0 if has_dots && !has_marks => None,
        0 => Some(false),
        _ => Some(true),
    }
}

/// The meaning of a message for the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The device has no more variables.
    End,
    /// The device or the tool gave up, so that variables are missing.
    Failure,
    /// A further line of the message before.
    Detail,
    /// Something else, such as a MIB that was not found, or the command itself.
    Notice,
}

/// Messages by their beginnings.
const MESSAGES: &[(&[u8], Message)] = &[
    (b"End of MIB", Message::End),
    (b"No more variables left in this MIB View", Message::End),
    (b"Variables found:", Message::End),
    (b"Total traversal time", Message::End),
    (b"Timeout", Message::Failure),
    (b"No Response from", Message::Failure),
    (b"Error in packet", Message::Failure),
    (b"Error: OID not increasing", Message::Failure),
    (b"Authentication failure", Message::Failure),
    (b"Unknown user name", Message::Failure),
    (b"Unsupported security level", Message::Failure),
    (b"Decryption error", Message::Failure),
    (b"Reason: (", Message::Detail),
    (b"Failed object:", Message::Detail),
    (b" >= .", Message::Detail),
    (b">= .", Message::Detail),
    (b"MIB search path:", Message::Notice),
    (b"Cannot find module", Message::Notice),
    (b"Did not find '", Message::Notice),
    (b"Unlinked OID in", Message::Notice),
    (b"Undefined identifier", Message::Notice),
    (b"Cannot adopt OID in", Message::Notice),
    (b"Bad operator (", Message::Notice),
    (b"Created directory:", Message::Notice),
];

/// Returns whether a line is one of a packet, as `-d` prints it: its length, or `0016: 30 29 …`.
fn is_dump(line: &[u8]) -> bool {
    if line.starts_with(b"Sending ") || line.starts_with(b"Received ") {
        return memmem::find(line, b" bytes ").is_some();
    }
    let Some(([digits @ .., b':', b' '], bytes)) = line.split_at_checked(6) else { return false };
    let pair = bytes.split(|byte| *byte == b' ').next().asserted_or_default();
    digits.iter().all(u8::is_ascii_digit) && pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit)
}

/// The tools that begin messages with their name and a colon.
const TOOLS: &[&[u8]] =
    &[b"snmpwalk", b"snmpbulkwalk", b"snmpget", b"snmpgetnext", b"snmpbulkget", b"snmptable"];

/// Recognizes the lines that the tools write besides variables. Within quotes, a line like that of a packet is text.
pub(super) fn message(line: &[u8], is_quoted: bool) -> Option<Message> {
    if !is_quoted && is_dump(line) {
        return Some(Message::Detail);
    }
    // Most lines begin with a numeric identifier.
    if line.first().is_none_or(|first| *first == b'.' || first.is_ascii_digit()) {
        return None;
    }
    let known =
        MESSAGES.iter().find(|(beginning, _)| line.starts_with(beginning)).map(|(_, message)| *message);
    if let Some(message) = known {
        // A longer word is another one.
        let is_word = message == Message::Failure && line.starts_with(b"Timeout");
        let next = line.get(b"Timeout".len()).map_or(0, |byte| *byte);
        return Some(message).filter(|_| !is_word || !next.is_ascii_alphanumeric());
    }
    if TOOLS.iter().any(|tool| line.strip_prefix(*tool).is_some_and(|rest| rest.starts_with(b": "))) {
        return Some(Message::Failure);
    }
    is_command(line).then_some(Message::Notice)
}

/// Identifiers that have the form of an IPv4 address: the roots of all variables.
const ROOTS: [&str; 2] = ["1.3.6.1", "1.3.111.2"];

/// Returns the address of the agent in the command of a walk; `None` for an agent with a name.
pub(super) fn agent(command: &[u8]) -> Option<IpAddr> {
    let mut words = str::from_utf8(command).ok()?.split(' ').filter(|word| !ROOTS.contains(word));
    words.find_map(|word| {
        let word = ["udp:", "tcp:", "udp6:"].iter().find_map(|kind| word.strip_prefix(kind)).unwrap_or(word);
        let address = || word.trim_matches(['[', ']']).parse().ok();
        address().or_else(|| Some(word.parse::<SocketAddr>().ok()?.ip()))
    })
}

/// Returns whether a line is the command of a walk, with or without the prompt of a shell.
pub(super) fn is_command(line: &[u8]) -> bool {
    let Some(position) = memmem::find(line, b"snmp") else { return false };
    let (before, command) = line.split_at(position);
    let is_prompt =
        before.is_empty() || before.ends_with(b"$ ") || before.ends_with(b"# ") || before.ends_with(b"> ");
    let options = |tool: &&[u8]| command.strip_prefix(*tool).is_some_and(|rest| rest.starts_with(b" -"));
    is_prompt && TOOLS.iter().any(options)
}
