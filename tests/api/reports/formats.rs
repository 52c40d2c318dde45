//! The answers to an import in each format, and to bodies that cannot be read.

use super::*;
use crate::backend::run_with;

const SCAN: &str = r#"<?xml version="1.0"?>
<nmaprun scanner="nmap" start="1785585600" version="7.94">
<scaninfo type="syn" protocol="tcp" numservices="2" services="22,443"/>
<host><status state="up"/><address addr="192.0.2.10" addrtype="ipv4"/>
<ports><port protocol="tcp" portid="22"><state state="open"/><service name="ssh" product="OpenSSH"/></port></ports></host>
<runstats><finished time="1785585660"/><hosts up="1" down="0" total="1"/></runstats>
</nmaprun>"#;

const LLDP: &str = r#"{"lldp": {"interface": {"eth0": {
    "chassis": {"core-9": {"id": {"type": "mac", "value": "00:1b:21:00:00:09"}}},
    "port": {"id": {"type": "ifname", "value": "Te1/1"}}}}}}"#;

const WALK: &str = r#".1.3.6.1.2.1.1.5.0 = STRING: "walked"
.1.3.6.1.2.1.2.2.1.1.1 = INTEGER: 1
.1.3.6.1.2.1.2.2.1.2.1 = STRING: "eth0"
.1.3.6.1.2.1.4.20.1.2.192.0.2.11 = INTEGER: 1
"#;

const RECORDING: &str = "1.3.6.1.2.1.1.5.0|4|recorded\n1.3.6.1.2.1.2.2.1.1.1|2|1\n\
    1.3.6.1.2.1.2.2.1.2.1|4|eth0\n1.3.6.1.2.1.2.2.1.6.1|4x|001b21000012\n";

const ADDRESSES: &str = r#"[{"ifindex": 2, "ifname": "eth0", "flags": ["UP"], "link_type": "ether", "promiscuity": 0,
    "address": "00:1b:21:00:00:15", "addr_info": [{"local": "192.0.2.21", "prefixlen": 24}]}]"#;

const FORWARDING: &str = r#"[{"mac": "00:1b:21:00:00:16", "ifname": "eth0", "vlan": 10}]"#;

const ROUTES: &str =
    r#"[{"dst": "default", "gateway": "192.0.2.1", "dev": "eth0", "protocol": "static", "flags": []}]"#;

const MEMBERSHIPS: &str =
    r#"[{"ifname": "eth0", "vlans": [{"vlan": 10, "flags": ["PVID", "Egress Untagged"]}]}]"#;

const NEIGHBORS: &str =
    r#"[{"dst": "192.0.2.20", "dev": "eth0", "lladdr": "00:1b:21:00:00:14", "state": ["REACHABLE"]}]"#;

/// Returns a sample of each format. It has further parameters, a body, the name of the host, and the kinds of its
/// tables.
fn samples() -> Vec<(&'static str, &'static str, String, &'static str, Vec<&'static str>)> {
    let report = report_of(switch(1, &["192.0.2.1"]), FIRST).to_string();
    vec![
        ("nmap", "", SCAN.to_owned(), "192.0.2.10", vec!["addresses", "ports"]),
        ("lldpctl", "&reporter=station", LLDP.to_owned(), "station", vec!["lldp"]),
        ("snmpwalk", "", WALK.to_owned(), "walked", vec!["if_entries", "addresses"]),
        ("snmprec", "", RECORDING.to_owned(), "recorded", vec!["if_entries"]),
        (
            "ip_addr",
            "&reporter=router",
            ADDRESSES.to_owned(),
            "router",
            vec!["if_entries", "addresses", "lag"],
        ),
        ("report", "", report, "switch-1", vec!["if_entries", "addresses", "lldp"]),
    ]
}

#[test]
fn every_format_becomes_a_host_with_its_tables() {
    run_with(Fixture::new, async |fixture| {
        for (format, further, body, name, kinds) in samples() {
            let query = format!("format={format}{further}&complete=true");
            let answer = send(&fixture, &query, &body).await.data().clone();
            assert_eq!(answer["hosts"].as_array().unwrap().len(), 1, "{format}: {answer}");
            let found = &answer["hosts"][0];
            assert_eq!((&found["name"], &found["outcome"]), (&json!(name), &json!("created")), "{format}");
            let tables = answer["tables"].as_array().unwrap();
            let given: Vec<&str> = tables.iter().map(|table| table["kind"].as_str().unwrap()).collect();
            assert_eq!(given, kinds, "{format}");
            assert!(tables.iter().all(|table| table["device_id"] == found["id"]), "{format}");
            let again = send(&fixture, &query, &body).await.data().clone();
            let outcome = &again["hosts"][0];
            assert_eq!(
                (&outcome["outcome"], &outcome["id"]),
                (&json!("unchanged"), &found["id"]),
                "{format}"
            );
        }
        assert_eq!(hosts(&fixture).await.len(), samples().len());
    });
}

#[test]
fn format_is_recognized_by_the_content() {
    run_with(Fixture::new, async |fixture| {
        for (format, further, body, name, kinds) in samples() {
            let answer = send(&fixture, &format!("format=auto{further}&complete=true&dry_run=true"), &body)
                .await
                .data()
                .clone();
            assert_eq!(answer["hosts"][0]["name"], name, "{format}");
            assert_eq!(answer["tables"].as_array().unwrap().len(), kinds.len(), "{format}");
        }
        let reply = send(&fixture, "format=auto", "Dear reader,\n").await;
        let params = reply.refuses(400, "validation_invalid_format");
        assert_eq!((&params["field"], &params["format"]), (&json!("body"), &json!("auto")));
        let reply = send(&fixture, "format=auto", ADDRESSES).await;
        assert_eq!(reply.refuses(400, "validation_required")["field"], "reporter");
    });
}

#[test]
fn tables_about_others_need_a_reporter_that_is_a_host() {
    run_with(Fixture::new, async |fixture| {
        let tables = [
            ("arp", NEIGHBORS, "arp"),
            ("ip_route", ROUTES, "routes"),
            ("bridge_fdb", FORWARDING, "fdb"),
            ("bridge_vlan", MEMBERSHIPS, "if_entries"),
        ];
        for (format, body, _) in tables {
            for reporter in ["station", "11111111-2222-4333-8444-555555555555"] {
                let query = format!("format={format}&reporter={reporter}");
                let reply = send(&fixture, &query, body).await;
                let params = reply.refuses(400, "entity_reference_invalid");
                assert_eq!(*params, json!({"entity": "Host", "field": "reporter"}), "{format}");
            }
        }
        assert_eq!(hosts(&fixture).await, Vec::<Value>::new(), "nothing is stored");
        // In a report with several devices, the others are stored.
        let observer = json!({"sys_name": "station", "tables": {"arp": {"rows": [
            {"ip_address": "192.0.2.20", "mac_address": "00:1B:21:00:00:14"}]}}});
        let mut report = report_of(observer, FIRST);
        report["devices"].as_array_mut().unwrap().push(switch(1, &["192.0.2.1"]));
        let answer = import_report(&fixture, &report).await;
        let outcomes: Vec<_> =
            answer["hosts"].as_array().unwrap().iter().map(|host| &host["outcome"]).collect();
        assert_eq!(outcomes, ["ignored", "created"]);
        assert!(answer["hosts"][0]["reason"].as_str().unwrap().contains("no host named \"station\""));

        send(&fixture, "format=ip_addr&reporter=station", ADDRESSES).await.data();
        for (format, body, kind) in tables {
            let answer =
                send(&fixture, &format!("format={format}&reporter=station"), body).await.data().clone();
            assert_eq!(answer["tables"][0]["kind"], kind, "{format}");
        }
        assert_eq!(hosts(&fixture).await.len(), 2);
    });
}

#[test]
fn dry_run_gives_the_same_answer_and_stores_nothing() {
    run_with(Fixture::new, async |fixture| {
        for (format, further, body, ..) in samples() {
            let (before, query) = (hosts(&fixture).await, format!("format={format}{further}"));
            let mut tried = send(&fixture, &format!("{query}&dry_run=true"), &body).await.data().clone();
            assert_eq!(tried["dry_run"], true);
            assert_eq!(hosts(&fixture).await, before, "{format}");
            tried["dry_run"] = json!(false);
            assert_eq!(*send(&fixture, &query, &body).await.data(), tried, "{format}");
        }
    });
}

#[test]
fn media_type_does_not_decide_about_the_format() {
    run_with(Fixture::new, async |fixture| {
        for kind in
            ["application/xml", "text/xml", "text/csv", "text/plain; charset=utf-8", "application/json"]
        {
            let request = with_header(import("format=nmap", SCAN, &fixture.key), "content-type", kind);
            assert_eq!(fixture.send(request).await.data()["hosts"][0]["name"], "192.0.2.10", "{kind}");
        }
        for kind in ["application/x-www-form-urlencoded", "multipart/form-data", "x", ""] {
            let request = with_header(import("format=nmap", SCAN, &fixture.key), "content-type", kind);
            fixture.send(request).await.refuses(415, "request_unsupported_media_type");
        }
    });
}

#[test]
fn complete_applies_to_formats_that_do_not_tell() {
    run_with(Fixture::new, async |fixture| {
        for (parameter, expected) in [("", false), ("&complete=false", false), ("&complete=true", true)] {
            let answer = send(&fixture, &format!("format=snmpwalk&dry_run=true{parameter}"), WALK).await;
            let tables = answer.data()["tables"].as_array().unwrap().clone();
            assert!(tables.iter().all(|table| table["complete"] == expected), "{parameter}");
        }
    });
}

#[test]
fn named_neighbors_become_hidden_hosts_on_demand() {
    run_with(Fixture::new, async |fixture| {
        let report = report_of(switch(1, &["192.0.2.1"]), FIRST).to_string();
        assert_eq!(
            send(&fixture, "format=report", &report).await.data()["hosts"].as_array().unwrap().len(),
            1
        );
        let answer = send(&fixture, "format=report&create_neighbors=true", &report).await.data().clone();
        assert_eq!(answer["hosts"][1]["outcome"], "created");
        let hidden = fixture.list("hidden=true").await.data().clone();
        assert_eq!(hidden[0]["id"], answer["hosts"][1]["id"]);
        assert_eq!(hidden[0]["source"]["type"], "Discovery");
    });
}

#[test]
fn missing_and_faulty_parameters_are_named() {
    run_with(Fixture::new, async |fixture| {
        let key = &fixture.key;
        let long = "n".repeat(1_000);
        let rows = [
            (format!("{IMPORT}?network_id={OFFICE}"), "validation_required", "format"),
            (format!("{IMPORT}?network_id={OFFICE}&format=pcap"), "validation_invalid_format", "format"),
            (format!("{IMPORT}?format=nmap"), "validation_required", "network_id"),
            (format!("{IMPORT}?format=nmap&network_id=x"), "validation_invalid_format", "network_id"),
            (format!("{IMPORT}?format=lldpctl&network_id={OFFICE}"), "validation_required", "reporter"),
            (
                format!("{IMPORT}?format=nmap&network_id={OFFICE}&complete=1"),
                "validation_invalid_format",
                "complete",
            ),
            (
                format!("{IMPORT}?format=nmap&network_id={OFFICE}&reporter={long}"),
                "validation_max_length",
                "reporter",
            ),
            (format!("{IMPORT}?format=nmap&network_id={OFFICE}&x=1"), "validation_unknown_parameter", "x"),
        ];
        for (target, code, field) in rows {
            let reply = fixture.send(request(&target, LLDP, key)).await;
            let params = reply.refuses(400, code);
            assert!([&params["field"], &params["parameter"]].contains(&&json!(field)), "{target}: {params}");
        }
        // A walk without sysName and chassis id needs a reporter, too.
        let walk = ".1.3.6.1.2.1.2.2.1.1.1 = INTEGER: 1\n";
        let reply = send(&fixture, "format=snmpwalk", walk).await;
        assert_eq!(reply.refuses(400, "validation_required")["field"], "reporter");
        send(&fixture, "format=snmpwalk&reporter=named", walk).await.data();
    });
}

#[test]
fn malformed_body_is_refused_with_its_place_and_stores_nothing() {
    run_with(Fixture::new, async |fixture| {
        let report = report_of(switch(1, &["192.0.2.1"]), FIRST).to_string();
        let faults = [
            ("nmap", "<nmaprun scanner=\"nmap\"><host>\n</nmaprun>".to_owned()),
            ("nmap", SCAN.replace("</ports>", "</scripts>")),
            ("nmap", LLDP.to_owned()),
            ("nmap", String::new()),
            ("lldpctl", LLDP.replace("chassis\":", "chassis\"")),
            ("lldpctl", SCAN.to_owned()),
            ("snmpwalk", "no walk at all\n\u{1}\n".to_owned()),
            ("snmprec", "no recording\n".to_owned()),
            ("arp", "[{\"dst\": 1,\n".to_owned()),
            ("report", report.replace("\"devices\"", "\"devices\" nonsense")),
            ("report", report.replace("192.0.2.1", "no address")),
            ("report", "[]".to_owned()),
            ("ip_addr", NEIGHBORS.to_owned()),
            ("ip_route", NEIGHBORS.to_owned()),
            ("bridge_fdb", ADDRESSES.to_owned()),
            ("bridge_vlan", FORWARDING.to_owned()),
            ("arp", "MAC Address       Address\n00:1b:21:00:00:14 unreadable\n".to_owned()),
        ];
        for (format, body) in faults {
            let reply = send(&fixture, &format!("format={format}&reporter=r"), &body).await;
            let params = reply.refuses(400, "validation_invalid_format");
            assert_eq!((&params["field"], &params["format"]), (&json!("body"), &json!(format)));
            assert!(params["line"].is_u64() != params["byte"].is_u64(), "{format}: {params}");
        }
        assert_eq!(hosts(&fixture).await, Vec::<Value>::new());
    });
}

#[test]
fn report_may_be_larger_than_other_bodies_but_not_than_its_limit() {
    run_with(Fixture::new, async |fixture| {
        let server = fixture.configured(|builder| builder.body_limit(1).report_body_limit(SCAN.len()));
        server.send(import("format=nmap", SCAN, &fixture.key)).await.data();
        let long = format!("{SCAN} ");
        let reply = server.send(import("format=nmap", &long, &fixture.key)).await;
        assert_eq!(*reply.refuses(413, "request_too_large"), json!({"limit": SCAN.len()}));
    });
}
