//! Tables with IP and MAC addresses that are no neighbor tables: leases of DHCP, and announcements.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind};

use crate::neighbor_tables::{entries, read};
use crate::support::{count, refused};

const TABLES: &[&str] = &[
    "n9k# show ip dhcp snooping binding\n\
     MacAddress         IpAddress        LeaseSec  Type        VLAN  Interface\n\
     -----------------  ---------------  --------  ----------  ----  -------------\n\
     00:00:5e:00:53:01  192.0.2.1        85000     dhcp-snoop  10    Ethernet1/5\n",
    "switch# show dhcp-snooping binding\n\n  MacAddress    IP              VLAN Interface Time Left\n  \
     ------------- --------------- ---- --------- ---------\n  00005e-005301 192.0.2.1       10   A1        7200     \n",
    "IP address        Session Id  Hardware address   Expires     State      Interface\n\
     192.0.2.1         12          00:00:5e:00:53:01  85000       BOUND      irb.10\n",
    "IP address        MAC address         Vlan     Expires State   Interface\n\
     192.0.2.1         00:00:5e:00:53:01   users    86287   BOUND   ge-0/0/5.0\n",
    "internal\n  IP\t\t\tMAC-Address\t\tHostname\tVCI\tSSID\tAP\tSERVER-ID\tExpiry\n  \
     192.0.2.1\t\t00:00:5e:00:53:01\tpc1\tMSFT 5.0\t\t\t1\tMon Dec  7 10:00:00 2026\n",
    "Flags: X - disabled, R - radius, D - dynamic, B - blocked\n 0   ;;; printer\n     \
     address=192.0.2.1 mac-address=00:00:5E:00:53:01 address-lists=\"\"\n     \
     server=dhcp1 dhcp-option=\"\" status=waiting last-seen=12w3d\n",
    "Flags: D - DYNAMIC\nColumns: ADDRESS, MAC-ADDRESS, HOST-NAME, SERVER, STATUS, LAST-SEEN\n\
     #   ADDRESS         MAC-ADDRESS        HOST-NAME  SERVER  STATUS  LAST-SEEN\n\
     0 D 192.0.2.1       00:00:5E:00:53:01  pc         dhcp1   bound   2s\n",
    " 0 interface=ether1,bridge address=192.0.2.1 mac-address=00:00:5E:00:53:01 identity=\"core-1\" platform=\"MikroTik\"\n",
    "Columns: INTERFACE, ADDRESS, MAC-ADDRESS, IDENTITY, VERSION, BOARD\n\
     # INTERFACE  ADDRESS       MAC-ADDRESS        IDENTITY  VERSION                BOARD\n\
     0 ether1     192.0.2.1     00:00:5E:00:53:01  core-1    7.12 (stable)          RB4011\n",
    r#"[{".id":"*1","address":"192.0.2.1","identity":"core-1","interface":"ether1","mac-address":"00:00:5E:00:53:01"}]"#,
    r#"[{".id":"*1","address":"192.0.2.1","server":"dhcp1","status":"bound","mac-address":"00:00:5E:00:53:01"}]"#,
];

#[test]
fn leases_and_announcements_are_no_neighbor_tables() {
    for text in TABLES {
        assert!(matches!(refused(Format::Arp, text).kind(), ParseErrorKind::WrongFormat(_)), "{text}");
    }
}

#[test]
fn leases_and_announcements_beside_a_neighbor_table_are_counted() {
    let text = "[admin@router] > /ip/arp/print\nColumns: ADDRESS, MAC-ADDRESS, INTERFACE\n\
                #    ADDRESS       MAC-ADDRESS        INTERFACE\n0 DC 192.0.2.7     00:00:5E:00:53:07  bridge1\n\n\
                [admin@router] > /ip/neighbor/print\nColumns: INTERFACE, ADDRESS, MAC-ADDRESS, VERSION\n\
                # INTERFACE  ADDRESS       MAC-ADDRESS        VERSION\n\
                0 ether1     192.0.2.1     00:00:5E:00:53:01  7.12 (stable)\n\n\
                [admin@router] > /ip/dhcp-server/lease/print\nColumns: ADDRESS, MAC-ADDRESS\n\
                # ADDRESS       MAC-ADDRESS\n0 192.0.2.2     00:00:5E:00:53:02\n";
    let report = read(text);
    assert_eq!(entries(&report), ["7 bridge1"]);
    assert_eq!(count(&report, WarningCode::RowMalformed), 2);
    assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete);
}
