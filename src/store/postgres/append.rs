//! Appends an entry to the log in one transaction, which is one statement unless records are deleted. All of its
//! statements are sent at once.

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

/// Code of the error "statement completion unknown", which distributed databases answer.
const COMPLETION_UNKNOWN: &str = "40003";

/// Code with which a server ends an idle session. It has then not begun the statement.
const IDLE_SESSION_TIMEOUT: &str = "57P05";

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
    /// Like `Failed`, because the server ended the connection before the commit.
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
    let (place, appended) = (SqlValue::Number(from.number + 1), SqlValue::Id(nonce));
    let changes = Changes::of(accepted);
    let mut values = vec![place.clone(), SqlValue::Id(from.nonce), appended.clone(), SqlValue::Bytes(&entry)];
    values.extend(changes.put);
    values.extend(revisions(effect, *is_renewal));
    let mut steps: Vec<Step<'_>> = vec![(sql::APPEND, values)];
    if let Some(deleted) = changes.deleted {
        let values = [place, appended].into_iter().chain(deleted).collect();
        steps.insert(0, (sql::BEGIN, Vec::new()));
        steps.extend([(sql::DELETE, values), (sql::COMMIT, Vec::new())]);
    }
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

/// The changed records, as parameters.
struct Changes<'b> {
    /// Ids, kinds, versions, bodies and facets.
    put: [SqlValue<'b>; 5],
    /// Ids and kinds.
    deleted: Option<[SqlValue<'b>; 2]>,
}

impl<'b> Changes<'b> {
    fn of(accepted: &'b [AcceptedBatch]) -> Self {
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
        let [ids, kinds] = keys(&put);
        let [versions, bodies, facets] =
            [SqlValue::Numbers(versions), SqlValue::ByteStrings(bodies), SqlValue::ByteStrings(facets)];
        let deleted = if deleted.is_empty() { None } else { Some(keys(&deleted)) };
        Self { put: [ids, kinds, versions, bodies, facets], deleted }
    }
}

fn keys<'b>(keys: &[&'b Key]) -> [SqlValue<'b>; 2] {
    let (ids, kinds) = split(keys.iter().copied());
    [SqlValue::Ids(ids), SqlValue::ByteStrings(kinds)]
}

/// Returns the organizations and kinds whose revisions change, as parameters.
fn revisions(effect: &Effect, is_renewal: bool) -> [SqlValue<'_>; 2] {
    let (mut organizations, mut kinds): (Vec<Uuid>, Vec<&[u8]>) =
        effect.touched.iter().map(|(organization, kind)| (*organization, kind.as_str().as_bytes())).unzip();
    if is_renewal {
        organizations.push(Uuid::nil());
        kinds.push(sql::NO_KIND);
    }
    [SqlValue::Ids(organizations), SqlValue::ByteStrings(kinds)]
}

/// Judges the results of the transaction: of the entry alone, which then commits, or of beginning, entry, changes and
/// commit.
///
/// A failed transaction answers a commit without an error, so every result counts.
fn outcome(results: &[Result<Vec<Row>, Error>], tail: Option<Result<Vec<Row>, Error>>) -> AppendOutcome {
    let overtaken =
        || match tail.and_then(Result::ok).map(|rows| rows.iter().map(log_row).collect()).transpose() {
            Ok(tail) => AppendOutcome::Overtaken(tail),
            Err(_) => AppendOutcome::Failed(undecodable()),
        };
    // If `BEGIN` failed and later statements ran, each of them ran in a transaction of its own.
    if let [Err(error), Ok(appended), ..] = results
        && !appended.is_empty()
    {
        return AppendOutcome::Unknown(store_error(error));
    }
    // Without its entry, the transaction changes nothing, whether or not it commits. If a statement could not be
    // prepared, none has run, and the first one has the error.
    if matches!(results, [Ok(appended)] | [Ok(_), Ok(appended), ..] if appended.is_empty()) {
        return overtaken();
    }
    let failed = results.iter().enumerate().find_map(|(step, result)| Some((step, result.as_ref().err()?)));
    let Some((step, error)) = failed else { return AppendOutcome::Committed };
    if is_conflict(error) {
        return overtaken();
    }
    let code = error.code().map_or("", |code| code.code());
    let is_before_commit = step + 1 < results.len();
    let only_commits = results.len() > 1 && !is_before_commit;
    match code.get(..3).unwrap_or("") {
        "57P" if is_before_commit || code == IDLE_SESSION_TIMEOUT => {
            AppendOutcome::Interrupted(store_error(error))
        }
        "" | "57P" => AppendOutcome::Unknown(store_error(error)),
        _ if only_commits || code.starts_with("08") || code == COMPLETION_UNKNOWN => {
            AppendOutcome::Unknown(store_error(error))
        }
        _ if is_read_only(error) => AppendOutcome::ReadOnly(store_error(error)),
        _ => AppendOutcome::Failed(store_error(error)),
    }
}
