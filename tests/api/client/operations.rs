//! The requests that the client sends for operations beyond reads and writes of records.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use toposcope::access::Caller;

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::client::{
    Client, ClientErrorKind, HttpService, ImportOptions, Outcome, PartQuery, RequestBody,
};
use toposcope::inventory::{
    Alteration, Atomicity, DiffQuery, HostQuery, ListQuery, Moment, NewShare, NewUser, NewUserApiKey,
    SummaryQuery,
};
use toposcope::model::{ChangePosition, DaemonApiKey, Host, Interface, Permission, Subnet, User};
use tower::service_fn;

use super::{answered_by, canned, owner, success};
#[cfg(feature = "openapi")]
use crate::common::openapi_document;
use crate::common::{HOST, NOBODY, OFFICE, PASSWORD, host};

/// The method, the target and the body of each request.
pub(super) type Sent = Arc<Mutex<Vec<(String, Value)>>>;

/// Returns a client of a service that responds to each request with this data.
pub(super) fn recorded(data: Value) -> (Client<impl HttpService>, Sent) {
    let sent = Sent::default();
    let record = Arc::clone(&sent);
    let service = service_fn(move |request: Request<RequestBody>| {
        let (record, response) = (Arc::clone(&record), success(&data, None));
        async move {
            let line = format!("{} {}", request.method(), request.uri());
            let body = request.into_body().collect().await.unwrap().to_bytes();
            record.lock().unwrap().push((line, serde_json::from_slice(&body).unwrap_or_default()));
            Ok::<_, Infallible>(response)
        }
    });
    (Client::new(service), sent)
}

#[tokio::test]
async fn operations_send_what_the_contract_names() {
    let (client, sent) = recorded(json!({}));
    let mut user = NewUser::new("new@example.net", Permission::Member);
    user.network_ids = vec![OFFICE];
    let mut share = NewShare::new("a share");
    (share.network_id, share.password) = (Some(OFFICE), Some(PASSWORD.to_owned()));
    let key = NewUserApiKey::new(NOBODY.into(), "laptop", Permission::Viewer);
    let mut contains = ListQuery::default();
    contains.contains = Some("2001:db8::1".parse().unwrap());
    let id = HOST;

    // The responses fit none of these, so that only the requests count.
    let _ = client.me().await;
    client.change_password(PASSWORD, "another password").await.unwrap();
    let _ = client.create_user(&user).await;
    let _ = client.create_user_key(&key).await;
    let _ = client.rotate_user_key(id.uuid().into()).await;
    let _ = client.rotate_daemon_key(id.uuid().into()).await;
    let _ = client.create_share(&share).await;
    let _ = client.issue_share_token(id.uuid().into(), PASSWORD).await;
    let _ = client.list::<Subnet>(&contains).await;
    let _ = client.list::<Interface>(&PartQuery::new(id)).await;
    client.delete::<User>(id.uuid().into(), None).await.unwrap();
    let _ = client.delete_many::<DaemonApiKey>(&[id.uuid().into()]).await;

    let from = Moment::Time("2026-11-27T12:00:00Z".parse().unwrap());
    let mut diff = DiffQuery::new(from.clone());
    diff.network_id = Some(OFFICE);
    let _ = client.diff(&diff).await;
    let mut summary = SummaryQuery::default();
    summary.since = Some(from.clone());
    let _ = client.change_summary(&summary).await;
    let _ = client.change_summary(&SummaryQuery::default()).await;
    let _ = client.revert::<Subnet>(id.uuid().into(), &ChangePosition::new("p"), None).await;
    let mut past = HostQuery::default();
    past.at = Some(from);
    let _ = client.list::<Host>(&past).await;

    let page = "limit=0&cursor=";
    let order = "order_by=created_at&order_direction=asc";
    let options = json!({"show_export_button": true, "show_inspect_panel": true, "show_minimap": true, "show_zoom_controls": true});
    let expected = [
        ("GET /api/auth/me".to_owned(), Value::Null),
        (
            "POST /api/auth/password".to_owned(),
            json!({"current_password": PASSWORD, "new_password": "another password"}),
        ),
        (
            "POST /api/v1/users".to_owned(),
            json!({"email": "new@example.net", "permissions": "Member", "network_ids": [OFFICE]}),
        ),
        (
            "POST /api/v1/auth/keys".to_owned(),
            json!({"name": "laptop", "tags": [], "expires_at": null, "is_enabled": true, "network_ids": [], "all_networks": false, "permissions": "Viewer"}),
        ),
        (format!("POST /api/v1/auth/keys/{id}/rotate"), Value::Null),
        (format!("POST /api/v1/auth/daemon/{id}/rotate"), Value::Null),
        (
            "POST /api/v1/shares".to_owned(),
            json!({"name": "a share", "network_id": OFFICE, "password": PASSWORD, "options": options, "is_enabled": true, "expires_at": null, "view": "l2", "redact": []}),
        ),
        (format!("POST /api/v1/shares/public/{id}/verify"), json!({"password": PASSWORD})),
        (format!("GET /api/v1/subnets?{page}&contains=2001%3Adb8%3A%3A1&{order}"), Value::Null),
        (format!("GET /api/v1/interfaces?{page}&host_id={id}&{order}"), Value::Null),
        (format!("DELETE /api/v1/users/{id}"), Value::Null),
        ("POST /api/v1/auth/daemon/bulk-delete".to_owned(), json!([id])),
        (format!("GET /api/v1/changes/diff?from=2026-11-27T12%3A00%3A00Z&network_id={OFFICE}"), Value::Null),
        ("GET /api/v1/changes/summary?since=2026-11-27T12%3A00%3A00Z".to_owned(), Value::Null),
        ("GET /api/v1/changes/summary?".to_owned(), Value::Null),
        (format!("POST /api/v1/subnets/{id}/revert"), json!({"position": "p"})),
        (format!("GET /api/v1/hosts?{page}&at=2026-11-27T12%3A00%3A00Z&order_direction=asc"), Value::Null),
    ];
    assert_eq!(*sent.lock().unwrap(), expected);
}

#[tokio::test]
async fn password_of_a_share_is_changed_only_on_demand() {
    let (fixture, _) = owner().await;
    let share = fixture.inventory.shares().create(&fixture.system(), NewShare::new("a share")).await.unwrap();
    let (client, sent) = recorded(json!(share));
    client.update(&share, None).await.unwrap();
    client.update_share_password(&share, Some(PASSWORD)).await.unwrap();
    client.update_share_password(&share, None).await.unwrap();
    let sent = sent.lock().unwrap();
    let passwords: Vec<Option<&Value>> = sent.iter().map(|(_, body)| body.get("password")).collect();
    assert_eq!(passwords, [None, Some(&json!(PASSWORD)), Some(&Value::Null)]);
    assert!(
        sent.iter()
            .all(|(line, body)| *line == format!("PUT /api/v1/shares/{}", share.id)
                && body["name"] == "a share")
    );
}

#[tokio::test]
async fn hosts_are_stored_in_bulk() {
    let error = json!({"code": "validation_required", "error": "No.", "params": {"field": "name"}});
    let outcomes = json!([
        {"index": 0, "id": HOST, "outcome": "created"},
        {"index": 1, "id": null, "outcome": "failed", "error": error},
        {"index": 2, "id": HOST, "outcome": "postponed"},
    ]);
    let (client, sent) = recorded(outcomes);
    let hosts = [host(1, OFFICE), host(2, OFFICE)];
    let outcomes = client.put_hosts(&hosts, Atomicity::PerHost).await.unwrap();
    assert_eq!(
        outcomes.iter().map(|host| host.outcome).collect::<Vec<_>>(),
        [Outcome::Created, Outcome::Failed, Outcome::Unknown]
    );
    assert_eq!(
        (outcomes[1].id, outcomes[1].error.as_ref().unwrap().code.as_str()),
        (None, "validation_required")
    );
    let expected = ("POST /api/v1/hosts/bulk".to_owned(), json!({"hosts": hosts, "atomic": false}));
    assert_eq!(*sent.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn export_of_one_server_is_the_import_of_another() {
    let lines = "{\"name\": \"one\"}\n{\"name\": \"two\"}\n";
    let old = answered_by(move |request| {
        assert_eq!(request.headers()["accept"], "application/x-ndjson");
        assert_eq!(request.uri().query().unwrap().split('&').next(), Some("limit=0"));
        canned(200, "application/x-ndjson", lines)
    });
    let refusals = json!([{"line": 2, "field": "id", "reason": "A value is required."}]);
    let (given_id, id) = (HOST, NOBODY.into());
    let report = json!({
        "lines": 2, "bytes": 34, "imported": 1, "replaced": 0, "unchanged": 0, "refused": 1, "refusals": refusals,
        "created_networks": 0, "alterations": {"truncated_time": 2}, "dropped_ports": [], "reassigned": 1,
        "reassignments": [{"line": 1, "given_id": given_id, "id": id}],
    });
    let received = Arc::new(Mutex::new(Bytes::new()));
    let keep = Arc::clone(&received);
    let new = Client::new(service_fn(move |request: Request<RequestBody>| {
        let (keep, response) = (Arc::clone(&keep), success(&report, None));
        async move {
            assert_eq!(
                request.uri().to_string(),
                format!("/api/v1/hosts/import?network_id={OFFICE}&dry_run=true")
            );
            assert_eq!(request.headers()["content-type"], "application/x-ndjson");
            *keep.lock().unwrap() = request.into_body().collect().await.unwrap().to_bytes();
            Ok::<_, Infallible>(response)
        }
    }));
    let mut query = HostQuery::default();
    (query.limit, query.offset) = (Some(5), 7);
    let hosts = old.export_hosts(&query).await.unwrap();
    let mut options = ImportOptions::default();
    (options.network_id, options.dry_run) = (Some(OFFICE), true);
    let report = new.import_hosts(RequestBody::stream(hosts), options).await.unwrap();
    assert_eq!((report.imported, report.refused, report.refusals[0].line), (1, 1, 2));
    assert_eq!((report.bytes, report.altered(Alteration::TruncatedTime)), (34, 2));
    assert_eq!((report.reassignments[0].given_id, report.reassignments[0].id), (given_id, id));
    assert_eq!(*received.lock().unwrap(), lines);
}

#[cfg(feature = "csv")]
#[tokio::test]
async fn exported_csv_can_be_imported() {
    let (fixture, client) = owner().await;
    fixture.put([host(1, OFFICE), host(2, OFFICE)]).await;
    let csv = client.export_csv(&HostQuery::default()).await.unwrap();
    let report = client.import_csv(RequestBody::stream(csv), ImportOptions::default()).await.unwrap();
    assert_eq!((report.imported, report.refused, report.lines), (2, 0, 3));
    assert_eq!(fixture.list("").await.total(), 4);
}

#[tokio::test]
async fn export_is_not_mistaken_for_an_envelope() {
    let client = answered_by(|_| success(&json!([]), None));
    let error = client.export_hosts(&HostQuery::default()).await.unwrap_err();
    assert_eq!(error.kind(), ClientErrorKind::UnexpectedResponse);
}

#[tokio::test]
async fn import_reports_what_it_altered() {
    let (fixture, client) = owner().await;
    let imported = host(1, OFFICE);
    let mut line = json!(imported);
    line["ports"] = json!([{"id": NOBODY, "host_id": imported.id, "network_id": OFFICE, "number": 0, "protocol": "Tcp",
        "created_at": imported.created_at, "updated_at": imported.updated_at}]);
    let lines = RequestBody::new(line.to_string());
    let report = client.import_hosts(lines, ImportOptions::default()).await.unwrap();
    assert_eq!((report.imported, report.refusals.as_slice()), (1, [].as_slice()));
    assert_eq!(report.altered(Alteration::DroppedPort), 1);
    assert_eq!(
        (report.dropped_ports[0].host_id, report.dropped_ports[0].port_id),
        (imported.id, NOBODY.into())
    );
    let organization = fixture.home.organization.id;
    assert_eq!(
        fixture.inventory.hosts().get(&Caller::system(organization), imported.id).await.unwrap().ports,
        []
    );
}

#[cfg(feature = "openapi")]
#[tokio::test]
async fn document_of_the_server_is_returned() {
    let (_, client) = owner().await;
    let document = client.openapi_document().await.unwrap();
    assert_eq!(document["paths"], openapi_document()["paths"]);
}

#[tokio::test]
async fn health_has_an_envelope_of_its_own() {
    let health =
        |status, body: Value| answered_by(move |_| canned(status, "application/json", body.to_string()));
    let healthy = health(200, json!({"success": true, "data": "Toposcope 7", "error": null}));
    assert_eq!(healthy.health().await.unwrap(), "Toposcope 7");
    assert_eq!(healthy.liveness().await.unwrap(), "Toposcope 7");
    assert_eq!(healthy.write_health().await.unwrap(), "Toposcope 7");
    let ill = health(503, json!({"success": false, "data": null, "error": "The store does not answer."}));
    let error = ill.health().await.unwrap_err();
    assert_eq!((error.kind(), error.status().unwrap().as_u16()), (ClientErrorKind::Api, 503));
    assert_eq!((error.code(), error.message()), (None, "The store does not answer."));
}
