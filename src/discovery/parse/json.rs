//! JSON input with bounded memory, and reports as JSON.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use serde_json::error::Category;

use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions};
use crate::discovery::report::{Report, Reporter, WarningCode};
use crate::invariant::Invariant;
use crate::json_objects::Objects;

/// The objects of one row, itself included.
const OBJECTS_PER_ROW: u64 = 8;
/// The fields and list elements of one row.
const ELEMENTS_PER_ROW: u64 = 64;
/// The sentence of the JSON parser about bytes that are no UTF-8.
const INVALID_UTF_8: &str = "invalid unicode code point";
const NOT_UTF_8: &str = "the text is not UTF-8; convert the input to UTF-8";
const ENDS_EARLY: &str = "the input ends early: a value, a list or an object is not closed";

/// Reads a [`Report`].
pub(super) fn read_report(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let counts = InputCounts::default();
    let mut report = Report::new(Reporter::new(""), options.observed_at);
    let mut deserializer = deserializer(reader, &counts, options);
    let mut place = String::new();
    let mut unknown = UnknownFields::default();
    let mut note = |path: serde_ignored::Path<'_>| unknown.note(&path);
    let fields = serde_ignored::Deserializer::new(Objects(&mut deserializer), &mut note);
    let read = serde_path_to_error::deserialize(fields).map_err(|error| {
        place = error.path().to_string();
        error.into_inner()
    });
    let read = read.and_then(|read| {
        report = read;
        deserializer.end()
    });
    finish(read, &counts, meter).map_err(|error| error.at(&place))?;
    if unknown.count > 0 {
        meter.warn_many(WarningCode::FieldUnknown, unknown.count, 0, &unknown.first);
    }
    // The sender's clock may be ahead, and reports of the future would keep out those of the present.
    report.observed_at = report.observed_at.min(options.observed_at);
    account(&mut report);
    Ok(report)
}

/// The fields that no report has, such as those of a later version.
#[derive(Default)]
struct UnknownFields {
    count: u64,
    /// The path of the first one.
    first: String,
}

impl UnknownFields {
    fn note(&mut self, path: &serde_ignored::Path<'_>) {
        if self.count == 0 {
            self.first = text_of(path);
        }
        self.count = self.count.saturating_add(1);
    }
}

/// Returns a path in the form that errors have: `devices[0].sys_name`.
fn text_of(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", text_of(parent)),
        Path::Map { parent, key } => match text_of(parent) {
            before if before.is_empty() => key.clone(),
            before => format!("{before}.{key}"),
        },
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            text_of(parent)
        }
    }
}

/// Completes the account of rows. Senders may leave it out, in which case all rows are used.
fn account(report: &mut Report) {
    if report.read_rows > 0 {
        return;
    }
    let summaries = report.devices.iter().flat_map(|device| device.tables.summaries());
    report.used_rows = summaries.map(|table| table.rows as u64).sum();
    report.read_rows = report.used_rows.saturating_add(report.skipped_rows);
}

/// Skips white space and returns the byte behind it, without consuming that.
pub(super) fn first_byte(reader: &mut dyn BufRead, meter: &mut Meter) -> Result<Option<u8>, ParseError> {
    let (indent, first) = indented_byte(reader, meter)?;
    meter.add_bytes(indent.len());
    Ok(first)
}

/// The most characters of an indentation that are kept. Devices indent their tables by a few.
const MAX_INDENT: usize = 256;

/// Skips white space and returns the last of it on its line, and the byte behind it.
///
/// That byte is not consumed. The caller counts the bytes of the white space that is returned.
pub(super) fn indented_byte(
    reader: &mut dyn BufRead,
    meter: &mut Meter,
) -> Result<(Vec<u8>, Option<u8>), ParseError> {
    let (mut indent, mut bytes) = (Vec::new(), 0);
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(meter.error(ParseErrorKind::Io(error))),
        };
        let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut lines = 0;
        for byte in chunk.iter().take(blank) {
            if *byte == b'\n' {
                lines += 1;
                indent.clear();
            } else if indent.len() < MAX_INDENT {
                indent.push(*byte);
            }
        }
        let first = chunk.get(blank).copied();
        let is_end = chunk.is_empty();
        reader.consume(blank);
        bytes += blank;
        (0..lines).for_each(|_| meter.begin_line());
        if first.is_some() || is_end {
            meter.add_bytes(bytes - indent.len());
            return Ok((indent, first));
        }
    }
}

/// Fails if the input begins like no object or list.
pub(super) fn expect(
    reader: &mut dyn BufRead,
    expected: &'static str,
    meter: &mut Meter,
) -> Result<(), ParseError> {
    match first_byte(reader, meter)? {
        Some(b'{' | b'[') | None => Ok(()),
        Some(_) => Err(meter.error(ParseErrorKind::WrongFormat(expected))),
    }
}

/// The quantities that were read from a JSON input.
#[derive(Debug, Default)]
pub(super) struct InputCounts {
    bytes: Cell<u64>,
    objects: Cell<u64>,
    elements: Cell<u64>,
    is_too_large: Cell<bool>,
}

/// A deserializer of input with bounded memory.
pub(super) type InputDeserializer<'r> = serde_json::Deserializer<serde_json::de::IoRead<Limited<'r>>>;

/// Creates a deserializer with bounded memory.
///
/// It fails before the input needs more memory than the maximum number of rows.
pub(super) fn deserializer<'r>(
    reader: &'r mut dyn BufRead,
    counts: &'r InputCounts,
    options: &ParseOptions,
) -> InputDeserializer<'r> {
    serde_json::Deserializer::from_reader(Limited { reader, counts, max_rows: options.max_rows })
}

/// Reads documents one behind the other, up to the end of the input.
pub(super) fn each_document<'r>(
    deserializer: &mut InputDeserializer<'r>,
    mut read: impl FnMut(&mut InputDeserializer<'r>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    loop {
        read(deserializer)?;
        if deserializer.end().is_ok() {
            return Ok(());
        }
    }
}

/// Finishes as [`finish`] does, but accepts input that ends early if it has rows before its end, also of other commands.
pub(super) fn finish_rows(
    result: serde_json::Result<()>,
    counts: &InputCounts,
    meter: &mut Meter,
    has_rows: bool,
) -> Result<(), ParseError> {
    match result {
        Err(error) if error.is_eof() && !counts.is_too_large.get() && (has_rows || meter.has_used_rows()) => {
            meter.truncate_at(|| "the document is not closed");
            finish(Ok(()), counts, meter)
        }
        result => finish(result, counts, meter),
    }
}

/// Charges the meter for the bytes read, and locates an error.
pub(super) fn finish(
    result: serde_json::Result<()>,
    counts: &InputCounts,
    meter: &mut Meter,
) -> Result<(), ParseError> {
    let bytes = usize::try_from(counts.bytes.get()).unwrap_or(usize::MAX);
    meter.add_bytes(bytes);
    meter.add_steps(bytes.saturating_mul(4));
    let Err(error) = result else { return meter.check() };
    let line = meter.line() + error.line() as u64;
    let kind = match error.classify() {
        _ if counts.is_too_large.get() => ParseErrorKind::TooLarge("the input has too many values"),
        Category::Io => ParseErrorKind::Io(error.into()),
        Category::Eof => ParseErrorKind::syntax(ENDS_EARLY),
        Category::Syntax | Category::Data => {
            let problem = error.to_string();
            // The location precedes the sentence here.
            let sentence =
                problem.rsplit_once(" at line ").map_or(problem.as_str(), |(sentence, _)| sentence);
            ParseErrorKind::syntax(if sentence == INVALID_UTF_8 { NOT_UTF_8 } else { sentence })
        }
    };
    Err(ParseError::new(kind, Some(line), meter.bytes()))
}

/// A reader that counts objects and elements. Brackets and commas within strings count as well.
pub(super) struct Limited<'r> {
    reader: &'r mut dyn BufRead,
    counts: &'r InputCounts,
    max_rows: u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        let counts = self.counts;
        for byte in buffer.get(..length).asserted_or_default() {
            match byte {
                b'{' => counts.objects.set(counts.objects.get() + 1),
                b'[' | b',' => counts.elements.set(counts.elements.get() + 1),
                _ => {}
            }
        }
        counts.bytes.set(counts.bytes.get() + length as u64);
        let max_objects = self.max_rows.saturating_add(16).saturating_mul(OBJECTS_PER_ROW);
        let max_elements = self.max_rows.saturating_add(16).saturating_mul(ELEMENTS_PER_ROW);
        if counts.objects.get() > max_objects || counts.elements.get() > max_elements {
            counts.is_too_large.set(true);
            return Err(io::Error::other("too many values"));
        }
        Ok(length)
    }
}
