//! Discovery: the client of a daemon and that of a user, over one server.

use std::future::poll_fn;
use std::pin::Pin;

use http_body::Body;
use serde_json::json;
use toposcope::client::{ReportOptions, RequestBody};
use toposcope::discovery::Format;
use toposcope::discovery::report::TableKind;
use toposcope::inventory::{
    ClaimRows, DaemonStatus, DiscoveryOutcome, DiscoveryUpdate, ListQuery, NewDaemon, NewDaemonApiKey,
    NewDiscovery,
};
use toposcope::model::{
    Cidr, DaemonCapabilities, Discovery, DiscoveryDaemon, DiscoveryPhase, DiscoveryType, Host, HostId,
    Interface, SnmpCredentials, Source, Subnet,
};
use toposcope::wire::ErrorCode;
use toposcope::wire::daemon::SessionType;

use super::{client_of, owner};
use crate::common::{NOBODY, OFFICE, host};

#[tokio::test]
async fn client_passes_credentials_on_to_a_daemon() {
    let (fixture, user) = owner().await;
    let key = fixture
        .inventory
        .daemon_api_keys()
        .create(&fixture.system(), NewDaemonApiKey::new(OFFICE, "scanner"))
        .await
        .unwrap();
    let client = client_of(&fixture.server, key.plaintext());
    let id = client.register_daemon(&NewDaemon::new(NOBODY.into(), "scanner")).await.unwrap().daemon.id;
    for _ in 0..2 {
        let session = client.request_work(id, &DaemonStatus::default()).await.unwrap().0.unwrap();
        let ended = DiscoveryUpdate::new(session.session_id, id, DiscoveryPhase::Complete, 100);
        client.report_progress(&ended).await.unwrap();
    }
    let mut new = NewDiscovery::new(OFFICE);
    let given = json!({"default_credential": {"version": "V2c", "community": "a secret"}});
    new.snmp_credentials = Some(SnmpCredentials::from_json(given).unwrap());
    let queued = user.create_discovery(&new).await.unwrap().record;
    assert!(queued.has_credentials);
    let work = client.request_work(id, &DaemonStatus::default()).await.unwrap();
    assert!(!format!("{work:?} {new:?}").contains("a secret"));
    let session = work.0.unwrap();
    assert_eq!(session.session_id, queued.id);
    let SessionType::Network { snmp_credentials, .. } = session.discovery_type else { panic!("no scan") };
    assert_eq!(Some(snmp_credentials), new.snmp_credentials);
}

#[tokio::test]
async fn client_runs_a_daemon_from_registration_to_report() {
    let (fixture, user) = owner().await;
    let key = fixture
        .inventory
        .daemon_api_keys()
        .create(&fixture.system(), NewDaemonApiKey::new(OFFICE, "scanner"))
        .await
        .unwrap();
    let client = client_of(&fixture.server, key.plaintext());
    assert_eq!(
        client.announce_daemon(NOBODY.into(), "1").await.unwrap_err().code(),
        Some(ErrorCode::EntityNotFound)
    );
    let mut new = NewDaemon::new(NOBODY.into(), "scanner");
    new.version = Some("0.14.8".to_owned());
    let registration = client.register_daemon(&new).await.unwrap();
    let id = registration.daemon.id;
    let capabilities = client.announce_daemon(id, "0.14.9").await.unwrap();
    assert_eq!(capabilities, registration.server_capabilities);

    let work = client.request_work(id, &DaemonStatus::default()).await.unwrap();
    let session = work.0.unwrap();
    assert_eq!(session.discovery_type, SessionType::SelfReport { host_id: registration.host_id });
    let cidr: Cidr = "192.0.2.0/24".parse().unwrap();
    let subnet = client.create(&Subnet::new(OFFICE, "here", cidr)).await.unwrap().record;
    let capabilities =
        DaemonCapabilities { has_docker_socket: false, interfaced_subnet_ids: vec![subnet.id] };
    client.update_daemon_capabilities(id, &capabilities).await.unwrap();
    let mut host = Host::with_id(registration.host_id, OFFICE, "daemon");
    host.source = Source::Discovery { metadata: vec![] };
    let mut interface = Interface::new(&host, "192.0.2.7".parse().unwrap());
    interface.subnet_id = Some(subnet.id);
    host.interfaces.push(interface);
    let stored = client.report_host(&host).await.unwrap().record;
    assert_eq!((stored.id, stored.interfaces[0].subnet_id), (host.id, Some(subnet.id)));
    let mut update = DiscoveryUpdate::new(session.session_id, id, DiscoveryPhase::Failed, 50);
    update.error = Some("interrupted".to_owned());
    client.report_progress(&update).await.unwrap();

    let daemon = user.get::<DiscoveryDaemon>(id).await.unwrap().record;
    assert_eq!((daemon.version.as_deref(), daemon.capabilities), (Some("0.14.9"), capabilities));
    let failed = user.get::<Discovery>(session.session_id).await.unwrap().record;
    assert_eq!((failed.phase, failed.error.as_deref()), (DiscoveryPhase::Failed, Some("interrupted")));
    user.delete::<DiscoveryDaemon>(id, None).await.unwrap();
    assert_eq!(user.list::<DiscoveryDaemon>(&ListQuery::default()).await.unwrap().total, 0);
}

#[tokio::test]
async fn user_queues_cancels_and_follows_discoveries() {
    let (_fixture, user) = owner().await;
    let queued = user.create_discovery(&NewDiscovery::new(OFFICE)).await.unwrap().record;
    assert_eq!((queued.discovery_type, queued.is_open()), (DiscoveryType::Network, true));
    let cancelled = user.cancel_discovery(queued.id).await.unwrap().record;
    assert_eq!(cancelled.phase, DiscoveryPhase::Cancelled);
    let mut stream = user.stream_discoveries(Some(OFFICE)).await.unwrap();
    let frame = poll_fn(|context| Pin::new(&mut stream).poll_frame(context)).await.unwrap().unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    assert_eq!(serde_json::from_str::<Discovery>(data).unwrap(), cancelled);
    let error = user.register_daemon(&NewDaemon::new(NOBODY.into(), "x")).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuthNotAuthenticated));
}

fn report() -> RequestBody {
    let address = json!({"rows": [{"ip_address": "192.0.2.1"}], "complete": true});
    let device = json!({"sys_name": "core-1", "tables": {"addresses": address}});
    let report =
        json!({"reporter": {"name": "x"}, "observed_at": "2026-08-01T12:00:00Z", "devices": [device]});
    RequestBody::new(report.to_string())
}

#[tokio::test]
async fn user_imports_a_report_reads_its_claims_and_consolidates_hosts() {
    let (fixture, user) = owner().await;
    let mut options = ReportOptions::default();
    let error = user.import_report(Format::Report, report(), &options).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::ValidationRequired));
    (options.network_id, options.dry_run) = (Some(OFFICE), true);
    let tried = user.import_report(Format::Report, report(), &options).await.unwrap();
    assert!(tried.dry_run);
    options.dry_run = false;
    let report = user.import_report(Format::Report, report(), &options).await.unwrap();
    assert_eq!((&report.hosts, &report.tables), (&tried.hosts, &tried.tables));
    assert_eq!(report.hosts[0].outcome, DiscoveryOutcome::Created);
    let id = report.hosts[0].id.unwrap();

    let claims = user.claims(id, None).await.unwrap();
    assert!(matches!(&claims[0].rows, ClaimRows::Addresses(rows) if rows.len() == 1));
    assert_eq!(user.claims(id, Some(TableKind::Addresses)).await.unwrap(), claims);
    assert_eq!(user.claims(id, Some(TableKind::Lldp)).await.unwrap(), []);

    let deleted = user.delete_stale_parts(OFFICE).await.unwrap();
    assert_eq!((deleted.hosts, deleted.interfaces), (0, 0));
    fixture.put([host(1, OFFICE)]).await;
    let kept = user.consolidate_hosts(HostId::from_u128(1), id).await.unwrap();
    assert_eq!(kept.record.interfaces.len(), 1);
    assert_eq!(user.get::<Host>(kept.record.id).await.unwrap(), kept);
    let error = user.consolidate_hosts(kept.record.id, id).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::EntityNotFound));
}

#[tokio::test]
async fn daemon_imports_a_report_with_its_reporter() {
    let fixture = crate::common::Fixture::new().await;
    let key = fixture
        .inventory
        .daemon_api_keys()
        .create(&fixture.system(), NewDaemonApiKey::new(OFFICE, "scanner"))
        .await
        .unwrap();
    let client = client_of(&fixture.server, key.plaintext());
    let mut options = ReportOptions::default();
    (options.reporter, options.complete) = (Some("a station & more".to_owned()), true);
    let neighbors = RequestBody::new(r#"{"lldp": {}}"#);
    let report = client.import_report(Format::Lldpctl, neighbors, &options).await.unwrap();
    assert_eq!(report.hosts[0].name, "a station & more");
    assert!(report.tables[0].complete);
}
