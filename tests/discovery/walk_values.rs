//! Lines of walks that are parts of values, and lines that are none although they look like parts.

use toposcope::discovery::report::{IfEntryRow, Table, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, Report, parse};

use crate::support::{count, options, refused};

/// Reads a walk that ran to its end.
fn read(text: &str) -> Report {
    let options = options().with_reporter("sw-a".into()).with_complete_tables();
    parse(Format::Snmpwalk, text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn interfaces(report: &Report) -> &Table<IfEntryRow> {
    report.devices[0].tables.if_entries.as_deref().expect("there are interfaces")
}

/// Returns the descriptions of the interfaces in the order of their indexes.
fn descriptions(report: &Report) -> Vec<&str> {
    interfaces(report).rows.iter().map(|row| row.if_descr.as_deref().unwrap_or("none")).collect()
}

#[test]
fn lines_within_quotes_are_no_variables() {
    let line = "ifDescr.7 x7\nentPhysicalSerialNum.1 ABC\n.1.3.6.1.2.1.1.5.0 other\nifDescr.8 = x8\nsysName.0 = other";
    for name in [".1.3.6.1.4.1.8072.1.3.2.3.1.2.1.97", ".1.3.6.1.2.1.1.1.0"] {
        let report = read(&format!(
            ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: \"e1\"\n{name} = STRING: \"dump\n{line}\n\"\n\
             .1.3.6.1.2.1.2.2.1.2.2 = STRING: \"e2\"\n"
        ));
        assert_eq!(descriptions(&report), ["e1", "e2"], "{name}");
        assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"), "{name}");
        assert_eq!(report.devices[0].serial_number, None, "{name}");
        assert_eq!(count(&report, WarningCode::RowMalformed), 0, "{name}: {:?}", report.warnings);
    }
}

#[test]
fn quote_at_the_beginning_of_unread_text_hides_no_variables() {
    let report =
        read("sysName.0 = sw-1\nfooArgs.1 = \"a\" -x\nifDescr.1 = e1\nfooArgs.2 = \"b\"\nifDescr.2 = e2\n");
    assert_eq!(descriptions(&report), ["e1", "e2"]);
}

#[test]
fn input_that_ends_within_quotes_is_truncated() {
    let report = read(
        ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: \"e1\"\n\
         .1.3.6.1.4.1.8072.1.3.2.3.1.2.1.97 = STRING: \"dump\nline\n",
    );
    assert!(!interfaces(&report).complete);
    assert_eq!(count(&report, WarningCode::InputTruncated), 1);
}

#[test]
fn commands_within_text_are_text_unless_a_prompt_precedes_them() {
    let unread = "NET-SNMP-EXTEND-MIB::nsExtendOutputFull.\"cron\" = STRING: # crontab\n";
    let quoted = "SNMPv2-MIB::sysDescr.0 = STRING: \"Appliance\n";
    for (value, end) in [(unread, "END\n"), (quoted, "end\"\n")] {
        for line in [
            "*/5 * * * * root /usr/bin/snmpwalk -v2c -c public 192.0.2.9 ifTable > /tmp/x",
            "# */5 * * * * snmpwalk -v2c -c public 192.0.2.9",
            "run this: snmpwalk -v2c -c public 192.0.2.9",
            "see show snmp mib walk x",
        ] {
            let report = read(&format!(
                "root@nms:~# snmpwalk -v2c -c public 192.0.2.1 .1\nSNMPv2-MIB::sysName.0 = STRING: sw-1\n\
                 IF-MIB::ifDescr.1 = STRING: e1\n{value}{line}\n{end}IF-MIB::ifDescr.2 = STRING: e2\n"
            ));
            assert_eq!(descriptions(&report), ["e1", "e2"], "{line}");
            assert_eq!(count(&report, WarningCode::RowMalformed), 1, "{line}: the command at the beginning");
            let is_whole = report.devices[0].sys_descr.as_ref().is_none_or(|text| text.ends_with("end"));
            assert!(is_whole, "{line}");
        }
    }
}

#[test]
fn commands_behind_a_prompt_end_text_and_name_the_agent() {
    let unread = "FOO-MIB::fooText.1 = STRING: text\n";
    let quoted = "SNMPv2-MIB::sysDescr.0 = STRING: \"text\n";
    for (value, prompts) in [
        (
            unread,
            ["user@nms:~$ ", "# ", "$ sudo ", "C:\\Tools>", "[root@nms ~]# /usr/bin/", "+ ", "/usr/bin/", ""]
                .as_slice(),
        ),
        (quoted, ["user@nms:~$ ", "# ", "$ sudo ", "C:\\Tools>", "[root@nms ~]# /usr/bin/"].as_slice()),
    ] {
        for prompt in prompts {
            let error = refused(
                Format::Snmpwalk,
                format!(
                    "{prompt}snmpwalk -v2c -c public 192.0.2.1 .1\nIF-MIB::ifDescr.1 = STRING: e1\n{value}\
                     {prompt}snmpwalk -v2c -c public 192.0.2.2 ifDescr\nIF-MIB::ifDescr.2 = STRING: e2\n"
                ),
            );
            assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{prompt}: {error}");
        }
    }
}

#[test]
fn commands_for_agents_with_two_names_are_of_two_devices() {
    let walks = |[first, second]: [&str; 2]| {
        format!(
            "{first}\nIF-MIB::ifDescr.1 = STRING: e1\nuser@nms:~$ snmpwalk -v2c -c public silent ifDescr\n\
             Timeout: No Response from silent\n{second}\nIF-MIB::ifDescr.2 = STRING: e2\n"
        )
    };
    for commands in [
        ["user@mx1> show snmp mib walk ifDescr", "user@mx2> show snmp mib walk ifDescr"],
        ["{master:0}user@mx1# run show snmp mib walk ifDescr", "user@mx2> show snmp mib walk ifDescr"],
        ["$ snmpwalk -v2c -c public sw-1 ifDescr", "$ snmpwalk -v2c -c public sw-2 ifDescr"],
        ["$ snmpwalk -v 2c -c public -On sw-1", "$ snmpbulkwalk -d -t 9 -Lf log udp:sw-2:161 ifDescr"],
        [
            "$ snmpwalk -v2c -c public mx1.a.example ifDescr",
            "$ snmpwalk -v2c -c public mx1.b.example ifDescr",
        ],
    ] {
        let error = refused(Format::Snmpwalk, walks(commands));
        let ParseErrorKind::SeveralDevices(reason) = error.kind() else { panic!("{commands:?}: {error}") };
        let names = match commands[0] {
            first if first.contains("mx1.a") => "mx1.a.example and mx1.b.example",
            first if first.contains("mx1") => "mx1 and mx2",
            _ => "sw-1 and sw-2",
        };
        assert_eq!(reason, &format!("there are commands for {names}"));
    }
    for commands in [
        ["user@mx1> show snmp mib walk ifDescr", "user@MX1# run show snmp mib walk ifDescr"],
        ["$ snmpwalk -v2c -c public sw-1 ifDescr", "$ snmpwalk -v2c -c other SW-1.example.net ifAlias"],
        ["$ snmpwalk -v2c -c public sw-1 ifDescr", "$ snmpwalk -v2c -c public 192.0.2.1 ifDescr"],
        ["$ snmpwalk -On sw-1 ifDescr", "$ snmpwalk -On -CE 1.3.6.1.2.1.31.1.1.1.2 sw-1 ifName"],
        ["$ snmpwalk -On -LE 3 sw-1 ifDescr", "$ snmpwalk -On -LF 3 log -LS 3 d sw-1 ifName"],
        ["$ snmpwalk -On tlstcp:sw-1:10161 ifDescr", "$ snmpwalk -On udp:sw-1 ifName"],
        ["$ snmpwalk -v2c -c public localhost ifDescr", "$ snmpwalk -v2c -c public sw-1 ifName"],
        ["$ snmpwalk -v2c -c public sw-1 ifDescr", "$ snmpwalk -v2c -Cx 9 sw-1 ifName"],
        ["$ snmpwalk -v2c -c public $HOST ifDescr", "$ snmpwalk -v2c -c 'a b' sw-2 ifDescr"],
    ] {
        assert_eq!(descriptions(&read(&walks(commands))), ["e1", "e2"], "{commands:?}");
    }
}

#[test]
fn agent_with_another_name_is_the_same_device_if_the_device_states_one_of_the_names() {
    let walk = |name: &str, variables: &str| format!("$ snmpwalk -v2c -c public {name} .1\n{variables}");
    let own = |name: &str| format!("SNMPv2-MIB::sysName.0 = STRING: {name}\n");
    let port = |number: u8| format!("IF-MIB::ifDescr.{number} = STRING: e{number}\n");
    // (the variables behind the commands for core1-mgmt and core1, whether they are of one device)
    for (alias, name, is_one) in [
        (own("core1.example.net") + &port(1), port(2), true),
        (own("core1") + &port(1), own("core1") + &port(2), true),
        (port(1), own("CORE1-MGMT") + &port(2), true),
        (port(1), own("core1") + &port(2), false),
        (own("core1-mgmt") + &port(1), port(2), false),
        (port(1), port(2), false),
    ] {
        let text = format!(
            "{}{}{}",
            walk("core1-mgmt", &alias),
            walk("core1", &name),
            walk("core1-mgmt", "IF-MIB::ifAlias.1 = STRING: x\n")
        );
        let read = parse(Format::Snmpwalk, text.as_bytes(), &options().with_reporter("core1".into()));
        assert_eq!(read.is_ok(), is_one, "{text}");
        assert!(is_one || matches!(read.unwrap_err().kind(), ParseErrorKind::SeveralDevices(_)), "{text}");
    }
}

#[test]
fn lines_without_bytes_end_a_value_of_bytes() {
    // (line behind the value, whether the table is complete)
    for (line, is_complete) in [("== sysName", true), ("# sysName", true), ("sysName:", false), ("", true)] {
        let report = read(&format!(
            "{line}\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: \"e1\"\n\
             .1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 00 00 5E 00 \n53 01 \n{line}\n.1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n"
        ));
        let address = interfaces(&report).rows[0].mac_address.map(|address| address.to_string());
        assert_eq!(address.as_deref(), Some("00:00:5E:00:53:01"), "{line}");
        assert_eq!(interfaces(&report).complete, is_complete, "{line}");
        assert_eq!(count(&report, WarningCode::ValueInvalid), 0, "{line}");
    }
}

#[test]
fn bytes_without_types_may_have_text_behind_them() {
    for (value, expected) in [
        ("\"00 00 5E 00 53 0A   [..^.S.]\"", Some("00:00:5E:00:53:0A")),
        ("\"00 00 5E 00 53 0A   [..^.S\n]\"", Some("00:00:5E:00:53:0A")),
        ("\"00 00 5E \n00 53 0A \"", Some("00:00:5E:00:53:0A")),
        ("\"00 00 5E   [..^]\n00 53 5D   [.S]]\"", Some("00:00:5E:00:53:5D")),
        ("\"00 00 5E 00 53 0A   [..^.S]\"", None),
    ] {
        for sign in ["", "= "] {
            let report = read(&format!(
                ".1.3.6.1.2.1.1.5.0 {sign}\"sw-1\"\n.1.3.6.1.2.1.2.2.1.2.1 {sign}\"e1\"\n\
                 .1.3.6.1.2.1.2.2.1.6.1 {sign}{value}\n.1.3.6.1.2.1.2.2.1.2.2 {sign}\"AB   [x]\"\n"
            ));
            let address = interfaces(&report).rows[0].mac_address.map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{sign}{value}");
        }
    }
    let report = read(".1.3.6.1.2.1.1.5.0 \"AB [x]\"\n.1.3.6.1.2.1.2.2.1.2.1 \"e1\"\n");
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("AB [x]"));
}

#[test]
fn lines_of_text_without_quotes_belong_to_the_value_before() {
    for (description, name, port) in [
        ("SNMPv2-MIB::sysDescr.0", "SNMPv2-MIB::sysName.0", "IF-MIB::ifDescr.1"),
        ("sysDescr.0", "sysName.0", "ifDescr.1"),
        (".1.3.6.1.2.1.1.1.0", ".1.3.6.1.2.1.1.5.0", ".1.3.6.1.2.1.2.2.1.2.1"),
    ] {
        for line in [
            "Compiled Wed 12-Aug-26 10:00 by team",
            "Technical Support: http://www.example.net/support",
            "Copyright (c) 2026 by Example",
            "  ROM: Bootstrap, Version 12.2",
            "12.2 release",
            "Version = 2",
            "\n",
            "7",
        ] {
            let report =
                read(&format!("{description} Example Switch\n{line}\nend\n{name} sw-1\n{port} e1\n"));
            let expected = format!("Example Switch\n{line}\nend");
            assert_eq!(report.devices[0].sys_descr.as_deref(), Some(&*expected), "{description} {line}");
            assert_eq!(descriptions(&report), ["e1"], "{description} {line}");
            assert!(interfaces(&report).complete, "{description} {line}: {:?}", report.warnings);
        }
    }
}

#[test]
fn bytes_as_text_behind_bytes_may_have_a_newline() {
    for text in ["[..^.S.]", "[..^.S\n]", "[..^\n53]", "[..^\n.S.]"] {
        let report = read(&format!(
            ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n.1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 00 00 5E 00 53 0A   {text}\n\
             .1.3.6.1.2.1.2.2.1.6.2 = Hex-STRING: 00 00 5E 00 53 02   [..^.S.]\n"
        ));
        let addresses =
            interfaces(&report).rows.iter().map(|row| row.mac_address.map(|address| address.octets()[5]));
        assert_eq!(addresses.collect::<Vec<_>>(), [Some(0x0A), Some(0x02)], "{text}");
        assert!(interfaces(&report).complete && report.warnings.is_empty(), "{text}: {:?}", report.warnings);
    }
}

#[test]
fn equals_sign_belongs_to_the_value_unless_the_layout_changes() {
    let quick = "SNMPv2-MIB::sysName.0 sw-1\nIF-MIB::ifDescr.1 e1\nIF-MIB::ifAlias.1 x\n";
    // (lines, aliases)
    let cases: &[(&str, &[&str])] = &[
        ("IF-MIB::ifAlias.1 = to core =\nIF-MIB::ifAlias.2 \"= x\"\n", &["= to core =", "= x"]),
        ("IF-MIB::ifAlias.2 = to core =\n", &["x", "= to core ="]),
        ("IF-MIB::ifAlias.2 =x\n", &["x", "=x"]),
        ("IF-MIB::ifAlias.2 = y\nIF-MIB::ifAlias.3 = z\n", &["x", "y", "z"]),
        ("IF-MIB::ifAlias.2 =\nIF-MIB::ifAlias.3 = z\n", &["x", "", "z"]),
        ("IF-MIB::ifAlias.2 = y =\nIF-MIB::ifAlias.3 = z =\n", &["x", "= y =", "= z ="]),
        ("IF-MIB::ifAlias.2 = y\nIF-MIB::ifAlias.3 = \"z\"\n", &["x", "y", "z"]),
        ("IF-MIB::ifAlias.2 = y\nIF-MIB::ifAlias.3 = STRING: z\n", &["x", "= y", "z"]),
        ("IF-MIB::ifAlias.2 = STRING: y\n", &["x", "y"]),
        ("IF-MIB::ifType.2 = 6\nIF-MIB::ifAlias.2 = y\n", &["x", "y"]),
        ("SNMPv2-MIB::sysName.0 = sw-1\nIF-MIB::ifAlias.2 = y\n", &["x", "y"]),
        ("$ snmpwalk -OQ -v2c -c public sw-1 ifAlias\nIF-MIB::ifAlias.2 = y\n", &["x", "y"]),
        ("SNMPv2-MIB::sysName.0 = sw-1\nIF-MIB::ifAlias.1 z\nIF-MIB::ifAlias.2 \"= y\"\n", &["z", "= y"]),
    ];
    for (lines, expected) in cases {
        let first = if expected[0] == "x" { quick } else { quick.trim_end_matches("IF-MIB::ifAlias.1 x\n") };
        let report = read(&format!("{first}{lines}"));
        let aliases: Vec<_> =
            interfaces(&report).rows.iter().map(|row| row.if_alias.as_deref().unwrap_or("")).collect();
        assert_eq!(aliases, *expected, "{lines}");
        assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"), "{lines}");
    }
}

#[test]
fn first_line_with_a_sign_in_its_value_does_not_set_the_layout() {
    let report = read(
        ".1.3.6.1.2.1.1.1.0 Linux box = 5\n.1.3.6.1.2.1.1.5.0 = core\n\
         .1.3.6.1.2.1.2.2.1.6.1 = 0:0:5e:0:53:1\n.1.3.6.1.2.1.2.2.1.8.1 = up\n",
    );
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("core"));
    let row = &interfaces(&report).rows[0];
    assert!(row.mac_address.is_some() && row.oper_status.is_some());
}
