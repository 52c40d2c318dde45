//! Notes below the legend: omissions and uncertainties of the picture.

use super::super::file::File;
use super::super::notes::notes;
use super::nodes::text;
use super::put;
use crate::topology::graph::{DETAIL_SIZE, Graph, width};

/// Maximum number of notes.
const MAX_NOTES: usize = 8;

/// Height of a line, in pixels.
const LINE: f64 = 16.0;

/// Space above the notes, in pixels.
const GAP: f64 = 8.0;

/// Returns the notes that the picture shows.
pub(super) fn shown(graph: &Graph) -> Vec<String> {
    let mut notes = notes(graph);
    if notes.len() > MAX_NOTES {
        let more = notes.len() - (MAX_NOTES - 1);
        notes.truncate(MAX_NOTES - 1);
        notes.push(format!("{more} further notes"));
    }
    notes
}

/// Returns the lines of the notes, which are at most this wide if no word is wider.
pub(in crate::topology::render) fn lines(graph: &Graph, limit: f64) -> Vec<String> {
    shown(graph).iter().flat_map(|note| wrapped(note, limit)).collect()
}

fn wrapped(note: &str, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in note.split(' ') {
        match lines.last_mut() {
            Some(line) if f64::from(width(&format!("{line} {word}"), DETAIL_SIZE)) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(super) fn height(lines: &[String]) -> f64 {
    if lines.is_empty() { 0.0 } else { GAP + LINE * lines.len() as f64 }
}

/// Draws the lines with their upper left corner at this place.
pub(super) fn write(out: &mut File, lines: &[String], left: f64, top: f64) {
    if lines.is_empty() {
        return;
    }
    put(out, format_args!("<g class=\"notes\">\n"));
    for (number, line) in (1_u32..).zip(lines) {
        text(out, "note", left, top + GAP + LINE * f64::from(number) - 4.0, line);
        out.push_str("\n");
    }
    out.push_str("</g>\n");
}
