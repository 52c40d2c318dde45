use toposcope::inventory::{HostQuery, Inventory};
use toposcope::model::{Host, HostOrderField};
use uuid::Uuid;

use super::{bare_host, guest_of, id, owner_of, service_named};

/// Asserts that hosts are ordered by exactly this name of the service that runs the guest.
///
/// Two control hosts are run by services of that name; one has an id before the guest's and one an id after
/// it. Equal names are ordered by id, so the guest is between them if and only if its position uses the same
/// name.
pub(crate) async fn assert_virtualized_by(
    inventory: &Inventory,
    organization: Uuid,
    guest: Uuid,
    name: &str,
) {
    let network = inventory.host(organization, guest).await.unwrap().network_id;
    let (low, high) = (Uuid::nil(), Uuid::max());
    assert!(low < guest && guest < high);
    let mut node = bare_host(id(0xc0_0000), network);
    node.services.push(service_named(&node, id(0xc0_0001), name));
    let mut controls = vec![bare_host(low, network), bare_host(high, network)];
    if !name.is_empty() {
        for control in &mut controls {
            guest_of(control, id(0xc0_0001));
        }
        controls.push(node);
    }
    for control in &controls {
        inventory.put_host(organization, control.clone()).await.unwrap();
    }
    let order = ids_by_virtualization(inventory, organization).await;
    let place = |wanted: Uuid| order.iter().position(|id| *id == wanted).expect("it is in the list");
    assert!(
        place(low) < place(guest) && place(guest) < place(high),
        "{guest} has not the place of the name {name:?}: {} is not between {} and {}",
        place(guest),
        place(low),
        place(high)
    );
    for control in controls {
        inventory.delete_host(organization, control.id).await.unwrap();
    }
}

async fn ids_by_virtualization(inventory: &Inventory, organization: Uuid) -> Vec<Uuid> {
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::VirtualizedBy);
    let page = inventory.list_hosts(&owner_of(organization), &query).await.unwrap();
    page.documents.iter().map(|body| serde_json::from_slice::<Host>(body).unwrap().id).collect()
}
