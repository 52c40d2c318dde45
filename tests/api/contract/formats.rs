//! Times, ids, addresses and texts: their canonical form, and the accepted forms.

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use super::row::{Row, check};
use super::scene::{HOSTS, PORT, Scene, daemon_body, key_path, port_body, put_port, share_path, with};
use crate::common::{LAB, OFFICE, PASSWORD, World, bare, get, send_json};

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

#[tokio::test]
async fn times_are_read_with_any_offset_and_written_in_utc_to_the_microsecond() {
    let scene = Scene::new().await;
    for (sent, written) in TIMES {
        let body = with(&scene.key_body(), "expires_at", sent);
        let reply = scene.server().send(scene.put_key(scene.key_id, &body)).await;
        assert_eq!(reply.data()["expires_at"], written, "{sent}");
    }
}

/// Puts the host and returns it as it is listed.
async fn listed(world: &World, document: &Value) -> Value {
    let host: Host = serde_json::from_value(document.clone()).unwrap();
    let id = host.id;
    world.put([host]).await;
    world.list(&format!("ids={id}")).await.data()[0].clone()
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

#[tokio::test]
async fn times_and_addresses_of_hosts_are_written_in_one_way() {
    let world = World::new().await;
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
        let listed = listed(&world, &with_at(&document(), place, sent)).await;
        assert_eq!(listed.pointer(place), Some(&json!(written)), "{place}: {sent}");
    }
}

#[test]
fn what_is_no_address_is_not_read_as_one() {
    for (place, value) in [
        ("/interfaces/0/mac_address", "00:1B:21:3C:4D"),
        ("/interfaces/0/mac_address", "00:1B:21:3C:4D:5E:6F"),
        ("/interfaces/0/mac_address", "00:1B-21:3C-4D:5E"),
        ("/interfaces/0/mac_address", "001B.213C.4D5E"),
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

/// In a path, in a query, and in a body.
#[tokio::test]
async fn ids_are_read_in_every_form_and_written_in_one() {
    let scene = Scene::new().await;
    let forms = |id: Uuid| {
        let simple = id.simple().to_string();
        [id.to_string(), id.to_string().to_uppercase(), simple.to_uppercase(), simple, id.urn().to_string()]
    };
    for (place, form) in forms(PORT).iter().enumerate() {
        let body = with(&port_body(), "network_id", &*forms(OFFICE)[place]);
        let reply = scene.server().send(scene.by_key(put_port(form, &body))).await;
        assert_eq!((&reply.data()["id"], &reply.data()["network_id"]), (&json!(PORT), &json!(OFFICE)));
    }
    for form in forms(scene.share_id) {
        assert_eq!(scene.server().get(&share_path(form)).await.data()["id"], json!(scene.share_id));
    }
    for form in forms(LAB).into_iter().chain([format!("%7B{LAB}%7D")]) {
        let reply = scene.server().send(scene.by_key(get(&format!("{HOSTS}?network_id={form}")))).await;
        assert_eq!((reply.ids(), &reply.data()[0]["network_id"]), (vec![3], &json!(LAB)));
    }
    let tag = scene.world.home.tags[0];
    for form in forms(tag).into_iter().chain([tag.braced().to_string()]) {
        let body = with(&daemon_body(), "tags", json!([form]));
        let reply = scene.server().send(scene.create_daemon_key(&body)).await;
        assert_eq!(reply.data()["api_key"]["tags"], json!([tag]));
    }
    for form in forms(scene.key_id) {
        let reply = scene.server().send(scene.put_key(form, &scene.key_body())).await;
        assert_eq!(reply.data()["id"], json!(scene.key_id));
    }
    let delete = scene.by_session(bare("DELETE", &key_path(scene.key_id.simple())));
    assert_eq!(scene.server().send(delete).await.data(), &json!({}));
}

/// Real devices send these values.
#[tokio::test]
async fn texts_are_kept_as_they_are_whatever_is_in_them() {
    let world = World::new().await;
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
        let document = with(&with(&with(&document(), "name", text), "hostname", text), "description", text);
        let document = with_at(&document, "/interfaces/0/name", text);
        let listed = listed(&world, &document).await;
        for place in ["/name", "/hostname", "/description", "/interfaces/0/name"] {
            assert_eq!(listed.pointer(place), Some(&json!(text)), "{place}");
        }
    }
}

#[tokio::test]
async fn fields_that_are_not_known_are_ignored_in_every_body() {
    let scene = Scene::new().await;
    let more = [
        ("bogus", json!({"name": 5, "deep": [[[{}]]]})),
        ("Name", json!(5)),
        ("", json!(null)),
        ("naïve 😀\0", json!("x")),
        ("tags ", json!("x")),
        ("__proto__", json!({})),
    ];
    let filled = |body: Value| more.iter().fold(body, |body, (name, value)| with(&body, name, value.clone()));
    let credentials = json!({"email": scene.member.email, "password": PASSWORD});
    let requests: [Request<String>; 5] = [
        send_json("POST", "/api/auth/login", &filled(credentials)),
        scene.create_daemon_key(&filled(daemon_body())),
        scene.put_port(PORT, &filled(port_body())),
        scene.put_key(scene.key_id, &filled(scene.key_body())),
        scene.submit_referral(&filled(json!({"referral_source": "reddit"}))),
    ];
    let rows = requests.map(|request| Row::succeeds(request.uri().to_string(), request));
    check(scene.server(), rows).await;
}
