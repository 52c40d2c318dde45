//! Log records contain neither the parameters of statements nor passwords.

use std::sync::atomic::{AtomicUsize, Ordering};

use log::{LevelFilter, Log, Metadata, Record};
use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Query, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

use super::open;
use crate::cluster::Cluster;

const SECRET: &str = "Rosebud1941";

/// Counts the records of the driver, and those with the secret in them.
struct Counter {
    records: AtomicUsize,
    leaks: AtomicUsize,
}

static COUNTER: Counter = Counter { records: AtomicUsize::new(0), leaks: AtomicUsize::new(0) };

impl Log for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tokio_postgres")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.records.fetch_add(1, Ordering::Relaxed);
            self.leaks.fetch_add(usize::from(is_leak(&record.args().to_string())), Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}

/// Returns whether a text has the secret, as text or as a list of bytes.
fn is_leak(text: &str) -> bool {
    let bytes = format!("{:?}", SECRET.as_bytes());
    text.contains(SECRET) || text.contains(bytes.trim_matches(['[', ']']))
}

async fn use_store(store: &PostgresStore) -> Result<(), StoreError> {
    let key = Key::new(Name::new("note"), Uuid::from_u128(1));
    let mut facets = Facets::default();
    facets.unique_keys = vec![UniqueKey::new(Name::new("digest"), SECRET)];
    let mut batch = Batch::new();
    batch.put(key, Precondition::Any, facets, SECRET);
    store.commit(batch).await?;
    store.get(&[key]).await?;
    store.list(&Query::new(key.kind)).await?;
    store.snapshot().await?.next(10).await?;
    Ok(())
}

#[tokio::test]
async fn driver_logs_neither_parameters_nor_passwords() {
    let Some(cluster) = Cluster::shared() else { return };
    log::set_logger(&COUNTER).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let connection = format!("{} password={SECRET}", cluster.create_database());
    for is_pooled in [false, true] {
        let builder = PostgresStore::builder(&connection).body_cache_bytes(0);
        let store = open(builder.transaction_pooling(is_pooled)).await;
        use_store(&store).await.unwrap();
        assert!(!is_leak(&format!("{store:?}")));
    }
    log::set_max_level(LevelFilter::Off);
    assert!(COUNTER.records.load(Ordering::Relaxed) > 0);
    assert_eq!(COUNTER.leaks.load(Ordering::Relaxed), 0);
    assert!(is_leak(&format!("{:?}", SECRET.as_bytes())));
}
