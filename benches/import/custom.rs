//! The real inventory with 20 custom fields a host, compared with the same inventory without them.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

use http::header::AUTHORIZATION;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde::Deserialize;
use toposcope::Api;
use toposcope::access::Caller;
use toposcope::inventory::{Import, Inventory, NewUser, NewUserApiKey};
use toposcope::model::{Host, Permission};
use toposcope::store::MemoryStore;
use toposcope::wire::Success;
use tower::ServiceExt;

const FIELDS: usize = 20;

/// Number of imports of each kind. They alternate, so that a drift in the machine's speed affects both.
const ROUNDS: usize = 5;

/// Number of requests of each kind in a round.
const REQUESTS: usize = 200;

/// Largest ratio of a time with custom fields to the time without.
const BAR: f64 = 1.3;

/// The requests for pages, each with the words for it. Another one asks for the same host by its name and by a custom field.
const PAGES: [(&str, &str); 3] = [
    ("page of 50", "limit=50"),
    ("page of 50 by search", "limit=50&search=switch"),
    ("page of 50 by source, ordered by name", "limit=50&source=Manual&order_by=name"),
];

/// The words for each request.
const QUERIES: [&str; PAGES.len() + 1] =
    [PAGES[0].0, PAGES[1].0, PAGES[2].0, "one host by its name, and by a custom field"];

/// Seconds of an import, and of a request of each query.
type Times = [f64; QUERIES.len() + 1];

pub(crate) async fn measure(lines: &[u8]) -> Result<(), Box<dyn Error>> {
    let with_fields = with_fields(lines)?;
    let (number, name) = only_host_of_its_name(lines)?;
    let filters = [format!("name={name}"), format!("custom.asset_tag=A-{number}")];
    let mut times: [Vec<Times>; 2] = Default::default();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        times[0].push(run(lines, false, &filters[0]).await?);
        times[1].push(run(&with_fields, true, &filters[1]).await?);
    }
    println!("| {FIELDS} custom fields a host, two of them indexed | without, ms | with, ms | ratio |");
    println!("|---|---|---|---|");
    let mut greatest = 0.0_f64;
    for index in 0..=QUERIES.len() {
        let name = index.checked_sub(1).map_or("import", |query| QUERIES[query]);
        let [without, with] = [0, 1].map(|kind| median(times[kind].iter().map(|times| times[index])));
        greatest = greatest.max(with / without);
        println!("| {name} | {:.3} | {:.3} | {:.2} |", without * 1e3, with * 1e3, with / without);
    }
    println!();
    if greatest > BAR { Err(format!("a ratio exceeds {BAR}").into()) } else { Ok(()) }
}

/// Returns the place and the name of a host whose name no other host has. The name needs no escapes in a query.
fn only_host_of_its_name(lines: &[u8]) -> Result<(usize, String), Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let hosts = std::str::from_utf8(lines)?.lines().map(serde_json::from_str);
    let hosts: Vec<Named> = hosts.collect::<Result<_, _>>()?;
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for host in &hosts {
        *numbers.entry(host.name.to_lowercase()).or_default() += 1;
    }
    let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_only = |name: &str| is_plain(name) && numbers.get(&name.to_lowercase()) == Some(&1);
    let found = hosts.into_iter().enumerate().find(|(_, host)| is_only(&host.name));
    found.map(|(number, host)| (number, host.name)).ok_or_else(|| "each name is that of several hosts".into())
}

/// Adds custom fields to each host.
fn with_fields(lines: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut changed = String::new();
    for (number, line) in std::str::from_utf8(lines)?.lines().enumerate() {
        let rest = line.strip_prefix('{').ok_or("a line is no object")?;
        write!(changed, "{{\"custom\":{{\"asset_tag\":\"A-{number}\",\"rack\":{}", number % 40)?;
        for field in 2..FIELDS {
            match field % 3 {
                0 => write!(changed, ",\"field_{field}\":{}", number * field)?,
                1 => write!(changed, ",\"field_{field}\":\"value {number} of {field}\"")?,
                _ => write!(changed, ",\"field_{field}\":{}", number % 2 == 0)?,
            }
        }
        writeln!(changed, "}},{rest}")?;
    }
    Ok(changed.into_bytes())
}

/// Imports the lines and sends the requests, the last one with a filter that finds one host.
async fn run(lines: &[u8], has_fields: bool, filter: &str) -> Result<Times, Box<dyn Error>> {
    let mut inventory = Inventory::new(MemoryStore::new());
    if has_fields {
        inventory = inventory.with_custom_index(["asset_tag", "rack"]);
        inventory.upgrade().await?;
    }
    let organization = inventory.organizations().create("Benchmark").await?;
    let caller = Caller::system(organization.id);
    let start = Instant::now();
    let report = inventory.hosts().import(&caller, lines, Import::new().create_missing_networks()).await?;
    let mut times = [start.elapsed().as_secs_f64(); QUERIES.len() + 1];
    if report.refused > 0 {
        return Err(report.to_string().into());
    }
    let owner =
        inventory.users().create(&caller, NewUser::new("owner@example.net", Permission::Owner)).await?;
    let mut key = NewUserApiKey::new(owner.id, "benchmark", Permission::Viewer);
    key.all_networks = true;
    let key = inventory.user_api_keys().create(&caller, key).await?;
    let api = Api::builder(inventory).rate_limit(None).page_cache(0).build();
    let queries = PAGES.iter().map(|(_, query)| (*query).to_owned()).chain([format!("limit=50&{filter}")]);
    for (query, time) in queries.zip(&mut times[1..]) {
        let mut each = Vec::with_capacity(REQUESTS);
        for _ in 0..REQUESTS {
            let request = Request::get(format!("/api/v1/hosts?{query}"))
                .header(AUTHORIZATION, format!("Bearer {}", key.plaintext()))
                .body(String::new())?;
            let start = Instant::now();
            let response = api.clone().oneshot(request).await?;
            if response.status() != StatusCode::OK {
                return Err(format!("{query}: {}", response.status()).into());
            }
            let body = response.into_body().collect().await?.to_bytes();
            each.push(start.elapsed().as_secs_f64());
            // Otherwise, an empty page would be compared with one that has a host.
            let is_of_one =
                || serde_json::from_slice::<Success<Vec<Host>>>(&body).is_ok_and(|page| page.data.len() == 1);
            if query.ends_with(filter) && each.len() == 1 && !is_of_one() {
                return Err(format!("{query} does not find one host").into());
            }
        }
        *time = median(each.into_iter());
    }
    Ok(times)
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
