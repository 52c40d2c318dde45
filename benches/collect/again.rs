//! Crawls of a network that was read before.

use std::collections::BTreeSet;

use bytes::Bytes;
use toposcope::inventory::HostQuery;
use toposcope::model::MacAddress;
use toposcope::topology::paths::LocateTarget;

use crate::Outcome;
use crate::farm::collected::Collected;
use crate::farm::device::station_mac;
use crate::farm::line::Line;
use crate::farm::network::Station;
use crate::ground::{Ground, in_proportion};

/// The bar of 10,000 devices, in seconds.
const AGAIN: f64 = 15.0;

/// Number of crawls after the first.
const RUNS: usize = 5;

pub(crate) async fn measure() -> Outcome<bool> {
    let mut ground = Ground::serve(Line::default())?;
    let collected = Collected::new().await?;
    let before = ground.farm.counters();
    let mut crawl = ground.crawl(Some(Default::default())).await?;
    let row = ground.measure(&collected, &mut crawl).await?;
    // The first crawl has its bar in another row.
    let mut is_met = ground.print("first", &row, &before, f64::INFINITY);
    let hosts = documents(&collected, HostQuery::default()).await?;
    let mut notes = Vec::new();
    for run in 1..=RUNS {
        let moved = ground.network.move_stations(run);
        for (device, variables) in ground.network.devices.iter().zip(ground.network.variables()) {
            let mut agents = ground.farm.agents();
            let agent = agents.agent(device.addresses[0].into()).ok_or("each device has an agent")?;
            agent.variables = variables;
        }
        let memory = crawl.memory().cloned();
        let before = ground.farm.counters();
        crawl = ground.crawl(memory).await?;
        let row = ground.measure(&collected, &mut crawl).await?;
        is_met &= ground.print(&format!("again {run}"), &row, &before, in_proportion(AGAIN));
        let now = documents(&collected, HostQuery::default()).await?;
        let changed = now.symmetric_difference(&hosts).count();
        let seen = seen(&collected, &moved).await?;
        notes.push(format!(
            "again {run}: {} devices unchanged; {} hosts written, {changed} documents differ; {seen} of {} moves seen",
            row.progress.unchanged,
            row.written,
            moved.len()
        ));
        is_met &= row.written == 0 && changed == 0 && !moved.is_empty() && seen == moved.len();
    }
    let mut stale = HostQuery::default();
    stale.stale = Some(true);
    let stale_hosts = documents(&collected, stale).await?.len();
    let stale_parts = hosts_with_stale_parts(&hosts);
    println!(
        "\n{}\nstale after {RUNS} runs: {stale_hosts} hosts; {stale_parts} hosts have stale parts\n",
        notes.join("\n")
    );
    Ok(is_met && stale_hosts + stale_parts == 0)
}

async fn documents(collected: &Collected, query: HostQuery) -> Outcome<BTreeSet<Bytes>> {
    let page = collected.inventory.hosts().list(&collected.caller, &query).await?;
    Ok(page.documents.into_iter().collect())
}

/// Counts the hosts with a part that reports no longer show.
fn hosts_with_stale_parts(hosts: &BTreeSet<Bytes>) -> usize {
    let mark = b"\"is_stale\":true";
    hosts.iter().filter(|host| host.windows(mark.len()).any(|window| window == mark)).count()
}

/// Counts the stations that are located at the device to which they were moved.
async fn seen(collected: &Collected, moved: &[(Station, String)]) -> Outcome<usize> {
    let mut seen = 0;
    for (station, device) in moved {
        let target = LocateTarget::Mac(MacAddress::new(station_mac(*station)));
        let location = collected.topologies.locate(&collected.caller, collected.network, target).await?;
        seen += usize::from(location.candidates.first().is_some_and(|candidate| candidate.name == *device));
    }
    Ok(seen)
}
