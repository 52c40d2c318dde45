//! The lines beside neighbor tables: commands without a prompt, captions, lists and statistics.

use toposcope::discovery::report::WarningCode;

use crate::neighbor_tables::{entries, is_whole, read, read_whole};
use crate::support::count;

const ENTRY: &str = "? (192.0.2.1) at 00:00:5e:00:53:01 on em0 expires in 985 seconds [ethernet]\n";

#[test]
fn headings_and_lines_of_more_systems_are_understood() {
    let cases: &[(&str, &[&str])] = &[
        // VPP
        (
            "      Age              IP           Flags      Ethernet              Interface\n      \
             3.0670       192.0.2.1         D    00:00:5e:00:53:01 host-vpp-a\n",
            &["1 host-vpp-a"],
        ),
        (
            "    Time      FIB        IP4       Flags      Ethernet              Interface\n    \
             346.3028   0      192.0.2.1            00:00:5e:00:53:01   GigabitEthernet2/0/0\n   \
             3077.4271   0      192.0.2.2       S    00:00:5e:00:53:02   GigabitEthernet2/0/0\n",
            &["1 GigabitEthernet2/0/0", "2 GigabitEthernet2/0/0"],
        ),
        // EXOS
        (
            "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
             VR-Default    192.0.2.1        00:00:5e:00:53:01   20      NO  blue          4092  1:25\n\n\
             Dynamic Entries  :           4             Static Entries            :          0\n\
             Rx Error         :           0             Dup IP Addr               :     192.0.2.9\n\n\
             ARP Global Settings\nMax Entries         :    12288\n",
            &["1 1:25"],
        ),
        // IOS
        (
            "  IP Address    MAC Address    Vlan  Interface             Probe-Timeout   State    Source\n\
             192.0.2.1     0000.5e00.5301 1     GigabitEthernet1/0/9   30              ACTIVE   ARP\n\n\
             Total number interfaces enabled: 6\nEnabled interfaces:\n  Vl1, Fa0, Gi1/0/1,\n  Fa0/1, Fa0/2\n",
            &["1 GigabitEthernet1/0/9"],
        ),
        // FASTPATH and ArubaOS
        (
            "(EdgeSwitch 8) #show arp\nIP Address         MAC Address       Interface      Type        Age\n\
             ---------------  -----------------  --------------  --------  -----------\n\
             192.0.2.1        00:00:5E:00:53:01   0/1             Dynamic   0h 2m 3s\n\n\
             (EdgeSwitch 8) #exit\n",
            &["1 0/1"],
        ),
        (
            "(wlc-1) [mynode] #show arp\nIP Address         MAC Address       Interface      Type        Age\n\
             ---------------  -----------------  --------------  --------  -----------\n\
             192.0.2.1        00:00:5E:00:53:01   0/1             Dynamic   0h 2m 3s\n\n\
             (wlc-1) [mynode] #exit\n",
            &["1 0/1"],
        ),
        // FortiOS
        (
            r#"{"results":[{"ip":"192.0.2.1","age":0,"mac":"00:00:5e:00:53:01","interface":"lan"}],"name":"arp"}"#,
            &["1 lan"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read_whole(text, expected).skipped_rows, 0, "{text}");
    }
}

#[test]
fn commands_without_a_prompt_are_no_entries() {
    for command in ["arp -an", " arp -an", "arp", "ndp -an", "ip arp print terse", "show arp", "ip neigh"] {
        let report = read(&format!("{command}\n{ENTRY}"));
        assert_eq!(entries(&report), ["1 em0"], "{command}");
        assert!(is_whole(&report), "{command}: {:?}", report.warnings);
    }
}

#[test]
fn lines_around_a_session_are_no_entries() {
    for (before, after) in [
        ("", "exit\n"),
        ("", "logout\n"),
        ("", "\nreal\t0m0.004s\nuser\t0m0.001s\nsys\t0m0.002s\n"),
        ("```text\n", "```\n"),
        (
            "Last login: Mon Nov 30 19:21:20 2026 from 192.0.2.9\n",
            "admin@sw-1:~$ exit\nlogout\nConnection to sw-1 closed.\nLast login: Mon Nov 30 19:22:20 2026 from 192.0.2.9\n",
        ),
    ] {
        read_whole(&format!("{before}admin@sw-1:~$ arp -an\n{ENTRY}{after}"), &["1 em0"]);
    }
}

#[test]
fn sentences_and_commands_that_change_the_table_are_counted() {
    for line in [
        "arp cache is damaged",
        "ip neigh flush all",
        "the settings 7",
        "fa0, 0000.5e00",
        "show me what ip neigh prints on this system",
    ] {
        let report = read(&format!("{ENTRY}{line}\n"));
        assert_eq!(count(&report, WarningCode::RowMalformed), 1, "{line}");
        assert!(!is_whole(&report), "{line}");
    }
}
