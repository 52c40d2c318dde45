//! Walks of several tools and options: the same variables give the same report.

use toposcope::discovery::report::{Capability, WarningCode};
use toposcope::discovery::{Format, Report, parse};
use toposcope::model::{LldpChassisIdSubtype, LldpPortIdSubtype};

use crate::support::{count, options, rows};

/// Reads a walk that is recognized by its content.
fn read(text: &str) -> Report {
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::Snmpwalk), "{text}");
    parse(Format::Auto, text.as_bytes(), &options().with_reporter("sw-a".into())).unwrap()
}

#[test]
fn numeric_walk_without_types_is_recognized() {
    let report = read(
        ".1.3.6.1.2.1.1.1.0 RouterOS RB750\n.1.3.6.1.2.1.1.5.0 mt-1\n.1.3.6.1.2.1.2.2.1.2.1 bridge local\n\
         .1.3.6.1.2.1.2.2.1.6.1 0:0:5e:0:53:1\n",
    );
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("mt-1"));
    let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(interfaces[0].if_descr.as_deref(), Some("bridge local"));
    assert!(interfaces[0].mac_address.is_some());
}

#[test]
fn prompt_with_a_bracket_is_no_other_format() {
    let report = read(
        "[root@monitor ~]# snmpwalk -v2c -c public 192.0.2.1 system\nSNMPv2-MIB::sysName.0 = STRING: sw-1\n",
    );
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"));
}

#[test]
fn several_carriage_returns_end_a_line() {
    let report = read("SNMPv2-MIB::sysName.0 = STRING: sw-1\r\r\nIF-MIB::ifDescr.1 = STRING: Gi0/1\r\r\n");
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"));
    let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(interfaces[0].if_descr.as_deref(), Some("Gi0/1"));
}

#[test]
fn names_in_single_quotes_are_numbers() {
    let report = read(
        "SNMPv2-MIB::sysName.0 = sw-1\nIF-MIB::ifOperStatus.1 = 'up'\nIF-MIB::ifType.1 = 'ethernetCsmacd'\n\
         LLDP-MIB::lldpRemChassisIdSubtype.0.1.1 = 'macAddress'\nLLDP-MIB::lldpRemChassisId.0.1.1 = 0x00005e005399\n\
         LLDP-MIB::lldpRemPortIdSubtype.0.1.1 = 'interfaceName'\nLLDP-MIB::lldpRemPortId.0.1.1 = Gi1/0/9\n",
    );
    let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(interfaces[0].if_type, Some(6));
    assert!(interfaces[0].oper_status.is_some());
    let neighbors = rows(report.devices[0].tables.lldp.as_deref());
    let port = neighbors[0].port_id.as_ref().unwrap();
    assert_eq!((port.subtype, port.value.as_str()), (LldpPortIdSubtype::InterfaceName, "Gi1/0/9"));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn symbolic_names_of_every_table_are_known() {
    let report = read(
        "SNMPv2-MIB::sysName.0 = STRING: r-1
IF-MIB::ifDescr.2 = STRING: Gi0/2
CISCO-CDP-MIB::cdpCacheDeviceId.2.7 = STRING: ap-1
CISCO-CDP-MIB::cdpCacheCapabilities.2.7 = Hex-STRING: 00 00 00 03 
RFC1213-MIB::atPhysAddress.2.1.192.0.2.3 = Hex-STRING: 00 00 5E 00 53 03 
RFC1213-MIB::ipRouteIfIndex.192.0.2.0 = INTEGER: 2
RFC1213-MIB::ipRouteType.192.0.2.0 = INTEGER: direct(3)
RFC1213-MIB::ipRouteMask.192.0.2.0 = IpAddress: 255.255.255.0
IP-FORWARD-MIB::inetCidrRouteIfIndex.ipv4.\"0.0.0.0\".0.3.0.0.2.ipv4.\"192.0.2.1\" = INTEGER: 2
IP-FORWARD-MIB::inetCidrRouteType.ipv4.\"0.0.0.0\".0.3.0.0.2.ipv4.\"192.0.2.1\" = INTEGER: remote(4)
",
    );
    let tables = &report.devices[0].tables;
    assert_eq!(rows(tables.cdp.as_deref())[0].capabilities, [Capability::Bridge, Capability::Router]);
    let neighbors = rows(tables.arp.as_deref());
    assert_eq!(
        (neighbors[0].if_index, neighbors[0].ip_address.to_string()),
        (Some(2), "192.0.2.3".to_owned())
    );
    let routes: Vec<String> = rows(tables.routes.as_deref())
        .iter()
        .map(|row| format!("{} {:?}", row.destination, row.next_hop.map(|address| address.to_string())))
        .collect();
    assert_eq!(routes, ["0.0.0.0/0 Some(\"192.0.2.1\")", "192.0.2.0/24 None"]);
}

#[test]
fn objects_below_a_node_of_another_mib_are_known() {
    let report = read(
        "SNMPv2-MIB::sysName.0 = STRING: sw-1
IF-MIB::ifDescr.10 = STRING: Gi1/0/1
IF-MIB::ifType.10 = INTEGER: ethernetCsmacd(6)
BRIDGE-MIB::dot1dBasePortIfIndex.1 = INTEGER: 10
BRIDGE-MIB::dot1dBridge.7.1.2.2.1.2.20.0.0.94.0.83.2 = INTEGER: 1
BRIDGE-MIB::dot1dBridge.7.1.4.5.1.1.1 = Gauge32: 20
IP-MIB::ip.24.7.1.7.1.4.192.0.2.0.24.2.0.0.1.4.0.0.0.0 = INTEGER: 10
IP-MIB::ip.24.7.1.8.1.4.192.0.2.0.24.2.0.0.1.4.0.0.0.0 = INTEGER: 3
LLDP-MIB::lldpLocPortIdSubtype.1 = INTEGER: interfaceName(5)
LLDP-MIB::lldpLocPortId.1 = STRING: \"Gi1/0/1\"
LLDP-MIB::lldpRemChassisIdSubtype.0.1.5 = INTEGER: macAddress(4)
LLDP-MIB::lldpRemChassisId.0.1.5 = STRING: 0:0:5e:0:53:99
LLDP-MIB::lldpExtensions.32962.1.3.1.1.1.0.1.5 = INTEGER: 30
CISCO-SMI::ciscoMgmt.23.1.2.1.1.6.10.7 = STRING: \"ap-1\"
",
    );
    let tables = &report.devices[0].tables;
    let learned = &rows(tables.fdb.as_deref())[0];
    assert_eq!((learned.vlan, learned.if_index), (Some(20), Some(10)));
    assert_eq!(
        rows(tables.if_entries.as_deref())[0].vlans.as_ref().and_then(|vlans| vlans.untagged),
        Some(20)
    );
    assert_eq!(rows(tables.routes.as_deref())[0].destination.to_string(), "192.0.2.0/24");
    assert_eq!(rows(tables.lldp.as_deref())[0].port_vlan, Some(30));
    assert_eq!(rows(tables.cdp.as_deref())[0].device_id, "ap-1");
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn identifiers_and_whole_addresses_may_be_parts_of_bracketed_indexes() {
    for zero in ["SNMPv2-SMI::zeroDotZero", "zeroDotZero.7"] {
        let report = read(&format!(
            "SNMPv2-MIB::sysName[0] = STRING: r-1
IF-MIB::ifDescr[7] = STRING: Gi0/7
IP-FORWARD-MIB::inetCidrRouteIfIndex[ipv4][\"0.0.0.0\"][0][{zero}][ipv4][\"192.0.2.1\"] = INTEGER: 7
IP-FORWARD-MIB::inetCidrRouteType[ipv4][\"0.0.0.0\"][0][{zero}][ipv4][\"192.0.2.1\"] = INTEGER: remote(4)
IPV6-MIB::ipv6AddrPfxLength[7][STRING: 2001:db8:0:0:0:0:0:9] = INTEGER: 64
IPV6-MIB::ipv6NetToMediaPhysAddress[7][STRING: fe80:0:0:0:200:5eff:fe00:5309] = STRING: 0:0:5e:0:53:9
"
        ));
        let tables = &report.devices[0].tables;
        let route = &rows(tables.routes.as_deref())[0];
        assert_eq!(route.next_hop.map(|hop| hop.to_string()).as_deref(), Some("192.0.2.1"), "{zero}");
        assert_eq!(rows(tables.addresses.as_deref())[0].ip_address.to_string(), "2001:db8::9");
        assert_eq!(rows(tables.arp.as_deref())[0].ip_address.to_string(), "fe80::200:5eff:fe00:5309");
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    }
}

#[test]
fn addresses_within_indexes_may_have_colons_and_zones() {
    let report = read(
        "SNMPv2-MIB::sysName.0 = STRING: sw-1
IF-MIB::ifDescr.1 = STRING: port1
IP-MIB::ipAddressIfIndex.ipv6z.\"fe:80:00:00:00:00:00:00:02:00:5e:ff:fe:00:53:01%2\" = INTEGER: 1
BRIDGE-MIB::dot1dBasePortIfIndex.1 = INTEGER: 1
BRIDGE-MIB::dot1dTpFdbPort.0:0:5e:0:53:2 = INTEGER: 1
Q-BRIDGE-MIB::dot1qTpFdbPort.20.\"00:00:5e:00:53:04\" = INTEGER: 1
",
    );
    let tables = &report.devices[0].tables;
    assert_eq!(rows(tables.addresses.as_deref())[0].ip_address.to_string(), "fe80::200:5eff:fe00:5301");
    let learned: Vec<_> =
        rows(tables.fdb.as_deref()).iter().map(|row| (row.mac_address.octets()[5], row.if_index)).collect();
    assert_eq!(learned, [(2, Some(1)), (4, Some(1))]);
    assert_eq!(count(&report, WarningCode::RowMalformed), 0);
}

#[test]
fn network_address_without_its_family_is_an_address() {
    let report = read(
        ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"
.1.0.8802.1.1.2.1.4.1.1.4.0.2.2 = INTEGER: 5
.1.0.8802.1.1.2.1.4.1.1.5.0.2.2 = Hex-STRING: C0 00 02 0A 
.1.0.8802.1.1.2.1.4.1.1.7.0.2.2 = STRING: \"1\"
",
    );
    let id = rows(report.devices[0].tables.lldp.as_deref())[0].chassis_id.clone();
    assert_eq!((id.subtype, id.value.as_str()), (LldpChassisIdSubtype::NetworkAddress, "192.0.2.10"));
}

#[test]
fn management_addresses_are_read_in_every_form_of_their_index() {
    let row = "LLDP-MIB::lldpRemChassisIdSubtype[0][1][5] = INTEGER: macAddress(4)
LLDP-MIB::lldpRemChassisId[0][1][5] = STRING: 0:0:5e:0:53:99
";
    for index in ["[ipV4][\"C0 00 02 63 \"]", "[ipV4][\"c0:00:02:63\"]", "[1][4][192][0][2][99]"] {
        let report = read(&format!(
            "SNMPv2-MIB::sysName.0 = STRING: sw-1\n{row}LLDP-MIB::lldpRemManAddrIfId[0][1][5]{index} = INTEGER: 3\n"
        ));
        let neighbors = rows(report.devices[0].tables.lldp.as_deref());
        assert_eq!(neighbors[0].mgmt_addrs, ["192.0.2.99"], "{index}: {:?}", report.warnings);
    }
    let report = read(
        "SNMPv2-MIB::sysName.0 = STRING: sr-1
TIMETRA-LLDP-MIB::tmnxLldpRemChassisId.120.35684352.1.7 = Hex-STRING: 00 00 5E 00 53 99 
TIMETRA-LLDP-MIB::tmnxLldpRemManAddrIfSubtype.120.35684352.1.7.ipV4.4.192.0.2.24 = INTEGER: ifIndex(2)
",
    );
    assert_eq!(rows(report.devices[0].tables.lldp.as_deref())[0].mgmt_addrs, ["192.0.2.24"]);
}

#[test]
fn tabs_blank_lines_and_paths_are_no_part_of_names_and_values() {
    for text in [
        ".1.3.6.1.2.1.1.5.0\t=\tSTRING: \"sw-1\"\n.1.3.6.1.2.1.2.2.1.2.1\t=\tSTRING: \"p1\"\n",
        "SNMPv2-MIB::sysName.0 = STRING: sw-1\r\n\r\nIF-MIB::ifDescr.1 = STRING: p1\r\n\r\n",
        "system.sysName.0 = sw-1\ninterfaces.ifTable.ifEntry.ifDescr.1 = p1\n",
    ] {
        let report = read(text);
        assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"), "{text}");
        let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
        assert_eq!(interfaces[0].if_descr.as_deref(), Some("p1"), "{text}");
        assert!(report.warnings.is_empty(), "{text}: {:?}", report.warnings);
    }
}

#[test]
fn recordings_have_escaped_text_and_numeric_tags_only() {
    let text =
        "1.3.6.1.2.1.1.5.0|4|sw-1\n1.3.6.1.2.1.2.2.1.2.1|4e|Gi0/1\n1.3.6.1.2.1.2.2.1.6.1|4x|0x00005e005301\n";
    let report = parse(Format::Snmprec, text.as_bytes(), &options()).unwrap();
    let interfaces = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(interfaces[0].if_descr.as_deref(), Some("Gi0/1"));
    assert!(interfaces[0].mac_address.is_some());
    let other = "1.3.6.1.2.1.1.5.0|OctetString|sw-1\n1.3.6.1.2.1.2.2.1.8.1|Integer|1\n";
    assert!(parse(Format::Snmprec, other.as_bytes(), &options().with_reporter("sw-1".into())).is_err());
}

#[test]
fn packets_that_are_printed_between_variables_belong_to_no_value() {
    let report = read(
        "Sending 43 bytes to UDP: [192.0.2.1]:161->[0.0.0.0]:0\n0000: 30 29 02 01    0)..\n\n\
         SNMPv2-MIB::sysName.0 = STRING: sw-1\n\n\
         Received 60 bytes from UDP: [192.0.2.1]:161->[0.0.0.0]:0\n0000: 30 3A 02 01    0:..\n0016: 30 3A\n\n\
         IF-MIB::ifDescr.1 = STRING: p1\nSNMPv2-MIB::sysName.0 = STRING: SW-1\n",
    );
    assert!(report.devices[0].sys_name.as_deref().unwrap().eq_ignore_ascii_case("sw-1"));
    assert_eq!(rows(report.devices[0].tables.if_entries.as_deref())[0].if_descr.as_deref(), Some("p1"));
}

#[test]
fn text_like_a_packet_within_quotes_belongs_to_the_value() {
    for [text, line] in [
        ["\"Router\n2024: release\n0016: 30 3A 02\nend\"", "0016: 30 3A 02"],
        ["\"Router\n2024: release\nend\"", "2024: release"],
        ["Router\n2024: release\nend", "2024: release"],
    ] {
        let report =
            read(&format!("SNMPv2-MIB::sysDescr.0 = STRING: {text}\nSNMPv2-MIB::sysName.0 = STRING: sw-1\n"));
        let description = report.devices[0].sys_descr.as_deref().unwrap();
        assert!(description.contains(line) && description.contains("end"), "{text}: {description}");
        assert!(report.warnings.is_empty(), "{text}: {:?}", report.warnings);
    }
}

#[test]
fn blank_lines_take_linear_time() {
    let blank = "\n".repeat(150_000);
    // Each blank line was once searched for a quote together with all others.
    for value in ["STRING: Router", "STRING: \"Router\"", "\"Router\"", "STRING: \"Router\n \n", "\"Router\n"]
    {
        let end = if value.ends_with('\n') { "end\"\n" } else { "" };
        let text = format!(".1.3.6.1.2.1.1.1.0 = {value}{blank}{end}.1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n");
        let report =
            parse(Format::Snmpwalk, text.as_bytes(), &options().with_reporter("sw-a".into())).unwrap();
        assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"), "{value}");
        assert!(report.devices[0].sys_descr.as_deref().unwrap().starts_with("Router"), "{value}");
    }
}
