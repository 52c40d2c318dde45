//! Hosts that daemons report one by one.

use serde_json::json;
use toposcope::Inventory;
use toposcope::access::DaemonCaller;
use toposcope::inventory::{
    DaemonStatus, DiscoveryUpdate, Entity, ErrorKind, NewDaemon, NewDiscovery, Problem,
};
use toposcope::model::{BindingTarget, DiscoveryPhase, Host, Protocol, SnmpCredentials, Source};

use super::support::{FIRST, SECOND, THIRD, discover_one, seen_at, switch};
use crate::backend::{run, run_on_threads};
use crate::support::{
    Fixture, bare_host, concurrently, id, interface, invalid, owner_of, port, refusal, service, settle, time,
};

async fn daemon(fixture: &Fixture) -> DaemonCaller {
    let key = fixture.daemon_key(|_| {}).await;
    let daemon = fixture.inventory.authenticate_daemon_key(key.plaintext()).await.unwrap();
    fixture.until_used(key.record().id).await;
    settle().await;
    daemon
}

/// Returns a server with an address and a service, whose ids follow from this number.
fn server(fixture: &Fixture, number: u128) -> Host {
    let mut host = bare_host(id(number), fixture.network);
    host.source = Source::Discovery { metadata: vec![] };
    host.hostname = Some("server.example.net".to_owned());
    host.interfaces = vec![interface(&host, id(number + 1), "192.0.2.7", 0)];
    host.ports = vec![port(&host, id(number + 2), 443, Protocol::Tcp)];
    let target = BindingTarget::Port { port_id: id(number + 2), interface_id: Some(id(number + 1)) };
    host.services = vec![service(&host, id(number + 3), "nginx", 0).bound_to(target)];
    host
}

#[test]
fn repeated_report_writes_nothing_and_a_newer_one_leaves_the_host() {
    run(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let report = async |number: u128, at: &str| {
            let host = server(&fixture, number);
            fixture.inventory.daemons().report_host(&daemon, host, time(at)).await.unwrap()
        };
        let stored = report(0x10, FIRST).await;
        assert_eq!(
            stored.services[0].bindings[0].target,
            server(&fixture, 0x10).services[0].bindings[0].target
        );
        let commits = fixture.commits();
        for number in [0x10, 0x20] {
            assert_eq!(report(number, FIRST).await, stored);
        }
        assert_eq!(fixture.commits(), commits);
        assert_eq!(report(0x30, SECOND).await, seen_at(stored, SECOND));
        assert_eq!(fixture.documents().await.len(), 1);
    });
}

#[test]
fn reports_of_a_device_by_scan_and_by_daemon_are_one_host() {
    run(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let (_, scanned) = discover_one(&fixture, switch(1), FIRST).await;
        let mut reported = bare_host(id(1), fixture.network);
        reported.chassis_id.clone_from(&scanned.chassis_id);
        reported.ports = vec![port(&reported, id(2), 22, Protocol::Tcp)];
        let merged = fixture.inventory.daemons().report_host(&daemon, reported, time(SECOND)).await.unwrap();
        assert_eq!((merged.id, merged.ports.len()), (scanned.id, 1));
        assert_eq!(merged.if_entries, scanned.if_entries);
        let (_, again) = discover_one(&fixture, switch(1), THIRD).await;
        assert_eq!((again.id, again.ports), (scanned.id, merged.ports));
    });
}

#[test]
fn concurrent_reports_of_one_host_are_one_host() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let reports = concurrently(&fixture, 8, move |fixture, task| async move {
            let host = server(&fixture, 0x10 * u128::from(task + 1));
            fixture.inventory.daemons().report_host(&daemon, host, time(FIRST)).await.unwrap();
        });
        reports.await;
        let documents = fixture.documents().await;
        assert_eq!(documents.len(), 1);
        let host: Host = serde_json::from_slice(&documents[0]).unwrap();
        assert_eq!((host.interfaces.len(), host.ports.len(), host.services.len()), (1, 1, 1));
    });
}

#[test]
fn faulty_report_is_refused_as_a_whole() {
    run(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let report = async |host: Host| {
            refusal(fixture.inventory.daemons().report_host(&daemon, host, time(FIRST)).await)
        };
        let mut twice = server(&fixture, 0x10);
        twice.ports.push(port(&twice, id(0x19), 443, Protocol::Tcp));
        let name = "443/Tcp".to_owned();
        assert_eq!(report(twice).await, ErrorKind::AlreadyExists { entity: Entity::Port, name });
        let mut unbound = server(&fixture, 0x10);
        unbound.ports.clear();
        assert!(matches!(report(unbound).await, ErrorKind::ReferenceInvalid { entity: Entity::Port, .. }));
        let without_terms = fixture.inventory.clone().without_host_terms();
        let host = server(&fixture, 0x10);
        let refused = without_terms.daemons().report_host(&daemon, host, time(FIRST)).await;
        assert_eq!(refusal(refused), invalid("discovery", Problem::Unsupported));
        assert!(fixture.documents().await.is_empty());
    });
}

#[test]
fn credentials_are_held_by_clones_of_the_inventory_and_are_never_stored() {
    run(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let inventory = &fixture.inventory;
        let registered =
            inventory.daemons().register(&daemon, NewDaemon::new(id(1), "scanner")).await.unwrap();
        let ask = async |inventory: &Inventory| {
            inventory.daemons().request_work(&daemon, registered.id, DaemonStatus::default()).await.unwrap()
        };
        for _ in 0..2 {
            let session = ask(inventory).await.discovery.unwrap().id;
            let ended = DiscoveryUpdate::new(session, registered.id, DiscoveryPhase::Complete, 100);
            inventory.daemons().update_job(&daemon, ended).await.unwrap();
        }
        let mut new = NewDiscovery::new(fixture.network);
        let given = json!({"default_credential": {"version": "V2c", "community": "a secret"}});
        new.snmp_credentials = Some(SnmpCredentials::from_json(given).unwrap());
        let owner = owner_of(fixture.organization);
        let queued = inventory.discovery_jobs().create(&owner, new.clone()).await.unwrap();
        let clone = inventory.clone();
        let work = ask(&clone).await;
        assert_eq!(work.discovery.as_ref().map(|discovery| discovery.id), Some(queued.id));
        assert_eq!(work.credentials.as_deref(), new.snmp_credentials.as_ref());
        assert!(!format!("{work:?} {new:?} {inventory:?}").contains("a secret"));
        for put in fixture.store.hook().puts() {
            assert!(!String::from_utf8_lossy(&put.body).contains("a secret"), "{:?}", put.key);
        }
    });
}

#[test]
fn daemon_of_another_key_neither_restarts_nor_ends_the_work_of_a_daemon() {
    run(async || {
        let fixture = Fixture::new().await;
        let (own, other) = (daemon(&fixture).await, daemon(&fixture).await);
        let inventory = &fixture.inventory;
        let registered = inventory.daemons().register(&own, NewDaemon::new(id(1), "scanner")).await.unwrap();
        let work =
            inventory.daemons().request_work(&own, registered.id, DaemonStatus::default()).await.unwrap();
        let session = work.discovery.unwrap();
        let not_found = ErrorKind::NotFound { entity: Entity::Daemon, id: registered.id.uuid() };
        let announced = inventory.daemons().announce(&other, registered.id, "0.17.22").await;
        assert_eq!(refusal(announced), not_found);
        let asked = inventory.daemons().request_work(&other, registered.id, DaemonStatus::default()).await;
        assert_eq!(refusal(asked), not_found);
        let update = DiscoveryUpdate::new(session.id, registered.id, DiscoveryPhase::Failed, 0);
        inventory.daemons().update_job(&other, update).await.unwrap();
        let taken = inventory.daemons().register(&other, NewDaemon::new(id(1), "other")).await.unwrap();
        assert_ne!(taken.id, registered.id);
        let owner = owner_of(fixture.organization);
        assert_eq!(inventory.discovery_jobs().get(&owner, session.id).await.unwrap(), session);
    });
}

#[test]
fn one_key_fills_at_most_half_of_the_queue_of_its_network() {
    run(async || {
        let fixture = Fixture::new().await;
        let [one, other] = [daemon(&fixture).await, daemon(&fixture).await];
        let register = async |key: &DaemonCaller, number: u128| {
            fixture.inventory.daemons().register(key, NewDaemon::new(id(number), "scanner")).await
        };
        // Each begins with two pieces of work.
        for number in 1..=25 {
            register(&one, number).await.unwrap();
        }
        let refused = refusal(register(&one, 26).await);
        assert_eq!(refused, ErrorKind::QuotaExceeded { entity: Entity::Discovery, limit: 50 });
        register(&one, 25).await.unwrap();
        let registered = register(&other, 101).await.unwrap();
        let owner = owner_of(fixture.organization);
        fixture.inventory.discovery_jobs().create(&owner, NewDiscovery::new(fixture.network)).await.unwrap();
        let work = fixture
            .inventory
            .daemons()
            .request_work(&other, registered.id, DaemonStatus::default())
            .await
            .unwrap();
        assert!(work.discovery.is_some());
    });
}

#[test]
fn custom_fields_are_of_users_alone_and_stored_in_the_host_alone() {
    run(async || {
        let fixture = Fixture::new().await;
        let daemon = daemon(&fixture).await;
        let report = async |at: &str, port_number: u16| {
            let mut host = server(&fixture, 0x10);
            host.custom.insert("of_daemon".to_owned(), json!("smuggled"));
            host.ports.push(port(&host, id(0x20), port_number, Protocol::Tcp));
            fixture.inventory.daemons().report_host(&daemon, host, time(at)).await.unwrap()
        };
        let host = report(FIRST, 80).await;
        assert!(host.custom.is_empty());
        let caller = owner_of(fixture.organization);
        let set = |custom: &'static [&'static str]| {
            move |host: &mut Host| {
                host.custom =
                    custom.iter().map(|text| ((*text).to_owned(), json!("a-secret-text"))).collect();
                Ok(())
            }
        };
        fixture.inventory.hosts().update(&caller, host.id, set(&["of_user"])).await.unwrap();
        // It changes the host, so that discovery notes it anew.
        let reported = report(SECOND, 81).await;
        assert_eq!(reported.custom.keys().collect::<Vec<_>>(), ["of_user"]);
        fixture.inventory.hosts().update(&caller, host.id, set(&[])).await.unwrap();
        let holds = |body: &[u8], text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(fixture.bodies().iter().all(|body| !holds(body, "smuggled")));
        let contents = fixture.contents().await;
        let copies = contents.iter().filter(|stored| holds(&stored.record.body, "a-secret-text"));
        assert_eq!(copies.map(|stored| stored.record.key).collect::<Vec<_>>(), []);
    });
}
