//! Creating the tables, and loading the replica from them.

use std::pin::pin;

use futures_util::TryStreamExt;
use futures_util::future::{Either, select};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::{Purpose, ServerConnection};
use super::connector::Connector;
use super::error::{Fault, is_conflict, is_missing_table, replaced, timed_out, undecodable};
use super::sql;
use super::value::{SqlValue, key_of, name_of};
use crate::store::StoreError;
use crate::store::index::Loader;
use crate::store::log::body_cache::BodyCache;
use crate::store::log::codec::decode_header;
use crate::store::log::entry::{Contents, LogEntry};
use crate::store::log::queue::closed;
use crate::store::log::replica::{LogPosition, Replica, Revisions, first_version};

/// Number of attempts to create the tables. Many instances may try it at the same time.
const MAX_ATTEMPTS: usize = 20;

/// Number of rows that are passed to the loading thread at once.
const CHUNK: usize = 512;

/// Creates the tables if they do not exist, and checks their format.
pub(super) async fn migrate(connector: &Connector) -> Result<(), Fault> {
    let mut connection = connector.connect(Purpose::Work).await?;
    let mut failure = None;
    for _ in 0..MAX_ATTEMPTS {
        match connection.query(sql::READ_FORMAT, Vec::new()).await? {
            Ok(rows) => {
                if let Some(row) = rows.first() {
                    return Ok(check_format(row.try_get(0).map_err(|_| undecodable())?)?);
                }
            }
            Err(error) if is_missing_table(&error) || is_conflict(&error) => {}
            Err(error) => return Err(Fault::of(&error)),
        }
        // Statements fail where another instance executes the same ones: what is missing is created in the next
        // attempt.
        failure = create_tables(&mut connection).await?.err().or(failure);
    }
    Err(failure.unwrap_or_else(|| timed_out().into()))
}

fn check_format(format: i64) -> Result<(), StoreError> {
    if format == sql::FORMAT {
        return Ok(());
    }
    Err(StoreError::invalid(format!(
        "the tables have format {format}, and this version of the library supports format {}: use the version that \
         wrote them, or a newer one",
        sql::FORMAT
    )))
}

async fn create_tables(connection: &mut ServerConnection) -> Result<Result<(), Fault>, StoreError> {
    let schema = connection.schema().map(sql::create_schema);
    let first = SqlValue::Id(random_id()?);
    for statement in schema.iter().map(String::as_str).chain(sql::MIGRATION.iter().copied()) {
        if let Err(error) = connection.execute(statement).await? {
            return Ok(Err(Fault::of(&error)));
        }
    }
    let steps = [
        (sql::FIRST_ENTRY, vec![first, SqlValue::Bytes(&[])]),
        (sql::SET_FORMAT, vec![SqlValue::Number(sql::FORMAT)]),
    ];
    for (statement, values) in steps {
        if let Err(error) = connection.query(statement, values).await? {
            return Ok(Err(Fault::of(&error)));
        }
    }
    Ok(Ok(()))
}

/// Loads all facets, as of one position of the log. Gives up when another server is used meanwhile.
pub(super) async fn load(connector: &Connector, load: u64) -> Result<Replica, Fault> {
    let mut connection = connector.connect(Purpose::LongRead).await?;
    let steps =
        vec![(sql::BEGIN_SNAPSHOT, Vec::new()), (sql::LAST, Vec::new()), (sql::REVISIONS, Vec::new())];
    let mut results = Vec::new();
    for result in connection.run(steps).await? {
        results.push(result.map_err(|error| Fault::of(&error))?);
    }
    let [_, last, revisions] = &results[..] else { return Err(undecodable().into()) };
    let last = last.first().ok_or_else(|| StoreError::unavailable("the log of the database is empty"))?;
    let get = |_| undecodable();
    let (number, nonce): (i64, Uuid) = (last.try_get(0).map_err(get)?, last.try_get(1).map_err(get)?);
    let contents = LogEntry::decode_contents(last.try_get(2).map_err(get)?).ok_or_else(undecodable)?;
    let position = LogPosition { load, number, nonce };
    let revisions = read_revisions(revisions)?;

    let (sender, receiver) = mpsc::channel(4);
    let cache = BodyCache::new(connector.options.body_cache_bytes);
    let loading = tokio::task::spawn_blocking(move || build(receiver, cache, position, contents, revisions));
    let read = {
        let ended = pin!(connection.replaced());
        let reading = pin!(read_facets(&mut connection, connector, sender));
        match select(ended, reading).await {
            Either::Left(_) => Err(replaced().into()),
            Either::Right((read, _)) => read,
        }
    };
    let loaded = loading.await.map_err(|_| closed())?;
    read?;
    let replica = loaded?;
    // The server may have been replaced meanwhile.
    if connection.is_current() { Ok(replica) } else { Err(replaced().into()) }
}

fn read_revisions(rows: &[Row]) -> Result<Revisions, StoreError> {
    let mut revisions = Revisions::default();
    for row in rows {
        let get = |column| row.try_get(column).map_err(|_| undecodable());
        let kind: &[u8] = row.try_get(1).map_err(|_| undecodable())?;
        if kind == sql::NO_KIND {
            revisions.base = get(2)?;
        } else {
            revisions.tokens.insert((get(0)?, name_of(row, 1)?), get(2)?);
        }
    }
    Ok(revisions)
}

/// Passes the facets to the loading thread, which ends early if it finds damage.
async fn read_facets(
    connection: &mut ServerConnection,
    connector: &Connector,
    sender: mpsc::Sender<Chunk>,
) -> Result<(), Fault> {
    let rows = connection.stream(sql::FACETS).await?;
    let mut chunks = std::pin::pin!(rows.try_chunks(CHUNK));
    loop {
        let chunk = timeout(connector.options.answer_timeout(), chunks.try_next()).await;
        let chunk = chunk.map_err(|_| timed_out())?.map_err(|error| Fault::of(&error.1))?;
        let is_last = chunk.is_none();
        if sender.send(chunk.map_or(Chunk::End, Chunk::Rows)).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// A part of the rows that are read for the loading thread.
enum Chunk {
    Rows(Vec<Row>),
    /// All rows were read.
    End,
}

/// Builds the replica from rows of facets; blocks.
fn build(
    mut chunks: mpsc::Receiver<Chunk>,
    mut bodies: BodyCache,
    position: LogPosition,
    expected: Contents,
    revisions: Revisions,
) -> Result<Replica, StoreError> {
    let (mut loader, mut contents) = (Loader::default(), Contents::default());
    loop {
        let rows = match chunks.blocking_recv() {
            Some(Chunk::Rows(rows)) => rows,
            Some(Chunk::End) => break,
            None => return Err(StoreError::unavailable("loading the index was interrupted")),
        };
        for row in &rows {
            let key = key_of(row, 0)?;
            let header = decode_header(key, row.try_get(2).map_err(|_| undecodable())?)?;
            contents.add(key, header.version);
            bodies.set_body_ref(loader.add(key, header.version, &header.facets)?, header.body);
        }
    }
    if contents != expected {
        tracing::error!(
            "the tables were changed without the log: changes other than those of this library are lost"
        );
    }
    let index = loader.finish(first_version(position.number + 1, 0));
    // The contents of the log go on, so that instances that loaded earlier agree.
    Ok(Replica { index, bodies, position, contents: expected, revisions })
}

/// Returns a random id.
pub(super) fn random_id() -> Result<Uuid, StoreError> {
    random().map(Uuid::from_bytes)
}

pub(super) fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], StoreError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::unavailable("the system has no random numbers").with_source(error))?;
    Ok(bytes)
}
