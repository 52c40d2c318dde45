use toposcope::discovery::report::{AddressRow, Device, IfEntryRow, Table, TableKind};
use toposcope::inventory::{DiscoveryOutcome, Entity, ErrorKind, HostSplit, Problem};
use toposcope::model::{BindingTarget, Host, HostId, MacAddress, Permission, Protocol, Source, Timestamp};

use super::support::{
    FIRST, SECOND, THIRD, chassis, discover, discover_one, neighbors, open_ports, outcomes, switch,
    switch_seeing,
};
use crate::backend::run;
use crate::support::{
    Fixture, access_denied, bare_host, entry, id, in_person, interface, invalid, not_found, owner_of, port,
    reference_invalid, service, uuid,
};

/// Returns the request for a host with the parts and the identity of another one.
fn split_of(host: &Host) -> HostSplit {
    let mut split = HostSplit::default();
    split.sys_name.clone_from(&host.sys_name);
    split.sys_descr.clone_from(&host.sys_descr);
    split.chassis_id.clone_from(&host.chassis_id);
    split.interfaces = host.interfaces.iter().map(|part| part.id).collect();
    split.ports = host.ports.iter().map(|part| part.id).collect();
    split.services = host.services.iter().map(|part| part.id).collect();
    split.if_entries = host.if_entries.iter().map(|part| part.id).collect();
    split
}

/// Removes the values that a consolidation and a split always change.
fn comparable(mut host: Host) -> Host {
    let epoch = Timestamp::UNIX_EPOCH;
    (host.id, host.updated_at, host.created_at) = (HostId::nil(), epoch, epoch);
    let owner = HostId::nil();
    host.interfaces.iter_mut().for_each(|part| part.host_id = owner);
    host.ports.iter_mut().for_each(|part| part.host_id = owner);
    host.services.iter_mut().for_each(|part| part.host_id = owner);
    host.if_entries.iter_mut().for_each(|part| part.host_id = owner);
    host
}

#[test]
fn split_restores_what_a_consolidation_joined() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let observer = discover_one(&fixture, switch_seeing(3, 2), FIRST).await.1;
        let mut devices = [switch_seeing(1, 3), switch(2)];
        devices[1].tables.ports = Some(Table::complete(open_ports(&[22, 443])));
        for entry in &mut devices[1].tables.if_entries.as_deref_mut().unwrap().rows {
            entry.if_index += 10;
        }
        devices[1].tables.addresses.as_deref_mut().unwrap().rows[0].if_index = Some(11);
        let [first, second] = devices.clone();
        let (_, kept) = discover_one(&fixture, first, FIRST).await;
        let (_, gone) = discover_one(&fixture, second, FIRST).await;
        assert_eq!(gone.ports.len(), 2);
        let claims =
            async |host: HostId| fixture.inventory.discovery().claims(&caller, host, None).await.unwrap();
        let tables = async |host: HostId| -> Vec<_> {
            claims(host).await.into_iter().map(|claim| (claim.rows, claim.observed_at)).collect()
        };
        let (kept_tables, gone_tables) = (tables(kept.id).await, tables(gone.id).await);

        fixture.inventory.discovery().consolidate(&caller, kept.id, gone.id).await.unwrap();
        let new = fixture
            .inventory
            .discovery()
            .split(&caller, kept.id, &split_of(&gone), |_| Ok(()))
            .await
            .unwrap();
        assert_eq!(fixture.host(new.id).await, new);
        assert_eq!(comparable(new.clone()), comparable(gone.clone()));
        assert_eq!(comparable(fixture.host(kept.id).await), comparable(kept.clone()));
        assert_eq!((tables(kept.id).await, tables(new.id).await), (kept_tables, gone_tables));
        // The neighbor of the third switch is a port of the new host again.
        let seen = neighbors(&fixture, observer.id).await[0].1;
        assert_eq!(seen, Some(toposcope::model::Neighbor::IfEntry(gone.if_entries[1].id)));

        // Later reports find each by its own identities.
        let answer = discover(&fixture, devices.to_vec(), SECOND).await;
        assert_eq!(answer.hosts.iter().map(|host| host.id.unwrap()).collect::<Vec<_>>(), [kept.id, new.id]);
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Unchanged; 2]);
    });
}

#[test]
fn discovery_does_not_merge_what_a_user_has_split() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut both = switch(1);
        both.sys_descr = None;
        let (_, host) = discover_one(&fixture, both.clone(), FIRST).await;
        let mut split = HostSplit::default();
        split.interfaces = vec![host.interfaces[0].id];
        split.if_entries =
            host.if_entries.iter().filter(|e| e.interface_id.is_some()).map(|e| e.id).collect();
        let new = fixture.inventory.discovery().split(&caller, host.id, &split, |_| Ok(())).await.unwrap();
        let answer = discover(&fixture, vec![both.clone()], SECOND).await;
        assert_ne!(outcomes(&answer), [DiscoveryOutcome::Created]);
        assert_eq!(fixture.documents().await.len(), 2);
        assert_eq!(fixture.host(new.id).await.interfaces.len(), 1);
        // A consolidation by hand ends the separation.
        fixture.inventory.discovery().consolidate(&caller, host.id, new.id).await.unwrap();
        let (outcome, again) = discover_one(&fixture, both, THIRD).await;
        assert_eq!((again.id, again.interfaces.len()), (host.id, 1));
        assert_ne!(outcome, DiscoveryOutcome::Created);
    });
}

#[test]
fn edits_and_fields_follow_the_parts() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut device = Device::default();
        device.sys_name = Some("pair".to_owned());
        device.chassis_id = Some(Box::new(chassis(7)));
        device.serial_number = Some("FOC1234X0AB".to_owned());
        let rows = [1_u8, 2].map(|index| {
            let mut row = IfEntryRow::new(index.into());
            row.if_alias = Some("by device".to_owned());
            row.mac_address = Some(MacAddress::new([0x00, 0x1b, 0x21, 9, 9, index]));
            row
        });
        device.tables.if_entries = Some(Table::complete(rows.to_vec()));
        let (_, host) = discover_one(&fixture, device, FIRST).await;
        let rename = |host: &mut Host| {
            host.if_entries[1].if_alias = Some("by hand".to_owned());
            Ok(())
        };
        let host = fixture.inventory.hosts().update(&caller, host.id, rename).await.unwrap();
        let mut split = HostSplit::default();
        split.if_entries = vec![host.if_entries[1].id];
        split.serial_number.clone_from(&host.serial_number);
        split.sys_name = Some("second".to_owned());
        let new = fixture.inventory.discovery().split(&caller, host.id, &split, |_| Ok(())).await.unwrap();
        let kept = fixture.host(host.id).await;
        assert_eq!((new.name.as_str(), new.sys_name.as_deref()), ("second", Some("second")));
        assert_eq!((kept.name.as_str(), kept.sys_name.as_deref()), ("pair", Some("pair")));
        assert_eq!((kept.serial_number, new.serial_number.as_deref()), (None, Some("FOC1234X0AB")));
        assert_eq!((kept.chassis_id, new.chassis_id), (Some(chassis(7)), None));
        assert_eq!((new.source, new.last_seen_at), (kept.source, kept.last_seen_at));

        let mut device = Device::default();
        device.sys_name = Some("second".to_owned());
        device.serial_number = Some("FOC1234X0AB".to_owned());
        device.tables.if_entries = Some(Table::complete(vec![rows[1].clone()]));
        let (_, after) = discover_one(&fixture, device, SECOND).await;
        assert_eq!(after.id, new.id);
        assert_eq!(after.if_entries[0].if_alias.as_deref(), Some("by hand"));
    });
}

#[test]
fn parts_that_belong_together_are_not_separated() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut host = bare_host(id(1), fixture.network);
        host.interfaces =
            vec![interface(&host, id(11), "192.0.2.7", 0), interface(&host, id(12), "192.0.2.8", 1)];
        host.ports = vec![port(&host, id(13), 22, Protocol::Tcp), port(&host, id(14), 80, Protocol::Tcp)];
        let target = BindingTarget::Port { port_id: id(13), interface_id: Some(id(11)) };
        host.services = vec![service(&host, id(15), "ssh", 0).bound_to(target)];
        host.if_entries = vec![entry(&host, id(16), 1), entry(&host, id(17), 2), entry(&host, id(18), 3)];
        for (entry, interface) in host.if_entries.iter_mut().zip([Some(id(11)), None, None]) {
            entry.interface_id = interface;
        }
        host.if_entries[1].lag_id = Some(id(18));
        fixture.put(&host).await;
        let split = |interfaces: &[u128], ports: &[u128], services: &[u128], if_entries: &[u128]| {
            let mut split = HostSplit::default();
            split.interfaces = interfaces.iter().copied().map(id).collect();
            split.ports = ports.iter().copied().map(id).collect();
            split.services = services.iter().copied().map(id).collect();
            split.if_entries = if_entries.iter().copied().map(id).collect();
            split
        };
        let inseparable = |field: &str| invalid(field, Problem::Inseparable);
        let all = split(&[11, 12], &[13, 14], &[15], &[16, 17, 18]);
        for (split, expected) in [
            (split(&[], &[], &[], &[]), invalid("interfaces", Problem::Empty)),
            (all, invalid("interfaces", Problem::MaxLength { max: 1 })),
            (split(&[12, 99], &[], &[], &[]), reference_invalid(Entity::Interface, "interfaces.1")),
            (split(&[], &[12], &[], &[]), reference_invalid(Entity::Port, "ports.0")),
            (split(&[], &[], &[14], &[]), reference_invalid(Entity::Service, "services.0")),
            (split(&[], &[], &[], &[15]), reference_invalid(Entity::IfEntry, "if_entries.0")),
            (split(&[12, 12], &[], &[], &[]), invalid("interfaces.1", Problem::Duplicate)),
            (split(&[], &[14, 13], &[], &[]), inseparable("ports.1")),
            (split(&[], &[], &[15], &[]), inseparable("services.0")),
            (split(&[], &[13], &[15], &[]), inseparable("services.0")),
            (split(&[12, 11], &[], &[], &[]), inseparable("interfaces.1")),
            (split(&[11], &[13], &[15], &[]), inseparable("interfaces.0")),
            (split(&[], &[], &[], &[16]), inseparable("if_entries.0")),
            (split(&[], &[], &[], &[17]), inseparable("if_entries.0")),
            (split(&[], &[], &[], &[18]), inseparable("if_entries.0")),
        ] {
            let refused = fixture.inventory.discovery().split(&caller, id(1), &split, |_| Ok(())).await;
            assert_eq!(crate::support::refusal(refused), expected, "{split:?}");
        }
        assert_eq!(fixture.documents().await.len(), 1);

        let together = split(&[11], &[13], &[15], &[16]);
        let new = fixture.inventory.discovery().split(&caller, id(1), &together, |_| Ok(())).await.unwrap();
        assert_eq!(new.services[0].bindings[0].target, target);
        assert_eq!((new.services[0].host_id, new.services[0].bindings[0].service_id), (new.id, id(15)));
        let kept = fixture.host(id(1)).await;
        assert_eq!((kept.interfaces.len(), kept.ports.len(), kept.if_entries.len()), (1, 1, 2));
        assert_eq!(kept.if_entries[0].lag_id, Some(id(18)));
    });
}

#[test]
fn split_requires_access_and_the_expected_state() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut host = bare_host(id(1), fixture.other_network);
        host.interfaces =
            vec![interface(&host, id(11), "192.0.2.7", 0), interface(&host, id(12), "192.0.2.8", 1)];
        host.source = Source::Manual;
        fixture.put(&host).await;
        let mut split = HostSplit::default();
        split.interfaces = vec![id(12)];
        split.name = Some("other".to_owned());
        let member = fixture.user("member@example.net", Permission::Member, &[fixture.network]).await;
        let viewer = fixture.user("viewer@example.net", Permission::Viewer, &[fixture.other_network]).await;
        let inventory = &fixture.inventory;
        let refused = inventory.discovery().split(&in_person(&member), id(1), &split, |_| Ok(())).await;
        assert_eq!(crate::support::refusal(refused), access_denied(fixture.other_network));
        let refused = inventory.discovery().split(&in_person(&viewer), id(1), &split, |_| Ok(())).await;
        assert!(matches!(crate::support::refusal(refused), ErrorKind::PermissionDenied));
        let caller = owner_of(fixture.organization);
        let refused = inventory.discovery().split(&caller, id(9), &split, |_| Ok(())).await;
        assert_eq!(crate::support::refusal(refused), not_found(Entity::Host, uuid(9)));
        let unexpected = || ErrorKind::PreconditionFailed { entity: Entity::Host, id: uuid(1) };
        let refused = inventory.discovery().split(&caller, id(1), &split, |_| Err(unexpected().into())).await;
        assert_eq!(crate::support::refusal(refused), unexpected());
        assert_eq!(fixture.documents().await.len(), 1);
        let new = inventory.discovery().split(&caller, id(1), &split, |_| Ok(())).await.unwrap();
        assert_eq!((new.name.as_str(), new.source), ("other", Source::Manual));
    });
}

#[test]
fn claims_about_moved_ports_follow_them() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut device = switch_seeing(1, 3);
        device.tables.addresses.as_deref_mut().unwrap().rows.push(AddressRow::new([192, 0, 2, 99].into()));
        let (_, host) = discover_one(&fixture, device, FIRST).await;
        let own = host.interfaces.iter().find(|part| part.ip_address.to_string() == "192.0.2.99").unwrap();
        let second = host.if_entries.iter().find(|part| part.if_index == 2).unwrap();
        let mut split = HostSplit::default();
        (split.interfaces, split.if_entries) = (vec![own.id], vec![second.id]);
        let new = fixture.inventory.discovery().split(&caller, host.id, &split, |_| Ok(())).await.unwrap();
        let rows = async |host: HostId, kind| -> Vec<usize> {
            let claims = fixture.inventory.discovery().claims(&caller, host, Some(kind)).await.unwrap();
            claims.iter().map(|claim| claim.rows.len()).collect()
        };
        for (kind, kept, moved) in [
            (TableKind::IfEntries, vec![1], vec![1]),
            (TableKind::Addresses, vec![1], vec![1]),
            (TableKind::Lldp, vec![1], vec![]),
        ] {
            assert_eq!(rows(host.id, kind).await, kept, "{kind}");
            assert_eq!(rows(new.id, kind).await, moved, "{kind}");
        }
    });
}
