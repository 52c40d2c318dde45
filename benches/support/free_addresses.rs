//! Time for the next free address of a subnet with a million used ones.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use toposcope::access::{Caller, Scope};
use toposcope::discovery::report::{ArpRow, Device, Report, Reporter, Table};
use toposcope::inventory::{AddressQuery, DiscoverOptions, Inventory};
use toposcope::model::{MacAddress, Network, Permission, Subnet, SubnetId, Timestamp, UserId};
use toposcope::store::MemoryStore;

const USED: u32 = 1_000_000;
/// Number of routers whose neighbor caches have the addresses.
const ROUTERS: u32 = 100;
const CALLS: usize = 1_001;

/// Measures an IPv4 and an IPv6 subnet, each with dense addresses and with gaps.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    println!(
        "| subnet | used | first answer, ms | next free, µs | reserve one, µs | free after a reservation, µs |"
    );
    println!("|---|---|---|---|---|---|");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for cidr in ["10.0.0.0/8", "2001:db8::/64"] {
        for step in [1, 7] {
            runtime.block_on(measure_one(cidr, step))?;
        }
    }
    Ok(())
}

/// Returns a used address. Without gaps, they follow the network address.
fn address(cidr: &str, number: u32) -> IpAddr {
    if cidr.contains(':') {
        Ipv6Addr::from_bits((0x2001_0db8 << 96) + u128::from(number)).into()
    } else {
        Ipv4Addr::from_bits((10 << 24) + number).into()
    }
}

fn router(cidr: &str, number: u32, step: u32) -> Device {
    let mut router = Device::default();
    router.sys_name = Some(format!("router-{number}"));
    router.serial_number = Some(format!("SN-{number:06}"));
    let first = number * (USED / ROUTERS);
    let rows = (first..first + USED / ROUTERS).map(|place| {
        let [_, a, b, c] = place.to_be_bytes();
        ArpRow::new(address(cidr, 1 + place * step), MacAddress::new([0x00, 0x1b, 0x21, a, b, c]))
    });
    router.tables.arp = Some(Table::complete(rows.collect()));
    router
}

async fn measure_one(cidr: &str, step: u32) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await?;
    let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    let network = inventory.networks().create(&caller, Network::new("Office")).await?.id;
    for number in 0..ROUTERS {
        let mut report = Report::new(Reporter::new("collector"), Timestamp::now());
        report.devices.push(router(cidr, number, step));
        inventory.discovery().reconcile(&caller, &report, DiscoverOptions::new(network)).await?;
    }
    let subnet = Subnet::new(network, cidr, cidr.parse()?);
    let subnet = inventory.subnets().create(&caller, subnet).await?.id;
    let next =
        async |subnet: SubnetId| inventory.addresses().list(&caller, subnet, AddressQuery::free(1)).await;
    let start = Instant::now();
    next(subnet).await?;
    let first = start.elapsed();
    let (mut frees, mut reserves, mut afters) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let start = Instant::now();
        assert_eq!(next(subnet).await?.addresses.len(), 1);
        frees.push(start.elapsed());
    }
    for _ in 0..CALLS {
        let start = Instant::now();
        inventory.addresses().reserve(&caller, subnet, 1, "rack").await?;
        reserves.push(start.elapsed());
        let start = Instant::now();
        next(subnet).await?;
        afters.push(start.elapsed());
    }
    let [free, reserve, after] = [frees, reserves, afters].map(median).map(|time| time.as_secs_f64() * 1e6);
    let kind = if step == 1 { "dense" } else { "every 7th" };
    let first = first.as_secs_f64() * 1e3;
    println!("| {cidr} | {USED} {kind} | {first:.0} | {free:.1} | {reserve:.1} | {after:.1} |");
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
