//! Accounting of a parse: position, work, rows and skipped rows.

use std::collections::BTreeMap;

use super::{ParseError, ParseErrorKind, ParseOptions};
use crate::discovery::report::{Warning, WarningCode};
use crate::fair_threads::yield_turn;

/// The work that each byte of input justifies. A step is one byte read or copied, or one row moved.
const STEPS_PER_BYTE: u64 = 64;
/// The work allowed regardless of the length of the input, so that short inputs do not fail.
const INITIAL_STEPS: u64 = 1_024;

/// The most interfaces of a device. Their rows are by far the largest, and no device has as many.
pub(super) const MAX_INTERFACES: usize = 100_000;

/// Counts the bytes and lines read, the work done and the rows kept.
#[derive(Debug)]
pub(super) struct Meter {
    bytes: u64,
    /// The line at the place; in JSON the last one before the run of documents.
    line: u64,
    /// Whether the input is JSON, whose rows have no lines of their own.
    is_json: bool,
    steps: u64,
    /// The rows admitted so far.
    rows: u64,
    /// The rows that were never admitted: malformed ones, and those beyond the limit.
    refused_rows: u64,
    max_rows: u64,
    used_rows: u64,
    skipped_rows: u64,
    /// The rows that are missing from their table.
    lost_rows: u64,
    truncated: bool,
    warnings: BTreeMap<WarningCode, Warning>,
}

/// The result of a parse besides its devices.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) warnings: Vec<Warning>,
    pub(super) read_rows: u64,
    pub(super) used_rows: u64,
    pub(super) skipped_rows: u64,
}

impl Meter {
    pub(super) const fn new(options: &ParseOptions) -> Self {
        Self {
            bytes: 0,
            line: 0,
            is_json: false,
            steps: 0,
            rows: 0,
            refused_rows: 0,
            max_rows: options.max_rows,
            used_rows: 0,
            skipped_rows: 0,
            lost_rows: 0,
            truncated: false,
            warnings: BTreeMap::new(),
        }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) const fn add_bytes(&mut self, count: usize) {
        self.bytes = self.bytes.saturating_add(count as u64);
    }

    pub(super) const fn begin_line(&mut self) {
        self.line = self.line.saturating_add(1);
    }

    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// Notes that the input is JSON: its rows are on any line of their run of documents.
    pub(super) const fn read_as_json(&mut self) {
        self.is_json = true;
    }

    /// Notes the number of lines before the next run of documents.
    pub(super) fn pass_lines(&mut self, lines: u64) {
        self.line = self.line.max(lines);
    }

    pub(super) const fn add_steps(&mut self, count: usize) {
        self.steps = self.steps.saturating_add(count as u64);
    }

    /// Fails when the work exceeds what the bytes read so far justify.
    pub(super) fn check(&self) -> Result<(), ParseError> {
        let justified = self.bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(INITIAL_STEPS);
        if self.steps > justified { Err(self.error(ParseErrorKind::TooComplex)) } else { Ok(()) }
    }

    /// Counts a new row. Returns `false`, and counts it as skipped, when there are too many.
    pub(super) fn admit_row(&mut self) -> bool {
        yield_turn();
        self.add_steps(1);
        if self.rows < self.max_rows {
            self.rows += 1;
            return true;
        }
        self.truncated = true;
        self.skip(WarningCode::RowLimitReached);
        false
    }

    /// Counts a new interface of a device that has some. Returns `false`, and counts it as skipped, when there are too many.
    pub(super) fn admit_interface(&mut self, interfaces: usize) -> bool {
        if interfaces < MAX_INTERFACES {
            return self.admit_row();
        }
        self.add_steps(1);
        self.truncated = true;
        self.skip(WarningCode::RowLimitReached);
        false
    }

    /// Counts a warning at the current line.
    pub(super) fn warn(&mut self, code: WarningCode) {
        self.count(code, 1, None);
    }

    /// Counts a warning at the current line, of which the first shows an example.
    pub(super) fn warn_of<E: AsRef<str>>(&mut self, code: WarningCode, example: impl FnOnce() -> E) {
        let is_first = !self.warnings.contains_key(&code);
        let example = is_first.then(example);
        self.count(code, 1, example.as_ref().map(AsRef::as_ref));
    }

    fn count(&mut self, code: WarningCode, count: u64, example: Option<&str>) {
        let line = if self.is_json { 0 } else { self.line };
        self.count_at(line, code, count, example);
    }

    fn count_at(&mut self, line: u64, code: WarningCode, count: u64, example: Option<&str>) {
        let line = (line > 0).then_some(line);
        let warning = self.warnings.entry(code).or_insert_with(|| {
            let warning = Warning::new(code, 0, line);
            example.map_or(warning.clone(), |example| warning.with_example(example))
        });
        warning.count = warning.count.saturating_add(count);
    }

    /// Counts a warning for many occurrences, the first of which was at `line`.
    pub(super) fn warn_many(&mut self, code: WarningCode, count: u64, line: u64, example: &str) {
        let warning = Warning::new(code, 0, (line > 0).then_some(line)).with_example(example);
        let warning = self.warnings.entry(code).or_insert(warning);
        warning.count = warning.count.saturating_add(count);
    }

    /// Counts rows of the input that the report uses. Each was admitted.
    pub(super) const fn use_rows(&mut self, count: usize) {
        self.used_rows = self.used_rows.saturating_add(count as u64);
    }

    /// Returns whether a part of the input that was read before has rows.
    pub(super) const fn has_used_rows(&self) -> bool {
        self.used_rows > 0
    }

    /// Counts a row that was never admitted, at the current line.
    pub(super) fn skip(&mut self, code: WarningCode) {
        self.refused_rows = self.refused_rows.saturating_add(1);
        self.skipped_rows = self.skipped_rows.saturating_add(1);
        self.note_loss(code);
        self.warn(code);
    }

    /// Counts a row that was never admitted, at the current line. The first of its kind is shown as an example.
    pub(super) fn skip_of<E: AsRef<str>>(&mut self, code: WarningCode, example: impl FnOnce() -> E) {
        self.refused_rows = self.refused_rows.saturating_add(1);
        self.skipped_rows = self.skipped_rows.saturating_add(1);
        self.note_loss(code);
        self.warn_of(code, example);
    }

    /// Counts rows that were never admitted, the first of which is on an earlier line.
    pub(super) fn skip_from(&mut self, code: WarningCode, count: u64, line: u64, example: &str) {
        self.refused_rows = self.refused_rows.saturating_add(count);
        self.skipped_rows = self.skipped_rows.saturating_add(count);
        self.count_at(line, code, count, Some(example));
    }

    /// Counts an admitted row that the report does not use. The first of its kind is shown as an example.
    pub(super) fn leave_out<E: AsRef<str>>(&mut self, code: WarningCode, example: impl FnOnce() -> E) {
        self.skipped_rows = self.skipped_rows.saturating_add(1);
        self.note_loss(code);
        self.warn_of(code, example);
    }

    /// Notes that a table lacks a row. Rows that are skipped because they state nothing, or nothing new, are no loss.
    const fn note_loss(&mut self, code: WarningCode) {
        if matches!(
            code,
            WarningCode::RowMalformed | WarningCode::RowIncomplete | WarningCode::RowLimitReached
        ) {
            self.lost_rows = self.lost_rows.saturating_add(1);
        }
    }

    /// Returns the number of rows that were missing from their tables so far.
    pub(super) const fn lost_rows(&self) -> u64 {
        self.lost_rows
    }

    /// Notes that the input ends early: no table is complete.
    pub(super) fn truncate(&mut self) {
        self.truncated = true;
        self.warn(WarningCode::InputTruncated);
    }

    /// Notes that the input ends early at the current line, which contains the reason.
    pub(super) fn truncate_at<E: AsRef<str>>(&mut self, reason: impl FnOnce() -> E) {
        self.truncated = true;
        self.warn_of(WarningCode::InputTruncated, reason);
    }

    pub(super) const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Creates an error at the current position.
    pub(super) fn error(&self, kind: ParseErrorKind) -> ParseError {
        let line = self.line.saturating_add(u64::from(self.is_json));
        ParseError::new(kind, (self.line > 0).then_some(line), self.bytes)
    }

    /// Takes the counts for the report.
    pub(super) fn take_tally(&mut self) -> Tally {
        let warnings = std::mem::take(&mut self.warnings).into_values().collect();
        Tally {
            warnings,
            read_rows: self.rows.saturating_add(self.refused_rows),
            used_rows: self.used_rows,
            skipped_rows: self.skipped_rows,
        }
    }
}
