//! Neighbors, and the syntax of walks.

use toposcope::discovery::report::{CdpRow, LldpRow, WarningCode};
use toposcope::discovery::{Format, ParseError, Report, parse};
use toposcope::model::{LldpChassisIdSubtype, LldpPortIdSubtype};

use super::file;
use crate::support::{count, options, rows};

/// Parses a file of the cases, whose tables are stated to be complete.
pub(super) fn case(name: &str) -> Option<Report> {
    let format = if name.ends_with(".json") { Format::Lldpctl } else { Format::Snmpwalk };
    Some(complete(format, file(name)?).unwrap())
}

/// Parses input whose tables are stated to be complete.
pub(super) fn complete(format: Format, input: impl AsRef<[u8]>) -> Result<Report, ParseError> {
    parse(format, input.as_ref(), &options().with_reporter("sw-a".into()).with_complete_tables())
}

pub(super) fn walk(text: &str) -> Report {
    complete(Format::Snmpwalk, text).unwrap()
}

pub(super) fn lldp(report: &Report) -> Vec<LldpRow> {
    rows(report.devices[0].tables.lldp.as_deref())
}

pub(super) fn cdp(report: &Report) -> Vec<CdpRow> {
    rows(report.devices[0].tables.cdp.as_deref())
}

/// Returns interface index, name and remote port of each neighbor by LLDP.
pub(super) fn links(report: &Report) -> Vec<(Option<i64>, Option<String>, Option<String>)> {
    let link = |row: LldpRow| (row.if_index, row.sys_name, row.port_id.map(|id| id.value));
    lldp(report).into_iter().map(link).collect()
}

pub(super) fn link(index: i64, name: &str, port: &str) -> (Option<i64>, Option<String>, Option<String>) {
    (Some(index), Some(name.to_owned()), Some(port.to_owned()))
}

pub(super) fn example(report: &Report, code: WarningCode) -> String {
    let warning = report.warnings.iter().find(|warning| warning.code == code);
    warning.and_then(|warning| warning.example.clone()).unwrap_or_default()
}

pub(super) fn assert_account(report: &Report) {
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows, "{:?}", report.warnings);
}

/// Returns a walk of an interface table with these indexes, names and types.
pub(super) fn interfaces(interfaces: &[(i64, &str, i64)]) -> String {
    let line = |(index, name, kind): &(i64, &str, i64)| {
        format!(
            ".1.3.6.1.2.1.2.2.1.2.{index} = STRING: \"{name}\"\n.1.3.6.1.2.1.2.2.1.3.{index} = INTEGER: {kind}\n"
        )
    };
    interfaces.iter().map(line).collect()
}

/// A local port of LLDP-MIB, with the columns that are given.
pub(super) fn local_port(
    number: i64,
    subtype: Option<i64>,
    id: Option<&str>,
    description: Option<&str>,
) -> String {
    let table = ".1.0.8802.1.1.2.1.3.7.1";
    let columns = [
        subtype.map(|subtype| format!("{table}.2.{number} = INTEGER: {subtype}\n")),
        id.map(|id| format!("{table}.3.{number} = STRING: \"{id}\"\n")),
        description.map(|text| format!("{table}.4.{number} = STRING: \"{text}\"\n")),
    ];
    columns.into_iter().flatten().collect()
}

/// A neighbor of LLDP-MIB with a chassis id of its own and a port.
pub(super) fn neighbor(index: &str, number: u8, port: &str, name: &str) -> String {
    let table = ".1.0.8802.1.1.2.1.4.1.1";
    format!(
        "{table}.4.{index} = INTEGER: 4\n{table}.5.{index} = Hex-STRING: 00 00 5E 00 53 {number:02X} \n\
         {table}.6.{index} = INTEGER: 5\n{table}.7.{index} = STRING: \"{port}\"\n\
         {table}.9.{index} = STRING: \"{name}\"\n"
    )
}

mod derived {
    use super::*;

    #[test]
    fn interfaces_that_lldp_numbers_have_names_and_no_index() {
        let Some(report) = case("split_1_lldp.walk") else { return };
        let table = report.devices[0].tables.if_entries.clone().unwrap();
        assert!(table.derived && !table.complete);
        assert!(table.rows.iter().all(|row| row.if_index == 0 && row.if_name.is_some()));
        let row = &lldp(&report)[0];
        assert_eq!((row.if_index, row.local_port_number), (None, Some(7)));
        assert_eq!(row.if_name.as_deref(), Some("GigabitEthernet0/0/7"));
    }

    #[test]
    fn interfaces_that_cdp_names_have_its_indexes_and_are_never_complete() {
        let Some(report) = case("split_2_cdp.walk") else { return };
        let table = report.devices[0].tables.if_entries.clone().unwrap();
        assert!(table.derived && !table.complete);
        assert_eq!((table.rows[0].if_index, table.rows[0].if_name.as_deref()), (502, Some("ge-0/0/2")));
        assert!(report.devices[0].tables.cdp.as_deref().unwrap().complete);
    }

    /// A description that several ports share names none of them.
    #[test]
    fn numbered_ports_are_named_by_what_they_have_to_themselves() {
        let text = [
            local_port(503, Some(7), Some("503"), Some("uplink")),
            local_port(504, Some(7), Some("504"), Some("uplink")),
            local_port(505, Some(7), Some("505"), Some("ge-0/0/5.0")),
            neighbor("0.504.1", 1, "Gi1", "sw-b"),
            neighbor("0.505.1", 2, "Gi2", "sw-c"),
        ];
        let report = walk(&text.concat());
        let names: Vec<_> = lldp(&report).into_iter().map(|row| row.if_name.unwrap()).collect();
        assert_eq!(names, ["504", "ge-0/0/5.0"]);
        assert_eq!(rows(report.devices[0].tables.if_entries.as_deref()).len(), 3);
        assert_account(&report);
    }
}

mod local_ports {
    use super::*;

    #[test]
    fn id_without_its_subtype_still_names_the_port() {
        let Some(report) = case("lldp_local_no_subtype.walk") else { return };
        let names: Vec<_> =
            lldp(&report).into_iter().map(|row| (row.sys_name.unwrap(), row.if_name)).collect();
        let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
        let index = |name: &str| {
            interfaces.iter().find(|row| row.if_descr.as_deref() == Some(name)).unwrap().if_index
        };
        assert!(links(&report).iter().any(|link| link.0 == Some(index("GigabitEthernet0/0/7"))), "{names:?}");
        assert!(links(&report).iter().any(|link| link.0 == Some(index("MEth0/0/1"))), "{names:?}");
    }

    #[test]
    fn number_alone_is_no_port_if_it_may_be_a_running_number() {
        let table = [
            (1, "InLoopBack0", 24),
            (2, "NULL0", 1),
            (3, "Vlanif1", 53),
            (4, "GE0/0/1", 6),
            (5, "GE0/0/2", 6),
        ];
        let report = walk(
            &[interfaces(&table), neighbor("0.5.1", 1, "Gi1", "sw-b"), neighbor("0.2.1", 2, "Gi2", "sw-c")]
                .concat(),
        );
        // The agent may count its ports: 2 is NULL0 or GE0/0/2.
        assert!(links(&report).iter().any(|link| link.0.is_none() && link.1.as_deref() == Some("sw-c")));
        assert_eq!(example(&report, WarningCode::LocalPortUnknown), "sw-c by LLDP, local port 2");
    }

    #[test]
    fn numbers_follow_the_rule_of_the_ports_whose_names_are_known() {
        let table = [(10, "ge1", 6), (11, "ge2", 6), (12, "ge3", 6)];
        let base_ports = ".1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 10\n.1.3.6.1.2.1.17.1.4.1.2.2 = INTEGER: 11\n\
                          .1.3.6.1.2.1.17.1.4.1.2.3 = INTEGER: 12\n";
        for (known, number, index) in [
            (local_port(1, Some(5), Some("ge1"), None), 3, Some(12)),
            (local_port(10, Some(5), Some("ge1"), None), 12, Some(12)),
            (local_port(3, Some(5), Some("ge1"), None), 2, None),
        ] {
            let neighbor = neighbor(&format!("0.{number}.1"), 1, "Gi1", "sw-b");
            let report = walk(&[&interfaces(&table), base_ports, &known, &neighbor].concat());
            assert_eq!(links(&report)[0].0, index, "{known}");
        }
    }

    /// Moxa and Siemens announce `port-001`, which no interface is called.
    #[test]
    fn bridge_port_and_index_that_agree_name_the_port() {
        let text = [
            interfaces(&[(1, "Gi1/1", 6), (3, "Gi1/3", 6)]),
            ".1.3.6.1.2.1.17.1.4.1.2.3 = INTEGER: 3\n".to_owned(),
            local_port(3, Some(7), Some("port-003"), None),
            neighbor("0.3.1", 1, "Gi1", "sw-b"),
        ];
        assert_eq!(links(&walk(&text.concat())), [link(3, "sw-b", "Gi1")]);
    }

    /// D-Link announces one MAC address on all ports.
    #[test]
    fn mac_address_of_several_ports_names_none_of_them() {
        let mac = "00:00:5E:00:53:10";
        let text = [
            interfaces(&[(1, "1/1", 6), (2, "1/2", 6), (5000, "System", 6)]),
            format!(".1.3.6.1.2.1.2.2.1.6.5000 = STRING: {mac}\n"),
            local_port(1, Some(3), Some(mac), Some("Port 1")),
            local_port(2, Some(3), Some(mac), Some("Port 2")),
            neighbor("0.2.1", 1, "Gi1", "sw-b"),
        ];
        assert_eq!(links(&walk(&text.concat())), [link(2, "sw-b", "Gi1")]);
    }

    /// A Linux bond has the MAC address of its first member.
    #[test]
    fn description_that_names_an_interface_counts_more_than_a_mac_address() {
        let text = [
            interfaces(&[(2, "bond0", 6), (16, "eth0", 6)]),
            ".1.3.6.1.2.1.2.2.1.6.2 = STRING: 0:0:5e:0:53:10\n".to_owned(),
            local_port(16, Some(3), Some("00:00:5E:00:53:10"), Some("eth0")),
            neighbor("0.16.1", 1, "Gi1", "sw-b"),
        ];
        assert_eq!(links(&walk(&text.concat())), [link(16, "sw-b", "Gi1")]);
    }

    #[test]
    fn right_cases_stay_right() {
        for (name, expected) in [
            ("ok_junos_baseport.walk", vec![link(687, "sw-b", "Gi9")]),
            ("ok_alcatel_baseport.walk", vec![link(1021, "sw-b", "Gi9")]),
            (
                "ok_nexus_alias_desc.walk",
                vec![link(436_383_744, "sw-5", "Eth1/3"), link(436_555_776, "sw-5", "Eth1/1")],
            ),
        ] {
            let Some(report) = case(name) else { return };
            assert_eq!(links(&report), expected, "{name}");
        }
        let Some(report) = case("ok_printable_mac.walk") else { return };
        let tables = &report.devices[0].tables;
        let mac = rows(tables.if_entries.as_deref())[0].mac_address.unwrap();
        assert_eq!(mac.to_string(), "50:6B:4B:6C:25:30");
        assert_eq!(rows(tables.arp.as_deref())[0].mac_address.to_string(), "50:6B:4B:6C:25:31");
    }
}

mod remotes {
    use super::*;

    #[test]
    fn neighbor_indexed_by_one_number_is_kept_without_a_port() {
        let Some(report) = case("lldp_single_index.walk") else { return };
        let row = &lldp(&report)[0];
        assert_eq!(
            (row.if_index, row.local_port_number, row.sys_name.as_deref()),
            (None, None, Some("mt-2"))
        );
        assert_eq!(count(&report, WarningCode::LocalPortUnknown), 1);
        assert!(example(&report, WarningCode::LocalPortUnknown).contains("mt-2"));
    }

    #[test]
    fn ids_without_a_subtype_or_with_a_reserved_one_are_read_by_their_form() {
        for (name, port) in
            [("lldp_port_subtype_missing.walk", "Eth4"), ("lldp_chassis_subtype0.walk", "Eth4")]
        {
            let Some(report) = case(name) else { return };
            let row = &lldp(&report)[0];
            assert_eq!((row.if_index, row.sys_name.as_deref()), (Some(1), Some("sw-b")), "{name}");
            assert_eq!(row.chassis_id.value, "00:00:5E:00:53:41", "{name}");
            assert_eq!(row.chassis_id.subtype, LldpChassisIdSubtype::MacAddress, "{name}");
            assert_eq!(row.port_id.as_ref().map(|id| id.value.as_str()), Some(port), "{name}");
        }
    }

    #[test]
    fn form_tells_mac_addresses_network_addresses_and_names_apart() {
        use LldpChassisIdSubtype::{LocallyAssigned, MacAddress, NetworkAddress};
        for (bytes, subtype, value) in [
            ("Hex-STRING: 00 00 5E 00 53 41 ", MacAddress, "00:00:5E:00:53:41"),
            ("STRING: \"00-00-5e-00-53-41\"", MacAddress, "00:00:5E:00:53:41"),
            ("STRING: \"PkKl%0\"", MacAddress, "50:6B:4B:6C:25:30"),
            ("Hex-STRING: 01 C0 00 02 07 ", NetworkAddress, "192.0.2.7"),
            ("STRING: \"2001:db8::7\"", NetworkAddress, "2001:db8::7"),
            ("STRING: \"core-1\"", LocallyAssigned, "core-1"),
            ("STRING: \"FOC1234X5YZ\"", LocallyAssigned, "FOC1234X5YZ"),
        ] {
            for reserved in ["", ".1.0.8802.1.1.2.1.4.1.1.4.0.1.1 = INTEGER: 0\n"] {
                let text = format!("{reserved}.1.0.8802.1.1.2.1.4.1.1.5.0.1.1 = {bytes}\n");
                let chassis_id = lldp(&walk(&text))[0].chassis_id.clone();
                assert_eq!((chassis_id.subtype, chassis_id.value.as_str()), (subtype, value), "{bytes}");
            }
        }
    }

    #[test]
    fn neighbor_without_a_chassis_id_is_kept_under_its_name_and_port() {
        let Some(report) = case("lldp_no_chassis.walk") else { return };
        let row = &lldp(&report)[0];
        assert_eq!((row.if_index, row.sys_name.as_deref()), (Some(1), Some("sw-b")));
        // The name of an interface identifies no device.
        assert_eq!(row.chassis_id.subtype, LldpChassisIdSubtype::InterfaceName);
        assert_eq!(example(&report, WarningCode::ChassisIdMissing), "local port 1: name sw-b, port Eth4");
    }

    #[test]
    fn neighbor_of_which_only_a_name_is_known_is_skipped_by_name() {
        let text = [
            interfaces(&[(1, "e1", 6)]),
            ".1.0.8802.1.1.2.1.4.1.1.9.0.1.1 = STRING: \"phone-7\"\n".to_owned(),
            neighbor("0.1.2", 1, "Gi1", "sw-b"),
        ];
        let report = walk(&text.concat());
        assert_eq!(links(&report), [link(1, "sw-b", "Gi1")]);
        assert_eq!(count(&report, WarningCode::RowIncomplete), 1);
        assert!(example(&report, WarningCode::RowIncomplete).contains("phone-7"));
        // The skipped neighbor may be one that was known before.
        assert!(!report.devices[0].tables.lldp.as_deref().unwrap().complete);
    }

    #[test]
    fn management_address_of_another_index_goes_to_the_only_neighbor_of_its_port() {
        let Some(report) = case("lldp_mgmt_other_index.walk") else { return };
        assert_eq!(lldp(&report)[0].mgmt_addrs, ["192.0.2.77"]);
        assert_eq!(count(&report, WarningCode::AddressUnassigned), 0);
    }

    #[test]
    fn management_address_of_two_possible_neighbors_is_warned_of() {
        let text = [
            interfaces(&[(1, "e1", 6)]),
            neighbor("0.1.1", 1, "Gi1", "sw-b"),
            neighbor("0.1.2", 2, "Gi2", "sw-c"),
            ".1.0.8802.1.1.2.1.4.2.1.3.9.1.9.1.4.192.0.2.7 = INTEGER: 2\n".to_owned(),
        ];
        let report = walk(&text.concat());
        assert!(lldp(&report).iter().all(|row| row.mgmt_addrs.is_empty()));
        assert_eq!(count(&report, WarningCode::AddressUnassigned), 1);
        assert!(example(&report, WarningCode::AddressUnassigned).contains("192.0.2.7"));
    }

    /// RouterOS has the address in its column; others leave out the length, or have one number of the neighbor.
    #[test]
    fn management_addresses_are_read_in_other_forms() {
        for (index, line) in [
            ("0.6.2", ".1.0.8802.1.1.2.1.4.2.1.2.0.6.2 = STRING: \"192.0.2.9\"\n"),
            ("0.6.2", ".1.0.8802.1.1.2.1.4.2.1.3.0.6.2.1.192.0.2.9 = INTEGER: 2\n"),
            ("7", ".1.0.8802.1.1.2.1.4.2.1.3.7.1.4.192.0.2.9 = INTEGER: 2\n"),
        ] {
            let report = walk(&[&neighbor(index, 1, "Gi1", "sw-b"), line].concat());
            assert_eq!(lldp(&report)[0].mgmt_addrs, ["192.0.2.9"], "{line}");
        }
    }

    /// Cambium fills a row with zeros, and SONiC lists ports without a neighbor.
    #[test]
    fn placeholders_are_no_neighbors_and_no_loss() {
        let table = ".1.0.8802.1.1.2.1.4.1.1";
        let text = format!(
            "{}{table}.5.0.1.1 = Hex-STRING: 00 00 00 00 \n{table}.7.0.1.1 = Hex-STRING: 00 00 00 00 \n\
             {table}.9.0.1.1 = Hex-STRING: 00 00 00 00 \n{table}.9.0.2.1 = \"\"\n{}",
            interfaces(&[(3, "e3", 6)]),
            neighbor("0.3.1", 1, "Gi1", "sw-b")
        );
        let report = walk(&text);
        assert_eq!(links(&report), [link(3, "sw-b", "Gi1")]);
        assert_eq!(count(&report, WarningCode::RowEmpty), 2);
        assert!(report.devices[0].tables.lldp.as_deref().unwrap().complete);
    }

    #[test]
    fn neighbor_that_lldpctl_repeats_is_kept_once_for_each_port_and_protocol() {
        let Some(report) = case("ok_cdp_only.json") else { return };
        let ports: Vec<_> = lldp(&report).into_iter().map(|row| row.port_id.unwrap().subtype).collect();
        assert_eq!(ports, [LldpPortIdSubtype::MacAddress, LldpPortIdSubtype::LocallyAssigned]);
        assert_eq!(cdp(&report)[0].device_id, "TD3-1");
        assert_account(&report);
    }

    #[test]
    fn rows_of_neighbors_are_accounted_for() {
        let text = [
            local_port(1, Some(5), Some("e1"), None),
            ".1.0.8802.1.1.2.1.3.7.1.1.2 = INTEGER: 2\n".to_owned(),
            neighbor("0.1.1", 1, "Gi1", "sw-b"),
            neighbor("5.1.1", 1, "Gi1", "sw-b"),
            ".1.0.8802.1.1.2.1.4.2.1.3.5.1.1.1.4.192.0.2.7 = INTEGER: 2\n".to_owned(),
            ".1.0.8802.1.1.2.1.4.1.1.5 = INTEGER: 2\n".to_owned(),
            ".1.3.6.1.4.1.9.9.23.1.2.1.1.6.1.1 = STRING: \"r-1\"\n".to_owned(),
            ".1.3.6.1.4.1.9.9.23.1.2.1.1.7.1.2 = STRING: \"Gi0/9\"\n".to_owned(),
        ];
        let report = walk(&text.concat());
        assert_account(&report);
        assert_eq!((report.read_rows, report.used_rows), (8, 4));
        assert!(example(&report, WarningCode::RowIncomplete).contains("Gi0/9"));
    }
}

#[test]
fn neighbor_with_an_unspecified_address_is_identified_by_the_mac_address_of_its_port() {
    let remote = ".1.0.8802.1.1.2.1.4.1.1";
    let walk_of = |address: &str, subtype: i64, port: &str| {
        walk(&format!(
            "{remote}.4.0.2.5 = INTEGER: 5\n{remote}.5.0.2.5 = Hex-STRING: {address}\n\
             {remote}.6.0.2.5 = INTEGER: {subtype}\n{remote}.7.0.2.5 = Hex-STRING: {port}\n"
        ))
    };
    let none = "01 00 00 00 00";
    let none_of_ipv6 = format!("02{}", " 00".repeat(16));
    for (address, expected) in [
        (none, "00:00:5E:00:53:09"),
        (none_of_ipv6.as_str(), "00:00:5E:00:53:09"),
        ("01 C0 00 02 09", "192.0.2.9"),
    ] {
        let report = walk_of(address, 3, "00 00 5E 00 53 09");
        let [row] = lldp(&report).try_into().unwrap();
        assert_eq!(row.chassis_id.value, expected);
        let is_address = expected.contains('.');
        assert_eq!(row.chassis_id.subtype == LldpChassisIdSubtype::NetworkAddress, is_address);
    }
    // The name of its port identifies no device.
    let report = walk_of(none, 5, "65 74 68 30");
    assert!(report.devices[0].tables.lldp.is_none());
    assert_eq!(count(&report, WarningCode::RowIncomplete), 1);

    let json = r#"{"lldp": {"interface": {"a": {"chassis": {"id": {"type": "ip", "value": "0.0.0.0"}},
        "port": {"id": {"type": "mac", "value": "00:00:5e:00:53:09"}}}}}}"#;
    let report = complete(Format::Lldpctl, json).unwrap();
    assert_eq!(lldp(&report)[0].chassis_id.value, "00:00:5E:00:53:09");
}
