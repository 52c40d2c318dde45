use std::time::Duration;
use toposcope::access::Caller;

use toposcope::discovery::report::{ArpRow, Device, Table, Warning, WarningCode};
use toposcope::inventory::{
    DiscoverOptions, DiscoveryOutcome, DiscoveryReport, Entity, ErrorKind, Inventory, Problem, Quotas,
};
use toposcope::model::{
    Host, HostId, IfEntryId, MacAddress, Network, Permission, Source, SourceType, Subnet, Tag,
};
use toposcope::store::MemoryStore;

use super::support::{
    FIRST, FOURTH, SECOND, THIRD, discover, discover_one, discover_with, hosts_revision, outcomes,
    refusal_on, report_of, seen_at, switch, switch_seeing,
};
use crate::backend::run;
use crate::support::{Fixture, access_denied, id, in_person, invalid, not_found, owner_of, refusal, settle};

#[test]
fn new_device_becomes_a_host_with_its_tables_as_claims() {
    run(async || {
        let fixture = Fixture::new().await;
        let answer = discover(&fixture, vec![switch(1)], FIRST).await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Created]);
        let host = fixture.host(answer.hosts[0].id.unwrap()).await;
        assert_eq!(host.source.source_type(), SourceType::Discovery);
        assert_eq!(host.sys_name.as_deref(), Some("switch-1"));
        assert_eq!((host.interfaces.len(), host.if_entries.len()), (1, 2));
        assert!(!host.hidden);
        let tables: Vec<_> = answer.tables.iter().map(|table| (table.device_id, table.rows)).collect();
        assert_eq!(tables, [(host.id, 2), (host.id, 1)]);
    });
}

#[test]
fn repeated_report_writes_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        let devices = || vec![switch_seeing(1, 2), switch_seeing(2, 1)];
        discover(&fixture, devices(), FIRST).await;
        let (before, commits) = (fixture.contents().await, fixture.commits());
        fixture.clock.advance(Duration::from_secs(3_600));
        let answer = discover(&fixture, devices(), FIRST).await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Unchanged; 2]);
        assert_eq!(fixture.commits(), commits);
        assert_eq!(fixture.contents().await, before);
    });
}

#[test]
fn newer_report_of_equal_content_leaves_the_host_as_it_is() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, created) = discover_one(&fixture, switch(1), FIRST).await;
        let caller = owner_of(fixture.organization);
        let revision = hosts_revision(&fixture).await;
        fixture.clock.advance(Duration::from_secs(3_600));
        let (outcome, host) = discover_one(&fixture, switch(1), "2026-08-01T12:59:00Z").await;
        assert_eq!((outcome, &host), (DiscoveryOutcome::Unchanged, &created));
        assert_eq!(hosts_revision(&fixture).await, revision, "the list of hosts is the same");
        let (outcome, host) = discover_one(&fixture, switch(1), SECOND).await;
        assert_eq!((outcome, &host), (DiscoveryOutcome::Unchanged, &seen_at(created, SECOND)));
        let claims = fixture.inventory.discovery().claims(&caller, host.id, None).await.unwrap();
        assert!(claims.iter().all(|claim| claim.observed_at == SECOND.parse().unwrap()));
    });
}

#[test]
fn dry_run_gives_the_same_answer_and_stores_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        discover(&fixture, vec![switch_seeing(1, 2)], FIRST).await;
        let mut again = switch_seeing(3, 1);
        again.sys_name = None;
        let devices = || vec![switch_seeing(1, 2), switch_seeing(2, 1), switch(3), again.clone()];
        let options = DiscoverOptions::new(fixture.network).create_neighbors();
        let (before, commits) = (fixture.contents().await, fixture.commits());
        let dry = discover_with(&fixture, devices(), SECOND, options.dry_run()).await;
        assert_eq!((fixture.commits(), fixture.contents().await), (commits, before));
        let mut stored = discover_with(&fixture, devices(), SECOND, options).await;
        assert!(dry.dry_run && !stored.dry_run);
        stored.dry_run = true;
        assert_eq!(dry, stored);
    });
}

/// Stores in memory number their changes, as the changes of a dry run are numbered.
#[tokio::test]
async fn dry_run_reads_its_own_changes_whatever_the_versions_of_stored_hosts_are() {
    let named = || {
        let mut device = switch(1);
        device.serial_number = Some("FOC1234X0AB".to_owned());
        device
    };
    let mut unnamed = Device::default();
    unnamed.serial_number = Some("FOC1234X0AB".to_owned());
    for earlier in 0..16 {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let network = inventory
            .networks()
            .create(&Caller::system(organization), Network::new("Office"))
            .await
            .unwrap()
            .id;
        for number in 0..earlier {
            inventory
                .tags()
                .create(&Caller::system(organization), Tag::new(format!("tag {number}")))
                .await
                .unwrap();
        }
        let discover = async |devices: Vec<Device>, options: DiscoverOptions| {
            let report = report_of(devices, FIRST);
            inventory.discovery().reconcile(&owner_of(organization), &report, options).await.unwrap()
        };
        let options = DiscoverOptions::new(network);
        discover(vec![switch(1)], options).await;
        let devices = || (2..6).map(switch).chain([named(), unnamed.clone()]).collect::<Vec<_>>();
        let dry = discover(devices(), options.dry_run()).await;
        let stored = discover(devices(), options).await;
        assert_eq!(outcomes(&dry), outcomes(&stored), "after {earlier} changes");
        assert_eq!(dry.hosts.last().unwrap().id, stored.hosts.last().unwrap().id);
    }
}

#[test]
fn device_without_identity_is_ignored() {
    run(async || {
        let fixture = Fixture::new().await;
        let answer = discover(&fixture, vec![Device::default()], FIRST).await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Ignored]);
        assert!(answer.hosts[0].reason.is_some());
    });
}

#[test]
fn device_that_two_hosts_match_is_ambiguous_and_changes_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        for number in [1, 2] {
            let mut host = Host::with_id(id(number), fixture.network, format!("host {number}"));
            host.serial_number = Some("SN-1".to_owned());
            host.source = Source::Unknown;
            fixture.put(&host).await;
        }
        let mut device = switch(1);
        device.serial_number = Some("SN-1".to_owned());
        let commits = fixture.commits();
        let daemon_key = fixture.daemon_key(|_| {}).await;
        let daemon = fixture.inventory.authenticate_daemon_key(daemon_key.plaintext()).await.unwrap();
        let report = report_of(vec![device], FIRST);
        let options = DiscoverOptions::new(fixture.network);
        let answer = fixture.inventory.daemons().report(&daemon, &report, options).await.unwrap();
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Ambiguous]);
        assert!(answer.hosts[0].id.is_none() && answer.tables.is_empty());
        fixture.until_used(daemon_key.record().id).await;
        settle().await;
        assert_eq!(fixture.commits(), commits + 2, "only the key and its use are stored");
        assert_eq!(fixture.documents().await.len(), 2);
    });
}

#[test]
fn neighbors_become_hidden_hosts_only_on_request() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut device = switch_seeing(1, 2);
        let row = ArpRow::new([192, 0, 2, 77].into(), MacAddress::new([0, 0x1b, 0x21, 9, 9, 9]));
        device.tables.arp = Some(Table::truncated(vec![row]));
        discover(&fixture, vec![device.clone()], FIRST).await;
        assert_eq!(fixture.documents().await.len(), 1);
        let options = DiscoverOptions::new(fixture.network).create_neighbors();
        let answer = discover_with(&fixture, vec![device], SECOND, options).await;
        assert_eq!(outcomes(&answer)[1..], [DiscoveryOutcome::Created; 2]);
        for found in &answer.hosts[1..] {
            let host = fixture.host(found.id.unwrap()).await;
            assert!(host.hidden);
            assert_eq!(host.source.source_type(), SourceType::Discovery);
        }
        // Its own report shows it.
        let (outcome, host) = discover_one(&fixture, switch(2), THIRD).await;
        assert_eq!((outcome, host.hidden), (DiscoveryOutcome::Updated, false));
        assert_eq!(fixture.documents().await.len(), 3);
    });
}

#[test]
fn addresses_get_the_smallest_subnet_that_contains_them() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut ids = Vec::new();
        for cidr in ["192.0.0.0/16", "192.0.2.0/24", "198.51.100.0/24"] {
            let subnet = Subnet::new(fixture.network, cidr, cidr.parse().unwrap());
            ids.push(fixture.inventory.records().create(&caller, subnet).await.unwrap().id);
        }
        let (_, host) = discover_one(&fixture, switch(1), FIRST).await;
        assert_eq!(host.interfaces[0].subnet_id, Some(ids[1]));
        // The larger subnet takes the interface at once, and the next report has nothing to correct.
        fixture.inventory.subnets().delete(&caller, ids[1]).await.unwrap();
        assert_eq!(fixture.host(host.id).await.interfaces[0].subnet_id, Some(ids[0]));
        let (outcome, host) = discover_one(&fixture, switch(1), SECOND).await;
        assert_eq!((outcome, host.interfaces[0].subnet_id), (DiscoveryOutcome::Unchanged, Some(ids[0])));
        // A subnet set by hand stays.
        let set = |host: &mut Host| {
            host.interfaces[0].subnet_id = Some(ids[2]);
            Ok(())
        };
        fixture.inventory.hosts().update(&caller, host.id, set).await.unwrap();
        for at in [SECOND, THIRD, FOURTH] {
            let (_, host) = discover_one(&fixture, switch(1), at).await;
            assert_eq!(host.interfaces[0].subnet_id, Some(ids[2]), "{at}");
        }
    });
}

#[test]
fn devices_beyond_a_quota_are_ignored() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut quotas = Quotas::default();
        quotas.hosts_per_organization = Some(1);
        let inventory = fixture.inventory.clone().with_quotas(quotas);
        let report = report_of(vec![switch(1), switch(2), switch(1)], FIRST);
        let options = DiscoverOptions::new(fixture.network);
        for options in [options.dry_run(), options] {
            let answer = inventory
                .discovery()
                .reconcile(&owner_of(fixture.organization), &report, options)
                .await
                .unwrap();
            let expected =
                [DiscoveryOutcome::Created, DiscoveryOutcome::Ignored, DiscoveryOutcome::Unchanged];
            assert_eq!(outcomes(&answer), expected);
            assert!(answer.hosts[1].reason.as_ref().unwrap().contains("quota"));
        }
        quotas.host_bytes = Some(10);
        quotas.hosts_per_organization = None;
        let small = fixture.inventory.clone().with_quotas(quotas);
        let report = report_of(vec![switch(3)], FIRST);
        let answer =
            small.discovery().reconcile(&owner_of(fixture.organization), &report, options).await.unwrap();
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Ignored]);
        assert_eq!(fixture.documents().await.len(), 1);
    });
}

#[test]
fn discovery_is_refused_without_level_network_or_terms() {
    run(async || {
        let fixture = Fixture::new().await;
        let foreign = fixture.foreign().await;
        for network in [foreign.network, id(404)] {
            assert_eq!(refusal_on(&fixture, network).await, not_found(Entity::Network, network));
        }
        let report = report_of(vec![switch(1)], FIRST);
        let options = DiscoverOptions::new(fixture.network);
        let viewer = fixture.user("viewer@example.net", Permission::Viewer, &[fixture.network]).await;
        let refused = fixture.inventory.discovery().reconcile(&in_person(&viewer), &report, options).await;
        assert_eq!(refusal(refused), ErrorKind::PermissionDenied);
        let member = fixture.user("member@example.net", Permission::Member, &[fixture.other_network]).await;
        let refused = fixture.inventory.discovery().reconcile(&in_person(&member), &report, options).await;
        assert_eq!(refusal(refused), access_denied(fixture.network));
        let without_terms = fixture.inventory.clone().without_host_terms();
        let refused =
            without_terms.discovery().reconcile(&owner_of(fixture.organization), &report, options).await;
        assert_eq!(refusal(refused), invalid("discovery", Problem::Unsupported));
        let key = fixture.daemon_key(|_| {}).await;
        let daemon = fixture.inventory.authenticate_daemon_key(key.plaintext()).await.unwrap();
        let elsewhere = DiscoverOptions::new(fixture.other_network);
        let refused = fixture.inventory.daemons().report(&daemon, &report, elsewhere).await;
        assert_eq!(refusal(refused), access_denied(fixture.other_network));
        assert!(fixture.documents().await.is_empty());
        fixture.until_used(key.record().id).await;
        settle().await;
    });
}

#[test]
fn taken_ids_of_hosts_and_parts_are_replaced() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, first) = discover_one(&fixture, switch(1), FIRST).await;
        // A host of other identities keeps the ids that follow from the switch.
        let replace = |host: &mut Host| {
            (host.sys_name, host.chassis_id, host.name) = (None, None, "other".to_owned());
            host.interfaces[0].ip_address = [198, 51, 100, 1].into();
            host.interfaces[0].mac_address = None;
            host.if_entries.iter_mut().for_each(|entry| entry.mac_address = None);
            host.serial_number = Some("SN-1".to_owned());
            Ok(())
        };
        fixture.inventory.hosts().update(&caller, first.id, replace).await.unwrap();
        let (outcome, second) = discover_one(&fixture, switch(1), SECOND).await;
        assert_eq!(outcome, DiscoveryOutcome::Created);
        assert_ne!(second.id, first.id);
        let ids = |host: &Host| -> Vec<IfEntryId> { host.if_entries.iter().map(|entry| entry.id).collect() };
        assert!(ids(&second).iter().all(|id| !ids(&first).contains(id)));
        let (outcome, again) = discover_one(&fixture, switch(1), THIRD).await;
        assert_eq!((outcome, again), (DiscoveryOutcome::Unchanged, seen_at(second, THIRD)));
    });
}

#[tokio::test]
async fn only_the_first_hosts_are_listed_and_all_are_counted() {
    let fixture = Fixture::new().await;
    let mut observer = Device::default();
    observer.id = Some(HostId::from_u128(0x77));
    observer.tables.arp = Some(Table::truncated(Vec::new()));
    let count = DiscoveryReport::MAX_DETAILS + 3;
    let mut report = report_of(vec![observer; count], FIRST);
    report.warnings = vec![Warning::new(WarningCode::RowEmpty, 2, Some(7)); 400];
    let caller = owner_of(fixture.organization);
    let options = DiscoverOptions::new(fixture.network);
    let answer = fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
    assert_eq!(answer.hosts.len(), DiscoveryReport::MAX_DETAILS);
    assert_eq!(answer.outcomes, [(DiscoveryOutcome::Ignored, count as u64)].into());
    assert_eq!((answer.host_count(), answer.count(DiscoveryOutcome::Created)), (count as u64, 0));
    let warnings: Vec<_> = answer.warnings.iter().map(|warning| (warning.code, warning.count)).collect();
    assert_eq!(warnings, [(WarningCode::RowEmpty, 800)]);
}
