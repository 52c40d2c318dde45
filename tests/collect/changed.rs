//! Devices that number their interfaces anew while they are read.

use toposcope::collect::crawl::{CrawlEvent, CrawlOptions, CrawledDevice};
use toposcope::collect::snmp::{SnmpValue, TruncationReason};

use crate::crawl::begin;
use crate::farm::{Agent, Fault, Variables};
use crate::support::{COMMUNITY, IF_TABLE, farm_of, variables};

const UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
const NAME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 5, 0];
const INTERFACES_CHANGED: [u32; 10] = [1, 3, 6, 1, 2, 1, 31, 1, 5, 0];

/// Number of interfaces of the device.
const INTERFACES: u32 = 8;

/// Returns a device with a neighbor by CDP at its first port. The numbers of its interfaces begin behind `shift`.
fn numbered(shift: u32, up_time: u32) -> Variables {
    let mut numbered = Variables::new();
    for (mut id, value) in variables(INTERFACES) {
        if id.starts_with(IF_TABLE)
            && let Some(index) = id.last_mut()
        {
            *index += shift;
        }
        numbered.insert(id, value);
    }
    let bytes = |text: &str| SnmpValue::Bytes(text.as_bytes().into());
    let neighbor = |column| vec![1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, column, shift + 1, 1];
    numbered.insert(neighbor(6), bytes("neighbor"));
    numbered.insert(neighbor(7), bytes("a port"));
    numbered.insert(UP_TIME.to_vec(), SnmpValue::TimeTicks(up_time));
    // Names would show the port.
    numbered.remove([1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1, 1].as_slice());
    numbered
}

/// Reads a device that has other variables after some numbers of packets. Returns it, and the number of packets.
async fn read(changes: impl IntoIterator<Item = (u64, Variables)>) -> (CrawledDevice, u64) {
    let changes = changes.into_iter().map(|(packets, variables)| Fault::BecomesAfter(packets, variables));
    let faults: Vec<Fault> = [Fault::TooBigAbove(2)].into_iter().chain(changes).collect();
    let farm = farm_of(Agent::new(COMMUNITY, numbered(0, 100_000)).faulty(faults));
    let mut crawl = begin(&farm, &["192.0.2.1"], CrawlOptions::default());
    let Some(CrawlEvent::Device(device)) = crawl.next().await else { panic!("the device is read") };
    (*device, farm.sent().len() as u64)
}

/// Returns the name of the interface at which the device has its neighbor.
fn port(device: &CrawledDevice) -> Option<String> {
    let tables = &device.report.devices[0].tables;
    let index = tables.cdp.as_ref()?.rows.first()?.if_index;
    let interface = tables.if_entries.as_ref()?.rows.iter().find(|row| Some(row.if_index) == index)?;
    interface.if_descr.clone()
}

#[tokio::test(start_paused = true)]
async fn device_that_starts_again_with_other_numbers_is_read_again() {
    let (device, packets) = read([]).await;
    assert_eq!(port(&device).as_deref(), Some("port 1"));
    for change in 2..packets {
        let (device, _) = read([(change, numbered(1, 50))]).await;
        assert_eq!(port(&device).as_deref(), Some("port 1"), "after {change} packets");
        assert_eq!(device.truncated, []);
    }
}

#[tokio::test(start_paused = true)]
async fn device_that_changes_its_interfaces_is_read_again() {
    let (_, packets) = read([]).await;
    let changed = |up_time| {
        let mut changed = numbered(1, up_time);
        changed.insert(INTERFACES_CHANGED.to_vec(), SnmpValue::TimeTicks(100_050));
        changed
    };
    let (device, again) = read([(packets / 2, changed(100_100)), (packets + 9, changed(110_000))]).await;
    assert_eq!((port(&device).as_deref(), device.truncated.len()), (Some("port 1"), 0));
    assert!(again > packets * 3 / 2, "{again} packets after {packets}");
    // A change before the reading is none, and neither is one at the time of each answer.
    let mut always = changed(100_100);
    always.insert(INTERFACES_CHANGED.to_vec(), SnmpValue::TimeTicks(100_100));
    let (_, unchanged) = read([(1, changed(110_000)), (packets / 2, always)]).await;
    assert!(unchanged < packets * 3 / 2, "{unchanged} packets after {packets}");
}

#[tokio::test(start_paused = true)]
async fn address_at_which_another_device_answers_is_read_again() {
    let (_, packets) = read([]).await;
    let mut other = numbered(1, 100_000);
    other.insert(NAME.to_vec(), SnmpValue::Bytes(b"the other".as_slice().into()));
    let (device, _) = read([(packets / 2, other)]).await;
    assert_eq!(device.report.devices[0].sys_name.as_deref(), Some("the other"));
    assert_eq!((port(&device).as_deref(), device.truncated.len()), (Some("port 1"), 0));
}

#[tokio::test(start_paused = true)]
async fn tables_of_a_device_that_changes_twice_are_incomplete() {
    let (_, packets) = read([]).await;
    let changes = [(packets / 2, numbered(1, 900)), (packets * 3 / 2, numbered(2, 50))];
    let (device, again) = read(changes).await;
    assert!(!device.truncated.is_empty());
    assert!(device.truncated.iter().all(|(_, reason)| *reason == TruncationReason::Changed));
    assert!(device.report.devices[0].tables.summaries().iter().all(|table| !table.complete));
    // It is not read a third time.
    assert!(again < packets * 5 / 2, "{again} packets after {packets}");
}
