//! Bodies that are not JSON objects, and the position in the error.
//!
//! The position consists of line and column, from 1. It is the position of the first wrong byte, or of the last byte if
//! the body is incomplete.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, LOG_IN, PORT, Populated, Produced, REFERRAL, Row, daemon_body, put_key, put_port, send_json,
};

const TEXTS: [(&str, usize, usize); 34] = [
    ("", 1, 1),
    (" ", 1, 1),
    ("\n", 2, 1),
    ("{", 1, 1),
    ("{\n", 2, 1),
    ("}", 1, 1),
    ("[]", 1, 1),
    ("[{}]", 1, 1),
    ("x", 1, 1),
    ("NaN", 1, 1),
    ("'{}'", 1, 1),
    ("\u{feff}{}", 1, 1),
    ("\0", 1, 1),
    ("name=x&tags=y", 1, 2),
    ("<x/>", 1, 1),
    ("{}}", 1, 3),
    ("{}\0", 1, 3),
    ("{} {}", 1, 4),
    ("{/**/}", 1, 2),
    ("{name: 1}", 1, 2),
    ("{'name': 1}", 1, 2),
    ("{\"a\" 1}", 1, 6),
    ("{\"a\":}", 1, 6),
    ("{\"a\":NaN}", 1, 6),
    ("{\"a\":'x'}", 1, 6),
    ("{\"a\":tru}", 1, 9),
    ("{\"a\":01}", 1, 7),
    ("{\"a\":1.}", 1, 8),
    ("{\"a\":1,}", 1, 8),
    ("{\"a\":1 \"b\":2}", 1, 8),
    ("{\"a\":\"\\x\"}", 1, 8),
    ("{\"name\":[1,]}", 1, 12),
    ("{\n  \"name\": \"x\",\n  b\n}", 3, 3),
    ("{\r\n\"name\":}", 2, 8),
];

const BYTES: [(&[u8], usize, usize); 5] = [
    (b"\xff\xfe{\0}\0", 1, 1),
    (b"{\"a\":\"\xff\"}", 1, 7),
    (b"{\"name\":\"x\",\n\"a\":\"\xc3\x28\"}", 2, 6),
    (b"{}\xc0\x80", 1, 3),
    (b"{\"\xed\xa0\x80\":1}", 1, 3),
];

/// A request with this body to each endpoint that takes one.
fn requests<B: Clone>(fixture: &Populated, body: &B) -> [Request<B>; 5] {
    let null = &Value::Null;
    [
        send_json("POST", LOG_IN, null),
        fixture.by_key(send_json("POST", DAEMON_KEYS, null)),
        fixture.by_key(put_port(PORT, null)),
        fixture.by_session(put_key(fixture.member_key_id, null)),
        fixture.by_session(send_json("POST", REFERRAL, null)),
    ]
    .map(|request| request.map(|_| body.clone()))
}

pub(super) async fn rows() -> Produced {
    let fixture = Populated::new().await;
    let mut rows = Vec::new();
    for (text, line, column) in TEXTS {
        for request in requests(&fixture, &text.to_owned()) {
            let params = json!({"line": line, "column": column});
            rows.push(Row::refused_with(text, request, "validation_malformed_json", params));
        }
    }
    fixture.check(rows).await
}

#[test]
fn invalid_utf_8_is_refused_with_its_position() {
    run_with(Populated::new, async |fixture| {
        for (bytes, line, column) in BYTES {
            for request in requests(&fixture, &Full::new(Bytes::from_static(bytes))) {
                let reply = fixture.send(request).await;
                let params = reply.refuses(400, "validation_malformed_json");
                assert_eq!(params, &json!({"line": line, "column": column}), "{bytes:?}");
            }
        }
    });
}

#[test]
fn unreadable_body_is_refused_with_a_sentence_that_tells_why() {
    let utf_16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let bodies = [
        (Vec::new(), "The body is empty. Send JSON."),
        (b" \r\n\t".to_vec(), "The body is empty. Send JSON."),
        (
            b"\xEF\xBB\xBF{}".to_vec(),
            "The body begins with a byte order mark. Send JSON as UTF-8 text without one.",
        ),
        (utf_16("{}"), "The body is UTF-16 or UTF-32 text. Send JSON as UTF-8 text."),
        (utf_16("\u{FEFF}{}"), "The body is UTF-16 or UTF-32 text. Send JSON as UTF-8 text."),
        (
            [&[0xFE, 0xFF][..], b"\0{\0}"].concat(),
            "The body is UTF-16 or UTF-32 text. Send JSON as UTF-8 text.",
        ),
        (b"\0{\0}".to_vec(), "The body is UTF-16 or UTF-32 text. Send JSON as UTF-8 text."),
        (b"{\xff}".to_vec(), "The body is not UTF-8 text: error at line 1, column 2."),
    ];
    run_with(Populated::new, async |fixture| {
        for (body, sentence) in &bodies {
            for request in requests(&fixture, &Full::new(Bytes::from(body.clone()))) {
                let reply = fixture.send(request).await;
                reply.refuses(400, "validation_malformed_json");
                assert_eq!(reply.json["error"], *sentence, "{body:?}");
            }
        }
        let list = send_json("POST", "/api/v1/hosts/bulk-delete", &json!({"ids": []}));
        let reply = fixture.send(fixture.by_key(list)).await;
        reply.refuses(400, "validation_malformed_json");
        assert!(reply.json["error"].as_str().unwrap().contains("not a valid JSON list"), "{}", reply.json);
    });
}

/// For valid JSON that is not an object, the exact position is unspecified.
#[test]
fn json_that_is_not_an_object_is_refused() {
    run_with(Populated::new, async |fixture| {
        for text in ["null", "true", "5", "-1.5e3", "\"{}\"", "[1]", " null "] {
            for request in requests(&fixture, &text.to_owned()) {
                fixture.send(request).await.refuses(400, "validation_malformed_json");
            }
        }
    });
}

/// Nesting up to the body limit must neither exhaust the stack nor take long.
#[test]
fn deeply_nested_json_is_skipped_in_unknown_fields_and_refused_in_known_ones() {
    run_with(Populated::new, async |fixture| {
        let depth = 250_000;
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let objects = (r#"{"a":"#.repeat(depth / 2), "}".repeat(depth / 2));
        let valid = daemon_body().to_string();
        let beside = |value: &str| format!("{},\"bogus\":{value}}}", valid.strip_suffix('}').unwrap());
        let send = async |body: String| {
            let request = send_json("POST", DAEMON_KEYS, &Value::Null).map(|_| body);
            fixture.send(fixture.by_key(request)).await
        };
        assert_eq!(send(beside(&format!("{open}{close}"))).await.status, 200);
        assert_eq!(send(beside(&format!("{}0{}", objects.0, objects.1))).await.status, 200);
        let known = valid.replace("[]", &format!("{open}{close}"));
        assert_eq!(send(known).await.refuses(400, "validation_invalid_format"), &json!({"field": "tags.0"}));
        let unclosed = beside(&open);
        let params = json!({"line": 1, "column": unclosed.len()});
        assert_eq!(send(unclosed).await.refuses(400, "validation_malformed_json"), &params);
    });
}

#[test]
fn duplicate_known_field_is_refused_even_if_equal() {
    run_with(Populated::new, async |fixture| {
        let valid = daemon_body().to_string();
        let mut rows = Vec::new();
        for (more, field) in [
            ("\"name\":\"scanner\"", "name"),
            ("\"n\\u0061me\":\"x\"", "name"),
            ("\"name\":null", "name"),
            ("\"tags\":[]", "tags"),
            ("\"is_enabled\":true,\"is_enabled\":true", "is_enabled"),
            ("\"expires_at\":null,\"x\":1,\"expires_at\":null", "expires_at"),
        ] {
            let text = format!("{},{more}}}", valid.strip_suffix('}').unwrap());
            let request = fixture.by_key(send_json("POST", DAEMON_KEYS, &Value::Null).map(|_| text));
            let params = json!({"field": field});
            rows.push(Row::refused_with(more, request, "validation_invalid_format", params));
        }
        for (endpoint, field, text) in [
            (0, "password", r#"{"email":"nobody","password":"x","password":"x"}"#),
            (2, "number", r#"{"number":443,"number":443}"#),
            (3, "user_id", r#"{"user_id":1,"name":"x","user_id":1}"#),
            (4, "referral_source", r#"{"referral_source":"x","referral_source":"x"}"#),
        ] {
            let request = requests(&fixture, &text.to_owned())[endpoint].clone();
            let params = json!({"field": field});
            rows.push(Row::refused_with(text, request, "validation_invalid_format", params));
        }
        fixture.check(rows).await;
    });
}

/// An unpaired surrogate is an error in a known field, and ignored elsewhere.
#[test]
fn unpaired_surrogate_in_a_known_field_is_refused() {
    run_with(Populated::new, async |fixture| {
        let valid = daemon_body().to_string();
        let send = async |text: String| {
            fixture.send(fixture.by_key(send_json("POST", DAEMON_KEYS, &Value::Null).map(|_| text))).await
        };
        let reply = send(valid.replace("scanner", "\\ud83d")).await;
        assert_eq!(reply.refuses(400, "validation_invalid_format"), &json!({"field": "name"}));
        let reply = send(valid.replace("scanner", "\\ud83d\\ude00\\u0000")).await;
        assert_eq!(reply.data()["api_key"]["name"], "😀\0");
    });
}

/// A body that breaks off after its first frame.
struct BreaksOff(Option<Bytes>);

impl Body for BreaksOff {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let frame = self.0.take().map(Frame::data);
        Poll::Ready(Some(frame.ok_or_else(|| std::io::Error::other("secret: the connection was reset"))))
    }
}

#[test]
fn incomplete_body_is_refused_and_changes_nothing() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        let request = send_json("POST", DAEMON_KEYS, &daemon_body());
        let request = fixture.by_key(request).map(|body| BreaksOff(Some(body.into())));
        let reply = fixture.send(request).await;
        assert_eq!(reply.refuses(400, "validation_malformed_json"), &json!({"line": 1, "column": 1}));
        assert!(!String::from_utf8(reply.body).unwrap().contains("secret"));
        assert_eq!(fixture.stored().await, before);
    });
}

/// A body in frames of one byte.
struct Trickle(std::vec::IntoIter<u8>);

impl Body for Trickle {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(|byte| Ok(Frame::data(Bytes::copy_from_slice(&[byte])))))
    }
}

#[test]
fn body_in_one_byte_frames_is_accepted() {
    run_with(Populated::new, async |fixture| {
        let request =
            fixture.create_daemon_key(&daemon_body()).map(|body| Trickle(body.into_bytes().into_iter()));
        assert_eq!(fixture.send(request).await.data()["api_key"]["name"], "scanner");
    });
}
