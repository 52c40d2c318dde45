use toposcope::discovery::report::{AddressRow, Device, IfEntryRow, Table, Warning, WarningCode};
use toposcope::inventory::DiscoverOptions;
use toposcope::model::{Host, Interface, MacAddress, Source};

use super::support::{FIRST, SECOND, chassis, discover, discover_with, report_of, switch};
use crate::backend::run;
use crate::support::{Fixture, id, owner_of};

/// Returns a device with a chassis id of its own.
fn device(number: u8, name: &str, addresses: &[[u8; 4]], macs: &[[u8; 6]]) -> Device {
    let mut device = Device::default();
    device.sys_name = Some(name.to_owned());
    device.chassis_id = Some(Box::new(chassis(number)));
    device.serial_number = Some(format!("SN-{number:06}"));
    let rows = addresses.iter().map(|address| AddressRow::new((*address).into())).collect();
    device.tables.addresses = Some(Table::complete(rows));
    let entries = macs.iter().zip(1..).map(|(mac, index)| {
        let mut row = IfEntryRow::new(index);
        row.mac_address = Some(MacAddress::new(*mac));
        row
    });
    device.tables.if_entries = Some(Table::complete(entries.collect()));
    device
}

fn duplicates(warnings: &[Warning]) -> Vec<(WarningCode, u64, String)> {
    let is_meant = |warning: &&Warning| {
        use WarningCode::{AddressOnTwoHosts, MacOnTwoHosts, NameOnTwoHosts};
        matches!(warning.code, AddressOnTwoHosts | MacOnTwoHosts | NameOnTwoHosts)
    };
    let mut found: Vec<_> = warnings
        .iter()
        .filter(is_meant)
        .map(|warning| (warning.code, warning.count, warning.example.clone().unwrap_or_default()))
        .collect();
    found.sort();
    found
}

const MAC: [u8; 6] = [0x00, 0x1b, 0x21, 0x55, 0x00, 0x01];

#[test]
fn each_value_on_two_hosts_is_one_occurrence_with_both_names() {
    run(async || {
        let fixture = Fixture::new().await;
        let devices = vec![
            device(1, "core", &[[192, 0, 2, 1], [192, 0, 2, 9]], &[MAC]),
            device(2, "edge", &[[192, 0, 2, 1], [192, 0, 2, 9]], &[MAC]),
            device(3, "edge", &[[192, 0, 2, 3]], &[]),
        ];
        for at in [FIRST, FIRST, SECOND] {
            let answer = discover(&fixture, devices.clone(), at).await;
            assert_eq!(fixture.documents().await.len(), 3);
            let expected = [
                (WarningCode::AddressOnTwoHosts, 2, "the address 192.0.2.1 is on core and edge"),
                (WarningCode::MacOnTwoHosts, 1, "the MAC address 00:1B:21:55:00:01 is on core and edge"),
                (WarningCode::NameOnTwoHosts, 1, "the name edge is on edge and edge"),
            ];
            let found = duplicates(&answer.warnings);
            assert_eq!(found.len(), 3, "{found:?}");
            for ((code, count, example), (expected_code, expected_count, text)) in found.iter().zip(expected)
            {
                assert_eq!((*code, *count), (expected_code, expected_count), "{at}");
                let mut words: Vec<&str> = example.split(' ').collect();
                let mut expected: Vec<&str> = text.split(' ').collect();
                words.sort_unstable();
                expected.sort_unstable();
                assert_eq!(words, expected, "either order of the hosts");
            }
        }
    });
}

#[test]
fn hosts_that_share_nothing_give_no_warning() {
    run(async || {
        let fixture = Fixture::new().await;
        let devices: Vec<Device> = (1..20).map(switch).collect();
        assert_eq!(duplicates(&discover(&fixture, devices, FIRST).await.warnings), []);
        // The same addresses on another network are others.
        let caller = owner_of(fixture.organization);
        let options = DiscoverOptions::new(fixture.other_network);
        let answer = fixture
            .inventory
            .discovery()
            .reconcile(&caller, &report_of(vec![switch(1)], FIRST), options)
            .await
            .unwrap();
        assert_eq!(duplicates(&answer.warnings), []);
    });
}

#[test]
fn hosts_that_users_entered_count_and_a_dry_run_warns_as_well() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut desk = Host::with_id(id(1), fixture.network, "desk");
        desk.source = Source::Unknown;
        desk.serial_number = Some("SN-DESK-01".to_owned());
        desk.interfaces.push(Interface::new(&desk, "192.0.2.1".parse().unwrap()));
        fixture.put(&desk).await;
        let new = device(1, "core", &[[192, 0, 2, 1]], &[]);
        let options = DiscoverOptions::new(fixture.network).dry_run();
        let tried = discover_with(&fixture, vec![new.clone()], FIRST, options).await;
        let stored = discover(&fixture, vec![new], FIRST).await;
        assert_eq!(tried.warnings, stored.warnings);
        let found = duplicates(&stored.warnings);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].2.contains("desk") && found[0].2.contains("core"), "{found:?}");
    });
}
