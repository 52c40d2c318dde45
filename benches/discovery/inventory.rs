//! Discovery of many devices into an inventory in memory.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use serde_json::Value;
use toposcope::access::{Caller, Scope};
use toposcope::discovery::{Format, ParseOptions, Report, parse};
use toposcope::inventory::{DiscoverOptions, Inventory};
use toposcope::model::{MacAddress, Network, Permission, Timestamp, UserId};
use toposcope::store::MemoryStore;

/// Numbers of devices to discover.
const DEVICES: [usize; 2] = [1_000, 10_000];

/// Fields that identify a device or name its neighbor, apart from addresses.
const IDENTITIES: [&str; 5] = ["sys_name", "hostname", "serial_number", "cdp_device_id", "device_id"];

/// The addresses of the copies of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addresses {
    /// Copies share some: the more copies, the more hosts a device is compared with.
    Overlapping,
    /// Every copy has its own, as the devices of one network have.
    Disjoint,
}

/// Measures how long it takes to discover many devices. The devices are copies of the labs with varied identities.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    let labs = labs()?;
    let per_copy: usize = labs.iter().map(|report| report.devices.len()).sum();
    if per_copy == 0 {
        println!("no labs: TOPOSCOPE_DISCOVERY_DATA may name a folder that has them");
        return Ok(());
    }
    println!("| addresses of the copies | devices | seconds | ms a device | again, unchanged: seconds |");
    println!("|---|---|---|---|---|");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    for addresses in [Addresses::Overlapping, Addresses::Disjoint] {
        for devices in DEVICES {
            let copies: Vec<Report> = (0..devices.div_ceil(per_copy))
                .flat_map(|copy| labs.iter().map(move |lab| varied(lab, copy, addresses)).collect::<Vec<_>>())
                .collect::<Result<_, _>>()?;
            let (first, second) = runtime.block_on(discover(&copies))?;
            let count: usize = copies.iter().map(|report| report.devices.len()).sum();
            let each = first * 1e3 / count as f64;
            println!("| {addresses:?} | {count} | {first:.1} | {each:.2} | {second:.1} |");
        }
    }
    Ok(())
}

/// Returns how many seconds it takes to discover all reports, and to discover them again.
async fn discover(reports: &[Report]) -> Result<(f64, f64), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await?;
    let network =
        inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    let mut seconds = [0.0; 2];
    for seconds in &mut seconds {
        let start = Instant::now();
        for report in reports {
            inventory.discovery().reconcile(&caller, report, DiscoverOptions::new(network.id)).await?;
        }
        *seconds = start.elapsed().as_secs_f64();
    }
    Ok((seconds[0], seconds[1]))
}

/// Returns the labs, one report each. The list is empty if the folder is missing.
fn labs() -> Result<Vec<Report>, Box<dyn Error>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let mut labs: BTreeMap<PathBuf, Report> = BTreeMap::new();
    let folders = fs::read_dir(data.join("labs")).into_iter().flatten();
    for folder in folders {
        let folder = folder?.path();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(device) = name.strip_suffix(".walk.gz") else { continue };
            let walk = Command::new("gzip").arg("-dc").arg(&path).output()?.stdout;
            let options = ParseOptions::new(Timestamp::now()).with_reporter(device.into());
            let report = parse(Format::Snmpwalk, walk.as_slice(), &options.with_complete_tables())?;
            match labs.get_mut(&folder) {
                Some(lab) => lab.devices.extend(report.devices),
                None => drop(labs.insert(folder.clone(), report)),
            }
        }
    }
    Ok(labs.into_values().collect())
}

/// Returns a copy of a lab with other identities.
fn varied(lab: &Report, copy: usize, addresses: Addresses) -> Result<Report, serde_json::Error> {
    let mut value = serde_json::to_value(lab)?;
    vary(&mut value, "", copy, addresses);
    serde_json::from_value(value)
}

fn vary(value: &mut Value, field: &str, copy: usize, addresses: Addresses) {
    match value {
        Value::Object(members) => {
            // The value of a chassis id is an identity, but the value of a port id is not.
            let is_port = field == "port_id" || field == "local_port_id";
            for (name, member) in members.iter_mut().filter(|(name, _)| !(is_port && *name == "value")) {
                let name = if field == "chassis_id" && name == "value" { "serial_number" } else { name };
                vary(member, name, copy, addresses);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| vary(item, field, copy, addresses)),
        Value::String(text) => *text = varied_text(text, field, copy, addresses),
        _ => {}
    }
}

/// Varies an address or an identity.
///
/// Addresses that overlap vary in the octets in which the devices of a lab differ as well. Otherwise, they vary in those in
/// which labs differ least.
fn varied_text(text: &str, field: &str, copy: usize, addresses: Addresses) -> String {
    let [.., third, second, first] = copy.to_be_bytes();
    let is_overlapping = addresses == Addresses::Overlapping;
    if let Ok(address) = text.parse::<MacAddress>() {
        let mut octets = address.octets().to_vec();
        let varied = octets.iter_mut().skip(if is_overlapping { 2 } else { 1 }).zip([third, second, first]);
        varied.for_each(|(octet, change)| *octet ^= change);
        return MacAddress::try_from(octets.as_slice())
            .map_or_else(|_| text.to_owned(), |varied| varied.to_string());
    }
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            let [a, b, c, d] = address.octets();
            let varied = if is_overlapping {
                [a, b ^ second, c ^ first, d]
            } else {
                [a, b ^ (first << 1), c ^ second, d]
            };
            IpAddr::from(varied).to_string()
        }
        Ok(IpAddr::V6(address)) => {
            let mut octets = address.octets();
            let place = if is_overlapping { 6 } else { 4 };
            (octets[place], octets[place + 1]) = (octets[place] ^ second, octets[place + 1] ^ first);
            IpAddr::from(octets).to_string()
        }
        Err(_) if IDENTITIES.contains(&field) => format!("{text}-{copy}"),
        Err(_) => text.to_owned(),
    }
}
