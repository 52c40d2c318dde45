//! Tables whose cells have commas, semicolons or tabs between them, below a line of titles.

use std::borrow::Cow;

use super::addresses::ip_address;
use super::interface::is_no_name;
use super::line::{ArpLine, row, state};
use super::other_tables::are_of_other_table;
use super::titles::{Meaning, meaning};
use crate::discovery::report::ArpRow;

const SEPARATORS: [char; 3] = [',', ';', '\t'];
/// The most columns of a table.
const MAX_COLUMNS: usize = 128;

/// The columns of a table.
pub(super) struct SeparatedTable {
    separator: char,
    columns: usize,
    /// The columns whose titles may be that of IP addresses. Names of hosts may be below one of them.
    ips: Vec<usize>,
    mac: usize,
    interface: Option<usize>,
    /// The name of the device that has the table, beside that of its interface.
    device: Option<usize>,
    if_index: Option<usize>,
    state: Option<usize>,
}

impl SeparatedTable {
    /// Reads a line of titles. `None`: they do not name both addresses and the interface, or the table is another one.
    pub(super) fn begin(text: &str) -> Option<Self> {
        SEPARATORS.into_iter().find_map(|separator| {
            // Most lines have no separator.
            let titles = text.contains(separator).then(|| cells(text, separator)).flatten()?;
            Self::of_titles(separator, &titles)
        })
    }

    fn of_titles(separator: char, titles: &[Cow<'_, str>]) -> Option<Self> {
        let titles: Vec<String> = titles.iter().map(|title| title.to_lowercase().replace('_', " ")).collect();
        let meanings: Vec<Option<Meaning>> = titles.iter().map(|title| meaning(title)).collect();
        let column = |wanted| meanings.iter().position(|meaning| *meaning == Some(wanted));
        let is_ip = |column: &usize| meanings.get(*column) == Some(&Some(Meaning::IpAddress));
        let ips: Vec<usize> = (0..meanings.len()).filter(is_ip).collect();
        let (named, device) = (column(Meaning::Interface), column(Meaning::Device));
        let (interface, if_index) = (named.or(device), column(Meaning::IfIndex));
        // Elsewhere, it may be a remark about the neighbor.
        let device = device.filter(|device| Some(device + 1) == named);
        let is_table = !ips.is_empty() && (interface.is_some() || if_index.is_some());
        let mac = column(Meaning::MacAddress).filter(|_| is_table)?;
        let is_other = are_of_other_table(&titles.iter().map(String::as_str), true);
        if is_other || titles.iter().any(|title| title.contains("lifetime")) {
            return None;
        }
        let state = titles.iter().position(|title| matches!(title.as_str(), "state" | "status"));
        Some(Self { separator, columns: titles.len(), ips, mac, interface, device, if_index, state })
    }

    /// Returns the name of the device in a line below the titles.
    pub(super) fn device(&self, text: &str) -> Option<String> {
        let mut cells = self.device.and_then(|_| cells(text, self.separator))?;
        let device = self.device.filter(|device| *device < cells.len())?;
        Some(cells.swap_remove(device).into_owned()).filter(|name| !name.is_empty())
    }

    /// Reads a line below the titles. `None`: it has no separator or no text, or may have tabs for another purpose.
    pub(super) fn entry(&self, text: &str) -> Option<ArpLine> {
        let unread = || {
            let is_of_table = self.separator != '\t' && text.contains(self.separator);
            is_of_table.then_some(ArpLine::NoAddress)
        };
        let Some(cells) = cells(text, self.separator).filter(|cells| cells.len() == self.columns) else {
            return unread();
        };
        // Spreadsheets write empty rows.
        if cells.iter().all(|cell| cell.is_empty()) {
            return None;
        }
        let cell = |column: usize| cells.get(column).map(Cow::as_ref);
        let mut ips = self.ips.iter().filter_map(|column| cell(*column));
        let Some(ip) = ips.find(|text| ip_address(text).is_some()) else { return unread() };
        // A cell has the whole name, whatever its characters.
        let if_name = self.interface.and_then(cell).filter(|name| !is_no_name(name)).map(str::to_owned);
        let state = self.state.and_then(cell).and_then(state);
        let line = row(ip, cell(self.mac).unwrap_or(""), if_name, state);
        let if_index = self.if_index.and_then(cell).and_then(|index| index.parse().ok());
        Some(match line {
            ArpLine::Row(row) => {
                ArpLine::Row(ArpRow { if_index: if_index.filter(|index| *index > 0), ..row })
            }
            other => other,
        })
    }
}

/// Splits a line into its cells. `None`: it has too many, or text beside quotes.
fn cells(text: &str, separator: char) -> Option<Vec<Cow<'_, str>>> {
    let mut cells = Vec::new();
    let mut rest = text;
    while cells.len() < MAX_COLUMNS {
        let unpadded = rest.trim_start_matches(' ');
        let (cell, behind) = match unpadded.strip_prefix('"') {
            Some(quoted) => {
                let (cell, behind) = unquoted(quoted)?;
                (Cow::Owned(cell), behind.trim_start_matches(' '))
            }
            None => {
                let (cell, behind) = unpadded.split_at(unpadded.find(separator).unwrap_or(unpadded.len()));
                (Cow::Borrowed(cell.trim()), behind)
            }
        };
        cells.push(cell);
        if behind.is_empty() {
            return Some(cells);
        }
        rest = behind.strip_prefix(separator)?;
    }
    None
}

/// Reads a cell up to its closing quote, and returns the text behind that. Two quotes stand for one.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let (piece, behind) = rest.split_once('"')?;
        cell.push_str(piece);
        match behind.strip_prefix('"') {
            Some(behind) => {
                cell.push('"');
                rest = behind;
            }
            None => return Some((cell.trim().to_owned(), behind)),
        }
    }
}
