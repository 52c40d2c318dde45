//! Generated records in an inventory.

use std::collections::HashMap;

use tokio::task::yield_now;
use toposcope::Inventory;
use toposcope::access::{Caller, Scope};
use toposcope::model::{Network, OrganizationId, Permission, SubnetId, TagId, UserId};

use super::super::failure::Failure;
use super::{hosts, is_monitored, networks, subnets};

/// Stores generated networks, subnets and hosts, and tags the hosts that are monitored.
///
/// Calls `on_host` after every host, with the number of hosts stored so far.
pub(crate) async fn store(
    inventory: &Inventory,
    organization: OrganizationId,
    tag: Option<TagId>,
    count: u32,
    mut on_host: impl FnMut(usize),
) -> Result<(), Failure> {
    for (id, name) in networks(count) {
        inventory.networks().create_with_id(&Caller::system(organization), id, Network::new(name)).await?;
    }
    let subnet_ids = store_subnets(inventory, organization, count).await?;
    for (before, host) in hosts(count).enumerate() {
        let mut host = host.map_err(|error| Failure::because("Failed to generate a host", &*error))?;
        for interface in &mut host.interfaces {
            interface.subnet_id = interface.subnet_id.and_then(|id| subnet_ids.get(&id).copied());
        }
        host.tags.extend(tag.filter(|_| is_monitored(&host)));
        inventory.hosts().put(&Caller::system(organization), host).await?;
        // A store in memory never yields: without this, Ctrl-C would take effect only after the last host.
        yield_now().await;
        on_host(before + 1);
    }
    Ok(())
}

/// Returns the id that the inventory chose for each subnet.
async fn store_subnets(
    inventory: &Inventory,
    organization: OrganizationId,
    count: u32,
) -> Result<HashMap<SubnetId, SubnetId>, Failure> {
    let caller = Caller::new(organization, UserId::nil(), Permission::Owner, Scope::all());
    let mut ids = HashMap::new();
    for subnet in subnets(count) {
        let subnet = subnet.map_err(|error| Failure::because("Failed to generate a subnet", &error))?;
        ids.insert(subnet.id, inventory.records().create(&caller, subnet).await?.id);
        yield_now().await;
    }
    Ok(ids)
}
