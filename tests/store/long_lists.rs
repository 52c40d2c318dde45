//! Lists too long to be ordered at once, which are materialized concurrently with other calls.

use std::num::NonZero;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::task::JoinSet;
use toposcope::store::{
    Batch, Direction, Facets, Key, Link, LinkFilter, MemoryStore, Name, Order, Page, Precondition, Query,
    SortKey, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

const KIND: Name = Name::new("note");
const RANK: Name = Name::new("rank");
const TAG: Name = Name::new("tag");
/// Number of records, which exceeds the steps in which a page is found directly.
const RECORDS: u64 = 5_000;
const LARGE_ORGANIZATION: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);

/// Fills a store with records of two organizations. All records of an organization have a link in common.
async fn filled() -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    for organization in [LARGE_ORGANIZATION, OTHER] {
        let mut batch = Batch::new();
        for number in 0..RECORDS {
            batch.put(
                key(organization, number),
                Precondition::Absent,
                facets(organization, number),
                "a note",
            );
        }
        store.commit(batch).await.unwrap();
    }
    store
}

fn key(organization: Uuid, number: u64) -> Key {
    Key::new(KIND, Uuid::from_u64_pair(organization.as_u64_pair().1, number))
}

fn facets(organization: Uuid, number: u64) -> Facets {
    let rank = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    Facets::default()
        .with_organization(organization)
        .with_links([Link::new(TAG, organization)])
        .with_sort_keys([SortKey::new(RANK, rank)])
}

fn long_list(organization: Uuid) -> Query {
    let mut query = short_list(organization);
    query.links = vec![LinkFilter::new(TAG, [organization])];
    query
}

fn short_list(organization: Uuid) -> Query {
    let mut query = Query::new(KIND);
    query.organization = Some(organization);
    query.order = vec![Order::new(RANK, Direction::Descending)];
    query.limit = Some(50);
    query
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn is_page(page: &Result<Page, StoreError>, total: u64) -> bool {
    page.as_ref().is_ok_and(|page| page.records.len() == 50 && page.total == total)
}

#[tokio::test]
async fn long_list_leaves_the_async_thread_and_the_lock_to_others() {
    let store = filled().await;
    let query = long_list(LARGE_ORGANIZATION);
    let mut list = pin!(store.list(&query));
    assert!(poll(list.as_mut()).is_pending(), "the list is materialized on the async thread");
    tokio::task::yield_now().await;
    // No other call waits while the list is in progress.
    let others = short_list(OTHER);
    assert!(matches!(poll(pin!(store.list(&others))), Poll::Ready(page) if is_page(&page, RECORDS)));
    let mut batch = Batch::new();
    batch.put(
        key(LARGE_ORGANIZATION, RECORDS),
        Precondition::Absent,
        facets(LARGE_ORGANIZATION, RECORDS),
        "a new note",
    );
    assert!(matches!(poll(pin!(store.commit(batch))), Poll::Ready(Ok(()))));
    // Materializing may have ended before the commit began.
    let page = list.await;
    assert!(is_page(&page, RECORDS + 1) || is_page(&page, RECORDS), "the list is of no state of the store");
    assert!(
        matches!(poll(pin!(store.list(&query))), Poll::Ready(page) if is_page(&page, RECORDS + 1)),
        "the list is not in the cache"
    );
}

#[tokio::test]
async fn dropped_long_list_does_not_delay_others() {
    let store = filled().await;
    let query = long_list(LARGE_ORGANIZATION);
    for _ in 0..10 {
        let mut list = Box::pin(store.list(&query));
        assert!(poll(list.as_mut()).is_pending() || is_page(&store.list(&query).await, RECORDS));
    }
    assert!(is_page(&store.list(&query).await, RECORDS));
    let others = long_list(OTHER);
    let mut list = Box::pin(store.list(&others));
    assert!(poll(list.as_mut()).is_pending());
    drop(list);
    // The runtime of the test must end although a list is in progress.
    drop(store);
}

#[tokio::test]
async fn long_list_of_one_organization_waits_for_few_of_another() {
    let store = filled().await;
    let done = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for number in 0..100_usize {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        tasks.spawn(async move {
            // All lists are different: each has another set of targets.
            let mut query = long_list(LARGE_ORGANIZATION);
            query.links[0].targets.extend((0..number).map(|target| Uuid::from_u128(1_000 + target as u128)));
            assert!(is_page(&store.list(&query).await, RECORDS));
            done.fetch_add(1, Ordering::Relaxed);
        });
    }
    // All of them begin before the list of the other organization.
    tokio::task::yield_now().await;
    assert!(is_page(&store.list(&long_list(OTHER)).await, RECORDS));
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let before = done.load(Ordering::Relaxed);
    assert!(before <= processors + 1, "{before} lists of another organization were materialized first");
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    assert_eq!(done.load(Ordering::Relaxed), 100);
}

/// Blocks the only thread that materializes lists, until the sender is dropped.
fn only_thread_is_busy(test: impl AsyncFnOnce(Sender<()>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (release, busy) = channel::<()>();
        tokio::task::spawn_blocking(move || busy.recv());
        test(release).await;
    });
}

#[test]
fn long_lists_beyond_the_queue_of_an_organization_are_unavailable() {
    only_thread_is_busy(async |release| {
        let store = filled().await;
        let mut tasks = JoinSet::new();
        for _ in 0..300 {
            let store = Arc::clone(&store);
            tasks.spawn(async move { store.list(&long_list(LARGE_ORGANIZATION)).await });
        }
        for _ in 0..44 {
            let refused = tasks.join_next().await.unwrap().unwrap();
            assert!(refused.is_err_and(|error| *error.kind() == StoreErrorKind::Unavailable));
        }
        let others = tokio::spawn({
            let store = Arc::clone(&store);
            async move { store.list(&long_list(OTHER)).await }
        });
        drop(release);
        assert!(
            is_page(&others.await.unwrap(), RECORDS),
            "the queue of one organization is full for another"
        );
        while let Some(page) = tasks.join_next().await {
            assert!(is_page(&page.unwrap(), RECORDS));
        }
    });
}
