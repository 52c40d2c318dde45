//! Pages of 50 hosts: with bodies from the database and from the cache, and by SQL over indexes.

use std::error::Error;
use std::time::{Duration, Instant};

use toposcope::store::{Direction, Entry, Link, LinkFilter, Name, Order, PostgresStore, Query, Start, Store};
use uuid::Uuid;

use crate::plain::PlainTable;
use crate::postgres::Cluster;
use crate::record::{HOST, InMemory, put_all};
use crate::{median, milliseconds};

pub(crate) const TAG: Name = Name::new("tag");
const PAGE: usize = 50;
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

/// Copies all records into a database, and tags every tenth host.
pub(crate) async fn fill(database: &str, in_memory: &InMemory) -> Result<(), Box<dyn Error>> {
    let store = PostgresStore::open(database).await?;
    let entries: Vec<Entry> = tagged(&in_memory.entries).collect();
    put_all(&store, &entries).await?;
    store.close().await?;
    Ok(())
}

fn tagged(entries: &[Entry]) -> impl Iterator<Item = Entry> + '_ {
    entries.iter().enumerate().map(|(number, entry)| {
        let mut entry = entry.clone();
        if number % 10 == 0 && entry.record.key.kind == HOST {
            entry.facets.links.push(Link::new(TAG, Uuid::max()));
        }
        entry
    })
}

pub(crate) async fn measure(
    cluster: &Cluster,
    database: &str,
    size: usize,
    in_memory: &InMemory,
) -> Result<(), Box<dyn Error>> {
    eprintln!("pages of {size} hosts: filling an ordinary table");
    let entries: Vec<Entry> = tagged(&in_memory.entries).collect();
    let plain = PlainTable::fill(&cluster.create_database(), &entries).await?;
    let cached = PostgresStore::open(database).await?;
    let uncached = PostgresStore::builder(database).body_cache_bytes(0).open().await?;
    println!("| hosts | page | bodies read, ms | bodies cached, ms | by SQL over indexes, ms |");
    println!("|---|---|---|---|---|");
    let mut worst = [Duration::ZERO; 3];
    let organization = entries.iter().find_map(|entry| entry.facets.organization);
    for mut asked in pages(size, &in_memory.loaded.networks) {
        asked.query.organization = organization;
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
