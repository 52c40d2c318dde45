//! The audit log.

use serde_json::json;
use toposcope::model::Permission;
use toposcope::store::StoreError;
use tower::ServiceExt;
use tracing::dispatcher::set_default;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{
    Fault, Fixture, Hook, Log, NOBODY, OFFICE, PASSWORD, bare, get, host, log_in, send_json, with_caller,
    with_header, with_key, with_session,
};

/// Returns the fields of each new line of the audit log.
fn lines(log: &Log) -> Vec<String> {
    let log = log.take();
    let lines = log.lines().filter_map(|line| line.split_once("toposcope::audit: "));
    lines
        .map(|(before, line)| {
            assert!(before.trim_start().starts_with("INFO"), "{before}");
            line.split_once(' ').map(|_| line.to_owned()).unwrap()
        })
        .collect()
}

/// Returns the text from the first of the fields on.
fn from_field<'l>(line: &'l str, name: &str) -> &'l str {
    &line[line.find(name).expect(line)..]
}

#[test]
fn change_is_logged_with_its_caller_records_and_outcome() {
    run_with(Fixture::with_one_host, async |fixture| {
        let user = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let session = fixture.sign_in(&user).await;
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let reply = fixture
            .send(with_session(
                send_json("POST", "/api/v1/tags", &json!({"name": "printers", "color": "#00ff7f"})),
                &session,
            ))
            .await;
        let tag = reply.data()["id"].as_str().unwrap().to_owned();
        let organization = fixture.home.organization.id;
        let logged = lines(&log);
        let expected = format!(
            "operation=\"create_tag\" organization=\"{organization}\" caller=\"session\" user=\"{}\" changes=1 \
             records=\"create tag {tag}\" outcome=\"ok\"",
            user.id
        );
        assert_eq!(logged.len(), 1);
        assert!(logged[0].contains(&expected), "{}\n{expected}", logged[0]);
        assert!(!logged[0].contains("printers"), "no values");

        let path = format!("/api/v1/tags/{tag}");
        fixture
            .send(with_key(
                send_json("PUT", &path, &json!({"name": "printer", "color": "#ff0000"})),
                &fixture.key,
            ))
            .await;
        fixture.send(with_key(bare("DELETE", &path), &fixture.key)).await;
        fixture.send(with_key(bare("DELETE", &path), &fixture.key)).await;
        let logged = lines(&log);
        let from = |line: &String| from_field(line, "changes=").split(" outcome").next().unwrap().to_owned();
        assert_eq!(from(&logged[0]), format!("changes=1 records=\"update tag {tag}\""));
        assert!(logged[1].contains(&format!("delete tag {tag}")), "{}", logged[1]);
        assert_eq!(from(&logged[2]), "changes=0 records=\"\"");
        assert!(logged[2].contains("outcome=\"entity_not_found\""), "{}", logged[2]);
        assert!(logged[2].contains(&format!(" id=\"{tag}\"")), "{}", logged[2]);
        assert!(
            logged.iter().all(|line| line.contains("caller=\"user_api_key\"") && line.contains(" key=\""))
        );
        assert_eq!(logged.len(), 3);
    });
}

#[test]
fn reads_and_requests_without_a_caller_are_not_logged() {
    run_with(Fixture::with_one_host, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        fixture.list("limit=5").await;
        fixture.send(send_json("POST", "/api/v1/tags", &json!({"name": "x"}))).await;
        fixture.send(log_in("nobody@example.net", "a wrong password")).await;
        fixture.send(get("/api/version")).await;
        assert_eq!(lines(&log), [""; 0]);
    });
}

#[test]
fn login_and_logout_are_logged_as_changes_of_sessions() {
    run_with(Fixture::new, async |fixture| {
        let user = fixture.user(&fixture.home, Permission::Viewer, &[]).await;
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let reply = fixture.send(log_in(&user.email, PASSWORD)).await;
        let session = reply.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
        let logged = lines(&log);
        assert_eq!(logged.len(), 1);
        assert!(logged[0].contains("operation=\"login\""), "{}", logged[0]);
        assert!(logged[0].contains("records=\"create session "), "{}", logged[0]);
        assert!(logged[0].contains(&format!(" of user {}\"", user.id)), "{}", logged[0]);
        fixture.send(with_session(bare("POST", "/api/auth/logout"), &session)).await;
        let logged = lines(&log);
        assert!(logged[0].contains("records=\"delete session "), "{}", logged[0]);
    });
}

#[test]
fn bulk_request_names_the_first_hundred_records_and_counts_all() {
    run_with(Fixture::new, async |fixture| {
        let hosts: Vec<_> = (1..=250).map(|id| host(id, OFFICE)).collect();
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let bulk = send_json("POST", "/api/v1/hosts/bulk", &json!({"hosts": hosts}));
        let bulk = with_header(with_key(bulk, &fixture.key), "idempotency-key", "one");
        assert_eq!(fixture.send(bulk).await.status, 200);
        let logged = lines(&log);
        assert_eq!(logged.len(), 1);
        assert!(logged[0].contains("changes=250 "), "{}", logged[0]);
        assert_eq!(logged[0].matches("create host ").count(), 100);
        assert!(logged[0].contains(&Uuid::from_u128(1).to_string()));
    });
}

#[test]
fn dry_run_changes_nothing() {
    run_with(Fixture::new, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let line = serde_json::to_string(&host(1, OFFICE)).unwrap();
        let import = bare("POST", "/api/v1/hosts/import?dry_run=true").map(|_| line.clone());
        let import = with_header(with_key(import, &fixture.key), "content-type", "application/x-ndjson");
        assert_eq!(fixture.send(import).await.status, 200);
        let logged = lines(&log);
        assert!(logged[0].contains("operation=\"import_hosts\""), "{}", logged[0]);
        assert!(logged[0].contains("changes=0 "), "{}", logged[0]);
        let import = bare("POST", "/api/v1/hosts/import").map(|_| line);
        let import = with_header(with_key(import, &fixture.key), "content-type", "application/x-ndjson");
        assert_eq!(fixture.send(import).await.status, 200);
        assert!(
            lines(&log)[0].contains(&format!("changes=1 records=\"create host {}\"", Uuid::from_u128(1)))
        );
    });
}

#[test]
fn change_of_which_nobody_knows_whether_it_was_made_is_logged_as_possible() {
    run_with(Fixture::new, async |fixture| {
        let store = Hook::failing(Fault::Commit(toposcope::store::Name::new("tag"), |_| {
            StoreError::unavailable("down")
        }));
        let server = fixture.server_with(&store);
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let create = send_json("POST", "/api/v1/tags", &json!({"name": "x", "color": "#00ff7f"}));
        assert_eq!(server.send(with_key(create, &fixture.key)).await.status, 503);
        let logged = lines(&log);
        assert_eq!(logged.len(), 1);
        assert!(logged[0].contains("records=\"perhaps create tag "), "{}", logged[0]);
        assert!(logged[0].contains("outcome=\"store_unavailable\""), "{}", logged[0]);
    });
}

/// In memory, where the store makes progress at each poll.
#[tokio::test]
async fn request_that_is_dropped_is_logged() {
    let fixture = Fixture::new().await;
    let server = fixture.server_with(&Hook::yielding());
    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    let mut logged = Vec::new();
    // The store yields in each call. The first ones look up the sender, which is not known until then.
    for polls in 1..=6 {
        let target = format!("/api/v1/tags/{NOBODY}");
        let delete = with_caller(bare("DELETE", &target), fixture.owner(&fixture.home));
        let mut answer = Box::pin(server.api.clone().oneshot(delete));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let is_pending = (0..polls).all(|_| answer.as_mut().poll(&mut context).is_pending());
        drop(answer);
        if is_pending {
            logged.extend(lines(&log));
        }
    }
    assert!(logged.iter().any(|line| line.contains("outcome=\"dropped\"")), "{logged:?}");
}
