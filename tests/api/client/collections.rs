//! Lists, reads and writes of records.

use toposcope::access::Caller;
use toposcope::client::{ClientErrorKind, Page};
use toposcope::inventory::{HostQuery, ListOrderField, ListQuery, PortUpdate};
use toposcope::model::{
    Host, HostOrderField, HostRole, IfEntry, OrderDirection, Port, PortNumber, Protocol, SourceType, Tag,
    TagId, UserApiKey, Vlans,
};
use toposcope::wire::ErrorCode;

use super::{client_of, create_tags, owner};
use crate::common::{BOUND_PORT, HOST, LAB, NOBODY, OFFICE, PORT, Populated, address, host};

fn names(page: &Page<Tag>) -> Vec<&str> {
    page.records.iter().map(|tag| tag.name.as_str()).collect()
}

#[tokio::test]
async fn list_of_tags_has_filters_order_and_pages() {
    let (fixture, client) = owner().await;
    let names_created = create_tags(&fixture, 300).await;
    let mut query = ListQuery::default();
    query.order_by = ListOrderField::Name;
    query.limit = Some(2);
    let first = client.list::<Tag>(&query).await.unwrap();
    assert_eq!(
        (names(&first), first.total, first.has_more),
        (vec!["numbered 000", "numbered 001"], 303, true)
    );
    query.cursor = first.next;
    assert_eq!(names(&client.list::<Tag>(&query).await.unwrap()), ["numbered 002", "numbered 003"]);

    (query.cursor, query.offset) = (None, 299);
    let by_offset = client.list::<Tag>(&query).await.unwrap();
    assert_eq!(
        (names(&by_offset), &by_offset.next, by_offset.has_more),
        (vec!["numbered 299", "tag 00000000-0000-0000-0000-000000000100"], &None, true)
    );

    (query.limit, query.offset, query.order_direction) = (None, 0, OrderDirection::Descending);
    let whole = client.list::<Tag>(&query).await.unwrap();
    assert_eq!((whole.records.len(), whole.has_more, whole.next), (303, false, None));
    assert_eq!(whole.records[3].name, names_created[299]);

    let ids = [whole.records[3].id.uuid(), NOBODY, whole.records[5].id.uuid()];
    let mut some = ListQuery::default();
    some.ids = Some(ids.to_vec());
    assert_eq!(names(&client.list::<Tag>(&some).await.unwrap()), ["numbered 297", "numbered 299"]);
}

#[tokio::test]
async fn list_of_hosts_has_the_filters_of_the_inventory() {
    let (fixture, client) = owner().await;
    let tag = fixture.home.tags[0];
    let named = |id, network, name: &str| Host { name: name.to_owned(), ..host(id, network) };
    let tagged = Host { tags: vec![tag], ..named(3, OFFICE, "ä&b=c d") };
    fixture.put([named(1, LAB, "b"), named(2, OFFICE, "a"), tagged.clone()]).await;
    let ids = async |query: &HostQuery| {
        let page = client.list::<Host>(query).await.unwrap();
        page.records.iter().map(|host| host.id.as_u128()).collect::<Vec<_>>()
    };
    let mut query = HostQuery::default();
    (query.group_by, query.order_by) = (Some(HostOrderField::NetworkId), Some(HostOrderField::Name));
    query.order_direction = OrderDirection::Descending;
    assert_eq!(ids(&query).await, [3, 2, 1]);
    query.network_id = Some(LAB);
    assert_eq!(ids(&query).await, [1]);
    (query.network_id, query.tag_ids) = (None, Some(vec![NOBODY.into(), tag]));
    assert_eq!(client.list::<Host>(&query).await.unwrap().records, [tagged]);

    fixture.put([address(4, OFFICE, &[("192.0.2.7", 0), ("2001:db8::7", 1)])]).await;
    let changes: [fn(&mut HostQuery); 9] = [
        |query| query.ips = Some(vec!["2001:db8::/64".parse().unwrap(), "198.51.100.0/24".parse().unwrap()]),
        |query| query.search = Some("192.0.2.7".to_owned()),
        |query| (query.hidden, query.search) = (Some(false), Some("2001:db8::7".to_owned())),
        |query| query.macs = Some(vec!["02:F2:04".parse().unwrap()]),
        |query| query.ports = Some(vec!["443/Tcp".parse().unwrap(), "80".parse().unwrap()]),
        |query| query.service_definitions = Some(vec!["Web & more".to_owned()]),
        |query| query.subnet_ids = Some(vec![NOBODY.into()]),
        |query| query.sources = Some(vec![SourceType::Discovery]),
        |query| query.hidden = Some(true),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut query = HostQuery::default();
        change(&mut query);
        let expected: &[u128] = if index < 3 { &[4] } else { &[] };
        assert_eq!(ids(&query).await, expected, "{query:?}");
    }
}

#[tokio::test]
async fn query_without_a_text_form_is_refused_before_it_is_sent() {
    let (_, client) = owner().await;
    for (field, change) in [
        ("ids", (|query| query.ids = Some(vec![])) as fn(&mut ListQuery)),
        ("tag_ids", |query| query.tag_ids = Some(vec![])),
        ("limit", |query| query.limit = Some(0)),
    ] {
        let mut query = ListQuery::default();
        change(&mut query);
        let error = client.list::<Tag>(&query).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ClientErrorKind::Request, None));
        assert!(error.message().contains(field), "{error}");
    }
    for (field, change) in [
        ("search", (|query| query.search = Some(String::new())) as fn(&mut HostQuery)),
        ("service_definition", |query| query.service_definitions = Some(vec!["a".to_owned(), String::new()])),
    ] {
        let mut query = HostQuery::default();
        change(&mut query);
        let error = client.list::<Host>(&query).await.unwrap_err();
        assert_eq!(error.kind(), ClientErrorKind::Request);
        assert!(error.message().contains(field), "{error}");
    }
}

#[tokio::test]
async fn record_is_created_read_updated_and_deleted() {
    let (fixture, client) = owner().await;
    let mut draft = Tag::new("  critical ");
    draft.color = Some("#ff8000".parse().unwrap());
    let created = client.create(&draft).await.unwrap();
    assert_eq!((created.record.name.as_str(), created.record.color), ("critical", draft.color));
    assert_eq!(created.record.organization_id, fixture.home.organization.id);
    let id = created.record.id;
    assert_eq!(client.get::<Tag>(id).await.unwrap(), created);

    let cleared = Tag { description: Some("text".to_owned()), color: None, ..created.record.clone() };
    let updated = client.update(&cleared, None).await.unwrap();
    assert_eq!((updated.record.color, updated.record.description.as_deref()), (None, Some("text")));
    let unchanged = client.get_if_changed::<Tag>(id, updated.tag.as_ref().unwrap()).await.unwrap();
    assert_eq!(unchanged, None);
    let changed = client.get_if_changed::<Tag>(id, created.tag.as_ref().unwrap()).await.unwrap();
    assert_eq!(changed, Some(updated));

    client.delete::<Tag>(id, None).await.unwrap();
    let error = client.delete::<Tag>(id, None).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::EntityNotFound));
    assert_eq!(error.params()["id"], id.to_string());
}

/// The server keeps short answers alone, and the ids of others.
#[tokio::test]
async fn repeated_creation_returns_the_record_of_the_first_one_whatever_its_length() {
    let (_fixture, client) = owner().await;
    for length in [10, 65_000] {
        let mut host = Host::new(OFFICE, format!("with {length} characters"));
        (host.sys_descr, host.sys_contact) = (Some("d".repeat(length)), Some("c".repeat(length)));
        let once = client.clone().with_idempotency_key(&format!("order {length}")).unwrap();
        let created = once.create(&host).await.unwrap();
        assert_eq!(once.create(&host).await.unwrap(), created);
    }
}

#[tokio::test]
async fn update_clears_fields_that_json_leaves_out() {
    let (fixture, client) = owner().await;
    let mut host = host(1, OFFICE);
    (host.role, host.sys_name) = (Some(HostRole::Router), Some("core".to_owned()));
    let aggregate = IfEntry::new(&host, 1);
    let (lag_id, vlans) = (Some(aggregate.id), Some(Vlans { untagged: Some(10), ..Vlans::default() }));
    host.if_entries = vec![aggregate, IfEntry { lag_id, vlans, ..IfEntry::new(&host, 2) }];
    fixture.put([host.clone()]).await;

    let entry = IfEntry { lag_id: None, vlans: None, ..host.if_entries[1].clone() };
    client.update(&entry, None).await.unwrap();
    let mut stored = client.get::<Host>(host.id).await.unwrap().record;
    assert_eq!((stored.if_entries[1].lag_id, &stored.if_entries[1].vlans), (None, &None));

    stored.role = Some("x.load_balancer".parse().unwrap());
    stored = client.update(&stored, None).await.unwrap().record;
    assert_eq!(stored.role.unwrap().as_str(), "x.load_balancer");

    (stored.role, stored.sys_name) = (None, None);
    let updated = client.update(&stored, None).await.unwrap().record;
    assert_eq!((updated.role, updated.sys_name), (None, None));
    assert_eq!(client.get::<Host>(host.id).await.unwrap().record.role, None);
}

#[tokio::test]
async fn outdated_tag_refuses_update_and_deletion() {
    let (_, client) = owner().await;
    let created = client.create(&Tag::new("critical")).await.unwrap();
    let draft = Tag { name: "important".to_owned(), ..created.record.clone() };
    let renamed = client.update(&draft, created.tag.as_ref()).await.unwrap();
    let update = client.update(&draft, created.tag.as_ref()).await.unwrap_err();
    let deletion = client.delete::<Tag>(draft.id, created.tag.as_ref()).await.unwrap_err();
    for error in [update, deletion] {
        assert_eq!(
            (error.status().unwrap().as_u16(), error.code()),
            (412, Some(ErrorCode::PreconditionFailed))
        );
        assert_eq!((error.kind(), &error.params()["entity"]), (ClientErrorKind::Api, &"Tag".into()));
    }
    // The text of a tag is as good as the tag.
    let tag = renamed.tag.unwrap().to_string().parse().unwrap();
    client.delete::<Tag>(draft.id, Some(&tag)).await.unwrap();
}

#[tokio::test]
async fn several_records_are_deleted_at_once() {
    let (fixture, client) = owner().await;
    let ids: Vec<TagId> =
        fixture.home.tags.into_iter().chain([NOBODY.into(), fixture.abroad.tags[0]]).collect();
    assert_eq!(client.delete_many::<Tag>(&ids).await.unwrap(), 3);
    assert_eq!(client.list::<Tag>(&ListQuery::default()).await.unwrap().total, 0);
    let error = client.delete_many::<Tag>(&[]).await.unwrap_err();
    assert_eq!((error.code(), &error.params()["field"]), (Some(ErrorCode::ValidationEmpty), &"ids".into()));
}

#[tokio::test]
async fn port_is_updated_by_itself_and_as_a_record() {
    let populated = Populated::new().await;
    let client = client_of(&populated.server, &populated.member_key);
    let number = |number: u16| PortNumber::try_from(number).unwrap();
    let update = PortUpdate::new(HOST, OFFICE, number(8443), Protocol::Udp);
    let port = client.update_port(PORT, update).await.unwrap();
    assert_eq!((port.id, port.number, port.protocol), (PORT, number(8443), Protocol::Udp));
    let draft = Port { number: number(22), protocol: Protocol::Tcp, ..port };
    assert_eq!(client.update(&draft, None).await.unwrap().record.number, number(22));
    let bound = PortUpdate::new(HOST, OFFICE, number(22), Protocol::Tcp);
    let error = client.update_port(BOUND_PORT, bound).await.unwrap_err();
    assert_eq!(error.code_text(), Some(error.code().unwrap().as_str()));
    assert_eq!(error.status(), error.code().map(ErrorCode::status));
}

#[tokio::test]
async fn own_key_is_updated_and_deleted_with_a_session() {
    let populated = Populated::new().await;
    let client = client_of(&populated.server, "").with_session(&populated.session).unwrap();
    let key = populated
        .inventory
        .user_api_keys()
        .of_user(&Caller::system(populated.member.organization_id), populated.member.id)
        .await
        .unwrap()
        .remove(0);
    let draft = UserApiKey { name: "laptop".to_owned(), is_enabled: false, ..key };
    let updated = client.update(&draft, None).await.unwrap().record;
    assert_eq!(
        (updated.name.as_str(), updated.is_enabled, updated.key),
        ("laptop", false, draft.key.clone())
    );
    client.delete::<UserApiKey>(draft.id, None).await.unwrap();
    let error = client.delete::<UserApiKey>(draft.id, None).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::EntityNotFound));
}
