use serde_json::json;
use toposcope::inventory::{Atomicity, BulkChange, BulkHost, DiscoveryOutcome, Entity, Import, Problem};
use toposcope::model::{Host, IfEntry, Vlans};

use super::support::{FIRST, discover, outcomes, switch};
use crate::backend::run;
use crate::support::{Fixture, id, invalid, jsonl, owner_of, reference_invalid, refusal};

/// Returns a host with everything that discovery sets.
fn described(fixture: &Fixture) -> Host {
    let mut host = Host::with_id(id(1), fixture.network, "core");
    let text = |value: &str| Some(value.to_owned());
    (host.sys_name, host.sys_descr, host.sys_object_id) = (text("core-1"), text("a switch"), text("1.3.6.1"));
    (host.sys_location, host.sys_contact) = (text("Berlin"), text("noc@example.net"));
    host.chassis_id = Some(super::support::chassis(1));
    (host.manufacturer, host.model, host.serial_number) = (text("Example"), text("X1"), text("SN-1"));
    host.management_url = text("https://192.0.2.1/");
    let aggregate = IfEntry { id: id(11), ..IfEntry::new(&host, 1) };
    let mut member = IfEntry { id: id(12), ..IfEntry::new(&host, 2) };
    member.lag_id = Some(aggregate.id);
    member.vlans = Some(Vlans { untagged: Some(10), tagged: vec![20, 30], ..Vlans::default() });
    host.if_entries = vec![aggregate, member];
    host
}

#[test]
fn described_host_is_stored_by_every_way_of_writing_hosts() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let host = described(&fixture);
        fixture.put(&host).await;
        assert_eq!(fixture.host(host.id).await, host);
        fixture.delete(host.id).await.unwrap();
        fixture
            .inventory
            .hosts()
            .import(&fixture.system(), &jsonl([&host])[..], Import::new())
            .await
            .unwrap();
        assert_eq!(fixture.host(host.id).await, host);
        let json = serde_json::to_vec(&host).unwrap();
        let bulk = vec![BulkHost::from_json(json)];
        let results =
            fixture.inventory.hosts().bulk_put(&caller, bulk, Atomicity::AllOrNothing).await.unwrap();
        assert!(matches!(results[0].outcome, Ok(BulkChange::Unchanged)), "{results:?}");
        let copy = fixture.inventory.hosts().create(&caller, host.clone()).await.unwrap();
        assert_eq!(
            copy.if_entries[1].lag_id,
            Some(copy.if_entries[0].id),
            "the reference follows the new id"
        );
        assert_eq!(copy.if_entries[1].vlans, host.if_entries[1].vlans);
        assert_eq!((&copy.chassis_id, &copy.sys_name), (&host.chassis_id, &host.sys_name));
    });
}

#[test]
fn absent_values_are_omitted() {
    let host = serde_json::to_value(Host::with_id(id(1), id(2), "core")).unwrap();
    for field in ["sys_name", "chassis_id", "serial_number", "management_url"] {
        assert_eq!(host.get(field), None, "{field}");
    }
    let mut with_entry = Host::with_id(id(1), id(2), "core");
    with_entry.if_entries.push(IfEntry::new(&with_entry, 1));
    let entry = &serde_json::to_value(&with_entry).unwrap()["if_entries"][0];
    assert_eq!((entry.get("lag_id"), entry.get("vlans")), (None, None));
    assert_eq!(entry.get("neighbor"), Some(&json!(null)));
}

#[test]
fn overlong_texts_and_unknown_aggregates_are_refused() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut host = described(&fixture);
        host.sys_location = Some("ß".repeat(65_536));
        fixture.put(&host).await;
        host.sys_location = Some("ß".repeat(65_537));
        assert_eq!(
            refusal(fixture.try_put(host).await),
            invalid("sys_location", Problem::MaxLength { max: 65_536 })
        );
        let mut host = described(&fixture);
        host.if_entries[1].lag_id = Some(id(404));
        let expected = reference_invalid(Entity::IfEntry, "if_entries.1.lag_id");
        assert_eq!(refusal(fixture.try_put(host).await), expected);
        let mut host = described(&fixture);
        host.if_entries[0].vlans = Some(Vlans { tagged: vec![1; 4_097], ..Vlans::default() });
        let expected = invalid("if_entries.0.vlans.tagged", Problem::MaxLength { max: 4_096 });
        assert_eq!(refusal(fixture.try_put(host).await), expected);
        let mut host = described(&fixture);
        host.if_entries[0].vlans = Some(Vlans { other_untagged: vec![1; 4_097], ..Vlans::default() });
        let expected = invalid("if_entries.0.vlans.other_untagged", Problem::MaxLength { max: 4_096 });
        assert_eq!(refusal(fixture.try_put(host).await), expected);
    });
}

#[test]
fn aggregate_with_members_cannot_be_deleted() {
    run(async || {
        let fixture = Fixture::new().await;
        let host = described(&fixture);
        fixture.put(&host).await;
        let caller = owner_of(fixture.organization);
        let aggregate = host.if_entries[0].id;
        let refused = fixture.inventory.parts::<IfEntry>().delete(&caller, aggregate).await;
        assert!(matches!(
            refusal(refused),
            toposcope::inventory::ErrorKind::InUse { entity: Entity::IfEntry, used_by: Entity::IfEntry, .. }
        ));
    });
}

#[test]
fn device_with_an_overlong_text_is_skipped_and_the_others_are_stored() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut described = switch(1);
        described.sys_descr = Some("x".repeat(65_537));
        let mut with_entry = switch(2);
        let rows = &mut with_entry.tables.if_entries.as_deref_mut().unwrap().rows;
        rows[1].if_alias = Some("x".repeat(65_537));
        let mut longest = switch(3);
        longest.tables.if_entries.as_deref_mut().unwrap().rows[0].if_alias = Some("x".repeat(65_536));
        let answer = discover(&fixture, vec![described, with_entry, longest], FIRST).await;
        let expected = [DiscoveryOutcome::Ignored, DiscoveryOutcome::Ignored, DiscoveryOutcome::Created];
        assert_eq!(outcomes(&answer), expected);
        for (host, field) in answer.hosts.iter().zip(["sys_descr", "if_entries.1.if_alias"]) {
            assert!(host.reason.as_ref().unwrap().contains(field), "{:?}", host.reason);
        }
    });
}
