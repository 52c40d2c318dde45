//! Reports as JSON.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, parse};

use crate::support::{
    JSON, RECORDING, SCAN, SYMBOLIC_WALK, WALK, count, is_syntax, options, parsed, refused,
};

#[test]
fn every_report_survives_its_json_form() {
    let samples = [
        (Format::Snmpwalk, WALK),
        (Format::Snmpwalk, SYMBOLIC_WALK),
        (Format::Snmprec, RECORDING),
        (Format::Nmap, SCAN),
        (Format::Lldpctl, JSON),
    ];
    for (format, sample) in samples {
        let report = parsed(format, sample);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(parsed(Format::Report, &json), report, "{format}");
    }
}

#[test]
fn absent_values_are_omitted_and_unknown_fields_ignored() {
    let json = r#"{"reporter": {"name": "collector", "color": "red"}, "observed_at": "2026-10-01T00:00:00Z",
        "devices": [{"sys_name": "a", "tables": {"lag": {"rows": [{"if_index": 1, "lag_id": 2}]}}}]}"#;
    let report = parsed(Format::Report, json);
    assert!(!report.devices[0].tables.lag.as_deref().unwrap().complete);
    let written = serde_json::to_string(&report).unwrap();
    assert!(!written.contains("null") && !written.contains("chassis_id"), "{written}");
}

#[test]
fn unknown_fields_are_counted_with_the_first_of_them() {
    let json = r#"{"reporter": {"name": "collector"}, "observed_at": "2026-10-01T00:00:00Z", "devices": [{"sys_name": "a",
        "tables": {"arp": {"rows": [
            {"ip_address": "192.0.2.1", "mac_address": "00:00:5e:00:53:01", "interface": "eth0"},
            {"ip_address": "192.0.2.2", "mac_address": "00:00:5e:00:53:02", "interface": "eth0"}]}}}]}"#;
    let report = parsed(Format::Report, json);
    assert_eq!(count(&report, WarningCode::FieldUnknown), 2);
    assert_eq!(report.warnings[0].example.as_deref(), Some("devices[0].tables.arp.rows[0].interface"));
    assert_eq!(report.used_rows, 2);
    let written = serde_json::to_string(&report).unwrap();
    assert_eq!(parsed(Format::Report, &written), report);
}

#[test]
fn time_in_the_future_is_replaced_by_that_of_the_options() {
    let json = r#"{"reporter": {"name": "a"}, "observed_at": "2100-01-01T00:00:00Z"}"#;
    assert_eq!(parsed(Format::Report, json).observed_at, options().observed_at);
}

#[test]
fn wrong_type_is_refused_with_its_line() {
    let error = refused(Format::Report, "{\"reporter\":\n {\"name\": 7}}");
    assert!(is_syntax(&error));
    assert_eq!(error.line(), Some(2));
    let error = refused(
        Format::Report,
        "{\"reporter\": {\"name\": \"a\"}, \"observed_at\": \"2026-10-01T00:00:00Z\"} x",
    );
    assert!(is_syntax(&error), "text behind the report");
}

#[test]
fn more_objects_than_rows_justify_are_refused() {
    let rows = "{\"mac_address\":\"00:00:5e:00:53:01\"},".repeat(200);
    let json = format!(
        "{{\"reporter\":{{\"name\":\"a\"}},\"observed_at\":\"2026-10-01T00:00:00Z\",\
         \"devices\":[{{\"tables\":{{\"fdb\":{{\"rows\":[{}]}}}}}}]}}",
        rows.trim_end_matches(',')
    );
    assert!(parse(Format::Report, json.as_bytes(), &options()).is_ok());
    let error = parse(Format::Report, json.as_bytes(), &options().with_max_rows(4)).unwrap_err();
    assert!(error.to_string().contains("too many"), "{error}");
}

#[test]
fn arrays_in_place_of_devices_and_rows_are_refused() {
    let report = |devices: &str| {
        format!(
            "{{\"reporter\":{{\"name\":\"a\"}},\"observed_at\":\"2026-10-01T00:00:00Z\",\"devices\":[{devices}]}}"
        )
    };
    for devices in ["[]", "{\"sys_name\":\"a\",\"tables\":{\"if_entries\":{\"rows\":[[1]]}}}"] {
        let error = refused(Format::Report, report(devices));
        assert!(is_syntax(&error) && error.to_string().contains("an object"), "{error}");
    }
    assert!(parse(Format::Report, report("{\"sys_name\":\"a\"}").as_bytes(), &options()).is_ok());
}

/// Returns a report whose devices have these numbers of rows, in a table of this kind.
fn report_with_rows(kind: &str, row: &str, counts: &[usize]) -> String {
    let device = |count: &usize| {
        format!("{{\"tables\":{{\"{kind}\":{{\"rows\":[{}]}}}}}}", vec![row; *count].join(","))
    };
    let devices: Vec<String> = counts.iter().map(device).collect();
    format!(
        "{{\"reporter\":{{\"name\":\"a\"}},\"observed_at\":\"2026-10-01T00:00:00Z\",\"devices\":[{}]}}",
        devices.join(",")
    )
}

#[test]
fn report_of_too_many_rows_is_refused() {
    let options = options().with_max_rows(2_000_000);
    let error = |text: &str| parse(Format::Report, text.as_bytes(), &options).unwrap_err().to_string();
    let port = "{\"number\":1,\"protocol\":\"Tcp\"}";
    // Devices count as rows.
    let most = report_with_rows("ports", port, &[500_000, 499_998]);
    assert!(parse(Format::Report, most.as_bytes(), &options).is_ok());
    let more = report_with_rows("ports", port, &[500_000, 499_999]);
    assert!(error(&more).contains("more than 1000000 rows"), "{}", error(&more));
    let more = report_with_rows("ports", port, &[500_001]);
    assert!(error(&more).contains("more than 500000 rows"), "{}", error(&more));
    let entry = "{\"if_index\":1}";
    assert!(
        parse(Format::Report, report_with_rows("if_entries", entry, &[100_000; 2]).as_bytes(), &options)
            .is_ok()
    );
    let more = report_with_rows("if_entries", entry, &[100_001]);
    assert!(error(&more).contains("more than 100000 interface entries"), "{}", error(&more));
}

#[test]
fn report_of_more_than_100_000_devices_is_refused() {
    let report = |count: usize| {
        let devices = vec!["{}"; count].join(",");
        format!(
            "{{\"reporter\":{{\"name\":\"a\"}},\"observed_at\":\"2026-10-01T00:00:00Z\",\"devices\":[{devices}]}}"
        )
    };
    assert!(parse(Format::Report, report(100_000).as_bytes(), &options()).is_ok());
    let error = refused(Format::Report, report(100_001));
    assert!(error.to_string().contains("more than 100000 devices"), "{error}");
}
