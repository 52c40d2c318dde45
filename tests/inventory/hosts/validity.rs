//! Validity of a host by itself, of its references, and of its ids.

use toposcope::access::Caller;
use toposcope::inventory::{Entity, ErrorKind, PortUpdate, Problem, Written};
use toposcope::model::{BindingTarget, Host, Protocol};
use uuid::Uuid;

use crate::support::{
    Fixture, already_exists, bare_host, documents, id, not_found, owner_of, port, reference_invalid, refusal,
    rich_host, service,
};

const UNKNOWN: Uuid = Uuid::from_u128(0xbad);

type Alter = fn(&mut Host);

fn bind(host: &mut Host, service: usize, binding: usize, target: BindingTarget) {
    host.services[service].bindings[binding].target = target;
}

fn repeat<T: Clone>(list: &mut Vec<T>) {
    list.push(list[0].clone());
}

/// Single changes that make a rich host refer to a missing or foreign record.
const REFERENCES: &[(&str, Entity, Alter)] = &[
    ("network_id", Entity::Network, |host| {
        *host = bare_host(host.id, UNKNOWN.into());
    }),
    ("tags.1", Entity::Tag, |host| host.tags[1] = UNKNOWN.into()),
    ("services.0.tags.1", Entity::Tag, |host| host.services[0].tags[1] = UNKNOWN.into()),
    ("services.1.tags.0", Entity::Tag, |host| host.services[1].tags = vec![UNKNOWN.into()]),
    ("interfaces.1.host_id", Entity::Host, |host| host.interfaces[1].host_id = UNKNOWN.into()),
    ("interfaces.0.network_id", Entity::Network, |host| host.interfaces[0].network_id = UNKNOWN.into()),
    ("ports.2.host_id", Entity::Host, |host| host.ports[2].host_id = UNKNOWN.into()),
    ("ports.1.network_id", Entity::Network, |host| host.ports[1].network_id = UNKNOWN.into()),
    ("services.1.host_id", Entity::Host, |host| host.services[1].host_id = UNKNOWN.into()),
    ("services.0.network_id", Entity::Network, |host| host.services[0].network_id = UNKNOWN.into()),
    ("if_entries.1.host_id", Entity::Host, |host| host.if_entries[1].host_id = UNKNOWN.into()),
    ("if_entries.0.network_id", Entity::Network, |host| host.if_entries[0].network_id = UNKNOWN.into()),
    ("credential_assignments.1.interface_ids.1", Entity::Interface, |host| {
        host.credential_assignments[1].interface_ids = Some(vec![host.interfaces[0].id, UNKNOWN.into()]);
    }),
    ("if_entries.1.interface_id", Entity::Interface, |host| {
        host.if_entries[1].interface_id = Some(UNKNOWN.into());
    }),
    ("services.0.bindings.1.service_id", Entity::Service, |host| {
        host.services[0].bindings[1].service_id = host.services[1].id;
    }),
    ("services.1.bindings.0.network_id", Entity::Network, |host| {
        host.services[1].bindings[0].network_id = UNKNOWN.into();
    }),
    ("services.0.bindings.1.port_id", Entity::Port, |host| {
        bind(host, 0, 1, BindingTarget::Port { port_id: UNKNOWN.into(), interface_id: None });
    }),
    // An interface is not a port, and a port is not an interface.
    ("services.0.bindings.0.port_id", Entity::Port, |host| {
        let target = BindingTarget::Port { port_id: host.interfaces[0].id.uuid().into(), interface_id: None };
        bind(host, 0, 0, target);
    }),
    ("services.0.bindings.1.interface_id", Entity::Interface, |host| {
        let target = BindingTarget::Port {
            port_id: host.ports[0].id,
            interface_id: Some(host.ports[1].id.uuid().into()),
        };
        bind(host, 0, 1, target);
    }),
    ("services.1.bindings.0.interface_id", Entity::Interface, |host| {
        bind(host, 1, 0, BindingTarget::Interface { interface_id: host.ports[0].id.uuid().into() });
    }),
];

/// Single changes that duplicate an item in a rich host.
const REPEATED: &[(&str, Alter)] = &[
    ("tags.2", |host| repeat(&mut host.tags)),
    ("interfaces.2", |host| repeat(&mut host.interfaces)),
    ("services.2", |host| repeat(&mut host.services)),
    ("services.0.tags.2", |host| repeat(&mut host.services[0].tags)),
    ("services.0.bindings.2", |host| repeat(&mut host.services[0].bindings)),
    ("if_entries.2", |host| repeat(&mut host.if_entries)),
    ("ports.3", |host| {
        repeat(&mut host.ports);
        host.ports[3].number = 1.try_into().unwrap();
    }),
];

/// Asserts that an invalid host is refused as a new host and as a replacement.
async fn assert_refused(alter: Alter, expected: &ErrorKind) {
    let fixture = Fixture::new().await;
    let host = rich_host(9, fixture.network, &fixture.tags);
    let mut invalid_host = host.clone();
    alter(&mut invalid_host);
    let put = async || fixture.try_put(invalid_host.clone()).await;
    let before = fixture.commits();
    assert_eq!(refusal(put().await), *expected);
    assert!(fixture.documents().await.is_empty());
    fixture.put(&host).await;
    assert_eq!(refusal(put().await), *expected);
    assert_eq!(fixture.host(host.id).await, host);
    assert_eq!(fixture.commits(), before + 1);
}

#[tokio::test]
async fn unknown_reference_is_refused_with_its_dotted_path() {
    for (field, entity, alter) in REFERENCES {
        let field = (*field).to_owned();
        assert_refused(*alter, &ErrorKind::ReferenceInvalid { entity: *entity, field }).await;
    }
}

#[tokio::test]
async fn duplicate_is_refused_with_the_path_of_the_second() {
    for (field, alter) in REPEATED {
        let field = (*field).to_owned();
        assert_refused(*alter, &ErrorKind::Invalid { field, problem: Problem::Duplicate }).await;
    }
}

#[tokio::test]
async fn two_ports_of_one_number_and_protocol_are_refused() {
    let name = "53/Tcp".to_owned();
    let alter: Alter = |host| {
        host.ports[2].number = 53.try_into().unwrap();
    };
    assert_refused(alter, &already_exists(Entity::Port, &name)).await;
}

#[tokio::test]
async fn networks_and_tags_of_another_organization_are_unknown() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let in_foreign_network = rich_host(1, foreign.network, &fixture.tags);
    let mut with_foreign_tag = rich_host(1, fixture.network, &fixture.tags);
    with_foreign_tag.tags[0] = foreign.tag;
    let mut with_foreign_service_tag = rich_host(1, fixture.network, &fixture.tags);
    with_foreign_service_tag.services[1].tags = vec![foreign.tag];
    for (host, entity, field) in [
        (in_foreign_network, Entity::Network, "network_id"),
        (with_foreign_tag, Entity::Tag, "tags.0"),
        (with_foreign_service_tag, Entity::Tag, "services.1.tags.0"),
    ] {
        let field = field.to_owned();
        let refused = fixture.refusal(fixture.try_put(host)).await;
        assert_eq!(refused, ErrorKind::ReferenceInvalid { entity, field });
    }
}

#[tokio::test]
async fn hosts_of_an_unknown_organization_are_refused() {
    let fixture = Fixture::new().await;
    let host = bare_host(id(1), fixture.network);
    let refused = refusal(fixture.inventory.hosts().put(&Caller::system(id(77)), host).await);
    assert_eq!(refused, reference_invalid(Entity::Network, "network_id"));
}

#[tokio::test]
async fn refusal_names_the_field_by_its_place_in_the_host_as_given() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    // Lists show them in the opposite order.
    host.services = vec![service(&host, id(11), "last", 2), service(&host, id(12), "first", 1)];
    host.services[0].tags = vec![UNKNOWN.into()];
    let refused = refusal(fixture.try_put(host.clone()).await);
    assert_eq!(refused, reference_invalid(Entity::Tag, "services.0.tags.0"));
    host.services[0].tags.clear();
    host.services[0].host_id = UNKNOWN.into();
    let refused = refusal(fixture.try_put(host).await);
    assert_eq!(refused, reference_invalid(Entity::Host, "services.0.host_id"));
}

#[tokio::test]
async fn references_to_records_outside_the_inventory_are_not_checked() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &fixture.tags);
    host.interfaces[0].subnet_id = Some(UNKNOWN.into());
    host.credential_assignments[0].credential_id = UNKNOWN.into();
    host.ports.push(port(&host, id(0x77), 65_535, Protocol::Udp));
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
}

#[tokio::test]
async fn port_or_service_of_another_host_of_the_organization_is_taken() {
    let fixture = Fixture::new().await;
    let holder = rich_host(1, fixture.network, &fixture.tags);
    fixture.put(&holder).await;
    for network in [fixture.network, fixture.other_network] {
        let mut with_port = bare_host(id(2), network);
        with_port.ports = vec![
            port(&with_port, id(0x21), 1, Protocol::Tcp),
            port(&with_port, holder.ports[1].id, 2, Protocol::Tcp),
        ];
        let mut with_service = bare_host(id(2), network);
        with_service.services = vec![service(&with_service, holder.services[1].id, "mine", 0)];
        let refused = fixture.refusal(fixture.try_put(with_port)).await;
        assert_eq!(refused, already_exists(Entity::Port, &holder.ports[1].id));
        let refused = fixture.refusal(fixture.try_put(with_service)).await;
        assert_eq!(refused, already_exists(Entity::Service, &holder.services[1].id));
    }
    assert_eq!(fixture.host(holder.id).await, holder);
    assert_eq!(fixture.documents().await.len(), 1);
}

#[tokio::test]
async fn port_and_service_ids_of_another_organization_are_free() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mine = rich_host(1, fixture.network, &fixture.tags);
    fixture.put(&mine).await;
    let mut theirs = bare_host(id(2), foreign.network);
    theirs.ports = vec![port(&theirs, mine.ports[1].id, 2, Protocol::Tcp)];
    theirs.services = vec![service(&theirs, mine.services[1].id, "theirs", 0)];
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();

    // Each organization changes its own port with that id.
    let update = PortUpdate::new(theirs.id, foreign.network, 3.try_into().unwrap(), Protocol::Udp);
    let owner = owner_of(foreign.organization);
    fixture.inventory.parts().replace(&owner, mine.ports[1].id, update).await.unwrap();
    assert_eq!(fixture.host(mine.id).await, mine);
    let changed = fixture.inventory.hosts().get(&foreign.system(), theirs.id).await.unwrap();
    assert_eq!(changed.ports[0].number.get(), 3);
}

#[tokio::test]
async fn port_and_a_service_may_share_an_id() {
    let fixture = Fixture::new().await;
    let mut first = bare_host(id(1), fixture.network);
    first.ports = vec![port(&first, id(5), 80, Protocol::Tcp)];
    let mut second = bare_host(id(2), fixture.network);
    second.services = vec![service(&second, id(5), "web", 0)];
    fixture.put(&first).await;
    fixture.put(&second).await;
    assert_eq!(fixture.documents().await.len(), 2);
}

#[tokio::test]
async fn host_of_another_organization_is_neither_replaced_nor_shown_nor_deleted() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let theirs = rich_host(1, foreign.network, &[foreign.tag]);
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    let not_found = not_found(Entity::Host, theirs.id);

    let mine = rich_host(1, fixture.network, &fixture.tags);
    let refused = fixture.refusal(fixture.try_put(mine)).await;
    assert_eq!(refused, already_exists(Entity::Host, &theirs.id));
    let field = "network_id".to_owned();
    let on_their_network = bare_host(theirs.id, foreign.network);
    let refused = fixture.refusal(fixture.try_put(on_their_network)).await;
    assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
    assert_eq!(fixture.refusal(fixture.try_host(theirs.id)).await, not_found);
    assert_eq!(fixture.refusal(fixture.delete(theirs.id)).await, not_found);

    assert_eq!(fixture.inventory.hosts().get(&foreign.system(), theirs.id).await.unwrap(), theirs);
    assert_eq!(documents(&fixture.inventory, foreign.organization).await.len(), 1);
    assert!(fixture.documents().await.is_empty());
}

#[tokio::test]
async fn host_of_another_organization_is_reported_like_an_unknown_one() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let theirs = bare_host(id(1), foreign.network);
    fixture.inventory.hosts().put(&foreign.system(), theirs).await.unwrap();
    for organization in [fixture.organization, id(99)] {
        for wanted in [id(1), id(2)] {
            let not_found = not_found(Entity::Host, wanted);
            assert_eq!(
                refusal(fixture.inventory.hosts().get(&Caller::system(organization), wanted).await),
                not_found
            );
            assert_eq!(
                refusal(fixture.inventory.hosts().delete(&Caller::system(organization), wanted).await),
                not_found
            );
        }
    }
}

#[tokio::test]
async fn id_of_a_deleted_host_is_free() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let theirs = rich_host(1, foreign.network, &[]);
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    fixture.inventory.hosts().delete(&foreign.system(), theirs.id).await.unwrap();
    let mine = rich_host(1, fixture.network, &fixture.tags);
    assert_eq!(fixture.put(&mine).await, Written::Created);
    assert_eq!(fixture.host(mine.id).await, mine);
    assert!(documents(&fixture.inventory, foreign.organization).await.is_empty());
}
