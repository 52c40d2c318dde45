//! Questions after one change, through `Topologies`.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use toposcope::access::{Caller, Scope};
use toposcope::model::{
    AdminStatus, Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, LldpChassisId,
    LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, Network, NetworkId, OperStatus, Permission, UserId,
};
use toposcope::topology::Topologies;
use toposcope::topology::paths::{FragileQuery, LocateTarget, PathQuery};
use toposcope::{Inventory, MemoryStore};

use super::http::median;

/// Numbers of devices of the networks. Each device has three links.
const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
/// Number of changes whose median is printed.
const ROUNDS: u32 = 9;

/// A change of a device.
type Change = fn(&mut Host, u32);

/// Changes of one device, with what they change.
const CHANGES: [(&str, Change); 4] = [
    ("description", |host, round| host.description = Some(round.to_string())),
    ("state of a link", |host, round| {
        let is_down = round.is_multiple_of(2);
        let status = if is_down { OperStatus::Down } else { OperStatus::Up };
        host.if_entries.iter_mut().take(1).for_each(|entry| entry.oper_status = Some(status));
    }),
    ("end of a link", |host, round| {
        let neighbor = 17 + round * 13;
        host.if_entries.iter_mut().take(1).for_each(|entry| name_neighbor(entry, neighbor));
    }),
    ("address", |host, round| {
        let address = [10, 200, 0, u8::try_from(round).unwrap_or_default() + 1].into();
        host.interfaces.iter_mut().for_each(|interface| interface.ip_address = address);
    }),
];

/// Prints the time of questions after changes.
pub(super) fn measure() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("| devices | changed | locate, ms | then path, ms | then fragile, ms |");
    println!("|---|---|---|---|---|");
    SIZES.into_iter().try_for_each(|size| runtime.block_on(measure_network(size)))
}

async fn measure_network(size: u32) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("bench").await?.id;
    let system = Caller::system(organization);
    let network = inventory.networks().create(&system, Network::new("bench")).await?.id;
    for number in 0..size {
        inventory.hosts().put(&system, host(network, number, size)).await?;
    }
    let topologies = Topologies::new(inventory.clone());
    let caller = Caller::new(organization, UserId::nil(), Permission::Viewer, Scope::all());
    let ask = async || -> Result<[Duration; 3], Box<dyn Error>> {
        let mut times = [Duration::ZERO; 3];
        let start = Instant::now();
        let target = LocateTarget::Name("sw-9".to_owned());
        black_box(topologies.locate(&caller, network, target).await?);
        times[0] = start.elapsed();
        let start = Instant::now();
        let mut query = PathQuery::new(id(size - 3).into(), id(size / 3).into());
        query.k = 1;
        black_box(topologies.paths(&caller, network, query).await?);
        times[1] = start.elapsed();
        let start = Instant::now();
        black_box(topologies.fragile(&caller, network, FragileQuery::new()).await?);
        times[2] = start.elapsed();
        Ok(times)
    };
    print(size, "everything", &mut [ask().await?]);
    for (name, change) in CHANGES {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let mut changed = host(network, size / 2, size);
            change(&mut changed, round);
            inventory.hosts().put(&system, changed).await?;
            times.push(ask().await?);
        }
        print(size, name, &mut times);
    }
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        inventory.hosts().put(&system, host(network, size + round, size)).await?;
        times.push(ask().await?);
    }
    print(size, "a device more", &mut times);
    Ok(())
}

fn print(size: u32, name: &str, times: &mut [[Duration; 3]]) {
    let column = |place: usize| {
        let mut column: Vec<Duration> = times.iter().filter_map(|times| times.get(place)).copied().collect();
        median(&mut column).as_secs_f64() * 1e3
    };
    println!("| {size} | {name} | {:.2} | {:.2} | {:.2} |", column(0), column(1), column(2));
}

/// Returns a device with three links to devices before it.
fn host(network: NetworkId, number: u32, size: u32) -> Host {
    let mut host = Host::with_id(id(number), network, format!("sw-{number}"));
    host.sys_name = Some(format!("sw-{number}"));
    host.chassis_id = Some(chassis(number));
    let neighbors =
        [number / 20, number.wrapping_mul(2_654_435_761) % size, number.wrapping_mul(40_503) % size];
    let ports = (1_u32..).zip(neighbors).filter(|(_, neighbor)| *neighbor != number);
    host.if_entries = ports.map(|(port, neighbor)| entry(&host, port, neighbor)).collect();
    let [_, a, b, c] = number.to_be_bytes();
    let mut interface = Interface::new(&host, [10, a, b, c].into());
    interface.id = InterfaceId::from_u128(host.id.as_u128());
    host.interfaces = vec![interface];
    host
}

fn entry(host: &Host, port: u32, neighbor: u32) -> IfEntry {
    let mut entry = IfEntry {
        id: IfEntryId::from_u128(host.id.as_u128() << 64 | u128::from(port)),
        if_name: Some(format!("Gi1/0/{port}")),
        if_descr: format!("GigabitEthernet1/0/{port}"),
        if_type: Some(6),
        admin_status: Some(AdminStatus::Up),
        oper_status: Some(OperStatus::Up),
        ..IfEntry::new(host, i64::from(port))
    };
    name_neighbor(&mut entry, neighbor);
    entry
}

fn name_neighbor(entry: &mut IfEntry, neighbor: u32) {
    let value = format!("Gi2/{}/{}", entry.id.as_u128() >> 64, entry.if_index);
    entry.lldp_chassis_id = Some(chassis(neighbor));
    entry.lldp_sys_name = Some(format!("sw-{neighbor}"));
    entry.lldp_port_id = Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value });
}

fn id(number: u32) -> HostId {
    HostId::from_u128(u128::from(number) + 2)
}

fn chassis(number: u32) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::LocallyAssigned, value: format!("chassis-{number}") }
}
