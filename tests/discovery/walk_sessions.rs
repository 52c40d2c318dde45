//! Walks in recordings of terminals, several walks in one file, and output of other tools.

use toposcope::discovery::report::{IfEntryRow, Table, WarningCode};
use toposcope::discovery::{Format, Report, parse};

use crate::support::{count, options, refused, rows};

/// Reads a walk that ran to its end.
fn read(text: &str) -> Report {
    let options = options().with_reporter("sw-a".into()).with_complete_tables();
    parse(Format::Snmpwalk, text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn interfaces(report: &Report) -> &Table<IfEntryRow> {
    report.devices[0].tables.if_entries.as_deref().expect("there are interfaces")
}

/// Returns the names of the interfaces in the order of their indexes.
fn names(report: &Report) -> Vec<&str> {
    interfaces(report).rows.iter().map(|row| row.if_name.as_deref().unwrap_or("none")).collect()
}

#[test]
fn prompts_and_commands_behind_a_name_are_no_part_of_it() {
    for line in [
        "root@nms:~# ",
        "[root@nms ~]# exit",
        "admin@nms ~ % ls",
        "admin@sw-1>",
        "[admin@r-1] > quit",
        "sw-1#",
        "sw-1(config)# exit",
        "<sw-1>",
        "$ ",
        "C:\\Tools>snmpwalk -v2c -c public 192.0.2.1 ifAlias",
        "PS C:\\Tools> .\\snmpwalk.exe -v 2c -c public 192.0.2.1",
        "user@nms:~$ sudo snmpwalk -v2c -c public 192.0.2.1",
        "/usr/bin/snmpwalk -v2c -c public 192.0.2.1",
        "+ snmpbulkwalk -On 192.0.2.1",
        "SNMP['/usr/bin/snmpbulkwalk' '-v2c' '192.0.2.1']",
        "admin@r-1> show snmp mib walk ifAlias",
        "exit",
        "```",
        "Script done on 2026-11-28 10:00:00+00:00",
        "real    0m0.123s\nuser\t0m0.010s",
        "### ifXTable ###",
    ] {
        for value in ["STRING: ge2", "ge2"] {
            let text = format!(
                "SNMPv2-MIB::sysName.0 = {}\nIF-MIB::ifName.2 = {value}\n{line}\nIF-MIB::ifAlias.2 = {value}\n",
                value.replace("ge2", "sw-1")
            );
            let report = read(&text);
            assert_eq!(names(&report), ["ge2"], "{line}");
            assert!(interfaces(&report).complete, "{line}: {:?}", report.warnings);
            assert!(count(&report, WarningCode::RowMalformed) > 0, "{line}");
        }
    }
}

#[test]
fn prompt_without_a_newline_is_no_cut_end() {
    for end in ["IF-MIB::ifName.2 = STRING: ge2\n", "FOO-MIB::fooName.1 = STRING: x\n"] {
        let text = format!(
            "SNMPv2-MIB::sysName.0 = STRING: sw-1\nIF-MIB::ifName.2 = STRING: ge2\n{end}root@nms:~# "
        );
        assert!(interfaces(&read(&text)).complete, "{end}");
    }
}

#[test]
fn pagers_are_left_out_of_walks() {
    for pager in [
        "--More--\r        \r",
        " --More-- \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}          \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}",
        "  ---- More ----\u{1B}[16D                \u{1B}[16D",
        "\u{1B}[7m--More--\u{1B}[m\r\u{1B}[K",
        "--More-- or (q)uit\n",
        "---(more 50%)---\n",
    ] {
        let text = format!(
            "SNMPv2-MIB::sysName.0 = STRING: sw-1\nIF-MIB::ifName.1 = STRING: ge1\n{pager}IF-MIB::ifName.2 = STRING: ge2\n"
        );
        let report = read(&text);
        assert_eq!(names(&report), ["ge1", "ge2"], "{pager:?}");
        assert!(
            interfaces(&report).complete && report.warnings.is_empty(),
            "{pager:?}: {:?}",
            report.warnings
        );
    }
}

#[test]
fn further_line_of_a_name_is_malformed_and_of_a_description_text() {
    for value in ["STRING: ge2", "ge2", "\"ge2\""] {
        let report = read(&format!("SNMPv2-MIB::sysName.0 = STRING: sw-1\nIF-MIB::ifName.2 = {value}\n]\n"));
        assert_eq!(names(&report), ["ge2"], "{value}");
        assert!(!interfaces(&report).complete, "{value}");
        assert_eq!(count(&report, WarningCode::RowMalformed), 1, "{value}");
    }
    let report = read(
        "SNMPv2-MIB::sysDescr.0 = STRING: Example Switch\nBuild #7 of a@example.net room 3\n\nVersion 2\nroot@nms:~# exit\n\
         SNMPv2-MIB::sysName.0 = STRING: sw-1\n",
    );
    assert_eq!(
        report.devices[0].sys_descr.as_deref(),
        Some("Example Switch\nBuild #7 of a@example.net room 3\n\nVersion 2")
    );
}

#[test]
fn words_of_a_command_within_a_value_are_text() {
    let report = read("sysName.0 = sw-1\nifName.2 = ge2\nifAlias.2 = see snmpwalk -v2c # nms> $\n");
    assert_eq!(interfaces(&report).rows[0].if_alias.as_deref(), Some("see snmpwalk -v2c # nms> $"));
}

#[test]
fn walks_of_several_layouts_in_one_file_are_read() {
    let lines = [
        [".1.3.6.1.2.1.1.5.0", "STRING: \"sw-1\"", "\"sw-1\""],
        [".1.3.6.1.2.1.31.1.1.1.1.1", "STRING: \"ge1\"", "\"ge1\""],
        [".1.3.6.1.2.1.2.2.1.3.1", "INTEGER: 6", "6"],
        [".1.3.6.1.2.1.31.1.1.1.1.2", "STRING: \"ge2\"", "\"ge2\""],
    ];
    let typed = lines.map(|[name, typed, _]| format!("{name} = {typed}\n")).concat();
    let quick = lines.map(|[name, _, quick]| format!("{name} {quick}\n")).concat();
    let untyped = lines.map(|[name, _, quick]| format!("{name} = {quick}\n")).concat();
    let indented = typed.lines().map(|line| format!("    {line}\n")).collect::<String>();
    for first in [&typed, &quick, &untyped, &indented] {
        for second in [&typed, &quick, &untyped, &indented] {
            // The second walk has the interfaces, the first one only the name and the first interface.
            let first: String = first.lines().take(2).map(|line| format!("{line}\n")).collect();
            let report = read(&format!("{first}{second}"));
            assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"));
            assert_eq!(names(&report), ["ge1", "ge2"], "{first}{second}");
            assert_eq!(interfaces(&report).rows[0].if_type, Some(6), "{first}{second}");
            assert!(report.warnings.is_empty(), "{first}{second}: {:?}", report.warnings);
        }
    }
}

#[test]
fn walks_of_junos_and_pysnmp_are_read() {
    let report = read(
        "user@mx-1> show snmp mib walk system \nsysName.0     = mx-1\n\nuser@mx-1> show snmp mib walk ifName \n\
         ifName.1      = fxp0\nifName.501    = ge-0/0/0\nifPhysAddress.1 = 00 00 5e 00 53 01\n\nuser@mx-1> \n",
    );
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("mx-1"));
    assert_eq!(names(&report), ["fxp0", "ge-0/0/0"]);
    assert!(interfaces(&report).rows[0].mac_address.is_some());
    let report = read(
        "SNMPv2-MIB::sysName.0 = DisplayString: zs-1\nIF-MIB::ifName.1 = DisplayString: eth0\n\
         IF-MIB::ifPhysAddress.1 = PhysAddress: 00:00:5e:00:53:01\nIF-MIB::ifType.1 = IANAifType: 'ethernetCsmacd'\n",
    );
    assert_eq!((names(&report), report.devices[0].sys_name.as_deref()), (vec!["eth0"], Some("zs-1")));
    let row = &interfaces(&report).rows[0];
    assert_eq!((row.if_type, row.mac_address.is_some()), (Some(6), true));
}

#[test]
fn numbered_lines_of_another_tool_are_refused() {
    let text = "1: sysName.0 (octet string) sw-1\n2: ifDescr.1 (octet string) ge1\n";
    let error = refused(Format::Snmpwalk, text);
    assert!(error.to_string().contains("`OID = TYPE: value`"), "{error}");
    assert_eq!(Format::detect(text.as_bytes()), None);
}

#[test]
fn blanks_within_quotes_are_bytes_and_blanks_behind_them_none() {
    let ports = |list: &str| {
        format!(
            "sysName.0 = sw-1\nifName.11 = ge1\nifName.13 = ge3\ndot1dBasePortIfIndex.1 = 11\ndot1dBasePortIfIndex.3 = 13\n\
             dot1qVlanStaticEgressPorts.20 = {list}\ndot1qVlanStaticUntaggedPorts.20 = {list}\n"
        )
    };
    let untagged = |report: &Report| -> Vec<_> {
        let rows = interfaces(report).rows.iter();
        rows.map(|row| row.vlans.as_ref().and_then(|vlans| vlans.untagged)).collect()
    };
    assert_eq!(untagged(&read(&ports("\" \""))), [None, Some(20)]);
    assert_eq!(untagged(&read(&ports("\"A0 \"  "))), [Some(20), Some(20)]);
    // A list of blanks is no evidence that the tool prints bytes as digits.
    let text = format!("{}ifPhysAddress.11 = \"..^.S.\"\n", ports("\" \""));
    assert!(refused(Format::Snmpwalk, text).to_string().contains("-Oa"));
}

#[test]
fn names_of_types_are_numbers_in_every_spelling() {
    let report = read(
        "sysName.0 = sw-1\nifType.1 = ethernet-csmacd\nifType.2 = fibreChannel\nifType.3 = adsl\nifType.4 = softwareLoopback\n",
    );
    let kinds: Vec<_> = interfaces(&report).rows.iter().map(|row| row.if_type).collect();
    assert_eq!(kinds, [Some(6), Some(56), Some(94), Some(24)]);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn addresses_of_recordings_may_be_printable_bytes() {
    let text =
        "1.3.6.1.2.1.1.5.0|4|fw-1\n1.3.6.1.2.1.4.21.1.7.0.0.0.0|64|hSh1\n1.3.6.1.2.1.4.21.1.8.0.0.0.0|2|4\n";
    let report = parse(Format::Snmprec, text.as_bytes(), &options()).unwrap();
    let route = &rows(report.devices[0].tables.routes.as_deref())[0];
    assert_eq!(route.next_hop.map(|hop| hop.to_string()).as_deref(), Some("104.83.104.49"));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}
