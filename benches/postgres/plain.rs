//! The same work without the store: rows of an ordinary table with indexes.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use toposcope::store::{Entry, Facets};
use uuid::Uuid;

use crate::asked::{Asked, TAG};
use crate::host::Random;

/// A connection to the database.
pub(crate) async fn connect(database: &str) -> Result<Client, Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Returns the rows per second that a loop inserts. Each row is inserted in its own transaction.
pub(crate) async fn commits_per_second(
    client: &Client,
    random: &mut Random,
    count: usize,
) -> Result<f64, Box<dyn Error>> {
    client
        .batch_execute("CREATE TABLE IF NOT EXISTS plain_row (id uuid PRIMARY KEY, body bytea NOT NULL)")
        .await?;
    let insert = client.prepare("INSERT INTO plain_row VALUES ($1, $2)").await?;
    let body = vec![b'.'; 300];
    let start = Instant::now();
    for _ in 0..count {
        client.execute(&insert, &[&Id(random.uuid()), &body]).await?;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// A UUID as a parameter.
#[derive(Debug)]
struct Id(Uuid);

impl ToSql for Id {
    fn to_sql(
        &self,
        _: &tokio_postgres::types::Type,
        out: &mut bytes::BytesMut,
    ) -> Result<tokio_postgres::types::IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(tokio_postgres::types::IsNull::No)
    }

    fn accepts(sql_type: &tokio_postgres::types::Type) -> bool {
        *sql_type == tokio_postgres::types::Type::UUID
    }

    tokio_postgres::types::to_sql_checked!();
}

/// An ordinary table of hosts.
pub(crate) struct PlainTable {
    client: Client,
    /// The columns of the orders.
    orders: Vec<String>,
    /// Statements that insert a host, and a tag of a host.
    insert: [Statement; 2],
}

impl fmt::Debug for PlainTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PlainTable").field("orders", &self.orders).finish_non_exhaustive()
    }
}

impl PlainTable {
    /// Creates the table with a column for each order that the first host has.
    pub(crate) async fn create(database: &str, first: &Entry) -> Result<Self, Box<dyn Error>> {
        let client = connect(database).await?;
        let orders = first.facets.sort_keys.iter().map(|sort_key| sort_key.name.as_str());
        let orders: Vec<String> = orders.map(column).collect();
        let columns: String = orders.iter().map(|column| format!(", {column} bytea")).collect();
        client
            .batch_execute(&format!(
                "CREATE TABLE plain_host (id uuid PRIMARY KEY, network uuid{columns}, body bytea); \
                 CREATE TABLE plain_tag (tag uuid, id uuid, PRIMARY KEY (tag, id))"
            ))
            .await?;
        let places: String = (0..orders.len() + 3).map(|place| format!(", ${}", place + 1)).collect();
        let host = format!("INSERT INTO plain_host VALUES ({})", places.trim_start_matches(", "));
        let host = client.prepare(&host).await?;
        let tag = client.prepare("INSERT INTO plain_tag VALUES ($1, $2)").await?;
        Ok(Self { client, orders, insert: [host, tag] })
    }

    /// Inserts hosts in one transaction.
    pub(crate) async fn insert(&self, hosts: &[Entry]) -> Result<(), Box<dyn Error>> {
        self.client.batch_execute("BEGIN").await?;
        for host in hosts {
            insert_host(&self.client, &self.insert, host).await?;
        }
        Ok(self.client.batch_execute("COMMIT").await?)
    }

    /// Creates an index for each order, over all hosts and in each network.
    pub(crate) async fn create_indexes(&self) -> Result<(), Box<dyn Error>> {
        for column in &self.orders {
            self.client
                .batch_execute(&format!(
                    "CREATE INDEX ON plain_host ({column}, id); CREATE INDEX ON plain_host (network, {column}, id)"
                ))
                .await?;
        }
        Ok(self.client.batch_execute("ANALYZE plain_host; ANALYZE plain_tag").await?)
    }

    /// Returns the median time of a page and of its total.
    pub(crate) async fn time(&self, asked: &Asked, rounds: usize) -> Result<Duration, Box<dyn Error>> {
        let networks: Vec<String> =
            asked.query.networks.iter().flatten().map(|network| format!("'{network}'")).collect();
        let mut filters = Vec::new();
        if !networks.is_empty() {
            filters.push(format!("network IN ({})", networks.join(", ")));
        }
        for link in &asked.query.links {
            filters.push(format!(
                "id IN (SELECT id FROM plain_tag WHERE tag = '{}')",
                link.targets.first().ok_or("no tag")?
            ));
        }
        let filter =
            if filters.is_empty() { String::new() } else { format!("WHERE {}", filters.join(" AND ")) };
        let orders: Vec<String> = asked
            .query
            .order
            .iter()
            .map(|order| {
                let direction = if asked.is_descending { "DESC" } else { "ASC" };
                format!("{} {direction}", column(order.name.as_str()))
            })
            .collect();
        let page = format!(
            "SELECT id, body FROM plain_host {filter} ORDER BY {}, id LIMIT 50 OFFSET {}",
            orders.join(", "),
            asked.offset
        );
        let total = format!("SELECT count(*) FROM plain_host {filter}");
        let (page, total) = (self.client.prepare(&page).await?, self.client.prepare(&total).await?);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let rows = self.client.query(&page, &[]).await?;
            self.client.query(&total, &[]).await?;
            times.push(start.elapsed());
            assert!(rows.len() <= 50, "a page has at most 50 hosts");
        }
        Ok(crate::median(&mut times))
    }
}

async fn insert_host(
    client: &Client,
    [insert, tag]: &[Statement; 2],
    Entry { record, facets, .. }: &Entry,
) -> Result<(), Box<dyn Error>> {
    let (id, network) = (Id(record.key.id), Id(facets.network.unwrap_or_default()));
    let keys: Vec<Vec<u8>> = sort_keys(facets);
    let body: &[u8] = &record.body;
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&id, &network];
    values.extend(keys.iter().map(|key| key as &(dyn ToSql + Sync)));
    values.push(&body);
    client.execute(insert, &values).await?;
    for link in facets.links.iter().filter(|link| link.relation == TAG) {
        client.execute(tag, &[&Id(link.target), &id]).await?;
    }
    Ok(())
}

/// The sort keys of a host. Entries of a B-tree end at about 2,700 bytes.
fn sort_keys(facets: &Facets) -> Vec<Vec<u8>> {
    facets.sort_keys.iter().map(|sort_key| sort_key.value.iter().copied().take(1_000).collect()).collect()
}

fn column(order: &str) -> String {
    format!("by_{order}")
}
