//! Every method over a store that fails, or whose every commit meets a conflict.

mod changes;
mod conflicts;
mod reads;
mod unavailable;

use std::pin::Pin;
use std::sync::Arc;

use toposcope::access::Caller;
use toposcope::inventory::{Error, Inventory, IssuedKey, IssuedSession, NewShare};
use toposcope::model::{DaemonApiKey, Host, Permission, Protocol, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Faulty, PASSWORD, World, bare_host, id, in_person, port, settle};

const PORT: Uuid = id(0x99);

/// Records of every kind, and a store over them that can be made to fail.
struct Scene {
    world: World,
    store: Arc<Faulty>,
    inventory: Inventory,
    user: User,
    caller: Caller,
    key: IssuedKey<UserApiKey>,
    daemon_key: IssuedKey<DaemonApiKey>,
    session: IssuedSession,
    share: Uuid,
    host: Host,
    /// A network and a tag without references.
    free_network: Uuid,
    free_tag: Uuid,
}

/// Calls a method of an inventory.
type Call = for<'s> fn(&'s Scene, &'s Inventory) -> Pin<Box<dyn Future<Output = Result<(), Error>> + 's>>;

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let store = Faulty::new(world.store.clone());
        let inventory = world.inventory_in(store.clone());
        let user = world.owner().await;
        let caller = in_person(&user);
        let key = world.user_key(&user, |new| new.network_ids = vec![world.network]).await;
        let daemon_key = world.daemon_key(|_| {}).await;
        let session = world.log_in(&user).await;
        world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        settle().await;
        world.inventory.submit_referral(&caller, "reddit", None).await.unwrap();
        let mut share = NewShare::new(world.organization, "the office");
        share.password = Some(PASSWORD.to_owned());
        let share = world.inventory.create_share(share).await.unwrap().id;
        let mut host = bare_host(id(1), world.network);
        host.ports = vec![port(&host, PORT, 443, Protocol::Tcp)];
        world.put(&host).await;
        let free_network = world.inventory.create_network(world.organization, "free").await.unwrap().id;
        world.user("grantee@example.net", Permission::Viewer, &[free_network]).await;
        let free_tag = world.tags[1];
        Self {
            world,
            store,
            inventory,
            user,
            caller,
            key,
            daemon_key,
            session,
            share,
            host,
            free_network,
            free_tag,
        }
    }

    fn key(&self) -> Uuid {
        self.key.record().id
    }

    fn daemon_key(&self) -> Uuid {
        self.daemon_key.record().id
    }
}
