//! Lines as a terminal shows them: without the control characters and the pager that a recording of it has.

use memchr::memchr3;

use crate::invariant::Invariant;

const BACKSPACE: char = '\u{8}';
const ESCAPE: char = '\u{1B}';
const BELL: char = '\u{7}';

/// The longest line. Further characters are cut off.
pub(super) const MAX_LINE: usize = 4 * 1024;
/// The widest terminal. Behind the last character of a line, the cursor does not move further than this.
const MAX_COLUMNS: usize = 512;

/// The commands that end a session.
pub(super) const LAST_COMMANDS: [&str; 3] = ["exit", "logout", "quit"];
/// The beginnings of the lines around a session, in lower case: those of `login`, `script` and `ssh`, and the fences around code in a
/// document.
const SESSION_FRAMES: [&str; 7] = [
    "last login: ",
    "connection to ",
    "connection closed",
    "script started on ",
    "script done on ",
    "```",
    "~~~",
];

/// The texts with which pagers wait for a key, in lower case: how each begins, and how it ends if it has a variable part. A
/// pager that erases itself leaves none of them.
const PAGERS: &[(&str, &str)] = &[
    ("--more-- or (q)uit", ""),
    ("--more--", ""),
    ("---(more", ")---"),
    ("---- more ----", ""),
    ("<--- more --->", ""),
    ("-- more --", "control-c"),
    ("press any key to continue", ")"),
    ("ctrl+c esc q quit space n next page enter next entry a all", ""),
];

/// Returns whether a line begins or ends a session, or is the time that a command took.
pub(super) fn is_session_frame(line: &str) -> bool {
    let is_begun =
        |frame: &&str| line.get(..frame.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(frame));
    LAST_COMMANDS.contains(&line) || SESSION_FRAMES.iter().any(is_begun) || is_duration(line)
}

/// Returns whether a line is one of `time`: `real    0m0.123s`.
fn is_duration(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let is_kind = words.next().is_some_and(|kind| matches!(kind, "real" | "user" | "sys"));
    let is_time = |word: &str| {
        word.ends_with('s') && word.bytes().all(|byte| byte.is_ascii_digit() || b"msh.,".contains(&byte))
    };
    is_kind && words.next().is_some_and(is_time) && words.next().is_none()
}

/// Returns whether a line has characters that move the cursor or set colors.
pub(super) fn has_controls(line: &[u8]) -> bool {
    memchr3(0x1B, 0x08, b'\r', line).is_some()
}

/// Returns a line as a terminal shows it.
///
/// Backspaces, carriage returns and escape sequences move the cursor, and later characters replace those below it.
pub(super) fn shown(line: &str) -> String {
    let mut screen = Screen::default();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            BACKSPACE => screen.column = screen.column.saturating_sub(1),
            '\r' => screen.column = 0,
            ESCAPE => screen.escape(&mut characters),
            '\t' => (0..8 - screen.column % 8).for_each(|_| screen.put(' ')),
            other => screen.put(other),
        }
    }
    screen.characters.into_iter().collect()
}

/// Returns text without escape sequences. Other characters stay as they are.
pub(super) fn without_colors(text: &str) -> String {
    let mut screen = Screen::default();
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == ESCAPE { screen.escape(&mut characters) } else { plain.push(character) }
    }
    plain
}

/// Returns the length of the escape sequences and carriage returns at the beginning of a line.
pub(super) fn controls_before(line: &[u8]) -> usize {
    let mut rest = line;
    loop {
        let behind = match rest {
            [b'\r', behind @ ..] => Some(behind),
            [0x1B, b'[', sequence @ ..] => {
                let end = sequence.iter().position(|byte| !b"0123456789;?=>".contains(byte));
                end.and_then(|end| sequence.get(end + 1..))
            }
            _ => None,
        };
        match behind {
            Some(behind) => rest = behind,
            None => return line.len() - rest.len(),
        }
    }
}

/// Removes the text with which a pager waited for a key from the beginning of a line.
pub(super) fn without_pager(line: &str) -> &str {
    let start = line.trim_start();
    // The texts are ASCII, which has the same length in lower case.
    let is_begun = |beginning: &str| {
        start.get(..beginning.len()).is_some_and(|text| text.eq_ignore_ascii_case(beginning))
    };
    let Some((beginning, end)) = PAGERS.iter().find(|(beginning, _)| is_begun(beginning)) else {
        return line;
    };
    let rest = start.get(beginning.len()..).asserted_or_default();
    let place = rest.to_ascii_lowercase().find(end).map_or(0, |place| place + end.len());
    rest.get(place..).asserted_or_default().trim_start()
}

/// A line of a terminal.
#[derive(Default)]
struct Screen {
    characters: Vec<char>,
    column: usize,
    /// The number of spaces that filled gaps so far.
    filled: usize,
}

impl Screen {
    fn put(&mut self, character: char) {
        if self.column >= MAX_LINE {
            return;
        }
        if self.characters.len() <= self.column {
            // Each erasure may leave a gap, so that all of them together are limited.
            let gap = (self.column - self.characters.len()).min(MAX_LINE - self.filled);
            self.filled += gap;
            self.characters.extend(std::iter::repeat_n(' ', gap));
            self.column = self.characters.len();
            self.characters.push(character);
        } else if let Some(place) = self.characters.get_mut(self.column) {
            *place = character;
        }
        self.column += 1;
    }

    /// Performs an escape sequence. Only those count that move the cursor within the line, or erase the line.
    fn escape(&mut self, characters: &mut std::str::Chars<'_>) {
        match characters.next() {
            Some('[') => {}
            // The title of the window, up to a bell or to `ESC \\`.
            Some(']') => {
                let mut before = ']';
                let is_end = |character| {
                    let is_end = character == BELL || (before == ESCAPE && character == '\\');
                    before = character;
                    is_end
                };
                characters.any(is_end);
                return;
            }
            _ => return,
        }
        let mut parameter = String::new();
        for character in characters.by_ref() {
            if !matches!(character, '0'..='9' | ';' | '?' | '=' | '>') {
                return self.perform(character, parameter.parse().ok());
            }
            parameter.push(character);
        }
    }

    fn perform(&mut self, command: char, parameter: Option<usize>) {
        let count = parameter.unwrap_or(1).max(1);
        let width = self.characters.len().max(MAX_COLUMNS);
        match command {
            'C' => self.column = self.column.saturating_add(count).min(width.max(self.column)),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = count.saturating_sub(1).min(width),
            'K' => match parameter {
                None | Some(0) => self.characters.truncate(self.column),
                Some(2) => self.characters.clear(),
                Some(_) => {}
            },
            _ => {}
        }
    }
}
