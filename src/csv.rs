//! Comma-separated values for spreadsheets (RFC 4180, UTF-8).
//!
//! Spreadsheets run a cell that begins with certain characters as a formula. Such a cell gets an apostrophe in front,
//! which reading takes away again.

use std::borrow::Cow;

use csv_core::{Terminator, WriteResult, Writer, WriterBuilder};

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "text/csv";

/// Separates the values of a list within a cell.
pub(crate) const SEPARATOR: char = ';';

const APOSTROPHE: char = '\'';

/// Returns whether a spreadsheet may run a text as a formula, or whether it differs from such a text only by
/// apostrophes in front. The latter keeps one, too, so that reading is the inverse of writing.
fn is_guarded(text: &str) -> bool {
    text.trim_start_matches(APOSTROPHE).starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Puts an apostrophe in front of a text that a spreadsheet may run as a formula.
fn guard(text: Cow<'_, str>) -> Cow<'_, str> {
    if is_guarded(&text) { format!("{APOSTROPHE}{text}").into() } else { text }
}

/// Takes away the apostrophe that [`write_row`] puts in front of a text.
pub(crate) fn unguard(text: &str) -> &str {
    match text.strip_prefix(APOSTROPHE) {
        Some(rest) if is_guarded(rest) => rest,
        _ => text,
    }
}

/// Writes a row, with its line break.
pub(crate) fn write_row<'t>(cells: impl IntoIterator<Item = Cow<'t, str>>) -> Vec<u8> {
    let mut row = Row { writer: WriterBuilder::new().terminator(Terminator::CRLF).build(), text: Vec::new() };
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            row.append(|writer, output| {
                let (result, written) = writer.delimiter(output);
                (result, 0, written)
            });
        }
        let cell = guard(cell);
        let mut rest = cell.as_bytes();
        row.append(|writer, output| {
            let (result, read, written) = writer.field(rest, output);
            rest = rest.get(read..).unwrap_or_default();
            (result, read, written)
        });
    }
    row.append(|writer, output| {
        let (result, written) = writer.terminator(output);
        (result, 0, written)
    });
    row.text
}

struct Row {
    writer: Writer,
    text: Vec<u8>,
}

impl Row {
    /// Appends what the writer writes, in parts.
    fn append(&mut self, mut write: impl FnMut(&mut Writer, &mut [u8]) -> (WriteResult, usize, usize)) {
        let mut output = [0; 256];
        loop {
            let (result, _, written) = write(&mut self.writer, &mut output);
            self.text.extend_from_slice(output.get(..written).unwrap_or_default());
            if result == WriteResult::InputEmpty {
                return;
            }
        }
    }
}
