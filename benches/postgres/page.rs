//! Pages of 50 hosts: with bodies from the database, with cached bodies, and by SQL.
//!
//! The SQL queries use indexes of an ordinary table.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toposcope::store::{Link, MemoryStore, PostgresStore, Store};
use uuid::Uuid;

use crate::asked::{Asked, PAGE, TAG, pages};
use crate::load::load;
use crate::plain::PlainTable;
use crate::postgres::Cluster;
use crate::record::{HOST, put_all};
use crate::{median, milliseconds};

/// Number of records that are copied at a time: a multiple of ten.
const TOGETHER: usize = 1_000;
const ROUNDS: usize = 41;
/// Number of rounds of the SQL queries. It is smaller than [`ROUNDS`], because some pages take long.
const PLAIN_ROUNDS: usize = 5;

/// The same records in the tables of a store and in an ordinary table.
#[derive(Debug)]
pub(crate) struct Databases {
    pub(crate) store: String,
    plain: Option<PlainTable>,
    organization: Option<Uuid>,
    networks: Vec<Uuid>,
}

impl Databases {
    /// Fills the tables of a store, and an ordinary table if pages are measured. Every tenth host gets a tag.
    ///
    /// The records come from a store in memory, piece by piece: a million of them would fill the memory twice.
    pub(crate) async fn fill(
        cluster: &Cluster,
        hosts: usize,
        has_pages: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let memory = Arc::new(MemoryStore::new());
        eprintln!("{hosts} hosts: loading");
        let networks = load(Arc::clone(&memory) as Arc<dyn Store>, hosts).await?.networks;
        let database = cluster.create_database();
        let store = PostgresStore::open(&database).await?;
        let mut plain = None;
        let mut organization = None;
        let mut snapshot = memory.snapshot().await?;
        loop {
            let mut entries = snapshot.next(TOGETHER).await?;
            if entries.is_empty() {
                break;
            }
            for (number, entry) in entries.iter_mut().enumerate() {
                organization = organization.or(entry.facets.organization);
                if number % 10 == 0 && entry.record.key.kind == HOST {
                    entry.facets.links.push(Link::new(TAG, Uuid::max()));
                }
            }
            put_all(&store, &entries).await?;
            entries.retain(|entry| entry.record.key.kind == HOST);
            if has_pages && let Some(first) = entries.first() {
                if plain.is_none() {
                    plain = Some(PlainTable::create(&cluster.create_database(), first).await?);
                }
                if let Some(plain) = &plain {
                    plain.insert(&entries).await?;
                }
            }
        }
        store.close().await?;
        if let Some(plain) = &plain {
            eprintln!("{hosts} hosts: creating the indexes of the ordinary table");
            plain.create_indexes().await?;
        }
        let networks = networks.into_iter().map(Uuid::from).collect();
        Ok(Self { store: database, plain, organization, networks })
    }
}

pub(crate) async fn measure(databases: &Databases, size: usize) -> Result<(), Box<dyn Error>> {
    let Some(plain) = &databases.plain else { return Ok(()) };
    let cached = PostgresStore::open(&databases.store).await?;
    let uncached = PostgresStore::builder(&databases.store).body_cache_bytes(0).open().await?;
    println!("| hosts | page | bodies read, ms | bodies cached, ms | by SQL over indexes, ms |");
    println!("|---|---|---|---|---|");
    let mut worst = [Duration::ZERO; 3];
    for mut asked in pages(size, &databases.networks) {
        asked.query.organization = databases.organization;
        let times = [
            time(&uncached, &asked).await?,
            time(&cached, &asked).await?,
            plain.time(&asked, PLAIN_ROUNDS).await?,
        ];
        let [read, cached, plain] = times.map(milliseconds);
        println!("| {size} | {} | {read:.2} | {cached:.2} | {plain:.2} |", asked.part);
        worst = std::array::from_fn(|way| worst[way].max(times[way]));
    }
    let [read, cached_worst, plain] = worst.map(milliseconds);
    println!("| {size} | the slowest of each | {read:.2} | {cached_worst:.2} | {plain:.2} |\n");
    cached.close().await?;
    uncached.close().await?;
    Ok(())
}

async fn time(store: &PostgresStore, asked: &Asked) -> Result<Duration, Box<dyn Error>> {
    // Materializes the order and fills the cache.
    store.list(&asked.query).await?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let page = store.list(&asked.query).await?;
        times.push(start.elapsed());
        assert!(page.records.len() <= PAGE, "a page has at most {PAGE} hosts");
    }
    Ok(median(&mut times))
}
