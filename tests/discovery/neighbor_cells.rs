//! The cells of neighbor tables: MAC addresses with notes, and interfaces beside other columns.

use toposcope::discovery::report::WarningCode;

use crate::neighbor_tables::{entries, is_whole, read};
use crate::support::count;

#[test]
fn mac_addresses_with_notes_are_read() {
    let cases: &[(&str, &[&str])] = &[
        (
            "    Network Layer Address    Link Layer Address     Interface  vlan   state\n\
             ND  192.0.2.1                0000.5e00.5301(S)      Gi1/0/7    39     STALE\n\
             L   192.0.2.2                0000.5e00.5302(R)      Vl39       39     REACHABLE\n\
             S   2001:db8::3              0000.5e00.5303(D)      Gi1/0/9    39     DOWN\n",
            &["1 Gi1/0/7", "2 Vl39", "3 Gi1/0/9"],
        ),
        (
            "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
             VR-Default    192.0.2.1        00:00:5e:00:53:01   20      NO  blue          4092  1:25\n\
             VR-Default    192.0.2.2        (00:00:5e:00:53:02)  0      NO  Default       4095\n",
            &["1 1:25", "2 Default"],
        ),
    ];
    for (text, expected) in cases {
        let report = read(text);
        assert_eq!(entries(&report), *expected, "{text}");
        assert!(is_whole(&report), "{text}\n{:?}", report.warnings);
        assert_eq!(report.skipped_rows, 0, "{text}");
    }
}

#[test]
fn unknown_notation_of_a_mac_address_is_no_word_for_none() {
    let heading = "Address          Age (min)  Hardware Addr         Interface\n\
                   192.0.2.1               2   0000.5e00.5301        Vlan10\n";
    for (cell, incomplete, malformed) in [
        ("0000.5e00.53", 0, 1),
        ("0000.5e00.5302/S", 0, 1),
        ("xx:xx:xx:xx:xx:02", 0, 1),
        ("0x00005e005302", 0, 1),
        ("Incomplete", 1, 0),
        ("(unvollst\u{e4}ndig)", 1, 0),
        ("Resolving", 1, 0),
        ("-", 1, 0),
        ("", 1, 0),
        ("0000.0000.0000", 1, 0),
        ("198.51.100.1", 1, 0),
    ] {
        let report = read(&format!("{heading}192.0.2.2               -   {cell:<22}Vlan10\n"));
        assert_eq!(entries(&report), ["1 Vlan10"], "{cell}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), incomplete, "{cell}");
        assert_eq!(count(&report, WarningCode::RowMalformed), malformed, "{cell}");
        assert_eq!(is_whole(&report), malformed == 0, "{cell}");
    }
    // The same in cells with separators, fields and named values.
    for (text, is_complete) in [
        ("ip,mac,intf\n192.0.2.1,00:00:5e:00:53:01,em0\n192.0.2.2,00:00:5e:00:53,em0\n", false),
        ("ip,mac,intf\n192.0.2.1,00:00:5e:00:53:01,em0\n192.0.2.2,none,em0\n", true),
        (
            "add address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=em0\n\
             add address=192.0.2.2 mac-address=00:00:5E:00:53 interface=em0\n",
            false,
        ),
        (
            "IPv6 Address : 2001:db8::1\nLink-layer : 0000-5e00-5301\nInterface : em0\n\n\
             IPv6 Address : 2001:db8::2\nLink-layer : 0000-5e00-53\nInterface : em0\n\n",
            false,
        ),
    ] {
        let report = read(text);
        assert_eq!(entries(&report), ["1 em0"], "{text}");
        assert_eq!(is_whole(&report), is_complete, "{text}");
    }
}

#[test]
fn addresses_in_brackets_of_a_sentence_are_no_entry() {
    let report = read(
        "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n\
         Address 192.0.2.2 is also in use by (00:00:5e:00:53:02)\n",
    );
    assert_eq!(entries(&report), ["1 eth0"]);
    assert_eq!(count(&report, WarningCode::RowMalformed), 1);
}
