//! Lines that the recording of a terminal has between the variables: prompts, commands, and what shells print.

use memchr::memmem;

use crate::discovery::parse::terminal::{LAST_COMMANDS, PROMPT_ENDS, is_session_frame};
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

/// Returns whether a line is the prompt of a shell or a device.
///
/// A command may follow one that shows a folder or a user: `C:\>`, `PS C:\>`, `root@nms:~#`, `[root@nms ~]#`, `admin@sw-1>`.
/// Nothing follows the other ones: `$`, `sw-1#`, `<sw-1>`.
fn is_prompt(line: &str) -> bool {
    let line = line.strip_prefix("PS ").unwrap_or(line);
    let Some((place, rest)) = line.find(PROMPT_ENDS).and_then(|end| line.split_at_checked(end)) else {
        return false;
    };
    let mut rest = rest.chars();
    let end = rest.next();
    let command = rest.as_str();
    if end == Some('>') && is_windows_folder(place) {
        return true;
    }
    if is_user_at_host(place) {
        return command.is_empty() || command.starts_with(' ');
    }
    let name = place.trim_start_matches(['<', '[']).trim_end_matches(']').trim_end();
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.():/~".contains(character);
    // A percentage is a number.
    let is_alone = name.chars().all(is_name) && (end != Some('%') || name.is_empty());
    let is_begun = name.is_empty() || name.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_alone && is_begun && (command.is_empty() || LAST_COMMANDS.contains(&command.trim()))
}

/// Returns whether text is a folder of Windows, such as `C:\Users`.
fn is_windows_folder(text: &str) -> bool {
    let mut characters = text.chars();
    let is_drive = characters.next().is_some_and(|drive| drive.is_ascii_alphabetic());
    is_drive && characters.as_str().starts_with(":\\")
}

/// Returns whether text before the end of a prompt is a user at a host, with a folder or a context: `root@nms:~`,
/// `[root@nms ~`, `admin@fw-1(active)`, `[admin@r-1] `.
fn is_user_at_host(text: &str) -> bool {
    let Some((user, host)) = text.strip_prefix('[').unwrap_or(text).split_once('@') else { return false };
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let (host, place) = host.split_at(host.find(|character: char| !is_word(character)).unwrap_or(host.len()));
    let is_place = match place.chars().next() {
        None => true,
        Some(':' | '(') => !place.contains(' '),
        Some(' ') => {
            let folder = place.trim_matches([' ', ']']);
            !folder.is_empty()
                && !folder.contains(' ')
                && (place.ends_with(']') || folder.starts_with(['~', '/']))
        }
        Some(first) => first == ']',
    };
    let is_user = !user.is_empty() && user.chars().all(is_word);
    is_user && !host.is_empty() && is_place
}
