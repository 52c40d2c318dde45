//! SNMP walks and recordings: syntax.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind, parse};

use crate::support::{RECORDING, SYMBOLIC_WALK, WALK, count, device, options, parsed, refused, rows};

#[test]
fn values_over_several_lines_are_joined_and_unescaped() {
    let switch = device(Format::Snmpwalk, WALK);
    assert_eq!(switch.sys_descr.as_deref(), Some("Example Switch\nVersion \"2\""));
    assert_eq!(switch.sys_contact, None);
    assert_eq!(switch.sys_location.as_deref(), Some("Rack 4"));
    assert_eq!(switch.sys_object_id.as_deref(), Some("1.3.6.1.4.1.9.1.1"));
}

#[test]
fn continued_hex_string_is_joined() {
    let walk = ".1.3.6.1.2.1.1.5.0 = Hex-STRING: 61 62 \n63 64 \n.1.3.6.1.2.1.1.7.0 = INTEGER: 1\n";
    assert_eq!(device(Format::Snmpwalk, walk).sys_name.as_deref(), Some("abcd"));
}

#[test]
fn bits_are_read_with_and_without_names() {
    for bits in ["28 00 bridge(2) router(4)", "28 00 "] {
        let walk = format!(".1.0.8802.1.1.2.1.3.6.0 = BITS: {bits}\n");
        assert_eq!(device(Format::Snmpwalk, &walk).capabilities.len(), 2, "{bits}");
    }
}

#[test]
fn symbolic_walk_has_the_tables_of_a_numeric_one() {
    let router = device(Format::Snmpwalk, SYMBOLIC_WALK);
    assert_eq!(router.sys_name.as_deref(), Some("router"));
    assert_eq!(router.sys_object_id.as_deref(), Some("1.3.6.1.4.1.8072.3.2.10"));
    assert_eq!(router.serial_number.as_deref(), Some("SN-2"));
    assert_eq!(router.chassis_id.map(|id| id.value).as_deref(), Some("00:00:5E:00:53:02"));
    let addresses = rows(router.tables.addresses.as_deref());
    let addresses: Vec<String> = addresses.iter().map(|row| row.ip_address.to_string()).collect();
    assert_eq!(addresses, ["192.0.2.1", "2001:db8::1"]);
    assert_eq!(rows(router.tables.arp.as_deref()).len(), 2);
    let fdb = rows(router.tables.fdb.as_deref());
    assert_eq!(fdb[0].mac_address.to_string(), "00:00:5E:00:53:20");
    assert_eq!(fdb[0].if_index, Some(2));
}

#[test]
fn short_names_and_full_names_are_resolved() {
    let walk = "sysName.0 = STRING: a\n.iso.org.dod.internet.mgmt.mib-2.interfaces.ifTable.ifEntry.ifDescr.3 = STRING: b\n";
    let device = device(Format::Snmpwalk, walk);
    assert_eq!(device.sys_name.as_deref(), Some("a"));
    assert_eq!(rows(device.tables.if_entries.as_deref())[0].if_index, 3);
}

#[test]
fn addresses_that_share_a_printed_index_are_skipped() {
    let walk = "BRIDGE-MIB::dot1dTpFdbAddress.'......' = STRING: 0:0:5e:0:53:1\n\
                BRIDGE-MIB::dot1dTpFdbAddress.'......' = STRING: 0:0:5e:0:53:2\n\
                BRIDGE-MIB::dot1dTpFdbPort.'......' = INTEGER: 1\n";
    let report = parsed(Format::Snmpwalk, walk);
    assert!(report.devices[0].tables.fdb.is_none());
    assert_eq!(report.skipped_rows, 1);
}

#[test]
fn bytes_that_are_not_utf_8_are_kept_as_iso_8859_1() {
    let walk = b".1.3.6.1.2.1.1.5.0 = STRING: \"b\xfcro\"\n";
    let report = parse(Format::Snmpwalk, walk.as_slice(), &options()).unwrap();
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("büro"));
}

#[test]
fn byte_order_mark_is_skipped() {
    assert_eq!(
        device(Format::Snmpwalk, "\u{FEFF}.1.3.6.1.2.1.1.5.0 = STRING: a\n").sys_name.as_deref(),
        Some("a")
    );
}

#[test]
fn windows_line_ends_are_no_part_of_values() {
    let walk = ".1.3.6.1.2.1.1.5.0 = STRING: a\r\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: b\r\n";
    let device = device(Format::Snmpwalk, walk);
    assert_eq!(rows(device.tables.if_entries.as_deref())[0].if_descr.as_deref(), Some("b"));
}

#[test]
fn cut_end_drops_the_last_value_and_truncates_all_tables() {
    let whole = ".1.3.6.1.2.1.1.5.0 = STRING: a\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: b\n";
    for cut in [
        ".1.3.6.1.2.1.2.2.1.3.1 = INTEGER: 1",
        ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"unfinished",
        ".1.3.6.1.2.1.2",
    ] {
        let input = format!("{whole}{cut}");
        let report = parse(Format::Snmpwalk, input.as_bytes(), &options().with_complete_tables()).unwrap();
        let table = report.devices[0].tables.if_entries.clone().unwrap();
        assert!(!table.complete, "{cut}");
        assert_eq!((table.rows[0].if_descr.as_deref(), table.rows[0].if_type), (Some("b"), None), "{cut}");
        assert_eq!(count(&report, WarningCode::InputTruncated), 1, "{cut}");
    }
}

#[test]
fn timeout_truncates_all_tables() {
    let walk = ".1.3.6.1.2.1.1.5.0 = STRING: a\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: b\nTimeout: No Response from 192.0.2.1\n";
    let report = parse(Format::Snmpwalk, walk.as_bytes(), &options().with_complete_tables()).unwrap();
    assert!(!report.devices[0].tables.if_entries.as_deref().unwrap().complete);
}

#[test]
fn last_line_without_newline_is_kept_if_it_shows_its_end() {
    let walk = ".1.3.6.1.2.1.2.2.1.2.1 = STRING: b\n.1.3.6.1.2.1.1.5.0 = STRING: \"a\"";
    let report = parse(Format::Snmpwalk, walk.as_bytes(), &options().with_complete_tables()).unwrap();
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("a"));
    assert!(report.devices[0].tables.if_entries.as_deref().unwrap().complete);
}

#[test]
fn other_text_is_refused_with_its_line() {
    let error = refused(Format::Snmpwalk, "hello\nworld\n");
    assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)));
    assert_eq!(error.line(), Some(2));
    assert!(matches!(refused(Format::Snmpwalk, "").kind(), ParseErrorKind::WrongFormat(_)));
    assert!(matches!(refused(Format::Snmprec, "a|b|c\n").kind(), ParseErrorKind::WrongFormat(_)));
}

#[test]
fn walk_without_an_identity_needs_a_reporter() {
    let walk = ".1.3.6.1.2.1.2.2.1.2.1 = STRING: b\n";
    let error = parse(Format::Snmpwalk, walk.as_bytes(), &options()).unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::ReporterRequired));
    let id = "133e671d-8ee1-51bd-903c-32657d3d8ef1";
    let report = parse(Format::Snmpwalk, walk.as_bytes(), &options().with_reporter(id.into())).unwrap();
    assert_eq!(report.devices[0].id.map(|id| id.to_string()).as_deref(), Some(id));
}

#[test]
fn row_limit_truncates_and_is_reported() {
    let lines = (1..=10).map(|index| format!(".1.3.6.1.2.1.2.2.1.2.{index} = STRING: b\n"));
    let walk: String = lines.collect();
    let options = options().with_reporter("a".into()).with_complete_tables().with_max_rows(4);
    let report = parse(Format::Snmpwalk, walk.as_bytes(), &options).unwrap();
    let table = report.devices[0].tables.if_entries.as_deref().unwrap();
    assert_eq!((table.rows.len(), table.complete), (4, false));
    assert_eq!(count(&report, WarningCode::RowLimitReached), 6);
}

#[test]
fn recording_has_typed_and_hexadecimal_values() {
    let report = parsed(Format::Snmprec, RECORDING);
    let device = &report.devices[0];
    assert_eq!(device.sys_descr.as_deref(), Some("Example\nSwitch"));
    assert_eq!(device.sys_name.as_deref(), Some("access|2"));
    let entry = &rows(device.tables.if_entries.as_deref())[0];
    assert_eq!(entry.speed_bps, Some(1_000_000_000));
    assert_eq!(entry.mac_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:01"));
    assert_eq!(rows(device.tables.addresses.as_deref())[0].prefix_length, Some(30));
    assert_eq!(report.warnings.len(), 1);
    assert_eq!((report.warnings[0].code, report.warnings[0].line), (WarningCode::RowMalformed, Some(12)));
}
