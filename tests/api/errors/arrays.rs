//! Arrays in place of objects. Serde would read a struct from an array of its fields.

use http::Request;
use serde_json::{Value, json};

use crate::backend::run_with;
#[cfg(feature = "discovery")]
use crate::common::with_key;
use crate::common::{HOST, HOSTS, OFFICE, Populated, Row, send_json, with_header};

/// An id.
const ID: &str = "00000000-0000-4000-8000-000000000077";

/// The body of a host in which a field has another value, with the path of the array in it.
fn hosts() -> Vec<(Value, &'static str)> {
    let interface = json!([null, null, null, "192.0.2.1", null, 0]);
    let entry = |vlans: Value| {
        json!([
            null, null, 1, null, "Gi0/1", null, null, null, null, null, null, null, vlans, null, null, null,
            null, null, null, null, null, null, null, null
        ])
    };
    let chassis_id = json!(["MacAddress", "00:00:5E:00:53:01"]);
    let service = |more: Value| {
        let mut service = json!({"name": "web", "service_definition": "Web Server"});
        service.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([service])
    };
    let fields = [
        ("chassis_id", chassis_id.clone(), "chassis_id"),
        ("source", json!(["Manual"]), "source"),
        ("source", json!(["Discovery", []]), "source"),
        ("virtualization", json!(["Proxmox", {"service_id": ID}]), "virtualization"),
        ("virtualization", json!({"type": "Proxmox", "details": [null, null, ID]}), "virtualization"),
        ("credential_assignments", json!([[ID, null]]), "credential_assignments.0"),
        ("interfaces", json!([interface]), "interfaces.0"),
        ("ports", json!([[null, 443, "Tcp"]]), "ports.0"),
        ("if_entries", json!([entry(json!(null))]), "if_entries.0"),
        (
            "if_entries",
            json!([{"if_index": 1, "if_descr": "", "vlans": [10, [20], []]}]),
            "if_entries.0.vlans",
        ),
        (
            "if_entries",
            json!([{"if_index": 1, "if_descr": "", "lldp_chassis_id": chassis_id}]),
            "if_entries.0.lldp_chassis_id",
        ),
        (
            "if_entries",
            json!([{"if_index": 1, "if_descr": "", "lldp_port_id": ["InterfaceName", "Gi0/1"]}]),
            "if_entries.0.lldp_port_id",
        ),
        (
            "if_entries",
            json!([{"if_index": 1, "if_descr": "", "neighbor": ["Host", ID]}]),
            "if_entries.0.neighbor",
        ),
        ("services", json!([[null, "web", 0, "Web Server", null, null, null, []]]), "services.0"),
        ("services", service(json!({"source": ["System"]})), "services.0.source"),
        ("services", service(json!({"virtualization": ["Docker", {}]})), "services.0.virtualization"),
        ("services", service(json!({"bindings": [[null, "Port", ID, null]]})), "services.0.bindings.0"),
    ];
    let body = |name: &str, value: Value| {
        let mut body = json!({"name": "a host", "network_id": OFFICE});
        body[name] = value;
        body
    };
    fields.into_iter().map(|(name, value, path)| (body(name, value), path)).collect()
}

fn refused(request: Request<String>, path: &str) -> Row {
    Row::refused_with(path, request, "validation_invalid_format", json!({"field": path}))
}

#[test]
fn array_in_place_of_an_object_of_a_host_is_refused_with_its_path() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        let mut rows = Vec::new();
        for (body, path) in hosts() {
            rows.push(refused(fixture.by_key(send_json("POST", HOSTS, &body)), path));
            rows.push(refused(fixture.by_key(send_json("PUT", &format!("{HOSTS}/{HOST}"), &body)), path));
            let bulk = json!({"hosts": [{"name": "first", "network_id": OFFICE}, body]});
            let request = fixture.by_key(send_json("POST", "/api/v1/hosts/bulk", &bulk));
            rows.push(refused(request, &format!("hosts.1.{path}")));
        }
        fixture.check(rows).await;
        assert_eq!(fixture.stored().await, before);
    });
}

#[test]
fn array_in_place_of_an_object_of_another_body_is_refused_with_its_path() {
    run_with(Populated::new, async |fixture| {
        let share = |more: Value| {
            let mut share = json!({"name": "a share", "network_id": OFFICE});
            share.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            share
        };
        #[cfg_attr(not(feature = "discovery"), allow(unused_mut, reason = "only features add bodies"))]
        let mut bodies = vec![
            ("/api/v1/shares", share(json!({"options": [true, true, true, true]})), "options"),
            ("/api/v1/hosts/bulk", json!({"hosts": [[ID, OFFICE, "a host"]]}), "hosts.0"),
        ];
        #[cfg(feature = "topology")]
        bodies.extend([
            (
                "/api/v1/topology/links",
                json!({"network_id": OFFICE, "source": [HOST, null], "target": {"host_id": ID}}),
                "source",
            ),
            (
                "/api/v1/topology/links",
                json!({"network_id": OFFICE, "source": {"host_id": HOST}, "target": [ID, null]}),
                "target",
            ),
        ]);
        #[cfg(feature = "discovery")]
        bodies.extend([
            (
                "/api/v1/discoveries",
                json!({"network_id": OFFICE, "discovery_type": ["Network", null, null]}),
                "discovery_type",
            ),
            (
                "/api/v1/discoveries",
                json!({"network_id": OFFICE, "snmp_credentials": [null, []]}),
                "snmp_credentials",
            ),
        ]);
        let rows: Vec<Row> = bodies
            .into_iter()
            .map(|(path, body, field)| refused(fixture.by_key(send_json("POST", path, &body)), field))
            .collect();
        fixture.check(rows).await;
        #[cfg(feature = "topology")]
        {
            let layout = format!("/api/v1/topology/layouts/{OFFICE}/l2");
            let body = json!({"positions": [{"id": HOST, "x": 0.0, "y": 0.0}, [HOST, 0.0, 0.0]]});
            fixture.check([refused(fixture.by_key(send_json("PUT", &layout, &body)), "positions.1")]).await;
        }
        #[cfg(feature = "discovery")]
        {
            let body = json!({"daemon_id": ID, "name": "a daemon", "capabilities": [true, []]});
            let request = with_key(send_json("POST", "/api/daemons/register", &body), &fixture.daemon_key);
            fixture.check([refused(request, "capabilities")]).await;
        }
    });
}

#[test]
fn array_in_place_of_an_object_of_an_imported_line_refuses_the_line() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        let mut host = crate::common::host(0x77, OFFICE);
        host.ports =
            vec![crate::common::port(ID.parse().unwrap(), &host, 443, toposcope::model::Protocol::Tcp)];
        let valid = serde_json::to_value(&host).unwrap();
        let at = &valid["created_at"];
        let mut lines = String::new();
        let mut expected = Vec::new();
        for (field, value, path) in [
            ("chassis_id", json!(["MacAddress", "x"]), "chassis_id"),
            ("virtualization", json!({"type": "Proxmox", "details": [null, null, ID]}), "virtualization"),
            ("source", json!(["Manual"]), "source"),
            ("ports", json!([[ID, valid["id"], OFFICE, 443, "Tcp", at, at, null, false]]), "ports.0"),
            ("services", json!([[ID]]), "services.0"),
        ] {
            let mut line = valid.clone();
            line[field] = value;
            lines.push_str(&format!("{line}\n"));
            expected.push(path);
        }
        let import = with_header(
            send_json("POST", "/api/v1/hosts/import", &json!(null)),
            "content-type",
            "application/x-ndjson",
        );
        let reply = fixture.send(fixture.by_key(import).map(|_| lines)).await;
        let refusals = reply.refuses(400, "import_refused")["report"]["refusals"].as_array().unwrap();
        let fields: Vec<&str> = refusals.iter().map(|refusal| refusal["field"].as_str().unwrap()).collect();
        assert_eq!(fields, expected);
        assert_eq!(fixture.stored().await, before);
    });
}

#[cfg(feature = "discovery")]
#[test]
fn array_in_place_of_an_object_of_a_report_is_refused_with_its_place() {
    run_with(Populated::new, async |fixture| {
        let report = |devices: Value| json!({"reporter": {"name": "x"}, "observed_at": "2026-08-01T12:00:00Z", "devices": devices});
        let table = |rows: Value| report(json!([{"tables": {"if_entries": {"rows": rows}}}]));
        let mut without_reporter = report(json!([]));
        without_reporter["reporter"] = json!(["x", null]);
        for (body, place) in [
            (report(json!([[]])), "devices[0]"),
            (report(json!([{}, {"tables": []}])), "devices[1].tables"),
            (report(json!([{"chassis_id": ["MacAddress", "x"]}])), "devices[0].chassis_id"),
            (report(json!([{"tables": {"arp": [true, false, []]}}])), "devices[0].tables.arp"),
            (table(json!([[1]])), "devices[0].tables.if_entries.rows[0]"),
            (
                table(json!([{"if_index": 1, "vlans": [1, [], []]}])),
                "devices[0].tables.if_entries.rows[0].vlans",
            ),
            (without_reporter, "reporter"),
        ] {
            let target = format!("/api/v1/discovery/import?network_id={OFFICE}&format=report");
            let reply = fixture.send(fixture.by_key(send_json("POST", &target, &body))).await;
            let params = reply.refuses(400, "validation_invalid_format");
            assert_eq!((&params["field"], &params["line"]), (&json!("body"), &json!(1)));
            let sentence = reply.json["error"].as_str().unwrap();
            assert!(sentence.contains(&format!(" {place}: ")), "{place}: {sentence}");
        }
    });
}
