//! Comma-separated values for spreadsheets (RFC 4180, UTF-8).
//!
//! Spreadsheets run a cell that begins with certain characters as a formula. Such a cell gets an apostrophe in front,
//! which reading takes away again. Where the list separator is a semicolon, spreadsheets also begin a cell after each
//! semicolon, and, since they do not see the quotes of other cells, after each line break. Therefore every such piece of
//! a cell is treated like a cell.

use std::borrow::Cow;

use csv_core::{Terminator, WriteResult, Writer, WriterBuilder};

use crate::invariant::Invariant;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "text/csv";

/// Separates the values of a list within a cell.
pub(crate) const SEPARATOR: char = ';';

const APOSTROPHE: char = '\'';

/// The characters that end a cell in some settings of some spreadsheet.
const ENDS: [char; 4] = [SEPARATOR, '\t', '\r', '\n'];

/// Splits a text into what a spreadsheet may take for cells, each with the character that ends it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(ENDS)
}

/// Returns whether a spreadsheet may run a piece as a formula, or whether it differs from such a piece only by
/// apostrophes in front. The latter keeps one, too, so that reading is the inverse of writing.
///
/// Quotes in front count as well: a spreadsheet may take them for those around a cell.
fn is_guarded(piece: &str) -> bool {
    piece.trim_start_matches([APOSTROPHE, '"']).starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Puts an apostrophe in front of each piece of a text that a spreadsheet may run as a formula.
fn guard(text: Cow<'_, str>) -> Cow<'_, str> {
    if !pieces(&text).any(is_guarded) {
        return text;
    }
    let mut guarded = String::with_capacity(text.len() + 8);
    for piece in pieces(&text) {
        guarded.extend(is_guarded(piece).then_some(APOSTROPHE));
        guarded.push_str(piece);
    }
    guarded.into()
}

/// Takes away the apostrophes that [`write_row`] puts in front of pieces of a text.
pub(crate) fn unguard(text: &str) -> Cow<'_, str> {
    let unguarded = |piece| match str::strip_prefix(piece, APOSTROPHE) {
        Some(rest) if is_guarded(rest) => rest,
        _ => piece,
    };
    if pieces(text).all(|piece| unguarded(piece).len() == piece.len()) {
        return text.into();
    }
    pieces(text).map(unguarded).collect()
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
            rest = rest.get(read..).asserted_or_default();
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
            self.text.extend_from_slice(output.get(..written).asserted_or_default());
            if result == WriteResult::InputEmpty {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use csv_core::{ReadFieldResult, ReaderBuilder};

    use super::*;

    /// Returns all texts of up to four of these characters.
    fn texts() -> impl Iterator<Item = String> {
        let characters = [';', ',', '=', '-', '@', '\t', '\r', '\n', '\'', '"', 'a', ' '];
        (0..=4).flat_map(move |length| {
            (0..characters.len().pow(length)).map(move |mut number| {
                let next = |_| {
                    let character = characters[number % characters.len()];
                    number /= characters.len();
                    character
                };
                (0..length).map(next).collect()
            })
        })
    }

    /// Returns the cells of a row for a spreadsheet that separates them with this character.
    fn cells(row: &[u8], separator: u8) -> Vec<String> {
        let mut reader = ReaderBuilder::new().delimiter(separator).build();
        let (mut rest, mut cells) = (row, Vec::new());
        loop {
            let mut output = [0; 256];
            let (mut cell, mut result) = (Vec::new(), ReadFieldResult::InputEmpty);
            while matches!(result, ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull) {
                let (next, read, written) = reader.read_field(rest, &mut output);
                (result, rest) = (next, &rest[read..]);
                cell.extend_from_slice(&output[..written]);
            }
            match result {
                ReadFieldResult::End => return cells,
                _ => cells.push(String::from_utf8(cell).unwrap()),
            }
        }
    }

    #[test]
    fn reading_takes_away_exactly_what_writing_adds() {
        for text in texts() {
            let row = write_row(["first".into(), text.as_str().into()]);
            let read = cells(&row, b',');
            assert_eq!(read.len(), 2, "{text:?}: {read:?}");
            assert_eq!(unguard(&read[1]), text, "{read:?}");
        }
    }

    #[test]
    fn no_cell_begins_like_a_formula_whatever_separates_cells() {
        for text in texts() {
            for row in [["first", &text], [&text, "last"]] {
                let mut rows = write_row(row.map(Cow::Borrowed));
                // Quotes may take the beginning of the next row into a cell, and white space in front may not count.
                rows.extend(write_row(["=2".into()]));
                for separator in [b',', b';', b'\t'] {
                    for cell in cells(&rows, separator) {
                        let shown = cell.trim_start_matches(['\t', '\r', '\n']);
                        assert!(!shown.starts_with(['=', '+', '-', '@']), "{text:?}: {cell:?}");
                    }
                }
            }
        }
    }
}
