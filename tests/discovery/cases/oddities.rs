//! Statements of agents and tools that do not apply to the device.

use toposcope::discovery::report::{Capability, Device, WarningCode};
use toposcope::discovery::{Format, Report};

use super::neighbors::{assert_account, complete, interfaces, lldp, walk};
use crate::support::{count, rows};

const NAME: &str = ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-a\"\n";
const LAG: &str = ".1.2.840.10006.300.43.1.2.1.1";

/// Returns the members of aggregates with these.
fn members(report: &Report) -> Vec<(i64, i64)> {
    let rows = rows(report.devices[0].tables.lag.as_deref());
    rows.iter().map(|row| (row.if_index, row.lag_id)).collect()
}

fn device(report: &Report) -> &Device {
    assert_account(report);
    &report.devices[0]
}

#[test]
fn controller_inside_a_chassis_without_serial_number_describes_no_device() {
    let entity = ".1.3.6.1.2.1.47.1.1.1.1";
    for class in [1, 2] {
        let report = walk(&format!(
            "{NAME}{entity}.4.65536 = INTEGER: 0\n{entity}.4.262145 = INTEGER: 65536\n\
             {entity}.5.65536 = INTEGER: 3\n{entity}.5.262145 = INTEGER: {class}\n\
             {entity}.11.65536 = \"\"\n{entity}.11.262145 = STRING: \"rb400_usb\"\n\
             {entity}.12.262145 = STRING: \"0x1d6b\"\n{entity}.13.262145 = STRING: \"0x0002\"\n"
        ));
        let device = device(&report);
        assert_eq!((&device.serial_number, &device.manufacturer, &device.model), (&None, &None, &None));
    }
}

#[test]
fn host_of_a_scan_without_host_discovery_needs_a_port_that_answers() {
    let host = |address: &str, more: &str| {
        format!(
            "<host><status state=\"up\" reason=\"user-set\"/><address addr=\"{address}\" addrtype=\"ipv4\"/>{more}</host>"
        )
    };
    let extra = |state: &str| format!("<ports><extraports state=\"{state}\" count=\"9\"/></ports>");
    let port = |state: &str| {
        format!("<ports><port protocol=\"tcp\" portid=\"22\"><state state=\"{state}\"/></port></ports>")
    };
    let mac = "<address addr=\"00:00:5E:00:53:01\" addrtype=\"mac\"/>";
    let scan = [
        "<nmaprun scanner=\"nmap\">".to_owned(),
        host("192.0.2.1", &extra("filtered")),
        host("192.0.2.2", &port("open|filtered")),
        host("192.0.2.3", ""),
        host("192.0.2.4", &extra("closed")),
        host("192.0.2.5", &port("closed")),
        host("192.0.2.6", &port("open")),
        host("192.0.2.7", mac),
        "</nmaprun>".to_owned(),
    ];
    let report = complete(Format::Nmap, scan.concat()).unwrap();
    let address = |device: &Device| rows(device.tables.addresses.as_deref())[0].ip_address.to_string();
    let addresses: Vec<_> = report.devices.iter().map(address).collect();
    assert_eq!(addresses, ["192.0.2.4", "192.0.2.5", "192.0.2.6", "192.0.2.7"]);
    assert!(count(&report, WarningCode::HostDown) > 0);
    assert_account(&report);
}

#[test]
fn default_vlan_of_all_ports_without_any_list_is_no_membership() {
    let ports = [1, 2].map(|port| format!(".1.3.6.1.2.1.17.1.4.1.2.{port} = INTEGER: {port}\n")).concat();
    let vlans = |numbers: [i64; 2]| {
        let [first, second] = numbers;
        let column = ".1.3.6.1.2.1.17.7.1.4.5.1.1";
        let table = interfaces(&[(1, "ether1", 6), (2, "ether2", 6)]);
        let report = walk(&format!(
            "{NAME}{table}{ports}{column}.1 = Gauge32: {first}\n{column}.2 = Gauge32: {second}\n"
        ));
        let rows = rows(device(&report).tables.if_entries.as_deref());
        let untagged = rows.iter().map(|row| row.vlans.as_ref().and_then(|vlans| vlans.untagged));
        (untagged.collect::<Vec<_>>(), count(&report, WarningCode::PortVlanNotUntagged))
    };
    assert_eq!(vlans([1, 1]), (vec![None, None], 2));
    assert_eq!(vlans([1, 20]), (vec![Some(1), Some(20)], 0));
}

#[test]
fn selected_aggregate_counts_where_no_attached_one_is_stated() {
    let table = interfaces(&[(1, "e1", 6), (2, "e2", 6), (100, "Po1", 161)]);
    let selected = format!("{LAG}.12.1 = INTEGER: 100\n{LAG}.12.2 = INTEGER: 100\n");
    let report = walk(&format!("{NAME}{table}{selected}"));
    assert_eq!(members(&report), [(1, 100), (2, 100)]);
    assert_account(&report);
    let attached = format!("{LAG}.13.1 = INTEGER: 100\n{LAG}.13.2 = INTEGER: 0\n");
    let report = walk(&format!("{NAME}{table}{selected}{attached}"));
    assert_eq!(members(&report), [(1, 100)]);
    assert_account(&report);
}

#[test]
fn members_of_aggregates_are_ports_whatever_numbers_name_them() {
    let units = interfaces(&[(510, "xe-0/0/0", 6), (511, "xe-0/0/0.0", 53), (600, "ae3", 161)]);
    let report = walk(&format!("{NAME}{units}{LAG}.13.511 = INTEGER: 600\n"));
    assert_eq!(members(&report), [(510, 600)]);

    // The row of the port comes first, wherever its unit is.
    let units = [(10, "xe-0/0/0.0", 53), (510, "xe-0/0/0", 6), (600, "ae3", 161), (601, "ae4", 161)];
    let stated = format!("{LAG}.13.10 = INTEGER: 601\n{LAG}.13.510 = INTEGER: 600\n");
    let report = walk(&format!("{NAME}{}{stated}", interfaces(&units)));
    assert_eq!(members(&report), [(510, 600)]);
    assert_eq!(count(&report, WarningCode::RowRepeated), 1);
    assert_account(&report);

    let switch =
        interfaces(&[(1, "Vlan1", 53), (10101, "Gi1/0/1", 6), (10102, "Gi1/0/2", 6), (5001, "Po1", 53)]);
    let bridge = ".1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 10101\n.1.3.6.1.2.1.17.1.4.1.2.2 = INTEGER: 10102\n";
    let attached = format!("{LAG}.13.1 = INTEGER: 5001\n{LAG}.13.2 = INTEGER: 5001\n");
    let report = walk(&format!("{NAME}{switch}{bridge}{attached}"));
    assert_eq!(members(&report), [(10101, 5001), (10102, 5001)]);

    let report = walk(&format!("{NAME}{switch}{LAG}.13.10101 = INTEGER: 77\n{LAG}.13.9 = INTEGER: 5001\n"));
    assert_eq!(members(&report), []);
    assert_eq!(count(&report, WarningCode::AggregateUnknown), 2);
    assert_account(&report);
}

#[test]
fn capabilities_may_be_the_text_of_bits() {
    for (text, expected) in [
        ("28 2 4", vec![Capability::Bridge, Capability::Router]),
        ("28 00 2 4", vec![Capability::Bridge, Capability::Router]),
        ("00", vec![]),
        ("20", vec![Capability::Bridge, Capability::WlanAccessPoint, Capability::DocsisCableDevice]),
    ] {
        let recording = format!(
            "1.0.8802.1.1.2.1.4.1.1.4.0.2.1|2|7\n1.0.8802.1.1.2.1.4.1.1.5.0.2.1|4|sw-b\n\
             1.0.8802.1.1.2.1.4.1.1.12.0.2.1|4|{text}\n1.0.8802.1.1.2.1.4.2.1.2.0.2.1|4|0.0.0.0\n\
             1.0.8802.1.1.2.1.4.2.1.3.0.2.1.1.4.0.0.0.0|2|2\n1.3.6.1.2.1.1.5.0|4|sw-a\n1.3.6.1.2.1.2.2.1.2.2|4|e2\n"
        );
        let report = complete(Format::Snmprec, recording).unwrap();
        let neighbors = lldp(&report);
        assert_eq!(neighbors[0].capabilities, expected, "{text}");
        assert!(neighbors[0].mgmt_addrs.is_empty());
    }
}

#[test]
fn speed_that_is_no_whole_number_of_megabits_is_kept() {
    let table = interfaces(&[(1, "t1", 18), (2, "vdsl", 97), (3, "e1", 6), (4, "e2", 6)]);
    let speeds = [(1_544_000, 2), (50_400_000, 50), (4_294_967_295_u64, 10_000), (10_000, 10_000)].iter().zip(1..).map(
        |((low, high), index)| {
            format!(
                ".1.3.6.1.2.1.2.2.1.5.{index} = Gauge32: {low}\n.1.3.6.1.2.1.31.1.1.1.15.{index} = Gauge32: {high}\n"
            )
        },
    );
    let report = walk(&format!("{NAME}{table}{}", speeds.collect::<String>()));
    let speeds: Vec<_> =
        rows(device(&report).tables.if_entries.as_deref()).iter().map(|row| row.speed_bps).collect();
    assert_eq!(speeds, [Some(1_544_000), Some(50_400_000), Some(10_000_000_000), Some(10_000_000_000)]);
}

#[test]
fn forwarding_entry_names_a_port_by_its_own_number_or_by_its_row() {
    let bridge = ".1.3.6.1.2.1.17.1.4.1.1.29 = INTEGER: 32769\n.1.3.6.1.2.1.17.1.4.1.2.29 = INTEGER: 29\n";
    let table = interfaces(&[(29, "port29", 6)]);
    for port in [29, 32_769] {
        let entry = format!(
            ".1.3.6.1.2.1.17.4.3.1.1.142 = Hex-STRING: 00 00 5E 00 53 2A \n\
             .1.3.6.1.2.1.17.4.3.1.2.142 = INTEGER: {port}\n.1.3.6.1.2.1.17.4.3.1.3.142 = INTEGER: 3\n"
        );
        let report = walk(&format!("{NAME}{table}{bridge}{entry}"));
        let entries = rows(device(&report).tables.fdb.as_deref());
        assert_eq!(entries[0].if_index, Some(29), "{port}");
    }
}

#[test]
fn port_0_and_numbers_of_several_rows_name_no_port() {
    let table = interfaces(&[(29, "port29", 6), (30, "port30", 6)]);
    for number in [0, 32_769] {
        let ports = [29, 30].map(|row| {
            format!(
                ".1.3.6.1.2.1.17.1.4.1.1.{row} = INTEGER: {number}\n.1.3.6.1.2.1.17.1.4.1.2.{row} = INTEGER: {row}\n"
            )
        });
        let entry = format!(
            ".1.3.6.1.2.1.17.4.3.1.1.142 = Hex-STRING: 00 00 5E 00 53 2A \n\
             .1.3.6.1.2.1.17.4.3.1.2.142 = INTEGER: {number}\n.1.3.6.1.2.1.17.4.3.1.3.142 = INTEGER: 3\n"
        );
        let report = walk(&format!("{NAME}{table}{}{entry}", ports.concat()));
        let entries = rows(device(&report).tables.fdb.as_deref());
        assert!(entries.iter().all(|entry| entry.if_index.is_none()), "{number}");
    }
}

#[test]
fn prefix_of_the_other_end_is_not_that_of_the_own_address() {
    let addresses = r#"[{"ifindex":2,"ifname":"eth0","operstate":"UP","link_type":"ether","addr_info":[
        {"family":"inet","local":"10.9.9.9","address":"172.16.5.1","prefixlen":24},
        {"family":"inet","local":"192.0.2.9","prefixlen":24}]}]"#;
    let report = complete(Format::IpAddr, addresses).unwrap();
    let rows = rows(device(&report).tables.addresses.as_deref());
    let prefixes: Vec<_> = rows.iter().map(|row| row.prefix_length).collect();
    assert_eq!(prefixes, [Some(32), Some(24)]);
}
