//! Exports are written and read as streams.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use toposcope::store::{
    Batch, Export, Facets, MemoryStore, Precondition, Restore, Store, StoreError, TransferReport, Write,
};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};

use super::{export, note, put, small_store, store_of};
use crate::contents::contents;

/// Records the number of records and the bytes of bodies of each batch.
#[derive(Debug, Default)]
struct BatchSizes(Mutex<Vec<(usize, usize)>>);

#[async_trait]
impl Intercept for BatchSizes {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        if let Operation::Commit(batch) = call.operation() {
            let sizes = batch.writes().iter().map(|write| match write {
                Write::Put { precondition, body, .. } => {
                    assert_eq!(*precondition, Precondition::Absent);
                    body.len()
                }
                _ => panic!("nothing is deleted"),
            });
            self.0.lock().unwrap().push((batch.writes().len(), sizes.sum()));
        }
        call.proceed().await
    }
}

/// Returns the numbers of records and the bytes of bodies of each batch.
async fn batches(store: &dyn Store) -> Vec<(usize, usize)> {
    let measured = Interceptor::new(MemoryStore::new(), BatchSizes::default());
    Restore::new().read(&measured, &export(store).await[..]).await.unwrap();
    measured.hook().0.lock().unwrap().clone()
}

#[tokio::test]
async fn records_are_committed_in_batches_of_at_most_1000() {
    for records in [0, 1, 999, 1000, 1001, 2500] {
        let sizes: Vec<usize> =
            batches(&store_of(records as u128).await).await.into_iter().map(|(count, _)| count).collect();
        assert!(sizes.iter().all(|size| *size <= 1000), "{sizes:?}");
        assert!(sizes.len() <= records / 1000 + 1, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), records);
    }
}

#[tokio::test]
async fn large_records_are_committed_in_batches_of_few() {
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
async fn progress_is_consistent_with_the_report() {
    let store = store_of(2500).await;
    let (mut file, mut reports): (_, Vec<TransferReport>) = (Vec::new(), Vec::new());
    let report =
        Export::new().on_progress(|report| reports.push(*report)).write(&store, &mut file).await.unwrap();
    assert_consistent(&reports, report, file.len());
    reports.clear();
    let restore = Restore::new().on_progress(|report| reports.push(*report));
    let report = restore.read(&MemoryStore::new(), &file[..]).await.unwrap();
    assert_consistent(&reports, report, file.len());
}

fn assert_consistent(reports: &[TransferReport], report: TransferReport, length: usize) {
    assert_eq!((report.records, report.bytes), (2500, length as u64));
    assert!(
        reports.len() >= 3
            && reports.is_sorted_by(|one, other| one.records <= other.records && one.bytes < other.bytes),
        "{reports:?}"
    );
    assert_eq!(reports.last(), Some(&report));
}

#[tokio::test]
async fn export_is_restored_while_it_is_written() {
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
async fn export_contains_the_records_of_its_beginning() {
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
async fn store_behind_a_pointer_is_exported_and_restored() {
    let store: Arc<dyn Store> = Arc::new(small_store().await);
    let mut file = Vec::new();
    Export::new().write(&store, &mut file).await.unwrap();
    let mut again = Vec::new();
    Export::new().write(&*store, &mut again).await.unwrap();
    assert_eq!(file, again);
    let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Restore::new().read(&*other, &file[..]).await.unwrap();
    assert!(contents(&*other).await == contents(&*store).await);
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
