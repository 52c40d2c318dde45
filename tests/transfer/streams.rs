//! Exports are written and read as streams.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Export, Facets, Key, MemoryStore, Page, Precondition, Query, Record, Restore, Snapshot, Store,
    StoreError, TransferReport, UniqueKey, Write,
};

use crate::support::{Contents, contents, export, note, put, small_store};

async fn store_of(records: u128) -> MemoryStore {
    let store = MemoryStore::new();
    let mut batch = Batch::new();
    for number in 0..records {
        batch.put(note(number), Precondition::Absent, Facets::default(), number.to_string());
    }
    store.commit(batch).await.unwrap();
    store
}

/// A store that records the size of each batch.
#[derive(Debug, Default)]
struct Measuring {
    inner: MemoryStore,
    batches: Mutex<Vec<(usize, usize)>>,
}

#[async_trait]
impl Store for Measuring {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let sizes = batch.writes().iter().map(|write| match write {
            Write::Put { precondition, body, .. } => {
                assert_eq!(*precondition, Precondition::Absent);
                body.len()
            }
            _ => panic!("nothing is deleted"),
        });
        self.batches.lock().unwrap().push((batch.writes().len(), sizes.sum()));
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }
}

/// Returns the numbers of records and the bytes of bodies of each batch.
async fn batches(store: &dyn Store) -> Vec<(usize, usize)> {
    let measuring = Measuring::default();
    Restore::new().read(&measuring, &export(store).await[..]).await.unwrap();
    measuring.batches.into_inner().unwrap()
}

#[tokio::test]
async fn records_are_committed_some_hundred_together() {
    for records in [0, 1, 999, 1000, 1001, 2500] {
        let sizes: Vec<usize> =
            batches(&store_of(records as u128).await).await.into_iter().map(|(count, _)| count).collect();
        assert!(sizes.iter().all(|size| *size <= 1000), "{sizes:?}");
        assert!(sizes.len() <= records / 1000 + 1, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), records);
    }
}

#[tokio::test]
async fn large_records_are_committed_few_together() {
    const MEGABYTE: usize = 1 << 20;
    let store = MemoryStore::new();
    for number in 0..20 {
        let body = if number % 4 == 0 { vec![b'1'; 3 * MEGABYTE] } else { vec![b'2'; MEGABYTE / 2] };
        put(&store, note(number), Facets::default(), body).await;
    }
    let batches = batches(&store).await;
    assert!(batches.iter().all(|(_, bytes)| *bytes <= 7 * MEGABYTE), "{batches:?}");
    assert!(batches.len() >= 4, "{batches:?}");
}

#[tokio::test]
async fn progress_is_told_and_agrees_with_the_report() {
    let store = store_of(2500).await;
    let (mut file, mut told): (_, Vec<TransferReport>) = (Vec::new(), Vec::new());
    let report =
        Export::new().on_progress(|report| told.push(*report)).write(&store, &mut file).await.unwrap();
    agrees(&told, report, file.len());
    told.clear();
    let restore = Restore::new().on_progress(|report| told.push(*report));
    let report = restore.read(&MemoryStore::new(), &file[..]).await.unwrap();
    agrees(&told, report, file.len());
}

fn agrees(told: &[TransferReport], report: TransferReport, length: usize) {
    assert_eq!((report.records, report.bytes), (2500, length as u64));
    assert!(
        told.len() >= 3
            && told.is_sorted_by(|one, other| one.records <= other.records && one.bytes < other.bytes),
        "{told:?}"
    );
    assert_eq!(told.last(), Some(&report));
}

#[tokio::test]
async fn an_export_is_restored_while_it_is_written() {
    let (store, other) = (store_of(5000).await, MemoryStore::new());
    let (mut writer, reader) = duplex(100);
    let writing = async {
        let report = Export::new().write(&store, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
        report
    };
    let reading = async { Restore::new().read(&other, reader).await.unwrap() };
    let (written, read) = tokio::join!(writing, reading);
    assert_eq!(written, read);
    assert!(contents(&store).await == contents(&other).await);
}

#[tokio::test]
async fn an_export_is_of_the_moment_at_which_it_began() {
    let store = store_of(3000).await;
    let before = contents(&store).await;
    let (mut writer, mut reader) = duplex(100);
    let writing = async {
        Export::new().write(&store, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let reading = async {
        let mut file = vec![0; 50];
        reader.read_exact(&mut file).await.unwrap();
        for number in 0..3000 {
            let mut batch = Batch::new();
            match number % 3 {
                0 => batch.delete(note(number), Precondition::Present),
                1 => batch.put(note(number), Precondition::Present, Facets::default(), "another"),
                _ => batch.put(note(number + 10_000), Precondition::Absent, Facets::default(), "new"),
            };
            store.commit(batch).await.unwrap();
        }
        reader.read_to_end(&mut file).await.unwrap();
        file
    };
    let ((), file) = tokio::join!(writing, reading);
    let other = MemoryStore::new();
    Restore::new().read(&other, &file[..]).await.unwrap();
    assert!(contents(&other).await == before);
    assert!(contents(&store).await != before);
}

#[tokio::test]
async fn any_store_will_do_behind_any_pointer() {
    let store: Arc<dyn Store> = Arc::new(small_store().await);
    let mut file = Vec::new();
    Export::new().write(&store, &mut file).await.unwrap();
    let mut again = Vec::new();
    Export::new().write(&*store, &mut again).await.unwrap();
    assert_eq!(file, again);
    let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Restore::new().read(&*other, &file[..]).await.unwrap();
    let expected: Contents = contents(&*store).await;
    assert!(contents(&*other).await == expected);
}

#[tokio::test]
async fn transfers_can_be_spawned() {
    let store = Arc::new(small_store().await);
    let exporting = async move {
        let mut file = Vec::new();
        Export::new().on_progress(|_| {}).write(&store, &mut file).await.map(|_| file)
    };
    let file = tokio::spawn(exporting).await.unwrap().unwrap();
    let other = Arc::new(MemoryStore::new());
    let restoring = async move { Restore::new().on_progress(|_| {}).read(&other, &file[..]).await };
    assert_eq!(tokio::spawn(restoring).await.unwrap().unwrap().records, 3);
}
