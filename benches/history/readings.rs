//! Times of reading the history.

use std::time::Instant;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{self, DiffQuery, HostQuery, Moment, SummaryQuery};
use toposcope::model::{OrderDirection, Permission, UserId};
use toposcope::store::{Name, Query, Store};

use crate::ground::{Changed, Ground, Outcome, changed, limited, median};
use crate::memory;

/// Returns the number of entries of the history that is made up.
pub(crate) fn entries() -> Outcome<usize> {
    Ok(std::env::var("ENTRIES").ok().map_or(Ok(100_000), |number| number.parse())?)
}

/// Makes up a history, and reads it.
pub(crate) async fn measure() -> Outcome<bool> {
    let (entries, mut is_met) = (entries()?, true);
    let folder = tempfile::tempdir()?;
    let before = memory::memory("RssAnon:")?;
    let start = Instant::now();
    let Changed { ground, store, small, ids } = changed(&folder.path().join("store"), true, entries).await?;
    println!("\n{entries} entries in {:.0} s", start.elapsed().as_secs_f64());
    let (inventory, caller) = (&ground.inventory, &ground.caller);
    let [fresh, runs] = [count(&*store, "change").await?, count(&*store, "change_run").await?];
    println!("{fresh} records of commits, {runs} runs");
    let memory = memory::memory("RssAnon:")?.saturating_sub(before);
    println!("{} bytes of memory an entry, with the cache of bodies", memory / entries as u64);
    let viewer =
        Caller::new(caller.organization_id(), UserId::from_u128(7), Permission::Viewer, Scope::only([small]));
    let oldest = inventory.changes(caller, &limited(1)).await?.next;
    let middle = middle_of(&ground, entries / 2).await?;
    memory::forget_peak()?;
    println!("\n| reading | median, ms | at most, ms |\n|---|---|---|");
    for (name, who, after) in [
        ("page of 100 at the beginning", caller, Some(&oldest)),
        ("page of 100 in the middle", caller, Some(&middle)),
        ("page of 100 of a small network's Viewer", &viewer, None),
    ] {
        let mut query = limited(100);
        query.after = after.cloned();
        is_met &= row(name, 2.0, async || inventory.changes(who, &query).await.map(drop)).await?;
    }
    let mut newest = limited(100);
    newest.order_direction = OrderDirection::Descending;
    is_met &= row("page of 100, the newest first", 2.0, async || {
        inventory.changes(caller, &newest).await.map(drop)
    })
    .await?;
    let mut of_host = limited(100);
    of_host.id = Some(ids[3].uuid());
    is_met &=
        row("history of a host", 5.0, async || inventory.changes(caller, &of_host).await.map(drop)).await?;
    let [week, day] = [70_000, 10_000].map(|ago| entries.saturating_sub(ago));
    let (week, day) = (middle_of(&ground, week).await?, middle_of(&ground, day).await?);
    for (name, at, host, page, diff) in [
        ("a day ago, by 10,000 entries", day, 10.0, 100.0, 20.0),
        ("in the middle", middle.clone(), 10.0, 100.0, 3_000.0),
        ("a week ago, by 70,000 entries", week, 10.0, 100.0, 3_000.0),
    ] {
        let at = Moment::Position(at);
        is_met &= row(&format!("a host {name}"), host, async || {
            inventory.host_at(caller, ids[3], &at).await.map(drop)
        })
        .await?;
        let mut list = HostQuery::default();
        (list.limit, list.at) = (Some(50), Some(at.clone()));
        is_met &= row(&format!("page of 50 hosts {name}"), page, async || {
            inventory.hosts().list(caller, &list).await.map(drop)
        })
        .await?;
        let query = DiffQuery::new(at.clone());
        is_met &=
            row(&format!("diff since {name}"), diff, async || inventory.diff(caller, &query).await.map(drop))
                .await?;
    }
    let summary = SummaryQuery::default();
    is_met &=
        row("summary of all", 50.0, async || inventory.change_summary(caller, &summary).await.map(drop))
            .await?;
    println!("\nat most {} MiB of memory while reading", memory::memory("VmHWM:")? >> 20);
    Ok(is_met)
}

/// Returns the position of an entry by its number.
async fn middle_of(ground: &Ground, number: usize) -> Outcome<toposcope::model::ChangePosition> {
    let mut query = limited(1_000);
    let mut left = number;
    loop {
        let page = ground.inventory.changes(&ground.caller, &query).await?;
        if page.changes.len() >= left || !page.has_more {
            return Ok(page.next);
        }
        left -= page.changes.len();
        query.after = Some(page.next);
    }
}

/// Prints the median of 11 readings. Returns whether it is within the bar.
async fn row(
    name: &str,
    bar: f64,
    mut read: impl AsyncFnMut() -> Result<(), inventory::Error>,
) -> Outcome<bool> {
    let mut times = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        read().await?;
        times.push(start.elapsed());
    }
    let median = median(&mut times) / 1e3;
    println!("| {name} | {median:.2} | {bar} |");
    Ok(median <= bar)
}

async fn count(store: &dyn Store, kind: &'static str) -> Outcome<u64> {
    let mut query = Query::new(Name::new(kind));
    query.limit = Some(0);
    Ok(store.list(&query).await?.total)
}
