//! Two instances of the store on the same tables.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use toposcope::store::{Direction, Entry, Order, PostgresStore, Query, Store};

use crate::cluster::Cluster;
use crate::in_turn::InTurn;

/// A new schema, and two instances on it that perform one operation in turn.
#[derive(Debug)]
pub(crate) struct Postgres {
    schema: String,
    instances: Arc<InTurn<PostgresStore>>,
}

impl Postgres {
    /// Returns whether PostgreSQL is installed. If not, it prints that the test is skipped.
    pub(crate) fn is_installed() -> bool {
        Cluster::shared().is_some()
    }

    pub(crate) async fn open() -> Self {
        static SCHEMAS: AtomicUsize = AtomicUsize::new(0);
        let schema = format!("schema {}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        let instances = vec![open(&schema).await, open(&schema).await];
        Self { schema, instances: Arc::new(InTurn::new(instances)) }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.instances) as _
    }

    /// Asserts that each instance finds the records that another instance loads from the database.
    pub(crate) async fn verify(&self) {
        let loaded = open(&self.schema).await;
        for _ in 0..10 {
            let before = entries(&loaded).await;
            let difference = self.difference(&loaded, &before).await;
            let records =
                |entries: &[Entry]| entries.iter().map(|entry| entry.record.clone()).collect::<Vec<_>>();
            // Otherwise, a background task has written something meanwhile.
            if records(&entries(&loaded).await) == records(&before) {
                assert_eq!(difference, None);
                return;
            }
        }
        panic!("background tasks write again and again");
    }

    /// Returns a record or a list that an instance finds otherwise than in these entries.
    async fn difference(&self, loaded: &PostgresStore, entries: &[Entry]) -> Option<String> {
        for instance in self.instances.stores() {
            for Entry { record, facets, .. } in entries {
                let found = instance.get(&[record.key]).await.unwrap();
                if found != [Some(record.clone())] {
                    return Some(format!("{found:?} instead of {record:?}"));
                }
                for unique_key in &facets.unique_keys {
                    let found = instance.get_by_unique_key(unique_key).await.unwrap();
                    if found.as_ref() != Some(record) {
                        return Some(format!("{unique_key:?}: {found:?} instead of {record:?}"));
                    }
                }
            }
            for query in queries(entries) {
                let (found, expected) =
                    (instance.list(&query).await.unwrap(), loaded.list(&query).await.unwrap());
                if found != expected {
                    return Some(format!("{query:?}: {found:?} instead of {expected:?}"));
                }
            }
        }
        None
    }
}

/// Opens an instance with so little memory that bodies are also read from the database. No commit waits for the disk,
/// because the server is never stopped.
async fn open(schema: &str) -> PostgresStore {
    static DATABASE: OnceLock<String> = OnceLock::new();
    let database = DATABASE.get_or_init(|| Cluster::shared().unwrap().create_database());
    let connection = format!("{database} options='-c synchronous_commit=off'");
    let builder =
        PostgresStore::builder(&connection).schema(schema).max_connections(4).body_cache_bytes(4096);
    builder.open().await.unwrap()
}

async fn entries(store: &PostgresStore) -> Vec<Entry> {
    let mut snapshot = store.snapshot().await.unwrap();
    let mut entries = Vec::new();
    loop {
        let more = snapshot.next(1000).await.unwrap();
        if more.is_empty() {
            return entries;
        }
        entries.extend(more);
    }
}

/// Returns the lists of all kinds of records in all organizations, in all orders.
fn queries(entries: &[Entry]) -> Vec<Query> {
    let mut queries: Vec<Query> = Vec::new();
    for Entry { record, facets, .. } in entries {
        let names = facets.sort_keys.iter().map(|key| vec![Order::new(key.name, Direction::Ascending)]);
        for order in names.chain([vec![]]) {
            let mut query = Query::new(record.key.kind);
            query.organization = facets.organization;
            query.order = order;
            if !queries.contains(&query) {
                queries.push(query);
            }
        }
    }
    queries
}
