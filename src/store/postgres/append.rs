//! Appends an entry to the log in one transaction. All of its statements are sent at once.

use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::connection::{ServerConnection, Step};
use super::error::{is_conflict, is_read_only, store_error, undecodable};
use super::sql;
use super::value::{SqlValue, log_row, split};
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::codec::RecordChange;
use crate::store::log::entry::{Effect, LogEntry};
use crate::store::log::queue::JobResponder;
use crate::store::log::replica::{LogPosition, LogRow};
use crate::store::{Batch, Key, StoreError};

/// An entry that was checked against the state at a position, to be appended there.
#[derive(Debug)]
pub(super) struct ProposedEntry {
    pub(super) from: LogPosition,
    pub(super) accepted: Vec<AcceptedBatch>,
    /// The batches as they were submitted, with their callers.
    pub(super) requests: Vec<(Batch, JobResponder)>,
    pub(super) effect: Effect,
    pub(super) is_renewal: bool,
}

/// The outcome of appending an entry.
#[derive(Debug)]
pub(super) enum AppendOutcome {
    Committed,
    /// The log has another entry at this place. Holds the tail of the log if it was asked for.
    Overtaken(Option<Vec<LogRow>>),
    /// Nothing was written, and nothing will be.
    Failed(StoreError),
    /// Like `Failed`, because the server does not accept writes.
    ReadOnly(StoreError),
    /// Like `Failed`, because the server ended the connection before it came to the commit.
    Interrupted(StoreError),
    /// The entry may be in the log, now or a little later.
    Unknown(StoreError),
}

/// Appends an entry to the log. `with_tail` asks for the entries that others have appended, in case they were faster.
pub(super) async fn append(
    connection: &mut ServerConnection,
    proposal: &ProposedEntry,
    nonce: Uuid,
    with_tail: bool,
) -> AppendOutcome {
    let ProposedEntry { from, accepted, effect, is_renewal, .. } = proposal;
    let entry = LogEntry::encode(accepted, effect.contents, *is_renewal);
    let (place, before) = (SqlValue::Number(from.number + 1), SqlValue::Id(from.nonce));
    let appended = [place.clone(), SqlValue::Id(nonce)];
    let mut steps: Vec<Step<'_>> = vec![
        (sql::BEGIN, Vec::new()),
        (sql::APPEND, vec![place, before, SqlValue::Id(nonce), SqlValue::Bytes(&entry)]),
    ];
    push_changes(&mut steps, accepted, &appended);
    let (mut organizations, mut kinds): (Vec<Uuid>, Vec<&[u8]>) =
        effect.touched.iter().map(|(organization, kind)| (*organization, kind.as_str().as_bytes())).unzip();
    if *is_renewal {
        organizations.push(Uuid::nil());
        kinds.push(sql::NO_KIND);
    }
    if !organizations.is_empty() {
        let mut values = vec![SqlValue::Ids(organizations), SqlValue::ByteStrings(kinds)];
        values.extend(appended);
        steps.push((sql::PUT_REVISIONS, values));
    }
    steps.push((sql::COMMIT, Vec::new()));
    if with_tail {
        steps.push((sql::TAIL, vec![SqlValue::Number(from.number)]));
    }
    let mut results = match connection.run(steps).await {
        Ok(results) => results,
        Err(error) => return AppendOutcome::Unknown(error),
    };
    let tail = if with_tail { results.pop() } else { None };
    outcome(&results, tail)
}

/// Adds the statements that change records. `appended` are the parameters that make them depend on the entry.
fn push_changes<'b>(steps: &mut Vec<Step<'b>>, accepted: &'b [AcceptedBatch], appended: &[SqlValue<'b>; 2]) {
    let (mut deleted, mut put): (Vec<&Key>, Vec<&Key>) = (Vec::new(), Vec::new());
    let (mut versions, mut bodies, mut facets): (Vec<i64>, Vec<&[u8]>, Vec<&[u8]>) = Default::default();
    for AcceptedBatch { version, changes } in accepted {
        for (key, change) in changes {
            match change {
                RecordChange::Delete => deleted.push(key),
                RecordChange::Put { header, body, .. } => {
                    put.push(key);
                    versions.push(version.0.cast_signed());
                    bodies.push(body);
                    facets.push(header);
                }
            }
        }
    }
    let keys = |keys: &[&'b Key]| {
        let (ids, kinds) = split(keys.iter().copied());
        vec![SqlValue::Ids(ids), SqlValue::ByteStrings(kinds)]
    };
    let mut push = |sql, mut values: Vec<SqlValue<'b>>| {
        values.extend(appended.iter().cloned());
        steps.push((sql, values));
    };
    if !deleted.is_empty() {
        push(sql::DELETE_BODIES, keys(&deleted));
        push(sql::DELETE_FACETS, keys(&deleted));
    }
    if !put.is_empty() {
        let mut values = keys(&put);
        values.extend([SqlValue::Numbers(versions), SqlValue::ByteStrings(bodies)]);
        push(sql::PUT_BODIES, values);
        let mut values = keys(&put);
        values.push(SqlValue::ByteStrings(facets));
        push(sql::PUT_FACETS, values);
    }
}

/// Judges the results of the transaction: beginning, entry, changes, commit.
///
/// A failed transaction answers a commit without an error, so every result counts.
fn outcome(results: &[Result<Vec<Row>, Error>], tail: Option<Result<Vec<Row>, Error>>) -> AppendOutcome {
    let overtaken =
        || match tail.and_then(Result::ok).map(|rows| rows.iter().map(log_row).collect()).transpose() {
            Ok(tail) => AppendOutcome::Overtaken(tail),
            Err(_) => AppendOutcome::Failed(undecodable()),
        };
    // Without its entry, the transaction changes nothing, whatever becomes of it. If it has not begun, there is no
    // result of the entry.
    if matches!(results, [Ok(_), Ok(appended), ..] if appended.is_empty()) {
        return overtaken();
    }
    let failed = results.iter().enumerate().find_map(|(step, result)| Some((step, result.as_ref().err()?)));
    let Some((step, error)) = failed else { return AppendOutcome::Committed };
    if is_conflict(error) {
        return overtaken();
    }
    let code = error.code().map_or("", |code| code.code());
    let is_before_commit = step + 1 < results.len();
    match code.get(..3).unwrap_or("") {
        "57P" if is_before_commit => AppendOutcome::Interrupted(store_error(error)),
        "" | "57P" => AppendOutcome::Unknown(store_error(error)),
        _ if is_before_commit && is_read_only(error) => AppendOutcome::ReadOnly(store_error(error)),
        _ if is_before_commit && !code.starts_with("08") => AppendOutcome::Failed(store_error(error)),
        _ => AppendOutcome::Unknown(store_error(error)),
    }
}
