//! Output of lldpctl.

use toposcope::discovery::report::{Capability, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, parse};
use toposcope::model::{LldpChassisIdSubtype, LldpPortIdSubtype};

use crate::support::{JSON, JSON0, count, device, is_syntax, options, parsed, refused, rows, with_reporter};

#[test]
fn both_forms_give_the_same_row() {
    let [json, json0] = [JSON, JSON0].map(|text| rows(device(Format::Lldpctl, text).tables.lldp.as_deref()));
    assert_eq!(json[0], json0[0]);
    let row = &json[0];
    assert_eq!((row.if_name.as_deref(), row.sys_name.as_deref()), (Some("eth0"), Some("core-9")));
    assert_eq!(row.chassis_id.subtype, LldpChassisIdSubtype::MacAddress);
    assert_eq!(row.chassis_id.value, "00:00:5E:00:53:F0");
    assert_eq!(row.port_id.as_ref().map(|id| id.subtype), Some(LldpPortIdSubtype::InterfaceName));
    assert_eq!(row.mgmt_addrs, ["192.0.2.254", "2001:db8::fe"]);
    assert_eq!(row.capabilities, [Capability::Bridge]);
}

#[test]
fn several_neighbors_on_one_interface_are_kept() {
    let rows = rows(device(Format::Lldpctl, JSON).tables.lldp.as_deref());
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[1].if_name.as_deref(), rows[1].sys_name.as_deref()), (Some("eth0"), None));
    assert_eq!(rows[1].port_id.as_ref().map(|id| id.value.as_str()), Some("00:00:5E:00:53:10"));
}

#[test]
fn neighbors_by_cdp_have_their_own_table_and_other_protocols_are_skipped() {
    let report = parsed(Format::Lldpctl, JSON);
    let rows = rows(report.devices[0].tables.cdp.as_deref());
    assert_eq!((rows[0].device_id.as_str(), rows[0].address.as_deref()), ("edge-2", Some("192.0.2.253")));
    assert_eq!(report.skipped_rows, 1);
}

#[test]
fn interfaces_may_be_one_object() {
    let json = r#"{"lldp": {"interface": {"a": {"chassis": {"id": {"type": "mac", "value": "00005e005301"}}, "port": {}},
        "b": [{"chassis": {"id": {"type": "ip", "value": "192.0.2.1"}}}, {"chassis": {"id": "plain"}}]}}}"#;
    let rows = rows(device(Format::Lldpctl, json).tables.lldp.as_deref());
    let names: Vec<_> =
        rows.iter().map(|row| (row.if_name.as_deref(), row.chassis_id.value.as_str())).collect();
    assert_eq!(names, [(Some("a"), "00:00:5E:00:53:01"), (Some("b"), "192.0.2.1"), (Some("b"), "plain")]);
}

#[test]
fn no_neighbors_are_an_empty_table() {
    for json in [r#"{"lldp": {}}"#, r#"{"lldp": [{"interface": []}]}"#] {
        let device = device(Format::Lldpctl, json);
        assert!(rows(device.tables.lldp.as_deref()).is_empty());
    }
}

#[test]
fn reporter_is_required_and_syntax_errors_have_their_line() {
    let error = parse(Format::Lldpctl, JSON.as_bytes(), &options()).unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::ReporterRequired));
    let error = refused(Format::Lldpctl, "{\"lldp\":\n{\"interface\": nonsense}}");
    assert!(is_syntax(&error));
    assert_eq!((error.line(), error.to_string().matches("line").count()), (Some(2), 1));
    assert!(matches!(refused(Format::Lldpctl, "{}").kind(), ParseErrorKind::WrongFormat(_)));
}

#[test]
fn output_without_neighbors_is_refused_unless_it_is_empty() {
    let neighbors =
        |text| parsed(Format::Lldpctl, text).devices[0].tables.lldp.as_deref().unwrap().rows.len();
    for empty in [r#"{"lldp":{}}"#, r#"{"lldp":[{}]}"#, r#"{"lldp":{"interface":[]}}"#] {
        assert_eq!(neighbors(empty), 0, "{empty}");
    }
    // The ports of the device itself, and the facts of a configuration tool.
    let own = r#"{"lldp":{"interface":{"eth0":{"status":"RX and TX","chassis":{"r1":{"id":{"type":"mac","value":"00:00:5e:00:53:01"}}},"port":{"id":{"type":"mac","value":"00:00:5e:00:53:01"}}}}}}"#;
    let facts = r#"{"lldp":{"eth0":{"via":"LLDP","chassis":{"mac":"00:00:5e:00:53:07","name":"sw-1"},"port":{"ifname":"Gi0/1"}}}}"#;
    for text in [own, facts] {
        let error = refused(Format::Lldpctl, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
}

const ID: &str = r#"{"id":{"type":"mac","value":"00:00:5e:00:53:01"}}"#;

#[test]
fn ports_of_the_device_itself_are_no_neighbors_in_any_form() {
    let json0 = r#"{"lldp":[{"interface":[{"name":"eth0","status":[{"value":"RX and TX"}],
        "chassis":[{"id":[{"type":"mac","value":"00:00:5e:00:53:01"}],"name":[{"value":"core-1"}]}],
        "port":[{"id":[{"type":"ifname","value":"eth0"}]}],"ttl":[{"ttl":"120"}]}]}]}"#;
    let of = |fields: &str| {
        format!(
            r#"{{"lldp":{{"interface":[{{"eth0":{{"via":"LLDP",{fields}"chassis":{ID},"port":{ID}}}}}]}}}}"#
        )
    };
    let old = [of(r#""ttl":{"ttl":"120"},"#), of(r#""age":"0 day, 00:01:12","#)];
    for text in [json0, &old[0], &old[1]] {
        let error = refused(Format::Lldpctl, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
    let neighbor = of(r#""rid":"1","age":"0 day, 00:01:12","#);
    assert_eq!(rows(device(Format::Lldpctl, &neighbor).tables.lldp.as_deref()).len(), 1);
}

#[test]
fn counters_are_no_neighbors_and_make_a_table_incomplete() {
    let json = r#"{"lldp":{"interface":[{"eth0":{"tx":{"tx":"21"},"rx":{"rx":"23"}}}]}}"#;
    let json0 = r#"{"lldp":[{"interface":[{"name":"eth0","tx":[{"tx":"21"}],"rx":[{"rx":"23"}]}]}]}"#;
    for text in [json, json0, r#"{"lldp":{"summary":{"tx":{"tx":"27"}}}}"#] {
        let error = refused(Format::Lldpctl, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
    let complete = |others: &str| {
        let text = format!(
            r#"{{"lldp":{{"interface":[{{"eth0":{{"via":"LLDP","rid":"1","chassis":{ID},"port":{ID}}}}}{others}]}}}}"#
        );
        let report =
            parse(Format::Lldpctl, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
        report.devices[0].tables.lldp.as_deref().unwrap().complete
    };
    assert!(complete("") && !complete(r#",{"eth1":{"tx":{"tx":"21"}}}"#));
}

#[test]
fn documents_of_several_commands_are_one_table() {
    let document = |port: &str| {
        format!(
            r#"{{"lldp":{{"interface":[{{"{port}":{{"via":"LLDP","rid":"1","chassis":{ID},"port":{ID}}}}}]}}}}"#
        )
    };
    let report = parsed(
        Format::Lldpctl,
        &format!("{}\n{}\n{}\n", document("eth0"), document("eth1"), document("eth0")),
    );
    let rows = rows(report.devices[0].tables.lldp.as_deref());
    let names: Vec<_> = rows.iter().map(|row| row.if_name.as_deref().unwrap()).collect();
    assert_eq!((names, count(&report, WarningCode::RowRepeated)), (vec!["eth0", "eth1"], 1));
}

#[test]
fn ids_of_unknown_subtypes_are_read_as_the_text_of_their_bytes() {
    for (bytes, expected) in [("70 63 2d 33", "pc-3"), ("01 02", "01 02"), ("printer", "printer")] {
        let text = format!(
            r#"{{"lldp":{{"interface":[{{"eth0":{{"chassis":{{"id":{{"type":"unhandled","value":"{bytes}"}}}},"port":{ID}}}}}]}}}}"#
        );
        assert_eq!(rows(device(Format::Lldpctl, &text).tables.lldp.as_deref())[0].chassis_id.value, expected);
    }
}

#[test]
fn document_that_ends_early_gives_its_whole_interfaces() {
    let whole = format!(
        r#"{{"lldp":{{"interface":[{{"eth0":{{"via":"LLDP","rid":"1","chassis":{ID},"port":{ID}}}}},{{"eth1":{{"via":"#
    );
    let report = parse(Format::Lldpctl, whole.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    let table = report.devices[0].tables.lldp.as_deref().unwrap();
    assert_eq!((table.rows.len(), table.complete), (1, false));
    assert_eq!(count(&report, WarningCode::InputTruncated), 1);
    let error = refused(Format::Lldpctl, &whole[..60]);
    assert!(error.to_string().contains("ends early"), "{error}");
}

/// Returns the output about one neighbor. `details` are further fields of its chassis, each with a comma behind it.
fn neighbor(via: &str, port: &str, mac: &str, details: &str) -> String {
    format!(
        r#"{{"lldp":{{"interface":[{{"{port}":{{"via":"{via}","rid":"1","chassis":{{"sw-1":{{{details}"id":{{"type":"mac","value":"00:00:5e:00:53:{mac}"}}}}}},"port":{{"id":{{"type":"local","value":"7"}}}}}}}}]}}}}"#
    )
}

#[test]
fn summary_and_details_are_joined_in_any_order() {
    let details =
        r#""descr":"a switch","mgmt-ip":"192.0.2.2","capability":[{"type":"Bridge","enabled":true}],"#;
    for via in ["LLDP", "CDPv2"] {
        let [summary, detailed] = ["", details].map(|details| neighbor(via, "eth0", "01", details));
        let expected = parsed(Format::Lldpctl, &detailed).devices;
        for text in [format!("{summary}\n{detailed}"), format!("{detailed}\n{summary}")] {
            let report = parsed(Format::Lldpctl, &text);
            assert_eq!((&report.devices, count(&report, WarningCode::RowRepeated)), (&expected, 1), "{text}");
        }
    }
}

#[test]
fn ports_with_other_neighbors_are_those_of_another_device() {
    let first = neighbor("LLDP", "eth0", "01", "");
    let [both, other, by_cdp] =
        [("LLDP", "02"), ("LLDP", "02"), ("CDPv2", "03")].map(|(via, mac)| neighbor(via, "eth0", mac, ""));
    let by_cdp = by_cdp.replace("sw-1", "sw-2");
    let both = format!("{{\"lldp\":[{},{}]}}", &first[8..first.len() - 1], &both[8..both.len() - 1]);
    for (text, is_refused) in [
        (format!("{first}\n{both}"), false),
        (format!("{both}\n{other}"), false),
        (format!("{first}\n{first}"), false),
        (format!("{first}\n{other}"), true),
        (format!("{first}\n{other}\n{first}"), true),
        (format!("{first}\n{by_cdp}"), false),
        (format!("{by_cdp}\n{}", neighbor("CDPv2", "eth0", "04", "").replace("sw-1", "sw-3")), true),
        (format!("{first}\n{}", neighbor("LLDP", "eth1", "02", "")), false),
    ] {
        let read = parse(Format::Lldpctl, text.as_bytes(), &with_reporter());
        assert_eq!(read.is_err(), is_refused, "{text}");
        let Err(error) = read else { continue };
        assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{text}: {error}");
        assert!(error.to_string().contains("eth0 has the neighbors"), "{text}: {error}");
    }
}

#[test]
fn documents_without_neighbors_are_counted() {
    let text = format!(
        "{}\n{{\"local-chassis\":{{\"chassis\":{ID}}}}}\n{{\"foo\":[{{\"a\":1}}]}}\n{{\"lldp\":{{}}}}\n",
        neighbor("LLDP", "eth0", "01", "")
    );
    let report = parsed(Format::Lldpctl, &text);
    assert_eq!(count(&report, WarningCode::EntryInvalid), 2);
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (3, 1, 2));
}
