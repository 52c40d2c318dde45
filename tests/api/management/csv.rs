//! Lists of hosts and parts as CSV, and import of hosts from it.

use http::HeaderMap;
use http_body_util::BodyExt;
use toposcope::model::{Custom, Host, NetworkId};
use tower::ServiceExt;

use super::*;
use crate::common::host;

const IMPORT: &str = "/api/v1/hosts/import";
const TYPE: &str = "text/csv; charset=utf-8";

/// The fields of a host that another network can take over.
const FIELDS: &str = "name,hostname,description,sys_name,sys_location,chassis_id,model,role,hidden,tags,source,interfaces,\
                      ports,created_at,updated_at,last_seen_at";

/// Returns a list as CSV, with the headers of the response.
pub(super) async fn csv(fixture: &Fixture, target: &str) -> (HeaderMap, String) {
    let request = with_header(with_key(get(target), &fixture.key), "accept", "text/csv");
    let response = fixture.server.api.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert_eq!(parts.status, 200, "{text}");
    assert_eq!(parts.headers["content-type"], TYPE);
    assert_eq!(parts.headers["vary"], "Accept");
    (parts.headers, text)
}

pub(super) fn import(query: &str, text: impl Into<Vec<u8>>) -> Request<http_body_util::Full<bytes::Bytes>> {
    let request = with_header(bare("POST", &format!("{IMPORT}{query}")), "content-type", "text/csv");
    request.map(|_| http_body_util::Full::new(bytes::Bytes::from(text.into())))
}

/// Imports a CSV into a network and returns the report.
pub(super) async fn imported(fixture: &Fixture, network: NetworkId, text: impl Into<Vec<u8>>) -> Value {
    let request = with_key(import(&format!("?network_id={network}"), text), &fixture.key);
    fixture.send(request).await.data().clone()
}

/// Stores hosts whose texts and lists are hard to write.
pub(super) async fn odd_hosts(fixture: &Fixture) {
    let [red, green, _] = fixture.home.tags;
    for (index, name) in
        ["plain", "a, b", "say \"x\"", "two\r\nlines", "=1+1", "'=x", "-5", "é 表", " spaces "]
            .iter()
            .enumerate()
    {
        // Longer than any buffer.
        let long = "\"".repeat(index * 1_000) + name;
        let body = json!({
            "network_id": OFFICE, "name": name, "description": long, "sys_location": "+", "model": "@", "hidden": true,
            "role": if index == 0 { "x.load_balancer" } else { "switch" },
            "chassis_id": {"subtype": "MacAddress", "value": "00:1B:21:3C:4D:5E"},
            "tags": [red, green], "source": {"type": "Manual"},
            "interfaces": [
                {"ip_address": format!("192.0.2.{}", index + 1)},
                {"ip_address": "2001:db8::1"},
            ],
            "ports": [{"number": 443, "protocol": "Tcp"}, {"number": 53, "protocol": "Udp"}],
        });
        fixture.post(HOSTS, &body).await;
    }
    fixture.post(HOSTS, &json!({"network_id": OFFICE, "name": "least"})).await;
}

#[test]
fn list_is_a_csv_with_a_header_that_browsers_save() {
    run_new(async |fixture| {
        fixture.put([host(1, OFFICE), host(2, OFFICE)]).await;
        let (headers, text) = csv(&fixture, "/api/v1/hosts?limit=1&order_by=name").await;
        assert_eq!(headers["content-disposition"], "attachment; filename=\"hosts.csv\"");
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!((lines.len(), lines[2]), (3, ""));
        assert!(lines[0].starts_with("network_id,name,hostname,") && lines[0].ends_with(",interfaces,ports"));
        assert!(lines[1].starts_with(&format!("{OFFICE},")));
        let envelope = fixture.list("limit=1&order_by=name").await;
        assert_ne!(headers["etag"], envelope.header("etag"), "each representation has a tag of its own");
        let tag = headers["etag"].to_str().unwrap();
        let again = with_header(get("/api/v1/hosts?limit=1&order_by=name"), "accept", "text/csv");
        assert_eq!(fixture.ask(with_header(again, "if-none-match", tag)).await.status, 304);
        let none = csv(&fixture, &format!("/api/v1/hosts?fields=id&network_id={LAB}")).await.1;
        assert_eq!(none, "id\r\n");
    });
}

#[test]
fn whole_list_is_the_csv_of_its_pages() {
    run_new(async |fixture| {
        fixture.put((1..=300).map(|id| host(id, OFFICE))).await;
        let whole = csv(&fixture, "/api/v1/hosts?limit=0&order_by=name&fields=name,id").await.1;
        let page = csv(&fixture, "/api/v1/hosts?limit=1000&order_by=name&fields=name,id").await.1;
        assert_eq!(whole, page);
        assert_eq!((whole.lines().next(), whole.lines().count()), (Some("name,id"), 301));
        // From the cache.
        assert_eq!(csv(&fixture, "/api/v1/hosts?limit=1000&order_by=name&fields=name,id").await.1, page);
        let json = fixture.list("limit=1000&order_by=name&fields=id,name").await;
        let expected: Vec<String> = json
            .data()
            .as_array()
            .unwrap()
            .iter()
            .map(|host| host["id"].as_str().unwrap().to_owned())
            .collect();
        let found: Vec<String> =
            whole.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect();
        assert_eq!(found, expected);
    });
}

#[test]
fn cells_that_spreadsheets_would_run_begin_with_an_apostrophe() {
    run_new(async |fixture| {
        for name in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "'=x", "'x", "a=1"] {
            fixture.post(HOSTS, &json!({"network_id": OFFICE, "name": name})).await;
        }
        let (_, text) = csv(&fixture, "/api/v1/hosts?fields=name").await;
        let mut cells: Vec<&str> = text.split_terminator("\r\n").skip(1).collect();
        cells.sort_unstable();
        assert_eq!(cells, ["'\tx", "''=x", "'+1", "'-1", "'=1+1", "'@SUM(A1)", "'x", "a=1"]);
    });
}

#[test]
fn pieces_of_cells_that_spreadsheets_would_run_begin_with_an_apostrophe() {
    let texts = ["a;=1+1", "a; b", "x\n@y", "\"=1", "1;-1;'+1", ";;=", "a;'b", "a\t=1", "=1;=2"];
    run_new(async |fixture| {
        for (place, description) in texts.iter().enumerate() {
            let body = json!({"network_id": OFFICE, "name": place.to_string(), "description": description});
            fixture.post(HOSTS, &body).await;
        }
        let list = |network| format!("{HOSTS}?network_id={network}&order_by=name&fields=name,description");
        let (_, text) = csv(&fixture, &list(OFFICE)).await;
        for cell in ["a;'=1+1\r\n", "\"x\n'@y\"", "\"'\"\"=1\"", "1;'-1;''+1\r\n", "a;'b\r\n", "'=1;'=2\r\n"]
        {
            assert!(text.contains(&format!(",{cell}")), "{cell}: {text}");
        }
        assert_eq!(imported(&fixture, LAB, text).await["imported"], texts.len());
        assert_eq!(fixture.read(&list(LAB)).await, fixture.read(&list(OFFICE)).await);
    });
}

#[test]
fn quote_within_the_last_cell_needs_no_line_break() {
    run_new(async |fixture| {
        for (text, name) in [
            ("name\nfirst\nrack 19\"", Some("rack 19\"")),
            ("name\nfirst\n\"a\"\"b\"", Some("a\"b")),
            ("name\nfirst\n\"a\"", Some("a")),
            ("name\nfirst\n\"a\"b\"", Some("ab\"")),
            ("name\nfirst\n\"a", None),
            ("name\nfirst\n\"a\"\"", None),
        ] {
            for end in ["", "\n"] {
                let report = imported(&fixture, LAB, format!("{text}{end}")).await;
                assert_eq!(report["imported"], 1 + u64::from(name.is_some()), "{text:?}: {report}");
                let reason = json!("the row ends within quotes");
                assert!(name.is_some() || report["refusals"][0]["reason"] == reason, "{report}");
                let hosts = fixture.read(&format!("{HOSTS}?network_id={LAB}&order_direction=desc")).await;
                assert!(name.is_none_or(|name| hosts[0]["name"] == name), "{text:?}: {hosts}");
                fixture.clock.advance(std::time::Duration::from_secs(1));
            }
        }
    });
}

#[test]
fn imported_csv_gives_the_same_csv() {
    run_new(async |fixture| {
        odd_hosts(&fixture).await;
        let list =
            |network| format!("/api/v1/hosts?limit=0&order_by=name&network_id={network}&fields={FIELDS}");
        let (_, text) = csv(&fixture, &list(OFFICE)).await;
        assert!(text.contains("192.0.2.1;2001:db8::1,53/Udp;443/Tcp,"), "{text}");
        let report = imported(&fixture, LAB, text.clone()).await;
        assert_eq!((&report["imported"], &report["refused"]), (&json!(10), &json!(0)), "{report}");
        assert_eq!((&report["lines"], &report["bytes"]), (&json!(13), &json!(text.len())));
        assert_eq!(csv(&fixture, &list(LAB)).await.1, text);
        let names = |network| {
            format!("{HOSTS}?order_by=name&network_id={network}&fields=name,description,tags,ports")
        };
        let (office, lab) = (fixture.read(&names(OFFICE)).await, fixture.read(&names(LAB)).await);
        for (one, other) in office.as_array().unwrap().iter().zip(lab.as_array().unwrap()) {
            assert_eq!((&one["name"], &one["description"]), (&other["name"], &other["description"]));
            assert_eq!(one["tags"], other["tags"]);
            assert_eq!(one["ports"][0]["number"], other["ports"][0]["number"]);
        }
    });
}

#[test]
fn default_columns_can_be_imported_where_they_were_exported() {
    run_new(async |fixture| {
        odd_hosts(&fixture).await;
        let (_, text) = csv(&fixture, "/api/v1/hosts?limit=0").await;
        let request = with_key(import("", text), &fixture.key);
        assert_eq!(fixture.send(request).await.data()["imported"], 10);
        assert_eq!(fixture.list("").await.total(), 20, "rows without ids are new hosts");
    });
}

#[test]
fn rows_are_read_however_they_end() {
    run_new(async |fixture| {
        let texts: [&[u8]; 6] = [
            b"name,hidden\r\na,true\r\n\r\n,\r\nb,\r\n",
            b"name,hidden\na,TRUE\n\nb,false",
            b"\xEF\xBB\xBFname,hidden\na,true\nb,",
            b"NAME, Hidden\na,True\nb,\n\n\n",
            b"name,hidden\ra,true\rb,false\r",
            b"\"name\",\"hidden\"\n\"a\",\"true\"\n\"b\",\"\"\n",
        ];
        for text in texts {
            let report = imported(&fixture, LAB, text).await;
            let text = String::from_utf8_lossy(text);
            assert_eq!((&report["imported"], &report["refused"]), (&json!(2), &json!(0)), "{text}: {report}");
            assert_eq!(
                report["bytes"],
                text.trim_start_matches('\u{feff}').len() + (text.starts_with('\u{feff}') as usize) * 3
            );
        }
        let hosts = fixture.read(&format!("{HOSTS}?network_id={LAB}&order_by=name&fields=name,hidden")).await;
        let expected = [("a", true), ("b", false)]
            .map(|(name, hidden)| vec![json!({"name": name, "hidden": hidden}); 6]);
        assert_eq!(hosts, json!(expected.concat()));
    });
}

#[test]
fn rows_in_utf_16_are_read_behind_a_byte_order_mark() {
    run_new(async |fixture| {
        let text = "\u{feff}name\tdescription\r\nprinter\t\"Köln, 𝄞\"\r\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = units.iter().copied().flat_map(to_bytes).collect();
            let report = imported(&fixture, LAB, bytes).await;
            assert_eq!((&report["imported"], &report["refused"]), (&json!(1), &json!(0)), "{report}");
        }
        let hosts = fixture.read(&format!("{HOSTS}?network_id={LAB}&fields=name,description")).await;
        let expected = json!({"name": "printer", "description": "Köln, 𝄞"});
        assert_eq!(hosts, json!([expected, expected]));
    });
}

#[test]
fn cells_may_be_separated_by_semicolons_or_tabs() {
    run_new(async |fixture| {
        let texts = [
            "name;description;interfaces\r\nprinter;\"3,5 kg; grey\";\"192.0.2.1;192.0.2.2\"\r\n",
            "\r\nname\tdescription\tinterfaces\r\nprinter\t3,5 kg; grey\t192.0.2.1;192.0.2.2\r\n",
            "\u{feff}\"name\";\"description\";\"interfaces\"\n\"printer\";\"3,5 kg; grey\";\"192.0.2.1;192.0.2.2\"\n",
            "name,description,interfaces\nprinter,\"3,5 kg; grey\",192.0.2.1;192.0.2.2\n",
        ];
        for text in texts {
            let report = imported(&fixture, LAB, text).await;
            assert_eq!((&report["imported"], &report["bytes"]), (&json!(1), &json!(text.len())), "{report}");
        }
        let hosts = fixture.read(&format!("{HOSTS}?network_id={LAB}")).await;
        for host in hosts.as_array().unwrap() {
            assert_eq!((&host["name"], &host["description"]), (&json!("printer"), &json!("3,5 kg; grey")));
            assert_eq!(host["interfaces"][1]["ip_address"], "192.0.2.2");
        }
    });
}

#[test]
fn faulty_rows_are_refused_with_their_line_and_field_and_the_others_stored() {
    run_new(async |fixture| {
        let text = b"name,hidden,tags,interfaces,ports,source,chassis_id\n\
            \"first\nin two lines\",,,,,,\n\
            short,true\n\
            a,perhaps,,,,,\n\
            a,,no-id,,,,\n\
            a,,,192.0.2.300,,,\n\
            a,,,,443/Tcp;x,,\n\
            a,,,,,Nobody,\n\
            a,,,,,,nonsense\n\
            \xFF,,,,,,\n\
            last,,,192.0.2.9; 192.0.2.10 ,8080;53/Udp,Manual,\n\
            \"open,,,,,,\n";
        let report = imported(&fixture, OFFICE, &text[..]).await;
        let refusals = report["refusals"].as_array().unwrap();
        let found: Vec<(u64, &str)> = refusals
            .iter()
            .map(|refusal| (refusal["line"].as_u64().unwrap(), refusal["field"].as_str().unwrap_or_default()))
            .collect();
        let expected = [
            (4, ""),
            (5, "hidden"),
            (6, "tags.0"),
            (7, "interfaces.0.ip_address"),
            (8, "ports"),
            (9, "source"),
            (10, "chassis_id"),
            (11, "name"),
            (13, ""),
        ];
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), expected.map(|(line, _)| line));
        for ((_, found), (line, field)) in found.iter().zip(expected) {
            assert!(found.starts_with(field), "line {line}: {report}");
        }
        assert_eq!(refusals[0]["reason"], "the row has 2 cells, and the header 7");
        assert_eq!(refusals[1]["reason"], "must be true or false");
        assert_eq!(refusals[8]["reason"], "the row ends within quotes");
        assert_eq!((&report["imported"], &report["lines"]), (&json!(2), &json!(13)));
        let hosts = fixture.read(&format!("{HOSTS}?order_by=name")).await;
        assert_eq!((&hosts[0]["name"], &hosts[1]["name"]), (&json!("first\nin two lines"), &json!("last")));
        assert_eq!(hosts[1]["interfaces"][1]["ip_address"], "192.0.2.10");
        let ports = &hosts[1]["ports"];
        assert_eq!((&ports[0]["number"], &ports[0]["protocol"]), (&json!(53), &json!("Udp")));
        assert_eq!((&ports[1]["number"], &ports[1]["protocol"]), (&json!(8080), &json!("Tcp")));
    });
}

#[test]
fn header_must_name_fields_of_hosts_each_once_and_the_required_ones() {
    run_new(async |fixture| {
        for (text, code, field) in [
            ("", "validation_required", "name"),
            ("hostname\nx\n", "validation_required", "name"),
            ("name\nx\n", "validation_required", "network_id"),
            ("name,network_id,hostnam\nx,y,z\n", "validation_invalid_format", "hostnam"),
            ("name|network_id\nx|y\n", "validation_invalid_format", "name|network_id"),
            ("name;hostnam\nx;y\n", "validation_invalid_format", "hostnam"),
            ("name,network_id,name\n", "validation_invalid_format", "name"),
            ("{\"name\": \"x\"}\n", "validation_invalid_format", "{\"name\": \"x\"}"),
        ] {
            let reply = fixture.send(with_key(import("", text), &fixture.key)).await;
            assert_eq!(*reply.refuses(400, code), json!({"field": field}), "{text}");
        }
        let reply = fixture.send(with_key(import("", "name,network_id,asset_tag\n"), &fixture.key)).await;
        let sentence = reply.json["error"].as_str().unwrap();
        assert!(sentence.contains("the name of a custom field begins with `custom.`"), "{sentence}");
        assert_eq!(fixture.list("").await.total(), 0);
    });
}

#[test]
fn parts_are_listed_as_csv_and_with_selected_fields() {
    run_new(async |fixture| {
        odd_hosts(&fixture).await;
        let hosts = fixture.read(&format!("{HOSTS}?order_by=name&search=plain")).await;
        let of_host = format!("host_id={}", hosts[0]["id"].as_str().unwrap());
        let (headers, text) =
            csv(&fixture, &format!("/api/v1/ports?{of_host}&fields=protocol,number,type")).await;
        assert_eq!(headers["content-disposition"], "attachment; filename=\"ports.csv\"");
        let mut rows: Vec<&str> = text.lines().collect();
        rows[1..].sort_unstable();
        assert_eq!(rows, ["protocol,number,type", "Tcp,443,Https", "Udp,53,DnsUdp"]);
        let (_, text) = csv(&fixture, &format!("/api/v1/interfaces?{of_host}")).await;
        assert!(
            text.starts_with("id,host_id,network_id,subnet_id,name,ip_address,mac_address,mac_source,"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3);
        for list in ["services", "if-entries"] {
            assert_eq!(csv(&fixture, &format!("/api/v1/{list}?{of_host}")).await.1.lines().count(), 1);
        }
        let selected = fixture.read(&format!("/api/v1/interfaces?{of_host}&fields=ip_address&limit=1")).await;
        assert_eq!(selected[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["ip_address"]);
        let reply = fixture.ask(get(&format!("/api/v1/ports?{of_host}&fields=ip_address"))).await;
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "fields"}));
    });
}

/// Custom fields of two hosts, whose texts are hard to write, and their columns.
fn odd_fields() -> [Value; 2] {
    [
        json!({"asset_tag": "A-17", "n": 1.5, "formula": "=1+1", "-x": "a;=b", "list": ["a", {"b": null}], "empty": ""}),
        json!({"asset_tag": "007", "digits": "7", "seven": 7, "negative": -5, "yes": true, "text": "TRUE",
            "lines": "two\r\n@lines", "json": "[1]", "quoted": "\"=a\"", "spaces": " 7 ", "null": "null"}),
    ]
}

#[test]
fn each_custom_field_has_a_column_of_its_own_that_can_be_imported() {
    run_new(async |fixture| {
        for (name, custom) in ["a", "b"].iter().zip(odd_fields()) {
            fixture.post(HOSTS, &json!({"network_id": OFFICE, "name": name, "custom": custom})).await;
        }
        fixture.post(HOSTS, &json!({"network_id": OFFICE, "name": "c"})).await;
        for limit in [0, 10] {
            let (_, text) = csv(&fixture, &format!("{HOSTS}?limit={limit}&network_id={OFFICE}")).await;
            let header = text.lines().next().unwrap();
            assert!(header.contains(",custom,") && header.starts_with("network_id,name,"), "{header}");
            let own = "custom.-x,custom.asset_tag,custom.digits,custom.empty,custom.formula,custom.json,custom.lines,\
                       custom.list,custom.n,custom.negative,custom.null,custom.quoted,custom.seven,custom.spaces,\
                       custom.text,custom.yes";
            assert!(header.ends_with(&format!(",{own}")), "{header}");
            for cell in [",A-17,", ",'=1+1,", ",a;'=b,", ",'-5,", ",007,"] {
                assert!(text.contains(cell), "{cell}: {text}");
            }
            assert!(!text.contains("{\"\"asset_tag"), "{text}");
            // The network of each row is in its first cell.
            let text = text.replace(&OFFICE.to_string(), &LAB.to_string());
            let report = imported(&fixture, LAB, text).await;
            assert_eq!((&report["imported"], &report["refused"]), (&json!(3), &json!(0)), "{report}");
            let hosts =
                fixture.read(&format!("{HOSTS}?network_id={LAB}&order_by=name&fields=name,custom")).await;
            for host in hosts.as_array().unwrap() {
                let expected = match host["name"].as_str().unwrap() {
                    "a" => odd_fields()[0].clone(),
                    "b" => odd_fields()[1].clone(),
                    _ => Value::Null,
                };
                assert_eq!(host["custom"], expected);
            }
        }
        let (_, text) = csv(&fixture, &format!("{HOSTS}?fields=name&limit=0")).await;
        assert!(text.starts_with("name\r\n"), "custom fields that are not selected have no columns");
        let (_, text) = csv(&fixture, &format!("{HOSTS}?fields=custom,name&limit=1&order_by=name")).await;
        assert!(text.starts_with("custom,name,custom.-x,custom.asset_tag,"), "{text}");
    });
}

#[test]
fn custom_fields_beyond_the_columns_are_in_the_column_of_all() {
    run_new(async |fixture| {
        // Six hosts of the first chunk have 300 fields together, and one of a later chunk has another.
        let fields = |host: u128| (0..50).map(move |number| (format!("f{host}.{number}"), json!(number)));
        let mut hosts: Vec<Host> = (1..=6)
            .map(|id| Host { custom: fields(id).collect(), ..host(id, OFFICE) })
            .chain((7..=200).map(|id| host(id, OFFICE)))
            .collect();
        hosts[199].custom = Custom::from([("last".to_owned(), json!("x"))]);
        fixture.put(hosts).await;
        let list = |network| format!("{HOSTS}?limit=0&order_by=name&network_id={network}&fields=name,custom");
        let (_, text) = csv(&fixture, &list(OFFICE)).await;
        assert_eq!(text.lines().next().unwrap().split(',').count(), 2 + 256);
        let report = imported(&fixture, LAB, text).await;
        assert_eq!((&report["imported"], &report["refused"]), (&json!(200), &json!(0)), "{report}");
        let names = |hosts: Value| {
            let mut hosts: Vec<String> = hosts.as_array().unwrap().iter().map(Value::to_string).collect();
            hosts.sort_unstable();
            hosts
        };
        let (office, lab) = (fixture.read(&list(OFFICE)).await, fixture.read(&list(LAB)).await);
        assert_eq!(names(office), names(lab));
    });
}

#[test]
fn faulty_custom_columns_are_refused() {
    run_new(async |fixture| {
        for (header, field) in [
            ("name,custom.a,custom.a", "custom.a"),
            ("name,custom.", "custom."),
            ("name,custom.a b", "custom.a b"),
        ] {
            let request = import(&format!("?network_id={LAB}"), format!("{header}\nx,1,2\n"));
            let reply = fixture.send(with_key(request, &fixture.key)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": field}), "{header}");
        }
        let text = "name,custom,custom.a\n\
            ok,\"{\"\"b\"\": 1}\",2\n\
            none,null,\n\
            twice,\"{\"\"a\"\": 1}\",2\n\
            list,[],\n\
            open,\"{\"\"a\"\": 1\",\n\
            two,\"{}, \"\"id\"\": {}\",\n";
        let report = imported(&fixture, LAB, text).await;
        let refusals = report["refusals"].as_array().unwrap();
        let lines: Vec<(&Value, &Value)> =
            refusals.iter().map(|refusal| (&refusal["line"], &refusal["field"])).collect();
        let custom = json!("custom");
        assert_eq!(
            lines,
            [(&json!(4), &custom), (&json!(5), &custom), (&json!(6), &custom), (&json!(7), &custom)],
            "{report}"
        );
        let hosts = fixture.read(&format!("{HOSTS}?network_id={LAB}&order_by=name")).await;
        assert_eq!(hosts[0]["custom"], Value::Null);
        assert_eq!(hosts[1]["custom"], json!({"a": 2, "b": 1}));
    });
}

#[test]
fn row_of_a_stored_host_keeps_what_a_row_cannot_have() {
    run_new(async |fixture| {
        let body = json!({
            "network_id": OFFICE, "name": "printer",
            "interfaces": [
                {"ip_address": "192.0.2.1", "mac_address": "00:1B:21:3C:4D:5E", "name": "eth0"},
                {"ip_address": "192.0.2.2"},
            ],
            "ports": [{"number": 631, "protocol": "Tcp"}],
        });
        let before =
            fixture.send(with_key(send_json("POST", HOSTS, &body), &fixture.key)).await.data().clone();
        let id = before["id"].as_str().unwrap();
        let (_, text) = csv(&fixture, &format!("{HOSTS}?ids={id}&fields=id,name,interfaces,ports")).await;
        let report = imported(&fixture, OFFICE, text.clone()).await;
        assert_eq!((&report["imported"], &report["unchanged"]), (&json!(0), &json!(1)), "{report}");
        // A cell of JSON says what an interface has.
        let interface = before["interfaces"][0]["id"].as_str().unwrap();
        let cell = format!("[{{\"\"id\"\": \"\"{interface}\"\", \"\"ip_address\"\": \"\"192.0.2.9\"\"}}]");
        let row = format!("id,name,interfaces\n{id},printer,\"{cell}\"\n");
        let request = with_key(import(&format!("?network_id={OFFICE}&dry_run=true"), row), &fixture.key);
        assert_eq!(fixture.send(request).await.data()["replaced"], 1);
        let edited = text.replace("printer", "renamed").replace("192.0.2.2", "192.0.2.3");
        let report = imported(&fixture, OFFICE, edited).await;
        assert_eq!((&report["replaced"], &report["unchanged"]), (&json!(1), &json!(0)), "{report}");
        let after = fixture.read(&format!("{HOSTS}/{id}")).await;
        assert_eq!(after["name"], "renamed");
        assert_eq!(after["interfaces"][0], before["interfaces"][0]);
        assert_eq!(after["interfaces"][1]["ip_address"], "192.0.2.3");
        assert_eq!((&after["ports"], &after["created_at"]), (&before["ports"], &before["created_at"]));
    });
}
