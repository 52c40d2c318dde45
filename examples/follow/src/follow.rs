//! Keeps the copy equal to the inventory.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use toposcope::client::{Client, HttpService};
use toposcope::model::{Change, ChangePosition, OrganizationId, Permission};
use toposcope::wire::{ChangeQuery, Moment};

use crate::copied::{COPIED, copy_list, state_after};
use crate::database::{Database, Table};
use crate::{Backoff, Error, note};

/// The delays before it connects again.
const DELAYS: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));

/// The time between two lines about the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Keeps the copy equal to the inventory, for as long as it is polled. Dropping it loses nothing.
///
/// # Errors
/// Errors that a repetition does not resolve, such as an API key that is not valid.
pub async fn follow<S: HttpService>(client: &Client<S>, database: &Database) -> Result<Infallible, Error> {
    let mut delays = DELAYS;
    loop {
        let began_at = database.position()?;
        let error = match follow_on(client, database).await {
            Ok(never) => match never {},
            Err(error) => error,
        };
        if database.position()? != began_at {
            delays.reset();
        }
        let delay = delays.delay(error.retry_after());
        if error.is_position_gone() {
            note("The history no longer has the last change of the copy. All records are copied anew.");
            database.forget_position()?;
        } else if error.may_pass() {
            note(format_args!("{error} The next attempt is in {delay:?}."));
        } else {
            return Err(error);
        }
        tokio::time::sleep(delay).await;
    }
}

/// Continues at the position of the copy, until an error.
async fn follow_on<S: HttpService>(client: &Client<S>, database: &Database) -> Result<Infallible, Error> {
    let organization = check_access(client, database).await?;
    let position = match database.position()? {
        Some(position) => position,
        None => copy_all(client, database, organization).await?,
    };
    let mut progress = Progress { applied: 0, noted: Instant::now() };
    let mut changes = client.follow(Some(position));
    loop {
        let change = changes.next().await?;
        apply(&change, client, database).await?;
        progress.note(&change);
    }
}

/// Checks that the API key sees all changes, and that the copy is one of its organization.
async fn check_access<S: HttpService>(
    client: &Client<S>,
    database: &Database,
) -> Result<OrganizationId, Error> {
    let user = client.me().await?;
    if user.permissions < Permission::Admin {
        let text = "The user of the API key does not see all changes. Write the key of an Admin or Owner into the file at --key-file.";
        return Err(Error::Other(text.to_owned()));
    }
    match database.organization()? {
        Some(known) if known != user.organization_id => Err(Error::Other(
            "The database is a copy of another organization. Name another file with --database.".to_owned(),
        )),
        _ => Ok(user.organization_id),
    }
}

/// Copies all records, and returns the position from which to follow.
async fn copy_all<S: HttpService>(
    client: &Client<S>,
    database: &Database,
    organization: OrganizationId,
) -> Result<ChangePosition, Error> {
    database.begin_copy()?;
    let start = newest_position(client).await?;
    for (entity, _) in COPIED {
        copy_list(client, database, entity).await?;
    }
    // The lists are of different moments. The changes in between bring all of them to one state.
    let end = newest_position(client).await?;
    let mut query = ChangeQuery::default();
    (query.after, query.until) = (Some(start), Some(Moment::Position(end.clone())));
    loop {
        let page = client.changes(&query).await?;
        for change in &page.changes {
            let document = state_after(change, client, database, Table::Incoming).await?;
            if is_copied(change) {
                database.put(Table::Incoming, change.entity, change.id, document.as_deref())?;
            }
        }
        if !page.has_more {
            break;
        }
        query.after = Some(page.next);
    }
    database.end_copy(organization, &end)?;
    let counts = COPIED.map(|(entity, words)| Ok(format!("{} {words}", grouped(database.count(entity)?))));
    let counts = counts.into_iter().collect::<Result<Vec<_>, Error>>()?.join(", ");
    note(format_args!("Copied {counts}; following from {end}."));
    Ok(end)
}

async fn newest_position<S: HttpService>(client: &Client<S>) -> Result<ChangePosition, Error> {
    let mut newest = ChangeQuery::default();
    newest.limit = Some(0);
    Ok(client.changes(&newest).await?.next)
}

/// Applies a change to the copy. When the receiver of webhooks is far behind, it waits: the history keeps the
/// following changes.
async fn apply<S: HttpService>(
    change: &Change,
    client: &Client<S>,
    database: &Database,
) -> Result<(), Error> {
    while !database.has_room()? {
        database.removed.notified().await;
    }
    let document = state_after(change, client, database, Table::Record).await?;
    database.apply(change, document.as_deref(), is_copied(change))
}

fn is_copied(change: &Change) -> bool {
    COPIED.iter().any(|(entity, _)| *entity == change.entity)
}

/// Prints the progress at intervals.
struct Progress {
    applied: i64,
    noted: Instant,
}

impl Progress {
    fn note(&mut self, change: &Change) {
        self.applied += 1;
        if self.noted.elapsed() >= PROGRESS_INTERVAL {
            let Change { at, entity, name, action, .. } = change;
            let applied = grouped(self.applied);
            note(format_args!(
                "Applied {applied} changes; the last one, at {at}: {entity} {name:?} {action}."
            ));
            *self = Self { applied: 0, noted: Instant::now() };
        }
    }
}

/// Returns a number with commas between its thousands.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_have_commas_between_them() {
        assert_eq!([0, 999, 1_953, 1_000_000].map(grouped), ["0", "999", "1,953", "1,000,000"]);
    }
}
