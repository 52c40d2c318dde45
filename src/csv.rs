//! Comma-separated values for spreadsheets (RFC 4180, UTF-8).
//!
//! Spreadsheets run a cell that begins with certain characters as a formula. Such a cell gets an apostrophe in front,
//! which reading removes again. Where the list separator is a semicolon, spreadsheets also begin a cell after each
//! semicolon, and, since they do not see the quotes of other cells, after each line break. Therefore every such piece
//! of a cell is treated like a cell.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Number;

use csv_core::{Terminator, WriteResult, Writer, WriterBuilder};

use crate::invariant::Invariant;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "text/csv";

/// Separates the values of a list within a cell.
pub(crate) const SEPARATOR: char = ';';

const APOSTROPHE: char = '\'';

/// The characters that end a cell in some settings of some spreadsheet.
const ENDS: [char; 4] = [SEPARATOR, '\t', '\r', '\n'];

/// Splits a text into the pieces that a spreadsheet may take for cells, each with the character that ends it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(ENDS)
}

/// Returns whether a piece needs an apostrophe in front. It does if a spreadsheet may run it as a formula, or if it
/// differs from such a piece only by apostrophes in front: the latter gets another one, so that reading is the inverse
/// of writing.
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

/// Removes the apostrophes that [`write_row`] puts in front of pieces of a text.
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

/// Returns the JSON of a custom field from the text of its cell.
///
/// Text that is a number as this crate writes it, a boolean in any case, or a text, a list or an object in JSON means that
/// value. All other text means itself: a number such as `007` would not be the same as a number.
pub(crate) fn custom_json(cell: &str) -> Cow<'_, str> {
    let trimmed = cell.trim();
    let is_json = match trimmed.as_bytes().first() {
        Some(b'"' | b'[' | b'{') => serde_json::from_str::<IgnoredAny>(trimmed).is_ok(),
        Some(b'-' | b'0'..=b'9') => {
            serde_json::from_str::<Number>(trimmed).is_ok_and(|number| number.to_string() == trimmed)
        }
        _ => false,
    };
    if is_json {
        return trimmed.into();
    }
    let boolean = ["true", "false"].into_iter().find(|boolean| trimmed.eq_ignore_ascii_case(boolean));
    boolean.map_or_else(|| serde_json::Value::from(cell).to_string().into(), Cow::Borrowed)
}

/// Returns the text of a cell from the JSON of a custom field. [`custom_json`] is the inverse.
pub(crate) fn custom_cell(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<String>(json) {
        // Other texts would be read as another value, or as none.
        Ok(text) if !text.is_empty() && custom_json(&text) == json => text.into(),
        _ => json.into(),
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
    /// Appends the output of the writer, in parts.
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
    fn custom_fields_are_read_from_cells_as_they_were_written() {
        let odd = [
            "", "A-17", "007", "7", "-5", "1e5", "true", "TRUE", "null", "[1]", "[1", "\"a\"", "\"a", " 7",
            " a ", "{}",
        ];
        let values = odd.map(serde_json::Value::from).into_iter().chain([
            serde_json::json!(7),
            serde_json::json!(-0.5),
            serde_json::json!(1e300),
            serde_json::json!(u64::MAX),
            serde_json::json!(false),
            serde_json::json!(["a", {"b": null}]),
        ]);
        for value in values.chain(texts().map(serde_json::Value::from)) {
            let json = value.to_string();
            let cell = custom_cell(&json);
            assert!(!cell.is_empty(), "{json}");
            assert_eq!(custom_json(&cell), json, "{cell:?}");
        }
        for (cell, json) in [
            ("A-17", "\"A-17\""),
            ("007", "\"007\""),
            ("12345678901234567890123", "\"12345678901234567890123\""),
            (" 7 ", "7"),
            ("True", "true"),
            ("null", "\"null\""),
        ] {
            assert_eq!(custom_json(cell), json);
        }
        assert_eq!((custom_cell("\"A-17\""), custom_cell("\"7\"")), ("A-17".into(), "\"7\"".into()));
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
