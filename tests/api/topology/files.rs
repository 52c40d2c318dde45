//! Topologies as files.

use serde_json::json;
use tower::ServiceExt;

use super::{CORE, Campus, of_office};
use crate::backend::run_with;
use crate::common::{OFFICE, bare, get, send_json, with_header, with_key, with_session};
use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};
use toposcope::model::Permission;
use toposcope::topology::render::{Theme, ThemeColor};

const EXPORT: &str = "/api/v1/topology/export";

/// The formats: their names, media types, the extensions of files, and how the files begin.
const FORMATS: [(&str, &str, &str, &str); 6] = [
    ("svg", "image/svg+xml", "svg", "<"),
    ("mermaid", "text/vnd.mermaid; charset=utf-8", "mmd", ""),
    ("dot", "text/vnd.graphviz; charset=utf-8", "dot", ""),
    ("graphml", "application/graphml+xml", "graphml", "<?xml"),
    ("drawio", "application/vnd.jgraph.mxfile", "drawio", "<"),
    ("json", "application/json", "json", "{"),
];

#[test]
fn files_have_their_media_type_and_a_name() {
    run_with(Campus::new, async |campus| {
        for (format, media_type, extension, start) in FORMATS {
            let target = of_office(EXPORT, &format!("format={format}&view=l2"));
            let file = campus.send_as(&campus.member, get(&target)).await;
            assert_eq!((file.status.as_u16(), file.header("content-type")), (200, media_type));
            let disposition = file.header("content-disposition").to_owned();
            let name = format!("network-{OFFICE}-l2.{extension}");
            assert_eq!(disposition, format!("attachment; filename=\"{name}\""));
            let text = String::from_utf8(file.body.clone()).unwrap();
            assert!(text.starts_with(start) && text.contains(CORE), "{format}: {text}");

            let head = campus.send_as(&campus.member, bare("HEAD", &target)).await;
            assert_eq!(head.header("content-disposition"), disposition);
            assert_eq!(head.number("content-length"), file.body.len() as u64);
            let cached = campus.send_as(&campus.member, get(&target)).await;
            assert_eq!(cached.body, file.body);

            let in_envelope = with_header(get(&target), "accept", "application/json");
            let in_envelope = campus.send_as(&campus.member, in_envelope).await;
            assert_ne!(in_envelope.header("etag"), file.header("etag"));
            assert_eq!(
                in_envelope.data(),
                &json!({"file_name": name, "media_type": media_type, "content": text})
            );
        }
    });
}

#[test]
fn file_is_an_svg_unless_asked_otherwise() {
    run_with(Campus::new, async |campus| {
        let file = campus.send_as(&campus.member, get(&of_office(EXPORT, ""))).await;
        assert_eq!(file.header("content-type"), "image/svg+xml");
        let mut policies = Vec::new();
        for theme in ["auto", "light", "dark"] {
            let target = of_office(EXPORT, &format!("theme={theme}"));
            let reply = campus.send_as(&campus.member, get(&target)).await;
            policies.push(reply.header("content-security-policy").to_owned());
        }
        assert_eq!(policies[0], file.header("content-security-policy"));
        assert!(policies[0] != policies[1] && policies[1] != policies[2], "each theme has its own style");
    });
}

#[test]
fn unchanged_file_is_not_modified_in_either_form() {
    run_with(Campus::new, async |campus| {
        for accept in ["*/*", "application/json"] {
            let request = || with_header(get(&of_office(EXPORT, "format=dot")), "accept", accept);
            let tag = campus.send_as(&campus.member, request()).await.header("etag").to_owned();
            let again = with_header(request(), "if-none-match", tag);
            assert_eq!(campus.send_as(&campus.member, again).await.status, 304);
        }
    });
}

#[test]
fn preferred_media_type_decides_about_the_envelope_of_a_picture() {
    run_with(Campus::new, async |campus| {
        let cases = [
            ("*/*", false),
            ("image/svg+xml", false),
            ("text/html, */*;q=0.8", false),
            ("image/svg+xml, application/json;q=0.9", false),
            ("image/svg+xml, application/json", false),
            ("application/json;q=0.1, image/svg+xml;q=0.2", false),
            ("application/json;q=0.1, image/svg+xml;q=0", true),
            ("image/svg+xml;q=0.5, application/json", true),
            ("application/json, text/plain, */*", true),
            ("application/json", true),
            ("application/json;q=0.1", true),
            ("application/json;q=0", false),
        ];
        for (accept, is_envelope) in cases {
            let request = with_header(get(&of_office(EXPORT, "")), "accept", accept);
            let response =
                campus.server.api.clone().oneshot(with_key(request, &campus.member)).await.unwrap();
            let media_type = if is_envelope { "application/json" } else { "image/svg+xml" };
            assert_eq!(response.headers()["content-type"], media_type, "{accept}");
        }
    });
}

#[test]
fn accepted_media_types_decide_about_the_envelope() {
    run_with(Campus::new, async |campus| {
        let cases = [
            ("application/json", true),
            ("Application/JSON; charset=utf-8;q=0.1", true),
            ("image/svg+xml, application/json", true),
            ("application/json;q=0", false),
            ("*/*, application/json; Q=0.000", false),
            ("text/html;x=application/json", false),
            ("text/plain; application/json", false),
            ("application/jsonx", false),
            ("application/*", false),
            ("", false),
        ];
        for (accept, is_envelope) in cases {
            let request = with_header(get(&of_office(EXPORT, "format=json")), "accept", accept);
            let request = with_key(request, &campus.member);
            let response = campus.server.api.clone().oneshot(request).await.unwrap();
            let is_file = response.headers().contains_key("content-disposition");
            assert_eq!(!is_file, is_envelope, "{accept}");
            assert_eq!(response.headers()["vary"], "Accept");
        }
    });
}

/// The same records give the same bytes to every caller at any time.
#[test]
fn picture_has_the_date_of_the_latest_report() {
    run_with(Campus::new, async |campus| {
        let target = of_office(EXPORT, "");
        let first = campus.send_as(&campus.member, get(&target)).await;
        let text = String::from_utf8(first.body.clone()).unwrap();
        assert!(text.contains("2026-08-01 12:00 UTC"), "{text}");
        assert_eq!(campus.graph("").await["observed_at"], "2026-08-01T12:00:00Z");
        campus.clock.advance(std::time::Duration::from_secs(100_000));
        // Another server, which has no page in its cache.
        let server = campus.configured(|builder| builder);
        let later = server.get_with(&campus.member, &target).await;
        assert_eq!((later.header("etag"), &later.body), (first.header("etag"), &first.body));

        let report = json!({
            "reporter": {"name": "collector"}, "observed_at": "2026-08-02T13:30:00Z",
            "devices": [{"id": campus.core, "tables": {"ports": {"complete": true, "rows": []}}}],
        });
        let import = format!("/api/v1/discovery/import?network_id={OFFICE}&format=report");
        campus.by_member("POST", &import, &report).await.data();
        let again = with_header(get(&target), "if-none-match", first.header("etag"));
        let newer = campus.send_as(&campus.member, again).await;
        assert_eq!(newer.status, 200, "the tag follows the date");
        assert!(String::from_utf8(newer.body).unwrap().contains("2026-08-02 13:30 UTC"));
    });
}

#[test]
fn renamed_network_changes_the_file() {
    run_with(Campus::new, async |campus| {
        let target = of_office(EXPORT, "");
        let before = campus.send_as(&campus.member, get(&target)).await;
        let admin = campus.user(&campus.home, Permission::Admin, &[OFFICE]).await;
        let session = campus.sign_in(&admin).await;
        let renamed = send_json(
            "PUT",
            &format!("/api/v1/networks/{OFFICE}"),
            &json!({"name": "Büro \"Nord\"\r\n", "tags": []}),
        );
        campus.send(with_session(renamed, &session)).await.data();
        let again = with_header(get(&target), "if-none-match", before.header("etag"));
        let after = campus.send_as(&campus.member, again).await;
        let disposition = "attachment; filename=\"b-ro-nord-l2.svg\"; filename*=UTF-8''b%C3%BCro-nord-l2.svg";
        assert_eq!(after.header("content-disposition"), disposition);
        assert!(String::from_utf8(after.body).unwrap().contains("Büro"));
    });
}

/// A browser keeps files and their tags beyond a restart of the server.
#[test]
fn theme_of_the_host_application_changes_files_pages_and_their_tags() {
    run_with(Campus::new, async |campus| {
        let theme =
            Theme::builder().fonts(["Fira Sans"]).light(ThemeColor::Accent, "#8a1c5b").build().unwrap();
        let server = campus.configured(|builder| builder.theme(theme.clone()));
        let page = format!("/topology/{OFFICE}");
        for target in [of_office(EXPORT, ""), of_office(EXPORT, "format=drawio"), page] {
            let before = campus.send_as(&campus.member, get(&target)).await;
            let after = server.get_with(&campus.member, &target).await;
            assert_eq!((before.status.as_u16(), after.status.as_u16()), (200, 200), "{target}");
            assert_ne!(before.header("etag"), after.header("etag"), "{target}");
            let text = String::from_utf8(after.body.clone()).unwrap();
            assert!(text.contains("Fira Sans"), "{target}: {text}");
            assert!(!String::from_utf8(before.body.clone()).unwrap().contains("Fira Sans"), "{target}");
            let request = with_header(get(&target), "if-none-match", before.header("etag"));
            let again = server.api.clone().oneshot(with_key(request, &campus.member)).await.unwrap();
            assert_eq!(again.status(), 200, "{target}");
            // The header allows each style of the file.
            for style in text.split("<style>").skip(1).filter(|_| !target.contains("drawio")) {
                let style = style.split("</style>").next().unwrap();
                let digest = Base64::encode_string(&Sha256::digest(style));
                assert!(after.header("content-security-policy").contains(&digest), "{target}");
            }
        }
    });
}
