//! Tables with IP and MAC addresses that are no neighbor tables: leases of DHCP, announcements, overlays and access points.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind};

use crate::neighbor_tables::{entries, is_whole, read};
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
    // Leases without a word for that: the titles of udhcpd, dhcp-lease-list, FortiOS and VRP.
    "Mac Address       IP Address      Host Name           Expires in\n\
     00:00:5e:00:53:01 192.0.2.1       laptop-7            23:55:38\n",
    "MAC                IP              hostname       valid until         manufacturer\n\
     ==================================================================================\n\
     00:00:5e:00:53:01  192.0.2.1       laptop-7       2026-11-30 14:34:54 -NA-\n",
    "lan\n  IP            MAC-Address        Hostname   VCI       SSID  AP  Expiry\n  \
     192.0.2.1     00:00:5e:00:53:01  laptop-7   MSFT 5.0            Mon Nov 30 19:24:19 2026\n",
    " Index       IP             Client-ID    Type       Left   Status\n \
     -----------------------------------------------------------------\n    \
     1   192.0.2.1       0000-5e00-5301    DHCP    7775112   Used\n",
    r#"{"results":[{"ip":"192.0.2.1","mac":"00:00:5e:00:53:01","expire_time":1796000000,"interface":"vlan10"}]}"#,
    // The log of ARP inspection, and the filters of ports.
    "Interface   Vlan  Sender MAC      Sender IP        Num Pkts   Reason        Time\n\
     ----------  ----  --------------  ---------------  ---------  ------------  ----\n\
     Gi1/0/7     10    0000.5e00.5301  192.0.2.1                1  DHCP Deny     16:35:37 UTC Mon Nov 30 2026\n",
    "Interface  Filter-type  Filter-mode  IP-address       Mac-address        Vlan\n\
     ---------  -----------  -----------  ---------------  -----------------  ----\n\
     Gi1/0/7    ip-mac       active       192.0.2.1        0000.5e00.5301     10\n",
    // Overlays: their MAC addresses are those of remote devices, or of tunnels.
    "Topo ID  Mac Address    IP Address      Prod   Next Hop(s)\n\
     -------- -------------- --------------- ------ ----------------\n\
     0        0000.5e00.5301 192.0.2.1       LOCAL  Bundle-Ether1.0\n",
    "Topology    Mac Address    Host IP         Prod   Flags         Seq No     Next-Hops\n\
     ----------- -------------- --------------- ------ ---------- ---------------\n\
     10          0000.5e00.5301 192.0.2.1       BGP    --            0         198.51.100.1\n",
    "Interface  VNI      Type Peer-IP          RMAC/Num_RTs   eVNI     state flags UP time\n\
     nve1       5010     L3CP 192.0.2.1        0000.5e00.5301 5010     UP    A/M   6d22h\n",
    "Interface Peer-IP         State LearnType Uptime   Router-Mac\n\
     --------- --------------- ----- --------- -------- -----------------\n\
     nve1      192.0.2.1       Up    CP        2y11w    0000.5e00.5301\n",
    "Neighbor        Type   Flags State    MAC               Remote ES/VTEP   Seq #'s\n\
     192.0.2.1       remote       active   00:00:5e:00:53:01 198.51.100.1     0/0\n",
    // Access points and wireless controllers.
    "AP Name    Slots  AP Model       Ethernet MAC       Location    IP Address   Clients\n\
     ---------  -----  -------------  -----------------  ----------  -----------  -------\n\
     ap-1       3      AIR-AP2802I    00:00:5e:00:53:01  lobby       192.0.2.1    0\n",
    " MAC Address        IP Address      Group Name     Multicast IP    Status\n \
     00:00:5e:00:53:01  192.0.2.1       data           0.0.0.0         Up\n",
    "Name  Group    AP Type  IP Address  Status     Flags  Switch IP     Wired MAC Address  Port\n\
     ----  -----    -------  ----------  ------     -----  ---------     -----------------  ----\n\
     ap-1  lobby    635      192.0.2.1   Up 2d      2      198.51.100.1  00:00:5e:00:53:01  N/A\n",
    "ID    MAC            Name    Group   IP          Type       State  STA  Uptime      ExtraInfo\n\
     ------------------------------------------------------------------------------------------\n\
     0     0000-5e00-5301 ap-1    lobby   192.0.2.1   AP5760     nor    0    4D:1H:10M   -\n",
    // Devices that announce themselves.
    "Neighbor   MAC Address         Interface  Platform     IP Address\n\
     sw-2       00:00:5e:00:53:01   Gi1/0/1    WS-C2960     192.0.2.1\n",
    // Overlays, sessions, leases and announcements with a column for the interface.
    "IP Address      MAC Address        Interface      Next Hop\n\
     192.0.2.1       00:00:5e:00:53:01  vxlan10        192.0.2.77\n",
    "IP address      MAC address        Interface  Session ID                 Idle\n\
     192.0.2.1       00:00:5e:00:53:01  em1        a8f1                       10\n",
    "IP,MAC,Interface,Server,Valid\n192.0.2.1,00:00:5e:00:53:01,lan,dhcp1,3600\n",
    r#"[{"address":"192.0.2.1","mac-address":"00:00:5e:00:53:01","interface":"ether1","platform":"MikroTik","version":"7.1"}]"#,
    r#"[{"ip":"192.0.2.1","mac":"00:00:5e:00:53:01","intf":"lan","server":"dhcp1","expires":3600}]"#,
    // Forwarding databases: the IP addresses are those of tunnels.
    "VLAN  Mac Address     Type      Prt  VTEP             Moves   Last Move\n\
     ----  -----------     ----      ---  ----             -----   ---------\n  \
     10  0000.5e00.5301  EVPN      Vx1  192.0.2.1        1       0:01:02 ago\n",
    "+--------+-------------------+--------------+-------+--------+\n\
     | VLAN   | MAC               | RemoteVTEP   |   VNI | Type   |\n\
     +========+===================+==============+=======+========+\n\
     | Vlan10 | 00:00:5e:00:53:01 | 192.0.2.1    |  1000 | dynamic|\n",
    "VLAN      Master  Interface  MAC                TunnelDest   State      Flags               LastSeen\n\
     --------  ------  ---------  -----------------  -----------  ---------  ------------------  --------\n\
     10        bridge  vni10      00:00:5e:00:53:01  192.0.2.1                extern_learn        00:00:11\n",
    "MAC Address    VLAN/VSI/BD   Learned-From        Type\n\
     0000-5e00-5301 -/-/10        192.0.2.1           evn\n",
    "   Vlan                MAC                 MAC      Logical                SVLBNH/      Active\n   \
     name                address             flags    interface              VENH Index   source\n   \
     v10                 00:00:5e:00:53:01   DR       vtep.32769                          192.0.2.1\n",
    "IPv4 address               : 192.0.2.1\nSubnet mask                : 255.255.255.0\n\
     Default gateway            : 192.0.2.254\nMAC address                : 0000-5e00-5301\n",
];

/// Tables with some of the titles of leases.
const NEIGHBOR_TABLES: &[(&str, &str)] = &[
    (
        "Host                                 Ethernet Address    Netif Expire    Flags\n\
         192.0.2.1                            00:00:5e:00:53:01    em0 17m38s\n",
        "1 em0",
    ),
    (
        "Neighbor      Mac Address        Vmknic    Expiry  State  Type\n\
         ------------  -----------------  ------  --------  -----  -------\n\
         192.0.2.1     00:00:5e:00:53:01  vmk0    1113 sec         Unknown\n",
        "1 vmk0",
    ),
    (
        "IP ADDRESS      MAC ADDRESS     EXPIRE(M) TYPE        INTERFACE   VPN-INSTANCE\n\
         192.0.2.1       0000-5e00-5301  16        D-0         GE0/0/1\n",
        "1 GE0/0/1",
    ),
    (
        "IP Address   MAC Address        Host Name  Interface  Expires in\n\
         192.0.2.1    00:00:5e:00:53:01  laptop-7   eth0       23:55:38\n",
        "1 eth0",
    ),
    (
        "MAC Address       Address         Name                      Interface           Flags\n\
         00:00:5e:00:53:01 192.0.2.1       server-7.example.com      irb.10              none\n",
        "1 irb.10",
    ),
    (
        "Network Layer Address      Link Layer Address  Interface  vlan  age   state      Client ID\n\
         192.0.2.1                  0000.5e00.5301      Gi1/0/7    39    59mn  STALE      0000.0000.0000\n",
        "1 Gi1/0/7",
    ),
    (
        r#"[{"ip":"192.0.2.1","mac":"00:00:5e:00:53:01","intf":"igb0","expires":1200,"hostname":"laptop-7"}]"#,
        "1 igb0",
    ),
    // Remarks beside the interface.
    ("IP address,MAC address,Interface,Server\n192.0.2.1,00:00:5e:00:53:01,eth0,srv1\n", "1 eth0"),
    ("ip,mac,interface,platform\n192.0.2.1,00:00:5e:00:53:01,eth0,linux\n", "1 eth0"),
    (
        "IP Address : 192.0.2.1\nMAC Address : 00:00:5e:00:53:01\nInterface : eth0\nDefault gateway : yes\n",
        "1 eth0",
    ),
    (
        r#"[{"interface":"Vlan10","mac":"00:00:5E:00:53:01","ip":"192.0.2.1","age":1.0,"platform":"ios"}]"#,
        "1 Vlan10",
    ),
];

/// A table of NX-OS with one entry.
fn table_of_nx_os(last: u8) -> String {
    format!(
        "\nAddress         Age       MAC Address     Interface       Flags\n\
         192.0.2.{last}       00:01:10  0000.5e00.530{last}  Ethernet1/{last}\n"
    )
}

#[test]
fn neighbor_tables_may_state_hosts_or_when_entries_expire() {
    for (text, expected) in NEIGHBOR_TABLES {
        let report = read(text);
        assert_eq!(entries(&report), [*expected], "{text}");
        assert!(is_whole(&report), "{text}\n{:?}", report.warnings);
    }
}

#[test]
fn other_tables_with_both_addresses_are_no_neighbor_tables() {
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

#[test]
fn other_table_ends_at_the_next_command_or_heading() {
    for text in [
        // The command of the second table has a name that is a title elsewhere.
        format!(
            "sw-1# show ip dhcp snooping binding\n\
             MacAddress         IpAddress        LeaseSec  Type        BD/VLAN  Interface\n\
             -----------------  ---------------  --------  ----------  -------  -------------\n\
             00:00:5e:00:53:09  192.0.2.9        86000     dhcp-snoop  10       Ethernet1/9\n\
             sw-1# show ip arp ethernet 1/1\n{}",
            table_of_nx_os(1)
        ),
        format!(
            "show nve peers\n\
             Interface Peer-IP                                 State LearnType Uptime   Router-Mac\n\
             --------- --------------------------------------  ----- --------- -------- -----------------\n\
             nve1      192.0.2.9                               Up    CP        1d02h    0000.5e00.5309\n\n\
             show ip arp\n{}",
            table_of_nx_os(1)
        ),
        format!(
            "VLAN  Mac Address     Type      Prt  VTEP\n  10  0000.5e00.5309  EVPN      Vx1  192.0.2.9\n{}",
            table_of_nx_os(1)
        ),
        "show ip dhcp relay lease\n192.0.2.9 00:00:5e:00:53:09 86000\n\
         arp -an\n? (192.0.2.1) at 00:00:5e:00:53:01 [ether] on Ethernet1/1\n"
            .to_owned(),
    ] {
        let report = read(&text);
        assert_eq!(entries(&report), ["1 Ethernet1/1"], "{text}");
        assert!(count(&report, WarningCode::RowMalformed) > 0, "{text}");
        assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete, "{text}");
    }
}

#[test]
fn neighbors_behind_a_forwarding_database_are_read_by_their_form() {
    let titles = "Vlan    Mac Address       Type        Ports\n----    -----------       --------    -----\n \
                  10     0000.5e00.5309    DYNAMIC     Gi1/0/1\nTotal Mac Addresses for this criterion: 1\n\n";
    for (entry, expected) in [
        ("192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n", "1 eth0"),
        ("? (192.0.2.1) at 00:00:5e:00:53:01 on em0 expires in 1200 seconds [ethernet]\n", "1 em0"),
    ] {
        let report = read(&format!("{titles}{entry}"));
        assert_eq!(
            (entries(&report), count(&report, WarningCode::RowMalformed)),
            (vec![expected.to_owned()], 2)
        );
        assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete, "{entry}");
    }
}

#[test]
fn commands_and_sentences_with_words_of_titles_are_no_headings() {
    for text in [
        "hostname sw-1\n!\ninterface Ethernet1/1\n description uplink to host over Ethernet\n \
         ip address 192.0.2.1 255.255.255.0\n!\n",
        "hostname sw-1\ninterface Ethernet1/1\n description Host uplink Ethernet\n!\n",
        "sw-1# show ip interface ethernet 1/1\nsw-1#\n",
        "sw-1# show ip interface mac\nsw-1#\n",
        "Write down the IP and the MAC of each host.\n",
        "sw-1#show ip arp ethernet 0/9\n                 ^\n% Invalid input detected at '^' marker.\n\nsw-1#\n",
    ] {
        assert!(matches!(refused(Format::Arp, text).kind(), ParseErrorKind::WrongFormat(_)), "{text}");
    }
    let of_two_devices = ["sw-1", "sw-2"]
        .map(|name| format!("{name}# show ip arp ethernet 1/1\n{}", table_of_nx_os(1)))
        .concat();
    assert!(matches!(refused(Format::Arp, of_two_devices).kind(), ParseErrorKind::SeveralDevices(_)));
}

#[test]
fn table_that_begins_with_an_unknown_title_is_no_forwarding_database() {
    let report = read(
        "Client          MAC Address        VLAN   Port\n192.0.2.1       00:00:5e:00:53:01  10     1/1\n",
    );
    assert_eq!(entries(&report), ["1"]);
    assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete);
}
