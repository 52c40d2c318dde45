//! Inventories with any number of benchmark hosts.

use std::error::Error;
use std::sync::Arc;
use toposcope::access::Caller;

use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{Network, NetworkId, Permission};
use toposcope::store::Store;

use crate::host::{Random, benchmark_host};

/// An inventory of benchmark hosts, and a key that may read all of it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) inventory: Inventory,
    pub(crate) networks: Vec<NetworkId>,
    pub(crate) key: String,
}

/// Puts this number of benchmark hosts on ten networks.
pub(crate) async fn load(store: Arc<dyn Store>, hosts: usize) -> Result<Loaded, Box<dyn Error>> {
    let inventory = Inventory::new(store);
    let organization = inventory.organizations().create("Benchmark").await?;
    let owner = inventory
        .users()
        .create(&Caller::system(organization.id), NewUser::new("owner@example.net", Permission::Owner))
        .await?;
    let mut networks = Vec::new();
    for number in 0..10 {
        networks.push(
            inventory
                .networks()
                .create(&Caller::system(organization.id), Network::new(format!("Network {number}")))
                .await?
                .id,
        );
    }
    let mut random = Random::new(7);
    for number in 0..hosts {
        let network = networks[number % networks.len()];
        inventory
            .hosts()
            .put(&Caller::system(organization.id), benchmark_host(&mut random, number, network)?)
            .await?;
    }
    let mut key = NewUserApiKey::new(owner.id, "benchmark", Permission::Viewer);
    key.network_ids.clone_from(&networks);
    let key = inventory
        .user_api_keys()
        .create(&Caller::system(owner.organization_id), key)
        .await?
        .plaintext()
        .to_owned();
    Ok(Loaded { inventory, networks, key })
}
