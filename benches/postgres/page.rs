//! Pages of 50 hosts: with bodies from the database and from the cache, and by SQL over indexes.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toposcope::store::{
    Direction, Link, LinkFilter, MemoryStore, Name, Order, PostgresStore, Query, Start, Store,
};
use uuid::Uuid;

use crate::load::load;
use crate::plain::PlainTable;
use crate::postgres::Cluster;
use crate::record::{HOST, put_all};
use crate::{median, milliseconds};

pub(crate) const TAG: Name = Name::new("tag");
const PAGE: usize = 50;
/// Number of records that are copied at a time: a multiple of ten.
const TOGETHER: usize = 1_000;
const ROUNDS: usize = 41;
/// SQL takes long for some pages.
const PLAIN_ROUNDS: usize = 5;
const ORDERS: [&str; 6] = ["created_at", "updated_at", "name", "hostname", "network_id", "interface_ip"];

/// A page to be measured.
#[derive(Debug)]
pub(crate) struct Asked {
    part: String,
    pub(crate) query: Query,
    pub(crate) offset: usize,
    pub(crate) is_descending: bool,
}

/// The same records in the tables of a store and in an ordinary table.
#[derive(Debug)]
pub(crate) struct Databases {
    pub(crate) store: String,
    plain: Option<PlainTable>,
    organization: Option<Uuid>,
    networks: Vec<Uuid>,
}

impl Databases {
    /// Fills the tables of a store, and an ordinary table if pages are to be measured. Every tenth host gets a tag.
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

fn pages(size: usize, networks: &[Uuid]) -> Vec<Asked> {
    let middle = size.saturating_sub(PAGE) / 2;
    let mut pages = Vec::new();
    for order in ORDERS {
        for is_descending in [false, true] {
            for offset in [0, middle, 2 * middle] {
                pages.push(asked(&[order], is_descending, offset, &[], false));
            }
        }
    }
    for offset in [0, middle / 4, middle / 2] {
        pages.push(asked(&["name"], false, offset, &networks[..3], false));
        pages.push(asked(&["name"], true, offset, &networks[3..4], false));
    }
    for offset in [0, middle / 10] {
        pages.push(asked(&["name"], false, offset, &[], true));
    }
    for offset in [0, middle] {
        pages.push(asked(&["network_id", "name"], false, offset, &[], false));
    }
    pages
}

fn asked(
    orders: &[&'static str],
    is_descending: bool,
    offset: usize,
    networks: &[Uuid],
    has_tag: bool,
) -> Asked {
    let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
    let mut query = Query::new(HOST);
    query.order = orders.iter().map(|order| Order::new(Name::new(order), direction)).collect();
    query.start = Start::Offset(offset as u64);
    query.limit = Some(PAGE);
    query.networks = if networks.is_empty() { None } else { Some(networks.to_vec()) };
    query.links = if has_tag { vec![LinkFilter::new(TAG, [Uuid::max()])] } else { Vec::new() };
    let mut part = format!("{} from {offset}", orders.join(", "));
    if is_descending {
        part += ", descending";
    }
    if !networks.is_empty() {
        part += &format!(", {} of 10 networks", networks.len());
    }
    if has_tag {
        part += ", with a tag of a tenth";
    }
    Asked { part, query, offset, is_descending }
}
