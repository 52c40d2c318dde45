//! The data that the viewers of a share see.

use std::collections::BTreeSet;
use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::inventory::NewShare;
use toposcope::model::ShareId;
use tower::ServiceExt;
use uuid::Uuid;

use super::{ACCESS, CORE, Campus, UNKNOWN, id_of, items};
use crate::backend::run_with;
use crate::common::{
    LAB, NOBODY, OFFICE, PASSWORD, Reply, at, bare, get, host, send_json, with, with_header, with_key,
    with_session,
};

/// The endpoints of a share.
const ENDPOINTS: [(&str, &str); 3] = [
    ("POST", "/api/v1/shares/public/{id}/topology"),
    ("GET", "/api/v1/shares/public/{id}/topology.svg"),
    ("GET", "/share/{id}"),
];

fn target(endpoint: &str, share: ShareId) -> String {
    endpoint.replace("{id}", &share.to_string())
}

impl Campus {
    /// Creates a share of the office with further fields.
    async fn share(&self, fields: Value) -> ShareId {
        let mut body = json!({"name": "a share", "network_id": OFFICE});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        id_of(self.by_member("POST", "/api/v1/shares", &body).await.data())
    }

    /// Requests all endpoints of a share, with a token if there is one.
    async fn open(&self, share: ShareId, token: Option<&str>) -> [Reply; 3] {
        let mut replies = Vec::new();
        for (method, path) in ENDPOINTS {
            let request = bare(method, &target(path, share));
            replies.push(self.send(match token {
                Some(token) => with_key(request, token),
                None => request,
            }));
        }
        let mut answered = Vec::new();
        for reply in replies {
            answered.push(reply.await);
        }
        answered.try_into().unwrap()
    }

    async fn opened(&self, share: ShareId) -> Value {
        let [opened, ..] = self.open(share, None).await;
        opened.data().clone()
    }

    async fn token(&self, share: ShareId) -> String {
        let path = format!("/api/v1/shares/public/{share}/verify");
        let verified = self.send(send_json("POST", &path, &json!({"password": PASSWORD}))).await;
        verified.data()["token"].as_str().unwrap().to_owned()
    }
}

/// Returns everything that the answers contain, in lower case.
fn texts(replies: &[Reply]) -> String {
    let text =
        |reply: &Reply| String::from_utf8(reply.body.clone()).unwrap() + &format!("{:?}", reply.headers);
    replies.iter().map(text).collect::<String>().to_lowercase()
}

/// Returns the ids of a graph.
fn ids(graph: &Value) -> BTreeSet<Uuid> {
    fn collect(value: &Value, ids: &mut BTreeSet<Uuid>) {
        match value {
            Value::String(text) => ids.extend(text.parse::<Uuid>().ok()),
            Value::Array(values) => values.iter().for_each(|value| collect(value, ids)),
            Value::Object(members) => members.values().for_each(|value| collect(value, ids)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    collect(graph, &mut found);
    found
}

#[test]
fn open_share_shows_the_graph_the_picture_and_the_page() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({})).await;
        let replies = campus.open(share, None).await;
        for reply in &replies {
            assert_eq!(reply.status, 200);
            let text = texts(std::slice::from_ref(reply));
            assert!([CORE, ACCESS, UNKNOWN].iter().all(|name| text.contains(name)), "{text}");
        }
        let opened = replies[0].data();
        assert_eq!(
            (&opened["share"]["id"], &opened["share"]["requires_password"]),
            (&json!(share), &json!(false))
        );
        let svg = String::from_utf8(replies[1].body.clone()).unwrap();
        assert_eq!(opened["topology"]["svg"], svg);
        let page = String::from_utf8(replies[2].body.clone()).unwrap();
        assert!(page.contains(svg.split_once("<svg").unwrap().1.trim_end()), "the picture needs no script");
        assert_eq!(replies[2].header("cache-control"), "no-store");
        let picture = target(ENDPOINTS[1].1, share);
        let again = with_header(get(&picture), "if-none-match", replies[1].header("etag"));
        assert_eq!(campus.send(again).await.status, 304);
        campus.link(campus.core, campus.host("newcomer").await).await;
        let again = with_header(get(&picture), "if-none-match", replies[1].header("etag"));
        assert!(texts(&[campus.send(again).await]).contains("newcomer"));
    });
}

/// Otherwise viewers could learn when the organization changes other
/// networks.
#[test]
fn tag_of_a_picture_changes_only_with_what_the_share_shows() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({})).await;
        let picture = target(ENDPOINTS[1].1, share);
        let tag = campus.send(get(&picture)).await.header("etag").to_owned();
        for round in 0..3 {
            campus.put([host(100 + round, LAB)]).await;
            let again = with_header(get(&picture), "if-none-match", &tag);
            assert_eq!(campus.send(again).await.status, 304);
            assert_eq!(campus.send(get(&picture)).await.header("etag"), tag);
        }
        campus.link(campus.core, campus.host("newcomer").await).await;
        let again = campus.send(with_header(get(&picture), "if-none-match", &tag)).await;
        assert_eq!(again.status, 200);
        assert_ne!(again.header("etag"), tag);
    });
}

#[test]
fn viewer_with_the_present_revision_gets_no_topology() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({"redact": ["names"]})).await;
        let path = target(ENDPOINTS[0].1, share);
        let opened = campus.opened(share).await;
        let revision = opened["topology"]["graph"]["revision"].clone();
        let ask = async |revision: &Value| {
            campus.send(send_json("POST", &path, &json!({"revision": revision}))).await.data().clone()
        };
        let unchanged = ask(&revision).await;
        assert_eq!((&unchanged["topology"], &unchanged["share"]), (&Value::Null, &opened["share"]));
        assert_eq!(ask(&json!(null)).await, opened);
        assert_eq!(ask(&json!("x")).await, opened);
        // A change of concealed values does not change the picture of its
        // viewers.
        let host = format!("/api/v1/hosts/{}", campus.core);
        campus.by_member("PATCH", &host, &json!({"description": "moved to rack seven"})).await.data();
        assert_eq!(ask(&revision).await["topology"]["svg"], Value::Null);
        // A pin does.
        let layout = super::layouts::path(OFFICE, "l2");
        let pins = super::layouts::positions(&[(campus.core, -500.0, 300.0)]);
        campus.by_member("PUT", &layout, &pins).await.data();
        let moved = ask(&revision).await;
        assert_ne!(moved["topology"]["graph"]["revision"], revision);
        // So does the name, which is the title of the picture.
        let revision = moved["topology"]["graph"]["revision"].clone();
        let share = format!("/api/v1/shares/{share}");
        campus.by_member("PATCH", &share, &json!({"name": "another name"})).await.data();
        let renamed = ask(&revision).await;
        assert!(renamed["topology"]["svg"].as_str().unwrap().contains("another name"));
        assert_eq!(ask(&renamed["topology"]["graph"]["revision"]).await["topology"], Value::Null);
        let refused = campus.send(send_json("POST", &path, &json!({"revision": 1}))).await;
        assert_eq!(refused.refuses(400, "validation_invalid_format"), &json!({"field": "revision"}));
    });
}

#[test]
fn preview_of_a_page_is_for_shares_without_a_password() {
    run_with(Campus::new, async |campus| {
        for (password, is_shown) in [(Value::Null, true), (json!(PASSWORD), false)] {
            let share = campus.share(json!({"name": "Cables <of> the office", "password": password})).await;
            let page = campus.send(get(&target(ENDPOINTS[2].1, share))).await;
            let page = String::from_utf8(page.body).unwrap();
            let title = "<meta property=\"og:title\" content=\"Cables &lt;of&gt; the office\">";
            assert_eq!(
                (page.contains(title), page.contains("property=\"og:")),
                (is_shown, is_shown),
                "{page}"
            );
        }
    });
}

#[test]
fn ids_are_those_of_the_share_alone() {
    run_with(Campus::new, async |campus| {
        let originals = ids(&campus.graph("").await);
        let (one, other) = (campus.share(json!({})).await, campus.share(json!({})).await);
        let (first, second) = (campus.opened(one).await, campus.opened(other).await);
        for opened in [&first, &second] {
            let graph = &opened["topology"]["graph"];
            assert!(graph.get("network_id").is_none(), "{graph:#}");
            for node in items(graph, "nodes") {
                assert!(node.get("entity_id").is_none(), "{node:#}");
            }
            assert!(ids(graph).is_disjoint(&originals));
            assert!(items(graph, "edges").iter().all(|edge| edge["evidence"] != json!([])));
        }
        assert!(ids(&first["topology"]).is_disjoint(&ids(&second["topology"])));
        assert_ne!(first["topology"]["graph"]["revision"], second["topology"]["graph"]["revision"]);
        assert_eq!(campus.opened(one).await, first);
        // Another server, which has no page in its cache, shows the same.
        let server = campus.configured(|builder| builder);
        let reply = server.send(bare("POST", &target(ENDPOINTS[0].1, one))).await;
        assert_eq!(ids(&reply.data()["topology"]), ids(&first["topology"]));
        let page = campus.open(one, None).await;
        let page = texts(&page);
        assert!(originals.iter().all(|id| !page.contains(&id.to_string())));
    });
}

/// The values of the campus by the redaction that conceals them.
const CONCEALED: [(&str, &[&str]); 4] = [
    ("names", &[CORE, ACCESS, UNKNOWN, "campus-backbone-subnet"]),
    ("addresses", &["198.51.100.101", "198.51.100.102", "198.51.100.0/24"]),
    ("macs", &["00:1b:21:aa:bb:01", "00:1b:21:aa:bb:03", "001b21aabb01", "00-1b-21-aa-bb-01"]),
    ("serials", &["serialnumber0001", "serialnumber0002"]),
];

/// Texts that no redaction names, and that may contain anything.
const FREE_TEXT: [&str; 3] = ["duct seventeen", "engine room", "basement corridor"];

#[test]
fn redacted_values_occur_nowhere() {
    run_with(Campus::new, async |campus| {
        // Devices whose names contain values that other redactions conceal.
        for name in ["printer at 198.51.100.102", "camera 00:1B:21:AA:BB:01", "rack of SerialNumber0002"] {
            campus.link(campus.host(name).await, campus.core).await;
        }
        for view in ["l2", "l3", "workloads"] {
            let bare = campus.share(json!({"view": view})).await;
            let everything = texts(&campus.open(bare, None).await);
            if view == "l2" {
                for value in [CORE, "198.51.100.102", "00:1b:21:aa:bb:01", "serialnumber0002"] {
                    assert!(everything.contains(value), "{value} would be found: {everything}");
                }
            }
            for (redaction, values) in CONCEALED {
                let share = campus.share(json!({"view": view, "redact": [redaction]})).await;
                let replies = campus.open(share, None).await;
                assert!(replies.iter().all(|reply| reply.status == 200));
                let shown = texts(&replies);
                for value in values.iter().chain(&FREE_TEXT) {
                    assert!(!shown.contains(value), "{view} {redaction}: {value}: {shown}");
                }
            }
        }
    });
}

#[test]
fn pseudonyms_are_stable_within_a_share_and_differ_between_shares() {
    run_with(Campus::new, async |campus| {
        let labels = async |share| {
            let opened = campus.opened(share).await;
            let nodes = items(&opened["topology"]["graph"], "nodes").iter();
            nodes.map(|node| node["label"].as_str().unwrap().to_owned()).collect::<BTreeSet<String>>()
        };
        let redacted = json!({"redact": ["names", "addresses", "macs", "serials"]});
        let (one, other) = (campus.share(redacted.clone()).await, campus.share(redacted).await);
        let first = labels(one).await;
        assert_eq!(first.len(), 3);
        assert!(first.is_disjoint(&labels(other).await));
        campus.host("newcomer").await;
        assert!(labels(one).await.is_superset(&first));
    });
}

#[test]
fn share_without_inspect_panel_has_no_evidence() {
    run_with(Campus::new, async |campus| {
        let options = json!({
            "show_export_button": true, "show_inspect_panel": false, "show_minimap": true, "show_zoom_controls": true,
        });
        let share = campus.share(json!({"options": options})).await;
        let opened = campus.opened(share).await;
        let edges = items(&opened["topology"]["graph"], "edges");
        assert!(!edges.is_empty() && edges.iter().all(|edge| edge["evidence"] == json!([])));
        let shown = texts(&campus.open(share, None).await);
        assert!(!shown.contains("\"method\""), "{shown}");
    });
}

#[test]
fn protected_share_gives_nothing_without_its_token() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({"password": PASSWORD})).await;
        let other = campus.share(json!({"password": PASSWORD})).await;
        let (token, of_other) = (campus.token(share).await, campus.token(other).await);
        for token in [None, Some(of_other.as_str()), Some("x"), Some(campus.member.as_str())] {
            let [opened, picture, page] = campus.open(share, token).await;
            for refused in [&opened, &picture] {
                assert_eq!(refused.refuses(401, "share_password_required"), &json!({}));
            }
            assert_eq!(page.status, 200);
            let shown = texts(&[opened, picture, page]);
            for text in [CORE, "<rect", "class=\"topology", "\"method\"", &OFFICE.to_string(), "198.51"] {
                assert!(!shown.contains(text), "{text}: {shown}");
            }
        }
        let [opened, picture, page] = campus.open(share, Some(&token)).await;
        assert_eq!(opened.data()["topology"]["svg"], String::from_utf8(picture.body).unwrap());
        assert!(!texts(&[page]).contains(CORE), "the page ignores the token");
        // The token is read from nowhere else.
        for (method, path) in &ENDPOINTS[..2] {
            let path = target(path, share);
            let in_query = campus.send(bare(method, &format!("{path}?token={token}"))).await;
            in_query.refuses(400, "validation_unknown_parameter");
            for cookie in [format!("token={token}"), format!("session_id={token}")] {
                let in_cookie = with_header(bare(method, &path), "cookie", cookie);
                campus.send(in_cookie).await.refuses(401, "share_password_required");
            }
        }
        campus.clock.advance(Duration::from_secs(12 * 60 * 60 + 1));
        let [late, ..] = campus.open(share, Some(&token)).await;
        late.refuses(401, "share_password_required");
    });
}

#[test]
fn new_password_ends_the_tokens_of_the_old_one() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({"password": PASSWORD})).await;
        let token = campus.token(share).await;
        let path = format!("/api/v1/shares/{share}");
        let body = json!({"name": "a share", "network_id": OFFICE, "password": "another long password"});
        campus.by_member("PUT", &path, &body).await.data();
        let [opened, ..] = campus.open(share, Some(&token)).await;
        opened.refuses(401, "share_password_required");
        campus.by_member("PUT", &path, &with(&body, "password", Value::Null)).await.data();
        for reply in campus.open(share, None).await {
            assert_eq!(reply.status, 200);
        }
    });
}

#[test]
fn refused_update_keeps_the_password_and_its_tokens() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({"password": PASSWORD})).await;
        let token = campus.token(share).await;
        let path = format!("/api/v1/shares/{share}");
        let body = json!({"name": "a share", "network_id": OFFICE, "password": "another long password"});
        for (body, status, code) in [
            (body.clone(), 412, "precondition_failed"),
            (with(&body, "password", Value::Null), 412, "precondition_failed"),
            (with(&body, "redact", json!(["x"])), 400, "validation_invalid_format"),
        ] {
            let put = with_header(send_json("PUT", &path, &body), "if-match", "\"stale\"");
            campus.send(with_key(put, &campus.member)).await.refuses(status, code);
        }
        for reply in campus.open(share, Some(&token)).await {
            assert_eq!(reply.status, 200);
        }
        campus.token(share).await;
    });
}

#[test]
fn other_credentials_are_ignored() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({})).await;
        let member = campus.user(&campus.home, toposcope::model::Permission::Member, &[OFFICE]).await;
        let session = campus.sign_in(&member).await;
        for (method, path) in ENDPOINTS {
            let request = || bare(method, &target(path, share));
            let bad_session = with_session(request(), "no such session");
            let cross_site = with_header(with_session(request(), &session), "origin", "https://evil.example");
            for request in [
                with_key(request(), "topo_u_x"),
                with_key(request(), &campus.member),
                bad_session,
                cross_site,
            ] {
                assert_eq!(campus.send(request).await.status, 200, "{method} {path}");
            }
        }
    });
}

#[test]
fn missing_disabled_and_expired_shares_are_not_found_even_without_a_token() {
    run_with(Campus::new, async |campus| {
        let disabled = json!({"is_enabled": false, "password": PASSWORD});
        let expiring = json!({"expires_at": at(60), "password": PASSWORD});
        let without_network = async |password: Option<&str>| {
            let mut share = NewShare::new("everything");
            share.password = password.map(str::to_owned);
            campus.inventory.shares().create(&campus.system(), share).await.unwrap().id
        };
        let shares = [
            NOBODY.into(),
            campus.share(disabled).await,
            campus.share(expiring).await,
            without_network(None).await,
            without_network(Some(PASSWORD)).await,
        ];
        let token = campus.token(shares[2]).await;
        campus.clock.advance(Duration::from_secs(120));
        for share in shares {
            for token in [None, Some(token.as_str())] {
                let [opened, picture, page] = campus.open(share, token).await;
                for refused in [&opened, &picture] {
                    let params = json!({"entity": "Share", "id": share});
                    assert_eq!(refused.refuses(404, "entity_not_found"), &params);
                }
                assert_eq!(page.status, 404);
                assert!(texts(&[page]).contains("not available"));
            }
        }
        for path in ["/share/x", "/share/%22%3E%3Cscript%3E", &format!("/share/{NOBODY}?x=1")] {
            let page = campus.send(get(path)).await;
            assert_eq!(page.status, 404);
            assert!(!texts(&[page]).contains("<script"));
        }
    });
}

#[test]
fn query_of_the_page_is_ignored() {
    run_with(Campus::new, async |campus| {
        let open = campus.share(json!({})).await;
        let protected = campus.share(json!({"password": PASSWORD})).await;
        let token = campus.token(protected).await;
        for (share, query) in [
            (open, "utm_source=messenger&utm_medium=chat".to_owned()),
            (open, "fbclid=%FF%00&&=&x".to_owned()),
            (open, String::new()),
            (protected, format!("token={token}")),
        ] {
            let path = target(ENDPOINTS[2].1, share);
            let page = campus.send(get(&path)).await;
            let decorated = campus.send(get(&format!("{path}?{query}"))).await;
            assert_eq!(decorated.status, 200, "{query}");
            assert_eq!(decorated.body, page.body, "{query}");
        }
    });
}

/// Readers get a page even when the server refuses or fails.
#[test]
fn page_of_a_refused_request_is_readable() {
    run_with(Campus::new, async |campus| {
        let share = campus.share(json!({})).await;
        let server = campus.limited(1, 1);
        let path = target(ENDPOINTS[2].1, share);
        assert_eq!(server.send(get(&path)).await.status, 200);
        let refused = server.send(get(&path)).await;
        assert_eq!(refused.status, 429);
        assert!(texts(&[refused]).contains("try again"));
    });
}

/// Sends a request whose path has its last letters and the hyphens of its id encoded. The checks of answers know paths in their normal
/// form alone.
async fn answer_to_encoded(campus: &Campus, method: &str, path: &str) -> (u16, Vec<u8>) {
    let encoded = path.replace("share", "shar%65").replace('-', "%2D");
    let request = bare(method, &encoded);
    let response = campus.server.api.clone().oneshot(request).await.unwrap();
    let (status, body) = (response.status().as_u16(), response.into_body().collect().await.unwrap());
    (status, body.to_bytes().to_vec())
}

#[test]
fn encoded_characters_of_the_path_of_a_share_mean_themselves() {
    run_with(Campus::new, async |campus| {
        let open = campus.share(json!({})).await;
        let locked = campus.share(json!({"password": PASSWORD})).await;
        for share in [open, locked] {
            for ((method, endpoint), reply) in ENDPOINTS.into_iter().zip(campus.open(share, None).await) {
                let (status, body) = answer_to_encoded(&campus, method, &target(endpoint, share)).await;
                assert_eq!(status, reply.status.as_u16(), "{endpoint}");
                assert!(endpoint == "/share/{id}" || body == reply.body, "{endpoint}");
            }
        }
    });
}
