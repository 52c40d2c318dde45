use std::fmt;
use std::io;

use super::Format;
use crate::discovery::report::TableKind;
use crate::printable::printable;

/// The error for input that cannot be parsed.
///
/// Displays as the location, followed by the fault: `line 7: not an object identifier and a value`.
#[derive(Debug)]
pub struct ParseError {
    kind: ParseErrorKind,
    line: Option<u64>,
    byte: u64,
}

/// The reason why input cannot be parsed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Reading the input failed.
    Io(io::Error),
    /// The input does not follow the syntax of its format. The text describes the fault in at most 121 characters.
    Syntax(String),
    /// The input is well-formed, but is not of this format.
    WrongFormat(&'static str),
    /// The document type of an XML file defines entities, which are never expanded.
    EntityDefinition,
    /// A single element, or the nesting of elements, is larger than the parser accepts.
    TooLarge(&'static str),
    /// The input needs more work than its length justifies.
    TooComplex,
    /// The input has variables of two devices. The text shows one that has two values.
    SeveralDevices(String),
    /// The input has a table twice, with the output of another command between the two.
    TableRepeated(TableKind),
    /// Neither the input nor the options show which device the input comes from.
    ReporterRequired,
    /// The input has none of the formats, so that [`Format::Auto`](super::Format::Auto) cannot choose one.
    FormatUnknown,
    /// The input is text in an encoding that is not read. The text is the encoding's name.
    UnsupportedEncoding(String),
    /// The input is compressed. The text is the name of the program.
    Compressed(&'static str),
}

impl ParseError {
    pub(super) const fn new(kind: ParseErrorKind, line: Option<u64>, byte: u64) -> Self {
        Self { kind, line, byte }
    }

    /// Returns the reason why the input cannot be parsed.
    #[must_use]
    pub const fn kind(&self) -> &ParseErrorKind {
        &self.kind
    }

    /// Returns the line of the fault, counted from 1. `None` for formats in which only the byte is known.
    #[must_use]
    pub const fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns the number of bytes before the fault.
    ///
    /// In formats with lines this is the beginning or the end of the faulty line. In input of another encoding, these
    /// are the bytes of the text in UTF-8.
    #[must_use]
    pub const fn byte(&self) -> u64 {
        self.byte
    }
}

/// Maximum number of characters of the description of a fault in the syntax.
const MAX_FAULT: usize = 120;

impl ParseErrorKind {
    /// Creates a fault in the syntax from its description, which may quote any part of the input.
    pub(super) fn syntax(problem: &str) -> Self {
        Self::Syntax(printable(problem, MAX_FAULT))
    }
}

impl ParseError {
    /// Adds the place of a fault within the document, such as `devices[3].tables`.
    pub(super) fn at(mut self, place: &str) -> Self {
        if let ParseErrorKind::Syntax(problem) = &mut self.kind
            && !matches!(place, "" | ".")
        {
            *problem = printable(&format!("{place}: {problem}"), MAX_FAULT);
        }
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line}: {}", self.kind),
            None => write!(formatter, "byte {}: {}", self.byte, self.kind),
        }
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ParseErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(formatter, "reading failed: {error}"),
            Self::Syntax(problem) => formatter.write_str(problem),
            Self::WrongFormat(expected) => write!(formatter, "not {expected}"),
            Self::EntityDefinition => {
                formatter.write_str("the document type defines entities, which are not accepted")
            }
            Self::TooLarge(part) => write!(formatter, "{part}"),
            Self::TooComplex => formatter.write_str("the input takes more work than its length justifies"),
            Self::SeveralDevices(conflict) => {
                write!(formatter, "the input has two devices, one a file is accepted: {conflict}")
            }
            Self::TableRepeated(kind) => write!(
                formatter,
                "the input has the table {kind} twice, and the output of another command between them; write the output of \
                 commands with the same table one after the other, or each to a file of its own"
            ),
            Self::ReporterRequired => formatter.write_str(
                "the input does not name the device that it comes from; set the reporter in the options",
            ),
            Self::FormatUnknown => {
                let formats: Vec<&str> = Format::ALL
                    .iter()
                    .filter(|format| **format != Format::Auto)
                    .map(|format| format.as_str())
                    .collect();
                write!(formatter, "the format is not recognized; the formats are {}", formats.join(", "))
            }
            Self::UnsupportedEncoding(name) => {
                write!(formatter, "the encoding {name} is not read; convert the input to UTF-8")
            }
            Self::Compressed(program) => {
                write!(formatter, "the input is compressed with {program}; decompress it first")
            }
        }
    }
}
