//! Properties of reconciliation that hold for random devices, edits and orders.

use std::collections::BTreeMap;

use fastrand::Rng;
use toposcope::discovery::Report;
use toposcope::discovery::reconcile::{Identity, Merging, Projection, recognize};
use toposcope::discovery::report::{
    AddressRow, CdpRow, Device, IfEntryRow, LagRow, PortRow, Reporter, Table,
};
use toposcope::model::{
    Host, HostId, IfEntryId, InterfaceId, LldpChassisIdSubtype as Subtype, MacAddress, PortNumber, Protocol,
    ServiceId, Source, Vlans,
};

use super::support::{Record, at, chassis, host, lldp};
use super::world::{NETWORK, World};

/// Returns a device with random tables. Their values are drawn from few, so that devices and rows collide.
fn random_device(random: &mut Rng) -> Device {
    let mut device = Device::default();
    device.sys_name = text(random, "name");
    device.sys_location = text(random, "location");
    device.sys_contact = text(random, "contact");
    device.serial_number = text(random, "serial");
    device.chassis_id =
        text(random, "chassis").map(|value| Box::new(chassis(Subtype::LocallyAssigned, &value)));
    device.tables.if_entries = table(random, |random| {
        let mut row = IfEntryRow::new(random.i64(1..6));
        row.if_name = text(random, "port");
        row.if_alias = text(random, "alias");
        row.mac_address = Some(MacAddress::new([0, 0x1B, 0x21, 0, 0, random.u8(..6)]));
        row.vlans = random.bool().then(|| Vlans {
            untagged: Some(1),
            tagged: vec![random.u16(1..9), 5],
            ..Vlans::default()
        });
        row
    });
    device.tables.addresses = table(random, |random| {
        let mut row = AddressRow::new([192, 0, 2, random.u8(1..6)].into());
        row.if_index = random.bool().then(|| random.i64(1..6));
        row
    });
    device.tables.lldp = table(random, |random| {
        let value = text(random, "chassis").unwrap_or_default();
        lldp(random.i64(1..7), Subtype::LocallyAssigned, &value)
    });
    device.tables.cdp = table(random, |random| {
        let mut row = CdpRow::new(text(random, "name").unwrap_or_default());
        row.if_index = Some(random.i64(1..7));
        row
    });
    device.tables.lag = table(random, |random| LagRow::new(random.i64(1..6), random.i64(1..6)));
    device.tables.ports = table(random, |random| {
        let mut row = PortRow::new(PortNumber::try_from(random.u16(1..6)).unwrap(), Protocol::Tcp);
        row.service = text(random, "service");
        row
    });
    device
}

fn text(random: &mut Rng, kind: &str) -> Option<String> {
    (!random.u8(..5).is_multiple_of(5)).then(|| format!("{kind}-{}", random.u8(..4)))
}

fn table<T>(random: &mut Rng, mut row: impl FnMut(&mut Rng) -> T) -> Option<Box<Table<T>>> {
    let rows: Vec<T> = (0..random.usize(..6)).map(|_| row(random)).collect();
    let table = if random.bool() { Table::complete(rows) } else { Table::truncated(rows) };
    (!random.u8(..4).is_multiple_of(4)).then_some(table)
}

fn shuffle(device: &mut Device, random: &mut Rng) {
    let tables = &mut device.tables;
    if let Some(table) = &mut tables.if_entries {
        random.shuffle(&mut table.rows);
    }
    if let Some(table) = &mut tables.addresses {
        random.shuffle(&mut table.rows);
    }
    if let Some(table) = &mut tables.lldp {
        random.shuffle(&mut table.rows);
    }
    if let Some(table) = &mut tables.cdp {
        random.shuffle(&mut table.rows);
    }
    if let Some(table) = &mut tables.lag {
        random.shuffle(&mut table.rows);
    }
    if let Some(table) = &mut tables.ports {
        random.shuffle(&mut table.rows);
    }
}

#[test]
fn edits_survive_a_hundred_random_reports() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let mut record = Record::new(&random_device(&mut random));
        let mut expected: BTreeMap<IfEntryId, Option<String>> = BTreeMap::new();
        record.host.sys_location = Some("edited".to_owned());
        record.host.name = "edited".to_owned();
        for entry in &mut record.host.if_entries {
            entry.if_alias = random.bool().then(|| "edited".to_owned());
            if entry.if_alias.is_some() {
                expected.insert(entry.id, entry.if_alias.clone());
            }
        }
        let deleted = record.host.interfaces.pop().map(|interface| {
            for entry in &mut record.host.if_entries {
                entry.interface_id = entry.interface_id.filter(|id| *id != interface.id);
            }
            interface.ip_address
        });
        for _ in 0..100 {
            record.merge(&random_device(&mut random), random.i64(1..200));
            let host = &record.host;
            assert_eq!(
                (host.name.as_str(), host.sys_location.as_deref()),
                ("edited", Some("edited")),
                "seed {seed}"
            );
            for (id, alias) in &expected {
                let entry = host.if_entries.iter().find(|entry| entry.id == *id);
                assert_eq!(entry.map(|entry| &entry.if_alias), Some(alias), "seed {seed}");
            }
            assert!(!host.interfaces.iter().any(|part| Some(part.ip_address) == deleted), "seed {seed}");
            assert_consistent(host);
        }
    }
}

/// Checks the rules for every stored host. Ids and natural keys must be unique, and references must lead to parts.
fn assert_consistent(host: &Host) {
    let interfaces: Vec<InterfaceId> = host.interfaces.iter().map(|part| part.id).collect();
    let entries: Vec<IfEntryId> = host.if_entries.iter().map(|part| part.id).collect();
    let services: Vec<ServiceId> = host.services.iter().map(|part| part.id).collect();
    let ports: Vec<_> = host.ports.iter().map(|port| (port.number, port.protocol)).collect();
    assert_unique(&interfaces);
    assert_unique(&entries);
    assert_unique(&services);
    assert_unique(&ports);
    for entry in &host.if_entries {
        assert!(entry.interface_id.is_none_or(|id| interfaces.contains(&id)));
        assert!(entry.lag_id.is_none_or(|id| entries.contains(&id)));
    }
}

fn assert_unique<T: Ord + Clone>(values: &[T]) {
    let mut sorted = values.to_vec();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), values.len());
}

#[test]
fn order_of_rows_never_matters() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let first = random_device(&mut random);
        let second = random_device(&mut random);
        let (mut first_shuffled, mut second_shuffled) = (first.clone(), second.clone());
        shuffle(&mut first_shuffled, &mut random);
        shuffle(&mut second_shuffled, &mut random);
        assert_eq!(Identity::of_device(&first), Identity::of_device(&first_shuffled));
        let projected =
            |device| Projection::of_device(device, NETWORK, HostId::from_u128(1), &[]).host().clone();
        assert_eq!(projected(&first), projected(&first_shuffled), "seed {seed}");
        let (mut one, mut other) = (Record::new(&first), Record::new(&first_shuffled));
        one.merge(&second, 1);
        other.merge(&second_shuffled, 1);
        assert_eq!((one.host, one.state), (other.host, other.state), "seed {seed}");
    }
}

#[test]
fn second_merge_of_the_same_report_changes_nothing() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let mut record = Record::new(&random_device(&mut random));
        for minutes in 1..6 {
            let device = random_device(&mut random);
            record.merge(&device, minutes);
            let before = record.clone();
            let mut shuffled = device.clone();
            shuffle(&mut shuffled, &mut random);
            let again = record.merge(&shuffled, minutes);
            assert!(again.writes_nothing(), "seed {seed}: {:?}", again.changes);
            assert_eq!((&record.host, &record.state), (&before.host, &before.state), "seed {seed}");
            let later = record.clone().merge(&device, minutes + 100);
            assert_eq!(later.changes, Vec::<String>::new(), "seed {seed}");
            assert_eq!(later.host.updated_at, before.host.updated_at);
        }
    }
}

#[test]
fn recognition_does_not_depend_on_the_order_of_candidates() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let mut hosts: Vec<Host> = (1..6)
            .map(|id| {
                let device = random_device(&mut random);
                Projection::of_device(&device, NETWORK, HostId::from_u128(id), &[]).host().clone()
            })
            .collect();
        hosts.push(Host { source: Source::Manual, ..host(9, |host| host.name = "name-1".to_owned()) });
        let device = random_device(&mut random);
        let expected = recognize(&device, &hosts, Merging::Allowed);
        for _ in 0..5 {
            random.shuffle(&mut hosts);
            assert_eq!(recognize(&device, &hosts, Merging::Allowed), expected, "seed {seed}");
        }
    }
}

#[test]
fn device_is_recognized_again_as_the_host_that_it_created() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let mut world = World::default();
        let mut report = Report::new(Reporter::new("test"), at(0));
        report.devices.push(random_device(&mut random));
        let first = world.discover(&report);
        let again = world.discover(&report);
        assert_eq!(again[0].id, first[0].id, "seed {seed}");
        assert!(again[0].wrote_nothing, "seed {seed}: {:?}", again[0].changes);
        assert!(world.hosts().count() <= 1);
    }
}
