//! Inventories with any number of benchmark hosts.

use std::error::Error;
use std::sync::Arc;

use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::Permission;
use toposcope::store::Store;
use uuid::Uuid;

use crate::host::{Random, benchmark_host};

/// An inventory of benchmark hosts, and a key that may read all of it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) inventory: Inventory,
    pub(crate) networks: Vec<Uuid>,
    pub(crate) key: String,
}

/// Puts this number of benchmark hosts on ten networks.
pub(crate) async fn load(store: Arc<dyn Store>, hosts: usize) -> Result<Loaded, Box<dyn Error>> {
    let inventory = Inventory::new(store);
    let organization = inventory.create_organization("Benchmark").await?;
    let owner =
        inventory.create_user(NewUser::new(organization.id, "owner@example.net", Permission::Owner)).await?;
    let mut networks = Vec::new();
    for number in 0..10 {
        networks.push(inventory.create_network(organization.id, &format!("Network {number}")).await?.id);
    }
    let mut random = Random::new(7);
    for number in 0..hosts {
        let network = networks[number % networks.len()];
        inventory.put_host(organization.id, benchmark_host(&mut random, number, network)?).await?;
    }
    let mut key = NewUserApiKey::new(owner.id, "benchmark", Permission::Viewer);
    key.network_ids.clone_from(&networks);
    let key = inventory.create_user_api_key(key).await?.plaintext().to_owned();
    Ok(Loaded { inventory, networks, key })
}
