//! Accounting of a parse: position, work, rows, and what was skipped.

use std::collections::BTreeMap;

use super::{ParseError, ParseErrorKind, ParseOptions};
use crate::discovery::report::{Warning, WarningCode};

/// The work that each byte of input justifies. A step is one byte looked at or copied, or one row moved.
const STEPS_PER_BYTE: u64 = 64;
/// The work that is justified by no byte, so that short inputs do not fail.
const INITIAL_STEPS: u64 = 1_024;

/// Counts the bytes and lines read, the work done and the rows kept.
#[derive(Debug)]
pub(super) struct Meter {
    bytes: u64,
    line: u64,
    steps: u64,
    rows: u64,
    max_rows: u64,
    skipped_rows: u64,
    truncated: bool,
    warnings: BTreeMap<WarningCode, (u64, Option<u64>)>,
}

/// The result of a parse besides its devices.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) warnings: Vec<Warning>,
    pub(super) skipped_rows: u64,
}

impl Meter {
    pub(super) const fn new(options: &ParseOptions) -> Self {
        Self {
            bytes: 0,
            line: 0,
            steps: 0,
            rows: 0,
            max_rows: options.max_rows,
            skipped_rows: 0,
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
        self.add_steps(1);
        if self.rows < self.max_rows {
            self.rows += 1;
            return true;
        }
        self.truncated = true;
        self.skip(WarningCode::RowLimitReached);
        false
    }

    /// Counts a warning at the current line.
    pub(super) fn warn(&mut self, code: WarningCode) {
        let line = (self.line > 0).then_some(self.line);
        let (count, _) = self.warnings.entry(code).or_insert((0, line));
        *count = count.saturating_add(1);
    }

    /// Counts a skipped row at the current line.
    pub(super) fn skip(&mut self, code: WarningCode) {
        self.skipped_rows = self.skipped_rows.saturating_add(1);
        self.warn(code);
    }

    /// Notes that the input ends early: no table is complete.
    pub(super) fn truncate(&mut self) {
        self.truncated = true;
        self.warn(WarningCode::InputTruncated);
    }

    pub(super) const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Creates an error at the current position.
    pub(super) fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError::new(kind, (self.line > 0).then_some(self.line), self.bytes)
    }

    /// Takes what was counted for the report.
    pub(super) fn take_tally(&mut self) -> Tally {
        let warnings = std::mem::take(&mut self.warnings).into_iter();
        let warnings = warnings.map(|(code, (count, line))| Warning::new(code, count, line)).collect();
        Tally { warnings, skipped_rows: self.skipped_rows }
    }
}
