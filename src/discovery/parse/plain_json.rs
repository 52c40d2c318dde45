//! JSON without the colors and the pager of a terminal.
//!
//! Most control characters come from the terminal, as JSON has none apart from white space. But iproute2 writes those of names and
//! aliases as they are, so that a sequence that no terminal knows the end of is text.

use super::terminal;

const ESCAPE: u8 = 0x1B;
const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
/// The word in the texts of all pagers that occur with JSON.
const WORDS: [&[u8]; 3] = [b"more", b"More", b"MORE"];
/// The longest text with which a pager waits for a key.
const MAX_MARK: usize = 64;

/// The longest escape sequence, such as the title of a window. More text is that of a document.
const MAX_SEQUENCE: usize = 256;

/// The place within an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    /// Behind the escape character.
    Begun,
    /// Within the parameters of a command.
    Command,
    /// Within the title of the window, which a bell or another sequence ends.
    Title,
    /// Behind the escape character that ends a title.
    TitleEnd,
}

/// Removes escape sequences, and the texts of pagers with the spaces that overwrite them, from chunks of JSON.
#[derive(Debug, Default)]
pub(super) struct PlainJson {
    sequence: Sequence,
    /// The text of the sequence behind the escape character.
    pending: Vec<u8>,
    /// Whether the cursor has moved back, so that spaces overwrite what is left of a pager.
    is_erasing: bool,
    /// Whether the last character was a carriage return.
    has_return: bool,
    /// The last characters, which may be the beginning of a pager's text.
    held: Vec<u8>,
}

impl PlainJson {
    /// Appends the JSON of a chunk to the output, apart from its end, which may be the beginning of a pager's text.
    pub(super) fn clean(&mut self, chunk: &[u8], output: &mut Vec<u8>) {
        if self.is_plain(chunk) {
            self.held.extend_from_slice(chunk);
        } else {
            chunk.iter().for_each(|byte| self.accept(*byte));
        }
        let end = self.held.len().saturating_sub(MAX_MARK);
        output.extend(self.held.drain(..end));
    }

    /// Appends the rest of the JSON to the output.
    pub(super) fn finish(&mut self, output: &mut Vec<u8>) {
        self.give_back();
        self.remove_mark();
        output.append(&mut self.held);
    }

    /// Returns whether nothing is removed from a chunk, as from most of them.
    fn is_plain(&self, chunk: &[u8]) -> bool {
        let is_within = self.sequence != Sequence::None || self.is_erasing || self.has_return;
        let has_word = |text: &[u8]| WORDS.iter().any(|word| memchr::memmem::find(text, word).is_some());
        // The word of a pager may begin in the chunk before.
        let seam: Vec<u8> = self.held.iter().chain(chunk.iter().take(WORDS[0].len())).copied().collect();
        !is_within
            && memchr::memchr3(ESCAPE, BACKSPACE, b'\r', chunk).is_none()
            && !has_word(chunk)
            && !has_word(&seam)
    }

    fn accept(&mut self, byte: u8) {
        match (self.sequence, byte) {
            (Sequence::None, ESCAPE) => self.sequence = Sequence::Begun,
            (Sequence::None, _) => self.accept_text(byte),
            (Sequence::Begun, b'[') => self.go_on(Sequence::Command, byte),
            (Sequence::Begun, b']') => self.go_on(Sequence::Title, byte),
            // Quotes and backslashes are those of a string.
            (Sequence::Begun, b' '..=b'~') if !matches!(byte, b'"' | b'\\') => self.end(),
            (Sequence::Command, b'0'..=b'9' | b';' | b'?' | b'=' | b'>') if self.has_room() => {
                self.pending.push(byte);
            }
            (Sequence::Command, b'@'..=b'~') if byte != b'\\' => {
                self.end();
                // Moves of the cursor, and the erasure of the line.
                if matches!(byte, b'D' | b'G' | b'K') {
                    self.move_back();
                }
            }
            (Sequence::Title, BELL) | (Sequence::TitleEnd, b'\\') => self.end(),
            (Sequence::Title, ESCAPE) => self.sequence = Sequence::TitleEnd,
            (Sequence::Title, _) if byte != b'\n' && self.has_room() => self.pending.push(byte),
            (Sequence::TitleEnd, _) => {
                self.end();
                self.sequence = Sequence::Begun;
                self.accept(byte);
            }
            (Sequence::Begun | Sequence::Command | Sequence::Title, _) => {
                self.give_back();
                self.accept(byte);
            }
        }
    }

    fn go_on(&mut self, sequence: Sequence, byte: u8) {
        self.sequence = sequence;
        self.pending.push(byte);
    }

    const fn has_room(&self) -> bool {
        self.pending.len() < MAX_SEQUENCE
    }

    /// Leaves out a sequence.
    fn end(&mut self) {
        self.sequence = Sequence::None;
        self.pending.clear();
    }

    /// Takes the text of a sequence that is none.
    fn give_back(&mut self) {
        self.sequence = Sequence::None;
        std::mem::take(&mut self.pending).into_iter().for_each(|byte| self.accept_text(byte));
    }

    fn accept_text(&mut self, byte: u8) {
        let has_return = std::mem::replace(&mut self.has_return, byte == b'\r');
        match byte {
            b'\r' | BACKSPACE => self.move_back(),
            b' ' if self.is_erasing => {}
            b'\n' => {
                self.remove_mark();
                self.is_erasing = false;
                if has_return {
                    self.held.push(b'\r');
                }
                self.held.push(b'\n');
            }
            other => {
                self.is_erasing = false;
                self.held.push(other);
            }
        }
    }

    fn move_back(&mut self) {
        self.remove_mark();
        self.is_erasing = true;
    }

    /// Removes the text of a pager before the cursor.
    fn remove_mark(&mut self) {
        let end = self.held.trim_ascii_end().len();
        // A quick look, since each line ends here.
        if !matches!(self.held.get(end.wrapping_sub(1)), Some(b'-' | b'>' | b')')) {
            return;
        }
        let start = end.saturating_sub(MAX_MARK);
        let tail = self.held.get(start..end).unwrap_or_default();
        if let Some(mark) = beginning_of_mark(tail) {
            self.held.truncate(start + mark);
        }
    }
}

/// Returns the place at which the text of a pager begins that is at the end of a text.
///
/// All pagers that occur with JSON have their word between dashes or brackets.
fn beginning_of_mark(tail: &[u8]) -> Option<usize> {
    let word = memchr::memmem::rfind(&tail.to_ascii_lowercase(), b"more")?;
    let before = tail.get(..word)?;
    let marks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'-' | b'<' | b'(')).count();
    let blanks = before.get(word - marks..)?.iter().take_while(|byte| **byte == b' ').count();
    let beginning = word - marks + blanks;
    is_mark(tail.get(beginning..)?).then_some(beginning)
}

/// Returns whether text is that of a pager. It may have the part that was shown behind it: `--More--(52%)`.
fn is_mark(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let rest = terminal::without_pager(text);
    let is_part = || rest.starts_with('(') && rest.ends_with("%)");
    rest.len() < text.len() && (rest.is_empty() || is_part())
}

/// Returns the JSON of a text that is given as a whole.
pub(super) fn plain(text: &[u8]) -> Vec<u8> {
    let (mut json, mut output) = (PlainJson::default(), Vec::with_capacity(text.len()));
    json.clean(text, &mut output);
    json.finish(&mut output);
    output
}
