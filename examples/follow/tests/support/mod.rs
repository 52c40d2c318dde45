//! Shared code of the tests.

#![allow(dead_code, reason = "each test uses a part")]

pub mod changes;
pub mod receiver;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;
use tokio::time::timeout;
use toposcope::client::{Client, Collection, HttpService};
use toposcope::model::{Host, Network, Subnet, Tag};
use toposcope::wire::{ChangeQuery, HostQuery, Moment};

pub const EMAIL: &str = "owner@example.net";
pub const PASSWORD: &str = "correct horse battery staple";
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

/// The documents of records, by kind and id.
pub type Documents = BTreeMap<(String, String), Value>;

/// Waits for a future, and fails after ten minutes, which even a busy machine takes only if a task
/// hangs.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(600), future).await.expect("it takes too long")
}

/// Returns the records of the inventory, without times that only the server sets.
pub async fn source<S: HttpService>(client: &Client<S>) -> Documents {
    let mut documents = hosts_of(client, HostQuery::default()).await;
    add::<S, Network>(&mut documents, client, "Network", Default::default()).await;
    add::<S, Subnet>(&mut documents, client, "Subnet", Default::default()).await;
    add::<S, Tag>(&mut documents, client, "Tag", Default::default()).await;
    documents
}

/// Returns the hosts as they were at a position.
pub async fn hosts_at<S: HttpService>(client: &Client<S>, position: &str) -> Documents {
    let mut query = HostQuery::default();
    query.at = Some(Moment::Position(toposcope::model::ChangePosition::new(position)));
    hosts_of(client, query).await
}

async fn hosts_of<S: HttpService>(client: &Client<S>, query: HostQuery) -> Documents {
    let mut documents = Documents::new();
    add::<S, Host>(&mut documents, client, "Host", query).await;
    documents
}

async fn add<S: HttpService, T: Collection>(
    documents: &mut Documents,
    client: &Client<S>,
    entity: &str,
    query: T::Query,
) {
    let mut records = client.records::<T>(query);
    while let Some(record) = records.next().await {
        let document = serde_json::to_value(record.unwrap()).unwrap();
        let id = document["id"].as_str().unwrap().to_owned();
        documents.insert((entity.to_owned(), id), without_moved_times(document));
    }
}

/// Returns the position and the records of a copy, from one state. `None`: nothing is copied yet.
pub fn copy(database: &Path) -> Option<(String, Documents)> {
    if !database.exists() {
        return None;
    }
    let mut connection = Connection::open(database).unwrap();
    let transaction = connection.transaction().unwrap();
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'source'";
    if transaction.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap() == 0 {
        return None;
    }
    let position = transaction.query_row("SELECT position FROM source", (), |row| row.get(0));
    let position: String = position.optional().unwrap()?;
    let mut statement = transaction.prepare("SELECT entity, id, document FROM record").unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        let document: String = row.get(2)?;
        Ok(((row.get(0)?, row.get(1)?), without_moved_times(serde_json::from_str(&document).unwrap())))
    };
    let documents = statement.query_map((), read).unwrap().map(Result::unwrap).collect();
    Some((position, documents))
}

/// Asserts that two sets of records are equal, and names the first that is not.
#[track_caller]
pub fn assert_equal(copy: &Documents, source: &Documents, what: &str) {
    for (key, document) in source {
        assert_eq!(copy.get(key), Some(document), "{what}: {key:?}, as copied and as it is");
    }
    let more: Vec<_> = copy.keys().filter(|key| !source.contains_key(*key)).collect();
    assert!(more.is_empty(), "{what}: only the copy has {more:?}");
}

fn without_moved_times(mut document: Value) -> Value {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| name != "updated_at" && name != "last_seen_at");
                members.values_mut().for_each(remove);
            }
            Value::Array(values) => values.iter_mut().for_each(remove),
            _ => {}
        }
    }
    remove(&mut document);
    document
}

/// Returns the newest position in the history.
pub async fn newest<S: HttpService>(client: &Client<S>) -> String {
    let mut query = ChangeQuery::default();
    query.limit = Some(0);
    client.changes(&query).await.unwrap().next.to_string()
}
