//! Crawls of a network that an earlier crawl has read.

use std::time::Duration;

use tokio::time::sleep;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlMemory, CrawlOptions, CrawledDevice};
use toposcope::collect::snmp::SnmpValue;
use toposcope::discovery::report::TableKind;

use crate::crawl::with_neighbors;
use crate::farm::Variables;
use crate::farm::{Agent, Farm};
use crate::support::{COMMUNITY, IF_TABLE, community, gate, ip, variables};

const UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
const INTERFACES_CHANGED: [u32; 10] = [1, 3, 6, 1, 2, 1, 31, 1, 5, 0];
const NEIGHBORS_CHANGED: [u32; 10] = [1, 0, 8802, 1, 1, 2, 1, 2, 1, 0];

/// Adds a MAC address that is seen behind a port.
pub(crate) fn learn(variables: &mut Variables, last: u32, port: u32) {
    let bridge = [1, 3, 6, 1, 2, 1, 17];
    let mac = [0, 0x16, 0x3e, 0, 0, last];
    let bytes: Vec<u8> = mac.iter().map(|byte| u8::try_from(*byte).unwrap()).collect();
    variables.insert([&bridge[..], &[1, 4, 1, 2, port]].concat(), SnmpValue::Integer(port.cast_signed()));
    let row = |column: u32| [&bridge[..], &[4, 3, 1, column], &mac].concat();
    variables.insert(row(1), SnmpValue::Bytes(bytes.into()));
    variables.insert(row(2), SnmpValue::Integer(port.cast_signed()));
    variables.insert(row(3), SnmpValue::Integer(3));
}

/// Returns an agent that states when its tables changed last.
pub(crate) fn marked(name: &str, own: &str, neighbors: &[&str]) -> Agent {
    let mut variables = with_neighbors(name, &[own], neighbors);
    variables.insert(UP_TIME.to_vec(), SnmpValue::TimeTicks(8_640_000));
    variables.insert(INTERFACES_CHANGED.to_vec(), SnmpValue::TimeTicks(0));
    variables.insert(NEIGHBORS_CHANGED.to_vec(), SnmpValue::TimeTicks(4_200));
    learn(&mut variables, 1, 1);
    learn(&mut variables, 2, 1);
    Agent::new(COMMUNITY, variables)
}

pub(crate) fn network() -> Farm {
    Farm::with([
        (ip("192.0.2.1"), marked("a", "192.0.2.1", &["192.0.2.2"])),
        (ip("192.0.2.2"), marked("b", "192.0.2.2", &["192.0.2.1", "192.0.2.3"])),
        (ip("192.0.2.3"), marked("c", "192.0.2.3", &["192.0.2.2"])),
    ])
}

/// Crawls from the first device, and returns the devices in the order of their addresses.
pub(crate) async fn crawled(farm: &Farm, memory: CrawlMemory) -> (Vec<CrawledDevice>, CrawlMemory) {
    // The gate is new, and knows no packets of the crawl before.
    sleep(Duration::from_secs(2)).await;
    let gate = gate(farm, "192.0.2.0/24");
    let crawl = Crawl::begin(&gate, [ip("192.0.2.1")], |_| community(), CrawlOptions::default());
    let mut crawl = crawl.unwrap().with_memory(memory);
    let mut devices = Vec::new();
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            devices.push(*device);
        }
    }
    devices.sort_by_key(|device| device.address);
    let unchanged = devices.iter().filter(|device| is_unchanged(device)).count();
    assert_eq!((crawl.progress().devices, crawl.progress().unchanged), (devices.len(), unchanged));
    let memory = crawl.memory().unwrap();
    // It is kept as text.
    let json = serde_json::to_string(memory).unwrap();
    assert!(!json.contains(str::from_utf8(COMMUNITY).unwrap()));
    (devices, serde_json::from_str(&json).unwrap())
}

fn is_unchanged(device: &CrawledDevice) -> bool {
    !device.report.devices[0].tables.unchanged().is_empty()
}

#[tokio::test(start_paused = true)]
async fn unchanged_tables_are_not_read_again() {
    let farm = network();
    // Each column then takes several answers.
    let interfaces = |agent: &mut Agent| {
        let columns = variables(200).into_iter().filter(|(id, _)| id.starts_with(IF_TABLE));
        agent.variables.extend(columns);
    };
    for own in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        farm.change(ip(own), interfaces);
    }
    let (first, memory) = crawled(&farm, CrawlMemory::default()).await;
    assert_eq!(first.len(), 3);
    assert!(!first.iter().any(is_unchanged));
    let packets = farm.sent().len();
    let (second, _) = crawled(&farm, memory).await;
    let again = farm.sent().len() - packets;
    println!("{packets} packets, and {again} again");
    assert!(again < packets * 4 / 5, "{again} packets after {packets}");
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.address, second.address);
        let (first, second) = (&first.report.devices[0], &second.report.devices[0]);
        let mut of_host = first.tables.summaries();
        of_host.retain(|table| !matches!(table.kind, TableKind::Fdb | TableKind::Arp));
        let of_host: Vec<TableKind> = of_host.iter().map(|table| table.kind).collect();
        assert!(of_host.contains(&TableKind::Lldp) && of_host.contains(&TableKind::IfEntries));
        assert_eq!(second.tables.unchanged(), of_host);
        assert_eq!((&first.tables.fdb, &first.tables.arp), (&second.tables.fdb, &second.tables.arp));
        assert_eq!((&first.chassis_id, &first.sys_descr), (&second.chassis_id, &second.sys_descr));
    }
}

#[tokio::test(start_paused = true)]
async fn device_of_which_something_has_changed_is_read_as_a_whole() {
    type Change = fn(&mut Variables);
    let changes: [(&str, Change); 7] = [
        ("a reboot", |variables| drop(variables.insert(UP_TIME.to_vec(), SnmpValue::TimeTicks(9_000)))),
        ("no time of its run", |variables| drop(variables.remove(UP_TIME.as_slice()))),
        ("an interface", |variables| {
            variables.insert(INTERFACES_CHANGED.to_vec(), SnmpValue::TimeTicks(8_630_000));
        }),
        ("no mark of interfaces", |variables| drop(variables.remove(INTERFACES_CHANGED.as_slice()))),
        ("a neighbor", |variables| {
            variables.insert(NEIGHBORS_CHANGED.to_vec(), SnmpValue::TimeTicks(8_630_000));
        }),
        ("the status of a port", |variables| {
            variables.insert(vec![1, 3, 6, 1, 2, 1, 2, 2, 1, 8, 1], SnmpValue::Integer(2));
        }),
        ("an address", |variables| {
            let row = |column: u32| vec![1, 3, 6, 1, 2, 1, 4, 20, 1, column, 192, 0, 2, 77];
            variables.insert(row(1), SnmpValue::IpAddress([192, 0, 2, 77]));
            variables.insert(row(2), SnmpValue::Integer(1));
            variables.insert(row(3), SnmpValue::IpAddress([255, 255, 255, 0]));
        }),
    ];
    for (name, change) in changes {
        let farm = network();
        let (_, memory) = crawled(&farm, CrawlMemory::default()).await;
        farm.change(ip("192.0.2.2"), |agent| change(&mut agent.variables));
        let (devices, memory) = crawled(&farm, memory).await;
        let expected = [true, false, true];
        assert_eq!(devices.iter().map(is_unchanged).collect::<Vec<_>>(), expected, "{name}");
        // The state after the change is remembered, unless the device no longer has its marks.
        let (devices, _) = crawled(&farm, memory).await;
        assert_eq!(is_unchanged(&devices[1]), !name.starts_with("no "), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn neighbors_without_a_mark_are_read_and_compared() {
    let farm = network();
    let address = ip("192.0.2.2");
    farm.change(address, |agent| {
        drop(agent.variables.insert(NEIGHBORS_CHANGED.to_vec(), SnmpValue::TimeTicks(0)));
    });
    let (_, memory) = crawled(&farm, CrawlMemory::default()).await;
    let (devices, memory) = crawled(&farm, memory).await;
    assert!(is_unchanged(&devices[1]));
    farm.change(address, |agent| {
        let port = vec![1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 7, 0, 1, 1];
        assert!(agent.variables.insert(port, SnmpValue::Bytes(b"another".as_slice().into())).is_some());
    });
    let (devices, _) = crawled(&farm, memory).await;
    assert!(!is_unchanged(&devices[1]));
}

#[tokio::test(start_paused = true)]
async fn forgotten_device_is_read_as_a_whole() {
    let farm = network();
    let (_, mut memory) = crawled(&farm, CrawlMemory::default()).await;
    memory.forget(ip("192.0.2.3"));
    let (devices, _) = crawled(&farm, memory).await;
    assert_eq!(devices.iter().map(is_unchanged).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn memory_of_another_version_is_an_error() {
    let json = serde_json::to_string(&CrawlMemory::default()).unwrap();
    let later = json.replace("\"version\":1", "\"version\":2");
    assert_ne!(json, later);
    let error = serde_json::from_str::<CrawlMemory>(&later).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
}

/// Returns the addresses of the MAC addresses that a device has learned at a port.
fn ports_of(device: &CrawledDevice, last: u8) -> Option<i64> {
    let fdb = device.report.devices[0].tables.fdb.as_ref().unwrap();
    let row = fdb.rows.iter().find(|row| row.mac_address.octets()[5] == last);
    row.and_then(|row| row.if_index)
}

#[tokio::test(start_paused = true)]
async fn moved_mac_address_is_seen_on_an_unchanged_device() {
    let farm = network();
    let (devices, memory) = crawled(&farm, CrawlMemory::default()).await;
    assert_eq!(ports_of(&devices[0], 2), Some(1));
    farm.change(ip("192.0.2.1"), |agent| learn(&mut agent.variables, 2, 2));
    let (devices, _) = crawled(&farm, memory).await;
    assert!(is_unchanged(&devices[0]));
    assert_eq!(ports_of(&devices[0], 2), Some(2));
}

#[cfg(feature = "service")]
mod stored {
    use std::sync::Arc;

    use toposcope::access::{Caller, ManualClock};
    use toposcope::discovery::report::WarningCode;
    use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, DiscoveryReport};
    use toposcope::model::{Host, Network, NetworkId, Timestamp};
    use toposcope::wire::HostQuery;
    use toposcope::{Inventory, MemoryStore};

    use super::*;

    const HOUR: i64 = 3_600_000_000;

    struct Stored {
        inventory: Inventory,
        caller: Caller,
        network: NetworkId,
    }

    impl Stored {
        async fn new() -> Self {
            let clock = ManualClock::new(Timestamp::now().plus_micros(1_000 * HOUR));
            let inventory = Inventory::new(MemoryStore::new()).with_clock(Arc::new(clock));
            let organization = inventory.organizations().create("Example").await.unwrap();
            let caller = Caller::system(organization.id);
            let network = inventory.networks().create(&caller, Network::new("Office")).await.unwrap().id;
            Self { inventory, caller, network }
        }

        async fn reconcile(&self, devices: &[CrawledDevice]) -> Vec<DiscoveryReport> {
            let mut answers = Vec::new();
            for device in devices {
                let options = DiscoverOptions::new(self.network);
                let discovery = self.inventory.discovery();
                answers.push(discovery.reconcile(&self.caller, &device.report, options).await.unwrap());
            }
            answers
        }

        async fn hosts(&self) -> Vec<Host> {
            let page = self.inventory.hosts().list(&self.caller, &HostQuery::default()).await.unwrap();
            let mut hosts = page.hosts().unwrap();
            hosts.sort_by(|one, other| one.name.cmp(&other.name));
            hosts
        }
    }

    /// Sets the time of the reports.
    fn later(devices: &mut [CrawledDevice], hours: i64) {
        for device in devices {
            device.report.observed_at = device.report.observed_at.plus_micros(hours * HOUR);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unchanged_network_writes_no_host_and_makes_nothing_stale() {
        let (farm, stored) = (network(), Stored::new().await);
        let (devices, mut memory) = crawled(&farm, CrawlMemory::default()).await;
        stored.reconcile(&devices).await;
        let before = stored.hosts().await;
        assert_eq!(before.len(), 3);
        assert!(before.iter().all(|host| host.if_entries.len() > 1 && !host.interfaces.is_empty()));
        for run in 1..=5 {
            let mut devices;
            (devices, memory) = crawled(&farm, memory).await;
            assert!(devices.iter().all(is_unchanged));
            later(&mut devices, 2 * run);
            let observed = devices[0].report.observed_at;
            for answer in stored.reconcile(&devices).await {
                assert_eq!(answer.hosts[0].outcome, DiscoveryOutcome::Unchanged);
                assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
                assert!(answer.tables.iter().any(|table| table.unchanged));
            }
            // Neither content nor ages nor versions.
            assert_eq!(stored.hosts().await, before);
            for claim in
                stored.inventory.discovery().claims(&stored.caller, before[0].id, None).await.unwrap()
            {
                assert!(claim.complete && claim.observed_at == observed, "{claim:?}");
                assert!(
                    claim.parts.iter().all(|part| part.missed_scans == 0 && part.last_seen_at == observed)
                );
            }
        }
        // Once a day, the hosts show that they are seen.
        let (mut devices, memory) = crawled(&farm, memory).await;
        later(&mut devices, 30);
        stored.reconcile(&devices).await;
        let after = stored.hosts().await;
        assert!(after.iter().zip(&before).all(|(after, before)| after.last_seen_at > before.last_seen_at));
        assert!(after.iter().all(|host| !host.is_stale && host.if_entries.iter().all(|part| !part.is_stale)));
        drop(memory);
    }

    #[tokio::test(start_paused = true)]
    async fn part_that_is_missing_stays_missing_while_the_table_is_unchanged() {
        let (farm, stored) = (network(), Stored::new().await);
        let (mut devices, _) = crawled(&farm, CrawlMemory::default()).await;
        stored.reconcile(&devices).await;
        // Two crawls without the last port, then unchanged ones.
        let last = [1, 3, 6, 1, 2, 1, 2, 2, 1];
        farm.change(ip("192.0.2.1"), |agent| {
            agent.variables.retain(|id, _| !(id.starts_with(&last) && id.last() == Some(&2)));
        });
        let mut memory;
        (devices, memory) = crawled(&farm, CrawlMemory::default()).await;
        for (run, is_stale) in [(1, false), (2, false), (3, true)] {
            later(&mut devices, run);
            stored.reconcile(&devices).await;
            let hosts = stored.hosts().await;
            let part = hosts[0].if_entries.iter().find(|part| part.if_index == 2).unwrap();
            assert_eq!(part.is_stale, is_stale, "{run}");
            assert!(!hosts[0].if_entries.iter().any(|part| part.if_index == 1 && part.is_stale));
            (devices, memory) = crawled(&farm, memory).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unchanged_tables_that_the_inventory_lacks_are_stated() {
        let farm = network();
        let (devices, memory) = crawled(&farm, CrawlMemory::default()).await;
        let (unchanged, _) = crawled(&farm, memory).await;
        let stored = Stored::new().await;
        let answers = stored.reconcile(&unchanged[..1]).await;
        assert_eq!(answers[0].hosts[0].outcome, DiscoveryOutcome::Ignored);
        assert_eq!(answers[0].warnings[0].code, WarningCode::TableUnknown);
        assert!(stored.hosts().await.is_empty());
        // A host that is known without these tables.
        let mut known = devices[0].report.clone();
        known.devices[0].tables.lldp = None;
        let options = DiscoverOptions::new(stored.network);
        stored.inventory.discovery().reconcile(&stored.caller, &known, options).await.unwrap();
        let answers = stored.reconcile(&unchanged[..1]).await;
        let warning = &answers[0].warnings[0];
        assert_eq!((warning.code, warning.count), (WarningCode::TableUnknown, 1));
        assert!(warning.example.as_ref().unwrap().contains(": lldp."), "{warning:?}");
    }
}
