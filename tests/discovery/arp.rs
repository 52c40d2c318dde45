//! ARP tables.

use toposcope::discovery::report::{ArpRow, NeighborState, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind};

use crate::support::{ARP, IP_NEIGH, count, device, is_syntax, parsed, refused, rows};

fn described(rows: &[ArpRow]) -> Vec<(String, u8, Option<&str>)> {
    let row = |row: &'_ ArpRow| (row.ip_address.to_string(), row.mac_address.octets()[5]);
    rows.iter().map(|each| (row(each).0, row(each).1, each.if_name.as_deref())).collect()
}

#[test]
fn all_textual_forms_are_read() {
    let report = parsed(Format::Arp, ARP);
    let rows = rows(report.devices[0].tables.arp.as_deref());
    let expected = [
        ("192.0.2.9".to_owned(), 0x09, Some("eth0")),
        ("192.0.2.254".to_owned(), 0xFE, Some("en0")),
        ("192.0.2.11".to_owned(), 0x0B, Some("Vlan10")),
        ("192.0.2.12".to_owned(), 0x0C, None),
        ("192.0.2.13".to_owned(), 0x0D, Some("Vlan20")),
        ("192.0.2.14".to_owned(), 0x0E, Some("eth1")),
    ];
    assert_eq!(described(&rows), expected);
    assert_eq!((rows[1].state, rows[5].state), (Some(NeighborState::Static), Some(NeighborState::Stale)));
    assert_eq!(count(&report, WarningCode::RowIncomplete), 2);
    assert_eq!(count(&report, WarningCode::RowMalformed), 1);
}

#[test]
fn json_of_ip_neigh_is_read() {
    let rows = rows(device(Format::Arp, IP_NEIGH).tables.arp.as_deref());
    let expected = [("192.0.2.9".to_owned(), 0x09, Some("eth0")), ("fe80::1".to_owned(), 0xFE, Some("eth1"))];
    assert_eq!(described(&rows), expected);
    assert_eq!(rows[1].state, Some(NeighborState::Static));
}

#[test]
fn empty_table_is_accepted_and_other_text_refused() {
    for empty in ["", "[]", " \n[ ]\n"] {
        assert!(rows(device(Format::Arp, empty).tables.arp.as_deref()).is_empty());
    }
    let error = refused(Format::Arp, "hello\n");
    assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)));
    let error = refused(Format::Arp, "\n[{\"dst\":\n");
    assert!(is_syntax(&error));
    assert_eq!(error.line(), Some(3));
}
