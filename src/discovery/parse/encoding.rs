//! Text encodings: every parser reads UTF-8, whatever the encoding of the input.

use std::io::{self, BufRead, Read};

use memchr::memmem;

use super::meter::Meter;
use super::plain_json::PlainJson;
use super::{ParseError, ParseErrorKind};

use crate::invariant::Invariant;

/// The number of bytes by which the encoding and the format are recognized.
pub(super) const HEAD: usize = 16 * 1024;
/// Minimum and maximum number of code units that must show the NULs of UTF-16 without a byte order mark.
const NUL_SAMPLE: (usize, usize) = (4, 128);
/// The number of bytes that are decoded at once.
const CHUNK: usize = 8 * 1024;

/// The first bytes of files that no parser reads before they are decompressed.
const COMPRESSED: &[(&[u8], &str)] = &[
    (b"\x1F\x8B", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xFD7zXZ\0", "xz"),
    (b"\x28\xB5\x2F\xFD", "zstd"),
    (b"PK\x03\x04", "zip"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, or bytes that the parsers take as they are.
    Utf8,
    Utf16LittleEndian,
    Utf16BigEndian,
    Latin1,
}

/// A reader of the input in UTF-8, without a byte order mark.
pub(super) struct Utf8Input<'r> {
    reader: &'r mut dyn BufRead,
    transcoder: Transcoder,
    /// Removes what a terminal added to JSON.
    json: Option<PlainJson>,
    /// The decoded bytes that are not consumed yet, from `position` on. At first, this is the head of the input.
    decoded: Vec<u8>,
    position: usize,
}

impl<'r> Utf8Input<'r> {
    /// Reads the head of the input, and determines the encoding.
    ///
    /// # Errors
    /// Returns an error if reading fails, and for compressed input and encodings that are not read.
    pub(super) fn open(reader: &'r mut dyn BufRead, meter: &mut Meter) -> Result<Self, ParseError> {
        let mut head = Vec::new();
        while head.len() < HEAD {
            let chunk = match reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(meter.error(ParseErrorKind::Io(error))),
            };
            let chunk = chunk.get(..chunk.len().min(HEAD - head.len())).asserted_or_default();
            if chunk.is_empty() {
                break;
            }
            head.extend_from_slice(chunk);
            let length = chunk.len();
            reader.consume(length);
        }
        let (encoding, mark) = recognize(&head).map_err(|kind| meter.error(kind))?;
        meter.add_bytes(mark);
        let mut transcoder = Transcoder::new(encoding);
        let mut decoded = Vec::new();
        transcoder.decode(head.get(mark..).asserted_or_default(), &mut decoded);
        Ok(Self { reader, transcoder, json: None, decoded, position: 0 })
    }

    /// Returns the beginning of the input. Valid until bytes are consumed.
    pub(super) fn head(&self) -> &[u8] {
        self.decoded.get(self.position..).asserted_or_default()
    }

    /// Removes the colors and the pager of a terminal from the whole input, which is JSON. Called before bytes are consumed.
    pub(super) fn read_as_json(&mut self) {
        let mut json = PlainJson::default();
        let text = std::mem::take(&mut self.decoded);
        json.clean(&text, &mut self.decoded);
        self.json = Some(json);
        // The head must have all of a short input.
        if self.reader.fill_buf().is_ok_and(<[u8]>::is_empty) {
            self.finish_json();
        }
    }

    fn finish_json(&mut self) {
        if let Some(json) = &mut self.json {
            json.finish(&mut self.decoded);
        }
    }

    /// Decodes further bytes. Decodes none at the end of the input.
    fn refill(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.position = 0;
        while self.decoded.is_empty() {
            let chunk = self.reader.fill_buf()?;
            let chunk = chunk.get(..chunk.len().min(CHUNK)).asserted_or_default();
            let length = chunk.len();
            if length == 0 {
                // A part of a character at the end of the input is no text.
                self.finish_json();
                return Ok(());
            }
            match &mut self.json {
                None => self.transcoder.decode(chunk, &mut self.decoded),
                Some(json) => {
                    let mut text = Vec::with_capacity(length);
                    self.transcoder.decode(chunk, &mut text);
                    json.clean(&text, &mut self.decoded);
                }
            }
            self.reader.consume(length);
        }
        Ok(())
    }
}

impl Read for Utf8Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Utf8Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.decoded.len() {
            if self.transcoder.encoding == Encoding::Utf8 && self.json.is_none() {
                return self.reader.fill_buf();
            }
            self.refill()?;
        }
        Ok(self.decoded.get(self.position..).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        if self.position < self.decoded.len() {
            self.position = self.position.saturating_add(amount).min(self.decoded.len());
        } else {
            self.reader.consume(amount);
        }
    }
}

/// Decodes the beginning of an input; `None` for encodings that are not read.
pub(super) fn decoded_head(input: &[u8]) -> Option<Vec<u8>> {
    let head = input.get(..input.len().min(HEAD))?;
    let (encoding, mark) = recognize(head).ok()?;
    let mut decoded = Vec::new();
    Transcoder::new(encoding).decode(head.get(mark..)?, &mut decoded);
    Some(decoded)
}

/// Returns the encoding and the length of the byte order mark.
fn recognize(head: &[u8]) -> Result<(Encoding, usize), ParseErrorKind> {
    if let Some((_, program)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(ParseErrorKind::Compressed(program));
    }
    match head {
        [0xEF, 0xBB, 0xBF, ..] => Ok((Encoding::Utf8, 3)),
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Err(unsupported("UTF-32")),
        [0xFF, 0xFE, ..] => Ok((Encoding::Utf16LittleEndian, 2)),
        [0xFE, 0xFF, ..] => Ok((Encoding::Utf16BigEndian, 2)),
        [first, 0, 0, 0, ..] | [0, 0, 0, first, ..] if *first != 0 => Err(unsupported("UTF-32")),
        _ => match without_mark(head) {
            Some(encoding) => Ok((encoding, 0)),
            None => Ok((declared(head)?, 0)),
        },
    }
}

fn unsupported(name: &str) -> ParseErrorKind {
    ParseErrorKind::UnsupportedEncoding(crate::printable::printable(name, 40))
}

/// Recognizes UTF-16 without a byte order mark: ASCII has a NUL in every second byte, always the same one.
fn without_mark(head: &[u8]) -> Option<Encoding> {
    let (pairs, _) = head.get(..head.len().min(2 * NUL_SAMPLE.1))?.as_chunks::<2>();
    let high = pairs.iter().filter(|[first, _]| *first == 0).count();
    let low = pairs.iter().filter(|[_, second]| *second == 0).count();
    let is_most =
        |nuls: usize| pairs.len() >= NUL_SAMPLE.0 && nuls.saturating_mul(4) >= pairs.len().saturating_mul(3);
    match (high, low) {
        (0, nuls) if is_most(nuls) => Some(Encoding::Utf16LittleEndian),
        (nuls, 0) if is_most(nuls) => Some(Encoding::Utf16BigEndian),
        _ => None,
    }
}

/// Reads the encoding that an XML declaration states. Other input is UTF-8.
fn declared(head: &[u8]) -> Result<Encoding, ParseErrorKind> {
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml").unwrap_or(&[]);
    let end = memmem::find(declaration, b"?>").unwrap_or(0);
    let declaration = declaration.get(..end).asserted_or_default();
    let Some(place) = memmem::find(declaration, b"encoding") else { return Ok(Encoding::Utf8) };
    let value = declaration.get(place + b"encoding".len()..).asserted_or_default();
    let mut quoted = value.split(|byte| matches!(byte, b'"' | b'\''));
    let name = quoted.nth(1).map(String::from_utf8_lossy).unwrap_or_default();
    match name.to_ascii_lowercase().as_str() {
        // The bytes are not UTF-16: a program has converted them and kept the declaration.
        "utf-8" | "utf8" | "us-ascii" | "ascii" | "" | "utf-16" | "utf16" | "utf-16le" | "utf-16be" => {
            Ok(Encoding::Utf8)
        }
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" => Ok(Encoding::Latin1),
        _ => Err(unsupported(&name)),
    }
}

/// Converts bytes of an encoding to UTF-8. It keeps the incomplete character at the end of a chunk.
#[derive(Debug)]
struct Transcoder {
    encoding: Encoding,
    /// The first byte of a code unit.
    byte: Option<u8>,
    /// The first code unit of a surrogate pair.
    surrogate: Option<u16>,
}

impl Transcoder {
    const fn new(encoding: Encoding) -> Self {
        Self { encoding, byte: None, surrogate: None }
    }

    fn decode(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Utf8 => output.extend_from_slice(bytes),
            Encoding::Latin1 => bytes.iter().for_each(|byte| push(output, char::from(*byte))),
            Encoding::Utf16LittleEndian | Encoding::Utf16BigEndian => {
                for byte in bytes {
                    match self.byte.take() {
                        None => self.byte = Some(*byte),
                        Some(first) => self.push_unit([first, *byte], output),
                    }
                }
            }
        }
    }

    fn push_unit(&mut self, bytes: [u8; 2], output: &mut Vec<u8>) {
        let unit = match self.encoding {
            Encoding::Utf16BigEndian => u16::from_be_bytes(bytes),
            _ => u16::from_le_bytes(bytes),
        };
        let before = self.surrogate.take();
        if before.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.surrogate = Some(unit);
            return;
        }
        for decoded in char::decode_utf16(before.into_iter().chain([unit])) {
            match decoded {
                // A byte order mark within the text comes from a file to which another was appended.
                Ok('\u{FEFF}') => {}
                Ok(character) => push(output, character),
                Err(_) => push(output, char::REPLACEMENT_CHARACTER),
            }
        }
    }
}

fn push(output: &mut Vec<u8>, character: char) {
    output.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
