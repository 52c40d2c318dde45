//! A service with an inventory in memory, to which collectors report.

use toposcope::access::Caller;
use toposcope::inventory::NewDaemonApiKey;
use toposcope::model::{Network, NetworkId};
use toposcope::{Inventory, MemoryStore};

/// An inventory with a network, and a daemon key for it.
pub(crate) struct Served {
    pub(crate) inventory: Inventory,
    pub(crate) caller: Caller,
    pub(crate) network: NetworkId,
    pub(crate) key: String,
}

impl Served {
    pub(crate) async fn new() -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let caller = Caller::system(organization);
        let network = inventory.networks().create(&caller, Network::new("Office")).await.unwrap().id;
        let new = NewDaemonApiKey::new(network, "collector");
        let key = inventory.daemon_api_keys().create(&caller, new).await.unwrap().plaintext().to_owned();
        Self { inventory, caller, network, key }
    }
}
