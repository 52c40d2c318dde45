//! Crawls of a network that nothing is known of.

use std::time::Duration;

use toposcope::store::SledStore;

use crate::Outcome;
use crate::farm::collected::Collected;
use crate::farm::line::Line;
use crate::farm::reader;
use crate::ground::{Ground, in_proportion};

/// The bars of 10,000 devices, in seconds.
const IN_MEMORY: f64 = 60.0;
const IN_A_FOLDER: f64 = 90.0;
const BY_VERSION_3: f64 = 120.0;

/// The time on a bad line, by that on a good one.
const ON_A_BAD_LINE: f64 = 3.0;

/// Number of devices that are read at a time on a bad line, where most of the time is spent waiting.
const WORKERS_ON_A_BAD_LINE: usize = 2_048;

/// The time of a row.
pub(crate) struct RowTime {
    pub(crate) is_met: bool,
    pub(crate) seconds: f64,
}

pub(crate) async fn in_memory() -> Outcome<RowTime> {
    let ground = Ground::serve(Line::default())?;
    let collected = Collected::new().await?;
    first("v2c, memory", &ground, &collected, in_proportion(IN_MEMORY)).await
}

pub(crate) async fn in_a_folder() -> Outcome<bool> {
    let ground = Ground::serve(Line::default())?;
    let folder = tempfile::tempdir()?;
    let collected = Collected::on(SledStore::builder(folder.path().join("inventory")).open().await?).await?;
    Ok(first("v2c, folder", &ground, &collected, in_proportion(IN_A_FOLDER)).await?.is_met)
}

pub(crate) async fn by_version_3() -> Outcome<bool> {
    let (farm_user, secret) = reader();
    let ground = Ground::with(Line::default(), Some(&farm_user), vec![secret])?;
    let collected = Collected::new().await?;
    Ok(first("v3 authPriv, memory", &ground, &collected, in_proportion(BY_VERSION_3)).await?.is_met)
}

/// Measures a line that loses 5 % of the packets in each direction, delays answers by 0 to 100 ms, and duplicates 5 % of them.
pub(crate) async fn on_a_bad_line(plain: Option<f64>) -> Outcome<bool> {
    let line = Line::new(0.05, 0.05, Duration::ZERO, Duration::from_millis(100));
    let ground = Ground::serve(line)?.with_workers(WORKERS_ON_A_BAD_LINE);
    let collected = Collected::new().await?;
    let bar = plain.unwrap_or_else(|| in_proportion(IN_MEMORY)) * ON_A_BAD_LINE;
    Ok(first("v2c, memory, bad line", &ground, &collected, bar).await?.is_met)
}

async fn first(name: &str, ground: &Ground, collected: &Collected, bar: f64) -> Outcome<RowTime> {
    let before = ground.farm.counters();
    let mut crawl = ground.crawl(None).await?;
    let row = ground.measure(collected, &mut crawl).await?;
    let is_met = ground.print(name, &row, &before, bar);
    Ok(RowTime { is_met, seconds: (row.crawled + row.linked).as_secs_f64() })
}
