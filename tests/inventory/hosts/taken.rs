//! Ids already in use in another organization.

use toposcope::inventory::{Entity, ErrorKind, PortUpdate, Written};
use toposcope::model::Protocol;

use crate::support::{
    Fixture, bare_host, documents, id, not_found, owner_of, port, refusal, rich_host, service,
};

fn taken(entity: Entity, id: uuid::Uuid) -> ErrorKind {
    ErrorKind::AlreadyExists { entity, name: id.to_string() }
}

#[tokio::test]
async fn port_or_service_of_another_host_of_the_organization_is_taken() {
    let fixture = Fixture::new().await;
    let holder = rich_host(1, fixture.network, &fixture.tags);
    fixture.put(&holder).await;
    for network in [fixture.network, fixture.other_network] {
        let commits = fixture.commits();
        let mut with_port = bare_host(id(2), network);
        with_port.ports = vec![
            port(&with_port, id(0x21), 1, Protocol::Tcp),
            port(&with_port, holder.ports[1].id, 2, Protocol::Tcp),
        ];
        let mut with_service = bare_host(id(2), network);
        with_service.services = vec![service(&with_service, holder.services[1].id, "mine", 0)];
        let refused = refusal(fixture.inventory.put_host(fixture.organization, with_port).await);
        assert_eq!(refused, taken(Entity::Port, holder.ports[1].id));
        let refused = refusal(fixture.inventory.put_host(fixture.organization, with_service).await);
        assert_eq!(refused, taken(Entity::Service, holder.services[1].id));
        assert_eq!(fixture.commits(), commits);
    }
    assert_eq!(fixture.host(holder.id).await, holder);
    assert_eq!(fixture.documents().await.len(), 1);
}

#[tokio::test]
async fn port_and_service_ids_of_another_organization_are_free() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let mine = rich_host(1, fixture.network, &fixture.tags);
    fixture.put(&mine).await;
    let mut theirs = bare_host(id(2), foreign.network);
    theirs.ports = vec![port(&theirs, mine.ports[1].id, 2, Protocol::Tcp)];
    theirs.services = vec![service(&theirs, mine.services[1].id, "theirs", 0)];
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();

    // Each organization changes its own port with that id.
    let update = PortUpdate::new(theirs.id, foreign.network, 3.try_into().unwrap(), Protocol::Udp);
    let owner = owner_of(foreign.organization);
    fixture.inventory.update_port(&owner, mine.ports[1].id, update).await.unwrap();
    assert_eq!(fixture.host(mine.id).await, mine);
    let changed = fixture.inventory.host(foreign.organization, theirs.id).await.unwrap();
    assert_eq!(changed.ports[0].number.get(), 3);
}

#[tokio::test]
async fn a_port_and_a_service_may_share_an_id() {
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
async fn a_host_of_another_organization_is_neither_replaced_nor_shown_nor_deleted() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let theirs = rich_host(1, foreign.network, &[foreign.tag]);
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();
    let commits = fixture.commits();
    let not_found = not_found(Entity::Host, theirs.id);

    let mine = rich_host(1, fixture.network, &fixture.tags);
    let refused = refusal(fixture.inventory.put_host(fixture.organization, mine).await);
    assert_eq!(refused, taken(Entity::Host, theirs.id));
    let field = "network_id".to_owned();
    let on_their_network = bare_host(theirs.id, foreign.network);
    let refused = refusal(fixture.inventory.put_host(fixture.organization, on_their_network).await);
    assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
    assert_eq!(refusal(fixture.inventory.host(fixture.organization, theirs.id).await), not_found);
    assert_eq!(refusal(fixture.inventory.delete_host(fixture.organization, theirs.id).await), not_found);

    assert_eq!(fixture.commits(), commits);
    assert_eq!(fixture.inventory.host(foreign.organization, theirs.id).await.unwrap(), theirs);
    assert_eq!(documents(&fixture.inventory, foreign.organization).await.len(), 1);
    assert!(fixture.documents().await.is_empty());
}

#[tokio::test]
async fn the_answers_about_a_host_of_another_organization_and_about_none_are_the_same() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let theirs = bare_host(id(1), foreign.network);
    fixture.inventory.put_host(foreign.organization, theirs).await.unwrap();
    for organization in [fixture.organization, id(99)] {
        for wanted in [id(1), id(2)] {
            let not_found = not_found(Entity::Host, wanted);
            assert_eq!(refusal(fixture.inventory.host(organization, wanted).await), not_found);
            assert_eq!(refusal(fixture.inventory.delete_host(organization, wanted).await), not_found);
        }
    }
}

#[tokio::test]
async fn an_id_is_free_again_when_its_host_is_deleted() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let theirs = rich_host(1, foreign.network, &[]);
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();
    fixture.inventory.delete_host(foreign.organization, theirs.id).await.unwrap();
    let mine = rich_host(1, fixture.network, &fixture.tags);
    let written = fixture.inventory.put_host(fixture.organization, mine.clone()).await.unwrap();
    assert_eq!(written, Written::Created);
    assert_eq!(fixture.host(mine.id).await, mine);
    assert!(documents(&fixture.inventory, foreign.organization).await.is_empty());
}
