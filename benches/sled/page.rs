//! Cost of a page of 50 hosts from a folder, compared with memory.
//!
//! The hosts were either read recently, or every body is read from sled, whose files are in the system's page cache.

use std::error::Error;
use std::future::Future;
use std::hint::black_box;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::{Request, Response};
use tokio::runtime::Runtime;
use toposcope::inventory::Inventory;
use toposcope::service::{Api, ResponseBody};
use toposcope::store::{Direction, Name, Order, Page, Query, SledStore, Start, Store};
use tower::Service;

use crate::call::{call, each_frame};
use crate::clock::compare;
use crate::folder::{Folder, copy_to};
use crate::record::{HOST, InMemory};

const PAGE: usize = 50;
const TURNS: usize = 201;
const CALLS: u32 = 10;

/// The same page from both stores.
#[derive(Debug)]
struct Asked {
    part: &'static str,
    query: Query,
    request: Request<String>,
}

/// A store, and the API on it.
#[derive(Debug)]
struct Served<S> {
    store: Arc<S>,
    api: Api,
}

impl<S: Store> Served<S> {
    fn new(store: Arc<S>, inventory: Inventory) -> Self {
        // A cached page would hide the cost of the store.
        Self { store, api: Api::builder(inventory).rate_limit(None).page_cache(0).build() }
    }

    /// Lists from the memory store, which completes every call at once.
    fn list(&self, query: &Query) -> Page {
        match pin!(self.store.list(query)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(page)) => page,
            Poll::Ready(Err(error)) => panic!("{error}"),
            Poll::Pending => panic!("the store waits"),
        }
    }

    fn serve(&self, request: &Request<String>) {
        take(call(&self.api, request.clone()));
    }

    async fn serve_from_disk(&self, request: &Request<String>) -> Result<(), Box<dyn Error>> {
        take(self.api.clone().call(request.clone()).await?);
        Ok(())
    }
}

fn take(response: Response<ResponseBody>) {
    assert_eq!(response.status(), 200);
    each_frame(response.into_body(), |frame| _ = black_box(frame));
}

pub(crate) fn measure(runtime: &Runtime, folder: &Folder, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    println!(
        "| hosts | asked by | part | memory, µs | in a folder, read lately, µs | ratio | from the records, µs |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut worst: f64 = 0.0;
    for size in sizes {
        eprintln!("pages of {size} hosts");
        let in_memory = runtime.block_on(InMemory::load(*size))?;
        let place = folder.place(&format!("page-{size}"));
        runtime.block_on(copy_to(&in_memory, &place))?;
        worst = worst.max(measure_size(runtime, &place, *size, &in_memory)?);
    }
    println!("\nWorst ratio: {worst:.2}.\n");
    Ok(())
}

fn measure_size(
    runtime: &Runtime,
    place: &Path,
    size: usize,
    in_memory: &InMemory,
) -> Result<f64, Box<dyn Error>> {
    let asked = asked(size, in_memory)?;
    let memory = Served::new(Arc::clone(&in_memory.store), in_memory.loaded.inventory.clone());
    let warm = in_folder(runtime.block_on(SledStore::open(place))?);
    let mut rows = Vec::new();
    for page in &asked {
        let read = runtime.block_on(warm.store.list(&page.query))?;
        assert_eq!(without_versions(read), without_versions(memory.list(&page.query)));
        // The owner of the key is read as well.
        runtime.block_on(warm.serve_from_disk(&page.request))?;
        rows.push(compare(
            TURNS,
            [CALLS; 2],
            || _ = black_box(memory.list(&page.query)),
            || _ = black_box(warm.list(&page.query)),
        ));
        rows.push(compare(TURNS, [CALLS; 2], || memory.serve(&page.request), || warm.serve(&page.request)));
    }
    runtime.block_on(warm.store.close())?;
    let cold = in_folder(runtime.block_on(SledStore::builder(place).cache_size(0).open())?);
    let mut cold_times = Vec::new();
    for page in &asked {
        cold_times.push(runtime.block_on(time(async || cold.store.list(&page.query).await.map(|_| ())))?);
        cold_times.push(runtime.block_on(time(async || cold.serve_from_disk(&page.request).await))?);
    }
    runtime.block_on(cold.store.close())?;
    let ways = asked.iter().flat_map(|page| [("Store::list", page.part), ("a request", page.part)]);
    let mut worst: f64 = 0.0;
    for (((way, part), (memory, warm)), cold) in ways.zip(rows).zip(cold_times) {
        let [memory, warm, cold] = [memory, warm, cold].map(|time| time.as_secs_f64() * 1e6);
        let ratio = warm / memory;
        println!("| {size} | {way} | {part} | {memory:.1} | {warm:.1} | {ratio:.2} | {cold:.0} |");
        worst = worst.max(ratio);
    }
    Ok(worst)
}

fn in_folder(store: SledStore) -> Served<SledStore> {
    let store = Arc::new(store);
    let inventory = Inventory::new(Arc::clone(&store) as Arc<dyn Store>);
    Served::new(store, inventory)
}

/// Returns requests for pages of hosts, ordered by name. They ask for the first, the middle and the last page of all
/// hosts, and for the first page of one network.
fn asked(size: usize, in_memory: &InMemory) -> Result<Vec<Asked>, Box<dyn Error>> {
    let mut asked = Vec::new();
    let last = size.saturating_sub(PAGE);
    let network = in_memory.loaded.networks.first();
    let parts = [
        ("first", 0, None),
        ("middle", last / 2, None),
        ("last", last, None),
        ("of one network", 0, network),
    ];
    for (part, offset, network) in parts {
        let mut query = Query::new(HOST);
        query.order = vec![Order::new(Name::new("name"), Direction::Ascending)];
        query.start = Start::Offset(offset as u64);
        query.limit = Some(PAGE);
        query.networks = network.map(|network| vec![network.uuid()]);
        let network = network.map_or_else(String::new, |network| format!("&network_id={network}"));
        let request = Request::get(format!("/api/v1/hosts?order_by=name&offset={offset}{network}"))
            .header("authorization", format!("Bearer {}", in_memory.loaded.key))
            .body(String::new())?;
        asked.push(Asked { part, query, request });
    }
    Ok(asked)
}

/// Returns keys and bodies without versions, because each store counts its versions independently.
fn without_versions(page: Page) -> Vec<(toposcope::store::Key, bytes::Bytes)> {
    page.records.into_iter().map(|record| (record.key, record.body)).collect()
}

/// Returns the median time of a call that may read from the disk.
async fn time<E>(mut call: impl AsyncFnMut() -> Result<(), E>) -> Result<Duration, E> {
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let start = Instant::now();
        call().await?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[TURNS / 2])
}
