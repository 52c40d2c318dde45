//! Times, ids, addresses and texts: their canonical form, and the accepted forms.

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{
    BOUND_PORT, DAEMON_KEYS, Fixture, HOST, HOSTS, LAB, LAB_HOST, OFFICE, PASSWORD, PORT, Populated, Row, at,
    bare, daemon_body, get, key_path, port_body, put_port, send_json, share_path, with, with_key, without,
};

/// A value as sent, and its canonical form.
const TIMES: [(&str, &str); 18] = [
    ("2026-08-14T12:00:00Z", "2026-08-14T12:00:00Z"),
    ("2026-08-14T12:00:00+00:00", "2026-08-14T12:00:00Z"),
    ("2026-08-14T12:00:00-00:00", "2026-08-14T12:00:00Z"),
    ("2026-08-14T14:00:00+02:00", "2026-08-14T12:00:00Z"),
    ("2026-08-14T06:15:00-05:45", "2026-08-14T12:00:00Z"),
    ("2026-08-15T11:59:00+23:59", "2026-08-14T12:00:00Z"),
    ("2026-08-14t12:00:00z", "2026-08-14T12:00:00Z"),
    ("2026-08-14T12:00:00.000000Z", "2026-08-14T12:00:00Z"),
    ("2026-08-14T12:00:00.5Z", "2026-08-14T12:00:00.500Z"),
    ("2026-08-14T12:00:00.120Z", "2026-08-14T12:00:00.120Z"),
    ("2026-08-14T12:00:00.000001Z", "2026-08-14T12:00:00.000001Z"),
    ("2026-08-14T12:00:00.1234567Z", "2026-08-14T12:00:00.123456Z"),
    ("2026-08-14T12:00:00.999999999999Z", "2026-08-14T12:00:00.999999Z"),
    ("2028-02-29T23:59:59Z", "2028-02-29T23:59:59Z"),
    ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
];

#[test]
fn times_are_accepted_with_any_offset_and_written_in_utc() {
    run_with(Populated::new, async |fixture| {
        for (sent, written) in TIMES {
            let body = with(&fixture.key_body(), "expires_at", sent);
            let reply = fixture.send(fixture.put_own_key(&body)).await;
            assert_eq!(reply.data()["expires_at"], written, "{sent}");
        }
    });
}

/// Puts the host and returns it as it is listed.
async fn listed(fixture: &Fixture, document: &Value) -> Value {
    let host: Host = serde_json::from_value(document.clone()).unwrap();
    let id = host.id;
    fixture.put([host]).await;
    fixture.list(&format!("ids={id}")).await.data()[0].clone()
}

fn document() -> Value {
    let time = "2026-08-14T12:00:00Z";
    let (id, part) = (Uuid::from_u128(1), Uuid::from_u128(2));
    json!({
        "id": id, "network_id": OFFICE, "name": "host", "created_at": time, "updated_at": time,
        "interfaces": [{
            "id": part, "host_id": id, "network_id": OFFICE, "ip_address": "10.0.0.1", "position": 0,
            "created_at": time, "updated_at": time,
        }],
    })
}

fn with_at(document: &Value, pointer: &str, value: impl Into<Value>) -> Value {
    let mut document = document.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[field] = value.into();
    document
}

#[test]
fn times_and_addresses_of_hosts_are_written_canonically() {
    run_with(Fixture::new, async |fixture| {
        let times = ["/created_at", "/updated_at", "/interfaces/0/created_at"].iter();
        let times = times.flat_map(|place| TIMES.map(|(sent, written)| (*place, sent, written)));
        let macs =
            ["00:1B:21:3C:4D:5E", "00:1b:21:3c:4d:5e", "00-1B-21-3c-4d-5e", "001B213C4D5E", "001b213c4d5e"];
        let macs = macs.map(|sent| ("/interfaces/0/mac_address", sent, "00:1B:21:3C:4D:5E"));
        let addresses = [
            ("10.0.0.1", "10.0.0.1"),
            ("0.0.0.0", "0.0.0.0"),
            ("255.255.255.255", "255.255.255.255"),
            ("::", "::"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("FE80::1", "fe80::1"),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ];
        let addresses = addresses.map(|(sent, written)| ("/interfaces/0/ip_address", sent, written));
        for (place, sent, written) in times.chain(macs).chain(addresses) {
            let listed = listed(&fixture, &with_at(&document(), place, sent)).await;
            assert_eq!(listed.pointer(place), Some(&json!(written)), "{place}: {sent}");
        }
    });
}

#[test]
fn malformed_addresses_are_refused() {
    for (place, value) in [
        ("/interfaces/0/mac_address", "00:1B:21:3C:4D"),
        ("/interfaces/0/mac_address", "00:1B:21:3C:4D:5E:6F"),
        ("/interfaces/0/mac_address", "00:1B-21:3C-4D:5E"),
        ("/interfaces/0/mac_address", "001B.213C-4D5E"),
        ("/interfaces/0/mac_address", "0:1B:21:3C:4D:5E"),
        ("/interfaces/0/mac_address", ""),
        ("/interfaces/0/ip_address", "10.0.0.1/24"),
        ("/interfaces/0/ip_address", "10.0.0"),
        ("/interfaces/0/ip_address", "010.0.0.1"),
        ("/interfaces/0/ip_address", "fe80::1%eth0"),
        ("/interfaces/0/ip_address", ""),
        ("/created_at", "2026-08-14"),
        ("/id", "x"),
    ] {
        assert!(serde_json::from_value::<Host>(with_at(&document(), place, value)).is_err(), "{value}");
    }
}

/// Ids are sent in a path, in a query, and in a body.
#[test]
fn ids_are_accepted_in_every_form_and_written_canonically() {
    run_with(Populated::new, async |fixture| {
        let forms = |id: Uuid| {
            let simple = id.simple().to_string();
            [
                id.to_string(),
                id.to_string().to_uppercase(),
                simple.to_uppercase(),
                simple,
                id.urn().to_string(),
            ]
        };
        for (place, form) in forms(PORT.uuid()).iter().enumerate() {
            let body = with(&port_body(), "network_id", &*forms(OFFICE.uuid())[place]);
            let reply = fixture.send(fixture.by_key(put_port(form, &body))).await;
            assert_eq!((&reply.data()["id"], &reply.data()["network_id"]), (&json!(PORT), &json!(OFFICE)));
        }
        for form in forms(fixture.share_id.uuid()) {
            assert_eq!(fixture.server.get(&share_path(form)).await.data()["id"], json!(fixture.share_id));
        }
        for form in forms(LAB.uuid()).into_iter().chain([format!("%7B{LAB}%7D")]) {
            let reply = fixture.send(fixture.by_key(get(&format!("{HOSTS}?network_id={form}")))).await;
            assert_eq!((reply.ids(), &reply.data()[0]["network_id"]), (vec![3], &json!(LAB)));
        }
        for form in forms(LAB_HOST.uuid()).into_iter().chain([format!("%7B{LAB_HOST}%7D")]) {
            let reply = fixture.send(fixture.by_key(get(&format!("{HOSTS}?ids={form}")))).await;
            assert_eq!((reply.ids(), &reply.data()[0]["id"]), (vec![3], &json!(LAB_HOST)));
        }
        let tag = fixture.home.tags[0];
        for form in forms(tag.uuid()).into_iter().chain([tag.uuid().braced().to_string()]) {
            let body = with(&daemon_body(), "tags", json!([form]));
            let reply = fixture.send(fixture.create_daemon_key(&body)).await;
            assert_eq!(reply.data()["api_key"]["tags"], json!([tag]));
        }
        for form in forms(fixture.member_key_id.uuid()) {
            let reply = fixture.send(fixture.put_key(form, &fixture.key_body())).await;
            assert_eq!(reply.data()["id"], json!(fixture.member_key_id));
        }
        let delete = fixture.by_session(bare("DELETE", &key_path(fixture.member_key_id.uuid().simple())));
        assert_eq!(fixture.send(delete).await.data(), &json!({}));
    });
}

/// Real devices send these values.
#[test]
fn texts_with_any_characters_are_stored_unchanged() {
    run_with(Fixture::new, async |fixture| {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        let texts = [
            "",
            "\0",
            "\0\0",
            "a\0b",
            "\u{7f}\u{80}\u{9f}",
            "\r\n\t\u{b}",
            "\"\\/",
            "größe",
            "😀",
            "\u{202e}\u{200b}\u{feff}",
            "\u{10ffff}\u{fffe}",
            "e\u{301}",
            "</script>",
            "${x}",
            "%00",
            "' or 1=1 --",
            &all,
        ];
        for text in texts {
            let document =
                with(&with(&with(&document(), "name", text), "hostname", text), "description", text);
            let document = with_at(&document, "/interfaces/0/name", text);
            let listed = listed(&fixture, &document).await;
            for place in ["/name", "/hostname", "/description", "/interfaces/0/name"] {
                assert_eq!(listed.pointer(place), Some(&json!(text)), "{place}");
            }
        }
    });
}

#[test]
fn unknown_fields_are_ignored_in_every_body() {
    run_with(Populated::new, async |fixture| {
        let more = [
            ("bogus", json!({"name": 5, "deep": [[[{}]]]})),
            ("Name", json!(5)),
            ("", json!(null)),
            ("naïve 😀\0", json!("x")),
            ("tags ", json!("x")),
            ("__proto__", json!({})),
        ];
        let filled =
            |body: Value| more.iter().fold(body, |body, (name, value)| with(&body, name, value.clone()));
        let credentials = json!({"email": fixture.member.email, "password": PASSWORD});
        let requests: [Request<String>; 5] = [
            send_json("POST", "/api/auth/login", &filled(credentials)),
            fixture.create_daemon_key(&filled(daemon_body())),
            fixture.put_port(PORT, &filled(port_body())),
            fixture.put_own_key(&filled(fixture.key_body())),
            fixture.submit_referral(&filled(json!({"referral_source": "reddit"}))),
        ];
        let rows = requests.map(|request| Row::succeeds(request.uri().to_string(), request));
        fixture.check(rows).await;
    });
}

const EPOCH: &str = "1970-01-01T00:00:00Z";

/// Clients send a listed port back whole, with some fields changed.
#[test]
fn full_record_is_accepted_as_the_body_of_an_update() {
    run_with(Populated::new, async |fixture| {
        let listed = fixture.send(fixture.by_key(get(&format!("{HOSTS}?ids={HOST}")))).await;
        let ports = listed.data()[0]["ports"].as_array().unwrap().clone();
        let record = ports.iter().find(|port| port["id"] == json!(PORT)).unwrap().clone();
        let fields =
            ["created_at", "host_id", "id", "network_id", "number", "protocol", "type", "updated_at"];
        let mut given: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
        given.sort_unstable();
        assert_eq!(given, fields);
        fixture.clock.set(at(3));
        let changed = |number: u16, kind: &str| {
            let record = with(&with(&record, "number", number), "type", kind);
            with(&record, "updated_at", json!(at(3)))
        };
        let sent = with(&record, "number", 8443);
        let rows = [
            ("as it was listed", record.clone(), changed(443, "Https")),
            ("with another number and the old type", sent.clone(), changed(8443, "Https8443")),
            ("without a type", without(&sent, "type"), changed(8443, "Https8443")),
            ("with a type that is wrong", with(&sent, "type", "Ssh"), changed(8443, "Https8443")),
            ("with no type at all", with(&sent, "type", Value::Null), changed(8443, "Https8443")),
            ("with the id of another", with(&sent, "id", json!(BOUND_PORT)), changed(8443, "Https8443")),
            ("with the time of another", with(&sent, "created_at", EPOCH), changed(8443, "Https8443")),
            (
                "with invalid times",
                with(&with(&sent, "created_at", ""), "updated_at", Value::Null),
                changed(8443, "Https8443"),
            ),
            ("with nil as its id", with(&sent, "id", json!(Uuid::nil())), changed(8443, "Https8443")),
            ("with the least", with(&port_body(), "number", 8443), changed(8443, "Https8443")),
        ];
        let rows = rows.map(|(name, sent, data)| Row::gives(name, fixture.put_port(PORT, &sent), data));
        fixture.check(rows).await;
    });
}

/// Clients send every field of a new record. Fields that only the server sets are nil ids and the beginning
/// of 1970.
#[test]
fn blank_record_is_accepted_as_the_body_of_a_creation() {
    run_with(Populated::new, async |fixture| {
        fixture.clock.set(at(4));
        let sent = json!({
            "id": Uuid::nil(),
            "created_at": EPOCH,
            "updated_at": EPOCH,
            "key": "",
            "name": "daemon",
            "last_used": null,
            "expires_at": null,
            "network_id": OFFICE,
            "is_enabled": true,
            "tags": [],
        });
        for body in [
            sent.clone(),
            with(&sent, "last_used", EPOCH),
            with(&sent, "key", Value::Null),
            without(&sent, "expires_at"),
        ] {
            let reply = fixture.send(fixture.create_daemon_key(&body)).await;
            let record = &reply.data()["api_key"];
            assert_ne!(record["id"], json!(Uuid::nil()));
            assert_eq!((&record["created_at"], &record["updated_at"]), (&json!(at(4)), &json!(at(4))));
            assert_eq!((&record["last_used"], &record["expires_at"]), (&Value::Null, &Value::Null));
            assert_eq!((&record["name"], &record["is_enabled"]), (&json!("daemon"), &json!(true)));
            assert_eq!(record["key"], reply.data()["key"]);
        }
        let stored = fixture.inventory.daemon_api_keys().all(&fixture.system()).await.unwrap();
        assert!(stored.iter().all(|key| !key.id.is_nil()));
    });
}

/// Clients send a user key back as it was shown. Its masked key and its times change nothing.
#[test]
fn user_key_is_accepted_as_it_was_shown() {
    run_with(Populated::new, async |fixture| {
        let shown = fixture.send(fixture.put_own_key(&fixture.key_body())).await.data().clone();
        fixture.clock.set(at(2));
        let sent = with(&with(&shown, "name", "renamed"), "id", json!(Uuid::nil()));
        let expected = with(&with(&shown, "name", "renamed"), "updated_at", json!(at(2)));
        fixture.check([Row::gives("renamed", fixture.put_own_key(&sent), expected)]).await;
        assert_eq!(
            fixture.server.get_with(&fixture.member_key, HOSTS).await.ids(),
            [1, 2, 3],
            "and it is the same key"
        );
    });
}

#[test]
fn unrelated_headers_and_charset_are_ignored() {
    run_with(Populated::new, async |fixture| {
        let request = || fixture.by_key(put_port(PORT, &port_body()));
        for (name, value) in [
            ("content-type", "application/json; charset=utf-8"),
            ("content-type", "application/json;charset=UTF-8"),
            ("content-type", "Application/JSON"),
            ("accept", "text/html"),
            ("accept", "application/json, text/plain, */*"),
            ("accept", "application/problem+json"),
            ("accept-charset", "utf-16"),
            ("accept-encoding", "gzip, deflate, br"),
            ("if-none-match", "W/\"of-something-else\""),
            ("range", "bytes=0-1"),
            ("expect", "100-continue"),
            ("user-agent", "Mozilla/5.0"),
            ("x-http-method-override", "DELETE"),
            ("if-match", "*"),
            ("idempotency-key", "x"),
            ("content-length", "1"),
            ("x-requested-with", "XMLHttpRequest"),
        ] {
            let mut request = request();
            request.headers_mut().insert(name, value.parse().unwrap());
            assert_eq!(fixture.send(request).await.status, 200, "{name}: {value}");
        }
        let spaced = serde_json::to_string_pretty(&daemon_body()).unwrap();
        let request = send_json("POST", DAEMON_KEYS, &Value::Null).map(|_| format!("\r\n\t {spaced} \n"));
        assert_eq!(fixture.send(fixture.by_key(request)).await.status, 200);
    });
}

/// Some programs read an address with leading zeros as octal numbers.
#[test]
fn leading_zeros_of_addresses_are_refused() {
    run_with(Fixture::new, async |fixture| {
        let send = async |request| fixture.send(with_key(request, &fixture.key)).await;
        let subnet = json!({"network_id": OFFICE, "name": "a", "cidr": "10.0.0.0/8"});
        for cidr in ["010.0.0.0/8", "10.0.0.00/8", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0"] {
            let reply = send(send_json("POST", "/api/v1/subnets", &with(&subnet, "cidr", cidr))).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "cidr"}), "{cidr}");
        }
        for (target, field) in [
            ("/api/v1/subnets?cidr=010.0.0.0/8", "cidr"),
            ("/api/v1/subnets?contains=010.0.0.1", "contains"),
            ("/api/v1/hosts?ip=010.0.0.0/8", "ip"),
            ("/api/v1/hosts?ip=010.0.0.1", "ip"),
        ] {
            let reply = send(get(target)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": field}), "{target}");
        }
        let interfaces = json!([{"ip_address": "010.0.0.1"}]);
        let host = json!({"network_id": OFFICE, "name": "a", "interfaces": interfaces});
        let reply = send(send_json("POST", "/api/v1/hosts", &host)).await;
        let params = json!({"field": "interfaces.0.ip_address"});
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), params);
        for cidr in ["0.0.0.0/0", "::/0", "10.0.0.0/8", "2001:db8::/32"] {
            send(send_json("POST", "/api/v1/subnets", &with(&subnet, "cidr", cidr))).await.data();
        }
    });
}

#[test]
fn subnet_has_the_source_manual_unless_the_request_has_another() {
    run_with(Fixture::new, async |fixture| {
        let send = async |request| fixture.send(with_key(request, &fixture.key)).await.data().clone();
        let body = json!({"network_id": OFFICE, "name": "a", "cidr": "10.0.0.0/8"});
        let subnet = send(send_json("POST", "/api/v1/subnets", &body)).await;
        assert_eq!(subnet["source"], json!({"type": "Manual"}));
        let path = format!("/api/v1/subnets/{}", subnet["id"].as_str().unwrap());
        let system = send(send_json("PUT", &path, &with(&body, "source", json!({"type": "System"})))).await;
        assert_eq!(system["source"]["type"], "System");
        assert_eq!(send(send_json("PUT", &path, &body)).await, system);
    });
}
