//! `POST /api/v1/hosts/import`, and `GET /api/v1/hosts?limit=0` as JSON Lines.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use toposcope::access::Caller;

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::Limited;
use toposcope::model::{Host, TagId};
use tower::ServiceExt;

use super::*;
use crate::common::{FOREIGN_HOST, host, key_for};
use crate::lists::whole_list::Reading;

const IMPORT: &str = "/api/v1/hosts/import";
const LINES: &str = "application/x-ndjson";

/// A body that arrives in these frames, with a pause before each. `None` breaks the connection.
struct Frames(VecDeque<Option<Bytes>>, bool);

impl Body for Frames {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        self.1 = !self.1;
        if self.1 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = self.0.pop_front();
        Poll::Ready(frame.map(|frame| frame.map(Frame::data).ok_or("the connection is lost")))
    }
}

/// Returns an import request by the Owner, sent in frames of `size` bytes.
fn import(fixture: &Fixture, query: &str, text: &str, size: usize) -> Request<Frames> {
    let frames = text.as_bytes().chunks(size).map(|frame| Some(Bytes::copy_from_slice(frame))).collect();
    let request = with_header(bare("POST", &format!("{IMPORT}{query}")), "content-type", LINES);
    with_key(request, &fixture.key).map(|_| Frames(frames, false))
}

fn lines(hosts: impl IntoIterator<Item = Host>) -> String {
    hosts.into_iter().map(|host| serde_json::to_string(&host).unwrap() + "\n").collect()
}

#[test]
fn import_reads_lines_however_they_are_framed() {
    run_new(async |fixture| {
        let text = lines((1..=20).map(|id| host(id, OFFICE)));
        for size in [1, 100, 1 << 20] {
            let reply = fixture.send(import(&fixture, "?dry_run=true", &text, size)).await;
            assert_eq!((&reply.data()["imported"], &reply.data()["lines"]), (&json!(20), &json!(20)));
            assert_eq!(fixture.list("").await.total(), 0, "nothing is stored");
        }
        let reply = fixture.send(import(&fixture, "", &text, 77)).await;
        assert_eq!((&reply.data()["imported"], &reply.data()["replaced"]), (&json!(20), &json!(0)));
        let reply = fixture.send(import(&fixture, "", &text, 77)).await;
        assert_eq!((&reply.data()["imported"], &reply.data()["replaced"]), (&json!(20), &json!(20)));
        assert_eq!(fixture.list("").await.total(), 20);
    });
}

#[test]
fn refused_lines_are_reported_and_the_others_stored() {
    run_new(async |fixture| {
        fixture.put_abroad(host(FOREIGN_HOST.as_u128(), fixture.abroad.networks[0])).await;
        let elsewhere = host(4, fixture.abroad.networks[0]);
        let taken = host(FOREIGN_HOST.as_u128(), OFFICE);
        let text = lines([host(1, OFFICE), host(2, LAB), elsewhere, taken]) + "{}\nnonsense\n\n";
        let report = fixture.send(import(&fixture, &format!("?network_id={OFFICE}"), &text, 1_000)).await;
        let report = report.data();
        let refused: Vec<&Value> =
            report["refusals"].as_array().unwrap().iter().map(|refusal| &refusal["line"]).collect();
        assert_eq!(refused, [2, 3, 5, 6]);
        assert_eq!((&report["imported"], &report["reassigned"]), (&json!(2), &json!(1)));
        assert_eq!(report["reassignments"][0]["given_id"], json!(FOREIGN_HOST));
        assert_eq!(fixture.list("").await.total(), 2);
    });
}

#[test]
fn a_host_of_which_many_lines_were_refused_has_its_further_lines_refused() {
    run_new(async |fixture| {
        fixture.send(import(&fixture, "", &lines([host(1, OFFICE)]), 1_000)).await.data();
        let wrong = format!("{{\"id\":\"{}\",\"network_id\":\"{LAB}\",\"name\":7}}\n", host(1, LAB).id);
        let unknown_tag = Host { tags: vec![TagId::nil()], ..host(1, OFFICE) };
        let refused = lines(vec![unknown_tag.clone(); 2]);
        // Lines that are refused before the host is looked at do not count.
        let text = wrong.repeat(20) + &refused + &lines([host(1, OFFICE)]);
        let report = fixture.send(import(&fixture, "", &text, 1_000)).await;
        assert_eq!((&report.data()["imported"], &report.data()["refused"]), (&json!(1), &json!(22)));

        let text = lines(vec![unknown_tag; 300]) + &lines([host(1, OFFICE), host(2, OFFICE)]);
        let report = fixture.send(import(&fixture, "", &text, 1_000)).await;
        let report = report.data();
        assert_eq!((&report["imported"], &report["refused"]), (&json!(1), &json!(301)));
        assert_eq!(report["refusals"][2]["field"], "tags.0");
        let reason = "names a host of which 3 lines were refused, or rows read, before";
        for place in [3, 200, 300] {
            let refusal = &report["refusals"][place];
            assert_eq!((&refusal["field"], &refusal["reason"]), (&json!("id"), &json!(reason)), "{place}");
        }
        assert_eq!(fixture.list("").await.total(), 2);

        // A line that is stored makes the host as large as it is itself.
        let stored = |name: &str| lines([Host { name: name.to_owned(), ..host(1, OFFICE) }]);
        let text = refused.clone() + &stored("one") + &refused + &stored("two");
        let report = fixture.send(import(&fixture, "", &text, 1_000)).await;
        assert_eq!((&report.data()["imported"], &report.data()["refused"]), (&json!(2), &json!(4)));
    });
}

#[test]
fn import_needs_a_member_json_lines_and_a_network_of_the_caller() {
    run_new(async |fixture| {
        let text = lines([host(1, OFFICE)]);
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let request = with_key(import(&fixture, "", &text, 100), &viewer);
        fixture.send(request).await.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        let reply = fixture.send(with_key(import(&fixture, "", &text, 100), &stranger)).await;
        let report = &reply.refuses(400, "import_refused")["report"];
        assert_eq!((&report["imported"], &report["refused"]), (&json!(0), &json!(1)));
        let request = import(&fixture, &format!("?network_id={OFFICE}"), &text, 100);
        let reply = fixture.send(with_key(request, &stranger)).await;
        assert_eq!(*reply.refuses(403, "entity_access_denied"), json!({"entity": "Network", "id": OFFICE}));
        for network in [NOBODY.into(), fixture.abroad.networks[0]] {
            let reply = fixture.send(import(&fixture, &format!("?network_id={network}"), &text, 100)).await;
            let invalid = json!({"entity": "Network", "field": "network_id"});
            assert_eq!(*reply.refuses(400, "entity_reference_invalid"), invalid);
        }
        for kind in ["application/json", "text/plain"] {
            let request = with_header(import(&fixture, "", &text, 100), "content-type", kind);
            fixture.send(request).await.refuses(415, "request_unsupported_media_type");
        }
        for (query, code) in
            [("?x=1", "validation_unknown_parameter"), ("?dry_run=1", "validation_invalid_format")]
        {
            fixture.send(import(&fixture, query, &text, 100)).await.refuses(400, code);
        }
    });
}

#[test]
fn import_stops_at_its_limit_or_a_lost_connection() {
    run_new(async |fixture| {
        let text = lines((1..=9).map(|id| host(id, OFFICE)));
        let limit = text.len() as u64;
        let server = fixture.configured(|builder| builder.import_body_limit(limit).body_limit(1));
        assert_eq!(server.send(import(&fixture, "", &text, 100)).await.data()["imported"], 9);
        let server = fixture.configured(|builder| builder.import_body_limit(limit - 1));
        let reply = server.send(import(&fixture, "", &text, 100)).await;
        let params = reply.refuses(413, "request_too_large");
        assert_eq!((&params["limit"], &params["report"]["imported"]), (&json!(limit - 1), &json!(0)));
        let mut broken = import(&fixture, "", &text, 100);
        broken.body_mut().0[1] = None;
        fixture.send(broken).await.refuses(400, "request_incomplete");
        assert_eq!(fixture.list("").await.total(), 9);
    });
}

#[test]
fn line_that_creation_takes_is_imported() {
    run_new(async |fixture| {
        let line = json!({"name": "from-csv", "network_id": OFFICE}).to_string();
        let reply = fixture.send(import(&fixture, "", &format!("{line}\n{line}\n"), 100)).await;
        assert_eq!((&reply.data()["imported"], &reply.data()["refused"]), (&json!(2), &json!(0)));
        assert_eq!(fixture.list("source=Manual").await.total(), 2);
    });
}

#[test]
fn import_of_which_no_line_is_stored_is_refused_with_its_report() {
    run_new(async |fixture| {
        for query in ["", "?dry_run=true"] {
            let text = "{}\n[]\n{\"name\": \"x\"\n";
            let reply = fixture.send(import(&fixture, query, text, 100)).await;
            let report = &reply.refuses(400, "import_refused")["report"];
            assert_eq!(
                (&report["lines"], &report["refused"], &report["imported"]),
                (&json!(3), &json!(3), &json!(0))
            );
            assert_eq!(
                report["refusals"][0],
                json!({"line": 1, "field": "network_id", "reason": "is required"})
            );
            assert_eq!(report["refusals"][1]["reason"], "not a JSON object");
            assert_eq!(report["refusals"][2]["reason"], "not valid JSON");
        }
        let reply = fixture.send(import(&fixture, "", "\n\n", 100)).await;
        assert_eq!(reply.data()["lines"], 2, "an upload without hosts is no error");
    });
}

#[test]
fn import_that_is_cut_off_reports_what_it_has_stored() {
    run_new(async |fixture| {
        let text = lines((1..=600).map(|id| host(id, OFFICE)));
        let mut broken = import(&fixture, "", &text, 1_000);
        broken.body_mut().0.push_back(None);
        let reply = fixture.send(broken).await;
        let report = &reply.refuses(400, "request_incomplete")["report"];
        let stored = fixture.list("").await.total();
        assert!(stored > 0);
        assert_eq!(report["imported"], stored);

        let limited = import(&fixture, "", &text, 1_000).map(|body| Limited::new(body, text.len() - 1));
        let reply = fixture.send(limited).await;
        let report = &reply.refuses(413, "request_too_large")["report"];
        assert_eq!((&report["imported"], &report["replaced"]), (&json!(stored), &json!(stored)));
    });
}

fn export(key: &str) -> Request<String> {
    with_key(with_header(get("/api/v1/hosts?limit=0&order_by=name"), "accept", LINES), key)
}

#[test]
fn exported_hosts_can_be_imported() {
    run_new(async |fixture| {
        fixture.put((1..=300).map(|id| host(id, OFFICE))).await;
        let response = fixture.server.api.clone().oneshot(export(&fixture.key)).await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!((header("content-type"), header("vary")), (LINES.to_owned(), "Accept".to_owned()));
        let tag = header("etag");
        let mut reading = Reading { body: response.into_body(), read: Vec::new() };
        while reading.read_on().await.unwrap() {}
        let text = String::from_utf8(reading.read).unwrap();
        assert_eq!(text.lines().count(), 300);
        let whole = fixture.list("limit=0&order_by=name").await;
        let listed: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(json!(listed), *whole.data());
        assert_ne!(whole.header("etag"), tag);
        let known = with_header(export(&fixture.key), "if-none-match", &tag);
        assert_eq!(fixture.send(known).await.status, 304);

        let bulk = send_json(
            "POST",
            "/api/v1/hosts/bulk-delete",
            &listed.iter().map(|host| host["id"].clone()).collect(),
        );
        assert_eq!(fixture.ask(bulk).await.data()["deleted_count"], 300);
        let reply = fixture.send(import(&fixture, "", &text, 5_000)).await;
        assert_eq!((&reply.data()["imported"], &reply.data()["alterations"]), (&json!(300), &json!({})));
        assert_eq!(fixture.list("limit=0&order_by=name").await.data(), whole.data());
    });
}

#[test]
fn export_is_aborted_when_the_key_is_revoked() {
    run_new(async |fixture| {
        fixture.put((1..=600).map(|id| host(id, OFFICE))).await;
        let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let key = key_for(&user, Permission::Member, &[OFFICE]);
        let key = fixture.inventory.user_api_keys().create(&fixture.system(), key).await.unwrap();
        let mut reading = Reading::begin(fixture.server.api.clone(), export(key.plaintext())).await;
        assert!(reading.read_on().await.unwrap());
        fixture
            .inventory
            .user_api_keys()
            .delete(&Caller::system(key.record().organization_id), key.record().id)
            .await
            .unwrap();
        let aborted = loop {
            match reading.read_on().await {
                Ok(true) => {}
                ended => break ended.is_err(),
            }
        };
        assert!(aborted);
    });
}

#[test]
fn line_without_a_network_is_on_that_of_the_query() {
    run_new(async |fixture| {
        let text = json!({"name": "none"}).to_string()
            + "\n"
            + &json!({"name": "null", "network_id": null, "ports": [{"number": 22, "protocol": "Tcp"}]})
                .to_string()
            + "\n"
            + &json!({"name": "own", "network_id": OFFICE}).to_string()
            + "\n"
            + &json!({"name": "other", "network_id": LAB}).to_string()
            + "\n{\"network_id\": 1, \"name\": \"bad\"}\n{\"name\": null}\n{\"name\": \"\"}\n";
        let report = fixture.send(import(&fixture, &format!("?network_id={OFFICE}"), &text, 100)).await;
        let refused: Vec<(&Value, &Value)> = report.data()["refusals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|refusal| (&refusal["line"], &refusal["field"]))
            .collect();
        let network = json!("network_id");
        assert_eq!(refused, [(&json!(4), &network), (&json!(5), &network), (&json!(6), &json!("name"))]);
        assert_eq!(fixture.list(&format!("network_id={OFFICE}")).await.total(), 4);
        let ports = fixture.read("/api/v1/ports").await;
        assert_eq!(ports[0]["network_id"], json!(OFFICE));

        let reply = fixture.send(import(&fixture, "", "{\"name\": \"none\"}", 100)).await;
        let report = &reply.refuses(400, "import_refused")["report"];
        assert_eq!(report["refusals"][0]["field"], network);
    });
}
