//! Output of lldpctl.

use toposcope::discovery::report::Capability;
use toposcope::discovery::{Format, ParseErrorKind, parse};
use toposcope::model::{LldpChassisIdSubtype, LldpPortIdSubtype};

use crate::support::{JSON, JSON0, device, is_syntax, options, parsed, refused, rows};

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
