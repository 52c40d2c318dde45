//! The entries that led to the inventory's own changes.

use uuid::Uuid;

use crate::inventory::history::Author;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, ordered};
use crate::inventory::history::log::record::CommitChanges;
use crate::inventory::schema::CHANGED_LINK;
use crate::inventory::{Error, Inventory};
use crate::store::{Direction, LinkFilter, Query, TermRange};

/// The number of records of which the last change is looked for. One of them is enough to explain a change.
const MAX_LEADS: usize = 64;

impl Inventory {
    /// Returns the place of the last change of the records that an author's work follows from. `None`: it follows from none, or
    /// their last change is so old that it was joined with others.
    pub(super) async fn last_change_of(&self, author: &Author) -> Result<Option<Place>, Error> {
        if author.led_by.is_empty() {
            return Ok(None);
        }
        let leads: Vec<Uuid> = author.led_by.iter().copied().take(MAX_LEADS).collect();
        let commits = LogFilter::all(author.organization).commits();
        let last = Query {
            links: vec![LinkFilter::new(CHANGED_LINK, leads.clone())],
            limit: Some(1),
            ..ordered(&commits, Direction::Descending)
        };
        let (found, _) = self.records_within(&last, TermRange::new([], None)).await?;
        let Some(changes) = found.first().map(CommitChanges::read).transpose()? else { return Ok(None) };
        let of_leads = changes.entries.iter().filter(|entry| leads.contains(&entry.id));
        Ok(of_leads.map(|entry| changes.place(entry.number)).max())
    }
}
