//! Lines that the recording of a terminal has between the variables: prompts, commands, and what shells print.

use memchr::memmem;

use crate::discovery::parse::prompt::is_prompt;
use crate::discovery::parse::terminal::is_session_frame;
use crate::invariant::Invariant;

/// The tools that print walks. Their messages begin with their name and a colon.
pub(super) const TOOLS: &[&[u8]] =
    &[b"snmpwalk", b"snmpbulkwalk", b"snmpget", b"snmpgetnext", b"snmpbulkget", b"snmptable"];

/// The command of Junos that prints a walk.
const JUNOS_COMMAND: &[u8] = b"show snmp mib ";

/// The command of a walk, and the text before it, such as a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command<'l> {
    pub(super) before: &'l [u8],
    pub(super) text: &'l [u8],
}

impl<'l> Command<'l> {
    /// Finds the command of a walk in a line.
    pub(super) fn find(line: &'l [u8]) -> Option<Self> {
        let is_begun = |position: &usize| {
            let before = position.checked_sub(1).and_then(|before| line.get(before));
            before.is_none_or(|before| !before.is_ascii_alphanumeric() && !b"-_.".contains(before))
        };
        let is_tool = |position: &usize| begins_command(line.get(*position..).asserted_or_default());
        let mut places = memmem::find_iter(line, b"snmp").filter(is_begun);
        let place = places.find(is_tool).or_else(|| memmem::find(line, JUNOS_COMMAND))?;
        let (before, text) = line.split_at_checked(place)?;
        Some(Self { before, text })
    }

    /// Returns whether the command is one of Junos, which walks the device that shows the prompt.
    pub(super) fn is_local(self) -> bool {
        self.text.starts_with(JUNOS_COMMAND)
    }

    /// Returns whether a prompt precedes the command, or nothing if that is enough.
    ///
    /// Text may have commands, too, such as the lines of a table of `cron`.
    pub(super) fn is_entered(self, needs_prompt: bool) -> bool {
        let Ok(before) = str::from_utf8(self.before) else { return false };
        let before = without_prefixes(before);
        if before.is_empty() { !needs_prompt } else { is_prompt(before) }
    }
}

/// Removes the words between a prompt and a command: the folder of a tool, and commands that run others.
fn without_prefixes(before: &str) -> &str {
    let is_folder = |word: &str| word.ends_with(['/', '\\']) && !word.contains('>');
    let mut rest = before.trim_end_matches(['\'', '"']);
    loop {
        let start = rest.rfind(' ').map_or(0, |space| space + 1);
        let word = rest.get(start..).asserted_or_default();
        let is_prefix = is_folder(word) || ["sudo", "run", "time", "+"].contains(&word);
        if !is_prefix && !word.is_empty() || rest.is_empty() {
            return rest;
        }
        rest = rest.get(..start).asserted_or_default().trim_end();
    }
}

/// Returns whether text is a tool with options. Either may be in quotes.
fn begins_command(text: &[u8]) -> bool {
    TOOLS.iter().any(|tool| {
        let Some(rest) = text.strip_prefix(*tool) else { return false };
        let rest = without_quote(rest.strip_prefix(b".exe").unwrap_or(rest));
        rest.strip_prefix(b" ").is_some_and(|options| without_quote(options).starts_with(b"-"))
    })
}

fn without_quote(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"'").or_else(|| text.strip_prefix(b"\"")).unwrap_or(text)
}

/// The longest line that may be a prompt.
const MAX_PROMPT: usize = 256;
/// The beginnings of lines that scripts print between the walks of several subtrees.
const HEADINGS: [&[u8]; 4] = [b"#", b"==", b"--", b"**"];

/// Returns whether a line belongs to the session of a terminal: a prompt, a command that is no walk, or the time that one took.
///
/// Text of several lines may have any line, so that only what is hardly text counts.
pub(super) fn is_session(line: &[u8]) -> bool {
    if line.len() > MAX_PROMPT {
        return false;
    }
    let Ok(line) = str::from_utf8(line) else { return false };
    let line = line.trim();
    is_session_frame(line) || is_prompt(line)
}

/// Returns whether a line is a heading, as scripts print them. Text of several lines may have such lines, too.
pub(super) fn is_heading(line: &[u8]) -> bool {
    HEADINGS.iter().any(|heading| line.starts_with(heading))
}
