//! The cells of a line on one side of its addresses.

use std::ops::Range;

use super::interface::{interface_name, undeclared_interface};
use super::line::Word;
use super::titles::Meaning;

/// The difference between the places of a title and its values with which a line still counts as aligned.
pub(super) const TOLERANCE: usize = 3;

/// The columns and the words of a line before, between or behind the addresses.
pub(super) struct LineSide<'h, 'l> {
    pub(super) columns: &'h [(Meaning, usize)],
    pub(super) words: &'h [Word<'l>],
    /// Whether the address beside them is below its title.
    pub(super) is_aligned: bool,
    /// The place of the wanted column among the columns.
    pub(super) wanted: usize,
}

impl LineSide<'_, '_> {
    /// Returns the cell of the interface. If each column has a cell, the place of the column decides, and otherwise
    /// the cell below the title. Lines that are not aligned have the interface in the last column, or at its place
    /// among the words.
    pub(super) fn interface(&self) -> Option<String> {
        let cells = cells(self.words);
        if cells.len() == self.columns.len() {
            return cells.get(self.wanted).and_then(|cell| interface_name(&cell.text));
        }
        if self.is_aligned && self.has_word_below_title() {
            return interface_name(&self.below_title()?);
        }
        if self.words.len() == self.columns.len() {
            return self.word().and_then(|name| interface_name(&name));
        }
        if self.is_aligned {
            let cell = self.displaced(&cells).map(|cell| cell.text.clone());
            return interface_name(&cell.or_else(|| self.below_title())?);
        }
        let is_last = self.wanted + 1 == self.columns.len();
        let word = if is_last { self.words.last() } else { self.words.get(self.wanted) };
        word.and_then(|word| undeclared_interface(word.text))
    }

    /// Returns the word at the place of the column. The number of `vlan 1` belongs to the word before it, unless it is below a
    /// title of its own.
    fn word(&self) -> Option<String> {
        let word = self.words.get(self.wanted)?;
        let is_below = self.columns.get(self.wanted).is_some_and(|(_, title)| word.start == *title);
        let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit()) && !word.follows_gap && !is_below;
        let kind = self.wanted.checked_sub(1).and_then(|before| self.words.get(before));
        let kind = kind.filter(|kind| is_number && kind.text.chars().all(char::is_alphabetic));
        Some(kind.map_or_else(|| word.text.to_owned(), |kind| format!("{} {}", kind.text, word.text)))
    }

    /// Returns the cell of the column. If each column has a cell, the place of the column decides, and otherwise the
    /// cell below the title.
    pub(super) fn cell(&self) -> Option<String> {
        let mut cells = cells(self.words);
        if cells.len() == self.columns.len() {
            return (self.wanted < cells.len()).then(|| cells.swap_remove(self.wanted).text);
        }
        if self.words.len() == self.columns.len() {
            return self.words.get(self.wanted).map(|word| word.text.to_owned());
        }
        if self.is_aligned { self.below_title() } else { None }
    }

    /// Returns whether a word behind a gap begins below the title.
    fn has_word_below_title(&self) -> bool {
        let start = self.columns.get(self.wanted).map(|(_, start)| *start);
        let is_below = |word: &Word<'_>| start.is_some_and(|start| word.start.abs_diff(start) <= 1);
        self.words.iter().any(|word| word.follows_gap && is_below(word))
    }

    fn below_title(&self) -> Option<String> {
        let first = self.place_below_title()?;
        let end = self.range()?.end;
        let words = self.words.get(first..).unwrap_or_default();
        // A gap ends the cell.
        let cell = words
            .iter()
            .enumerate()
            .take_while(|(place, word)| word.start + 1 < end && (*place == 0 || !word.follows_gap));
        let cell: Vec<&str> = cell.map(|(_, word)| word.text).collect();
        Some(cell.join(" "))
    }

    /// Returns the place among the words of the first one below the title. Words behind a gap precede the end of a longer cell.
    fn place_below_title(&self) -> Option<usize> {
        let range = self.range()?;
        let below = || (0..).zip(self.words).filter(|(_, word)| range.contains(&(word.start + 1)));
        let begins = |(place, word): &(usize, &Word<'_>)| *place == 0 || word.follows_gap;
        below().find(begins).or_else(|| below().next()).map(|(place, _)| place)
    }

    /// Returns the characters that the title has above a line. Values may begin one character before it.
    fn range(&self) -> Option<Range<usize>> {
        let start_of = |place: usize| self.columns.get(place).map(|(_, start)| *start);
        Some(start_of(self.wanted)?..start_of(self.wanted + 1).unwrap_or(usize::MAX))
    }

    /// Returns the cell of the column if the word below its title belongs to another one. `None`: it does not.
    ///
    /// A long cell moves those behind it to the right, and some tools place their titles elsewhere than the cells.
    fn displaced<'c>(&self, cells: &'c [Cell]) -> Option<&'c Cell> {
        let title = self.range()?.start;
        // A long address before the cells moves all of them beyond the last title.
        let is_pushed = self.wanted + 1 == self.columns.len() && cells.first()?.start > title + TOLERANCE;
        if is_pushed && cells.len() > 1 {
            return cells.last();
        }
        let place = self.place_below_title()?;
        let word = self.words.get(place)?;
        let before = self.words.get(1..=place).unwrap_or_default();
        let cell = before.iter().filter(|word| word.follows_gap).count();
        let is_part = place > 0 && !word.follows_gap;
        if is_part && cells.len() > self.columns.len() {
            // The last column has several cells.
            let is_begun = cells.first()?.start.abs_diff(self.columns.first()?.1) <= TOLERANCE;
            return cells.get(self.wanted).filter(|_| is_begun);
        }
        // The cells before it do not fit into the columns before it.
        let fitting = (cells.len() + self.wanted).saturating_sub(self.columns.len())..=self.wanted;
        let fitting = cells.get(fitting).filter(|_| cell > self.wanted)?;
        fitting.iter().min_by_key(|cell| cell.start.abs_diff(title))
    }
}

/// Words with a single space between them.
pub(super) struct Cell {
    pub(super) text: String,
    start: usize,
}

/// Joins words with a single space between them.
pub(super) fn cells(words: &[Word<'_>]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for word in words {
        match cells.last_mut().filter(|_| !word.follows_gap) {
            Some(cell) => {
                cell.text.push(' ');
                cell.text.push_str(word.text);
            }
            None => cells.push(Cell { text: word.text.to_owned(), start: word.start }),
        }
    }
    cells
}
