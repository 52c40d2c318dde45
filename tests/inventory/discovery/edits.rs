use toposcope::discovery::report::{Device, Table};
use toposcope::inventory::DiscoveryOutcome;
use toposcope::model::{Host, HostId, IfEntry, Port, Source};

use super::support::{FIRST, FOURTH, SECOND, THIRD, discover_one, open_ports, switch};
use crate::backend::run;
use crate::support::{Fixture, id, owner_of};

/// Returns a switch with these ports open, in a certain place.
fn switch_in(place: &str, ports: &[u16]) -> Device {
    let mut device = switch(1);
    device.sys_location = Some(place.to_owned());
    device.tables.ports = Some(Table::complete(open_ports(ports)));
    device
}

fn numbers(host: &Host) -> Vec<u16> {
    host.ports.iter().map(|port| port.number.get()).collect()
}

async fn update(fixture: &Fixture, host: HostId, change: fn(&mut Host)) {
    let caller = owner_of(fixture.organization);
    let change = |host: &mut Host| {
        change(host);
        Ok(())
    };
    fixture.inventory.hosts().update(&caller, host, change).await.unwrap();
}

#[test]
fn edits_of_users_survive_newer_reports() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch_in("Berlin", &[22]), FIRST).await;
        update(&fixture, host.id, |host| {
            host.sys_location = Some("Hamburg".to_owned());
            host.if_entries[0].if_alias = Some("uplink".to_owned());
        })
        .await;
        for at in [SECOND, THIRD] {
            let mut device = switch_in("Munich", &[22]);
            device.sys_contact = Some(at.to_owned());
            let (outcome, host) = discover_one(&fixture, device, at).await;
            assert_eq!(outcome, DiscoveryOutcome::Updated);
            assert_eq!(host.sys_location.as_deref(), Some("Hamburg"));
            assert_eq!(host.sys_contact.as_deref(), Some(at));
            assert_eq!(host.if_entries[0].if_alias.as_deref(), Some("uplink"));
        }
    });
}

#[test]
fn update_with_equal_values_is_no_edit() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch_in("Berlin", &[]), FIRST).await;
        update(&fixture, host.id, |host| host.sys_location = Some("Berlin".to_owned())).await;
        let (_, host) = discover_one(&fixture, switch_in("Munich", &[]), SECOND).await;
        assert_eq!(host.sys_location.as_deref(), Some("Munich"));
    });
}

#[test]
fn deleted_parts_do_not_return() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, host) = discover_one(&fixture, switch_in("Berlin", &[22, 443]), FIRST).await;
        let (port, entry) = (host.ports[1].id, host.if_entries[1].id);
        fixture
            .inventory
            .hosts()
            .update(&caller, host.id, |host| {
                host.services.clear();
                Ok(())
            })
            .await
            .unwrap();
        fixture.inventory.parts::<Port>().delete(&caller, port).await.unwrap();
        fixture.inventory.parts::<IfEntry>().delete(&caller, entry).await.unwrap();
        for at in [SECOND, THIRD] {
            let (_, host) = discover_one(&fixture, switch_in(at, &[22, 443]), at).await;
            assert_eq!((numbers(&host), host.if_entries.len()), (vec![22], 1));
        }
    });
}

#[test]
fn manual_host_keeps_what_users_set_and_gets_the_rest() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut host = Host::with_id(id(1), fixture.network, "core");
        (host.chassis_id, host.source) = (Some(super::support::chassis(1)), Source::Manual);
        host.sys_name = Some("given".to_owned());
        fixture.put(&host).await;
        let (outcome, found) = discover_one(&fixture, switch(1), FIRST).await;
        assert_eq!((outcome, found.id), (DiscoveryOutcome::Updated, host.id));
        assert_eq!((found.name.as_str(), found.sys_name.as_deref()), ("core", Some("given")));
        assert_eq!((&found.source, found.hidden), (&Source::Manual, false));
        assert!(!found.interfaces.is_empty() && found.last_seen_at.is_some());
        let caller = owner_of(fixture.organization);
        let claims = fixture.inventory.discovery().claims(&caller, host.id, None).await.unwrap();
        assert_eq!(claims.len(), 2);
    });
}

#[test]
fn older_report_does_not_turn_back_time() {
    run(async || {
        let fixture = Fixture::new().await;
        discover_one(&fixture, switch_in("Berlin", &[22]), THIRD).await;
        let mut older = switch_in("Munich", &[22]);
        older.sys_contact = Some("noc@example.net".to_owned());
        let (_, host) = discover_one(&fixture, older, SECOND).await;
        assert_eq!(host.sys_location.as_deref(), Some("Berlin"));
        assert_eq!(host.sys_contact.as_deref(), Some("noc@example.net"), "what was missing is added");
        let (_, host) = discover_one(&fixture, switch_in("Munich", &[22]), FOURTH).await;
        assert_eq!(host.sys_location.as_deref(), Some("Munich"));
    });
}
