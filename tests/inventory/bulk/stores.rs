//! Commits, failures of the store, concurrent writers, and dropped requests.

use std::collections::BTreeSet;
use std::pin::pin;
use toposcope::access::Caller;

use toposcope::inventory::{Atomicity, BulkChange, ErrorKind};
use toposcope::model::Protocol;

use super::{MODES, outcomes};
use crate::support::{
    Fault, Fixture, at_every_call, bare_host, concurrently, id, numbered_hosts, port, refusal, rich_host,
};

#[tokio::test]
async fn request_takes_one_commit_or_a_few() {
    for (mode, commits) in [(Atomicity::AllOrNothing, 1), (Atomicity::PerHost, 2)] {
        let fixture = Fixture::new().await;
        let before = fixture.commits();
        fixture.bulk(numbered_hosts(fixture.network, 1000), mode).await;
        assert_eq!(fixture.commits() - before, commits, "{mode:?}");
        assert_eq!(fixture.documents().await.len(), 1000);
    }
}

#[tokio::test]
async fn failure_of_the_store_is_reported_for_what_is_not_stored() {
    let fixture = Fixture::new().await;
    for (mode, commits, stored) in
        [(Atomicity::AllOrNothing, 0, 0), (Atomicity::PerHost, 0, 0), (Atomicity::PerHost, 2, 512)]
    {
        let (inventory, probe) = fixture.probed();
        // Bare hosts have no parts to look up, so every commit stores hosts.
        probe.set(Fault::UnavailableAfterCommits(commits / 2));
        let hosts = numbered_hosts(fixture.network, 1000).into_iter().map(Into::into).collect();
        let results = inventory.hosts().bulk_put(&fixture.member(), hosts, mode).await;
        if stored == 0 {
            assert_eq!(refusal(results), ErrorKind::StoreUnavailable);
        } else {
            let results = outcomes(results.unwrap());
            assert!(results[..stored].iter().all(|result| *result == Ok(BulkChange::Created)));
            assert!(results[stored..].iter().all(|result| *result == Err(ErrorKind::StoreUnavailable)));
        }
        assert_eq!(fixture.documents().await.len(), stored);
    }
}

#[tokio::test]
async fn faulty_host_gets_its_own_error_when_the_store_fails_before_its_group() {
    let fixture = Fixture::new().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::UnavailableAfterCommits(1));
    let mut hosts = numbered_hosts(fixture.network, 1000);
    hosts[900].name = "x".repeat(65_537);
    let hosts = hosts.into_iter().map(Into::into).collect();
    let results = inventory.hosts().bulk_put(&fixture.member(), hosts, Atomicity::PerHost).await;
    let results = outcomes(results.unwrap());
    assert!(results[..512].iter().all(|result| *result == Ok(BulkChange::Created)));
    assert!(matches!(results[900], Err(ErrorKind::Invalid { .. })), "{:?}", results[900]);
    for place in [512, 899, 901, 999] {
        assert_eq!(results[place], Err(ErrorKind::StoreUnavailable), "{place}");
    }
}

#[tokio::test]
async fn concurrent_writer_is_neither_overwritten_nor_duplicated() {
    for mode in MODES {
        at_every_call(
            async |fixture| {
                fixture.put(&bare_host(id(1), fixture.network)).await;
            },
            async |inventory, ()| {
                // The writer takes the id of a new host and of its port.
                let networks = inventory.organizations().all().await.unwrap();
                let network = inventory.networks().all(&Caller::system(networks[0].id)).await.unwrap();
                let office = network.iter().find(|network| network.name == "Office").unwrap().id;
                let mut host = bare_host(id(3), office);
                host.ports = vec![port(&host, id(0x99), 22, Protocol::Tcp)];
                inventory.hosts().put(&Caller::system(networks[0].id), host).await.unwrap();
            },
            async |inventory, ()| {
                let organization = inventory.organizations().all().await.unwrap()[0].id;
                let networks = inventory.networks().all(&Caller::system(organization)).await.unwrap();
                let office = networks.iter().find(|network| network.name == "Office").unwrap().id;
                let mut hosts = numbered_hosts(office, 2);
                hosts[0].name = "renamed".to_owned();
                hosts[1].ports = vec![port(&hosts[1], id(0x99), 22, Protocol::Tcp)];
                let caller = crate::support::owner_of(organization);
                let hosts = hosts.into_iter().map(Into::into).collect();
                inventory.hosts().bulk_put(&caller, hosts, mode).await
            },
            async |fixture, (), results| {
                // After the request, the writer's port is taken and its write is refused.
                if let Ok(results) = results {
                    let changes = outcomes(results);
                    assert_eq!(changes, [Ok(BulkChange::Updated), Ok(BulkChange::Created)]);
                    let ports = [2, 3].map(async |number| fixture.try_host(id(number)).await.ok());
                    let [ours, theirs] = ports;
                    let (ours, theirs) = (ours.await.unwrap(), theirs.await.unwrap());
                    assert_ne!(ours.ports[0].id, theirs.ports[0].id);
                } else {
                    panic!("the request succeeds: {results:?}");
                }
            },
        )
        .await;
    }
}

#[tokio::test]
async fn dropped_request_is_stored_by_whole_commits() {
    for (mode, possible) in [(Atomicity::AllOrNothing, vec![0, 600]), (Atomicity::PerHost, vec![0, 512, 600])]
    {
        let mut seen = BTreeSet::new();
        for call in 0.. {
            let fixture = Fixture::new().await;
            let (inventory, probe) = fixture.probed();
            probe.set(Fault::SilentAt(call));
            let mut hosts = numbered_hosts(fixture.network, 599);
            hosts.push(rich_host(600, fixture.network, &[]));
            let hosts = hosts.into_iter().map(Into::into).collect();
            let member = fixture.member();
            let mut request = pin!(inventory.hosts().bulk_put(&member, hosts, mode));
            let is_done = tokio::select! {
                biased;
                results = &mut request => results.map(|_| true).unwrap(),
                () = probe.silenced() => false,
            };
            seen.insert(fixture.documents().await.len());
            if is_done {
                break;
            }
        }
        assert_eq!(Vec::from_iter(seen), possible, "{mode:?}");
    }
}

#[tokio::test]
async fn concurrent_requests_for_the_same_hosts_all_succeed() {
    for mode in MODES {
        let fixture = Fixture::new().await;
        let requests = concurrently(&fixture, 8, move |fixture, number| async move {
            let mut hosts = numbered_hosts(fixture.network, 50);
            hosts.iter_mut().for_each(|host| host.name = number.to_string());
            fixture.bulk(hosts, mode).await
        });
        let created = requests.await.into_iter().flatten().filter(|result| result.1 == BulkChange::Created);
        assert_eq!(created.count(), 50);
        if mode == Atomicity::AllOrNothing {
            let names: Vec<String> = {
                let mut names = Vec::new();
                for number in 1..=50 {
                    names.push(fixture.host(id(number)).await.name);
                }
                names
            };
            assert!(names.iter().all(|name| *name == names[0]), "requests do not interleave: {names:?}");
        }
    }
}
