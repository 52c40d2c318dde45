//! The real inventory with 20 custom fields a host, compared with the same inventory without them.

use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

use http::header::AUTHORIZATION;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use toposcope::Api;
use toposcope::access::Caller;
use toposcope::inventory::{Import, Inventory, NewUser, NewUserApiKey};
use toposcope::model::Permission;
use toposcope::store::MemoryStore;
use tower::ServiceExt;

const FIELDS: usize = 20;

/// Number of imports of each kind. They alternate, so that a drift in the machine's speed affects both.
const ROUNDS: usize = 5;

/// Number of requests of each kind in a round.
const REQUESTS: usize = 200;

/// Largest ratio of a time with custom fields to the time without.
const BAR: f64 = 1.3;

/// The requests, each with the words for it. The last one asks for a custom field where there are some.
const QUERIES: [(&str, &str); 4] = [
    ("page of 50", "limit=50"),
    ("page of 50 by search", "limit=50&search=switch"),
    ("page of 50 by source, ordered by name", "limit=50&source=Manual&order_by=name"),
    ("hosts of a name, and of a custom field", "limit=50&name=CORE-7"),
];

/// Seconds of an import, and of a request of each query.
type Times = [f64; QUERIES.len() + 1];

pub(crate) async fn measure(lines: &[u8]) -> Result<(), Box<dyn Error>> {
    let with_fields = with_fields(lines)?;
    let mut times: [Vec<Times>; 2] = Default::default();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        times[0].push(run(lines, false).await?);
        times[1].push(run(&with_fields, true).await?);
    }
    println!("| {FIELDS} custom fields a host, two of them indexed | without, ms | with, ms | ratio |");
    println!("|---|---|---|---|");
    let mut greatest = 0.0_f64;
    for index in 0..=QUERIES.len() {
        let name = index.checked_sub(1).map_or("import", |query| QUERIES[query].0);
        let [without, with] = [0, 1].map(|kind| median(times[kind].iter().map(|times| times[index])));
        greatest = greatest.max(with / without);
        println!("| {name} | {:.3} | {:.3} | {:.2} |", without * 1e3, with * 1e3, with / without);
    }
    println!();
    if greatest > BAR { Err(format!("a ratio exceeds {BAR}").into()) } else { Ok(()) }
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

/// Imports the lines and sends the requests.
async fn run(lines: &[u8], has_fields: bool) -> Result<Times, Box<dyn Error>> {
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
    for ((name, query), time) in QUERIES.iter().zip(&mut times[1..]) {
        let query = if has_fields {
            query.replace("name=CORE-7", "custom.asset_tag=A-7")
        } else {
            (*query).to_owned()
        };
        let mut each = Vec::with_capacity(REQUESTS);
        for _ in 0..REQUESTS {
            let request = Request::get(format!("/api/v1/hosts?{query}"))
                .header(AUTHORIZATION, format!("Bearer {}", key.plaintext()))
                .body(String::new())?;
            let start = Instant::now();
            let response = api.clone().oneshot(request).await?;
            if response.status() != StatusCode::OK {
                return Err(format!("{name}: {}", response.status()).into());
            }
            response.into_body().collect().await?;
            each.push(start.elapsed().as_secs_f64());
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
