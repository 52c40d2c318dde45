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

use crate::support::{Fixture, PASSWORD, Probe, bare_host, id, in_person, port, settle};

const PORT: Uuid = id(0x99);

/// Records of every kind, and a store over them that can be made to fail.
struct Scene {
    fixture: Fixture,
    probe: Arc<Probe>,
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
        let fixture = Fixture::new().await;
        let (inventory, probe) = fixture.probed();
        let user = fixture.owner().await;
        let caller = in_person(&user);
        let key = fixture.user_key(&user, |new| new.network_ids = vec![fixture.network]).await;
        let daemon_key = fixture.daemon_key(|_| {}).await;
        let session = fixture.log_in(&user).await;
        fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        settle().await;
        fixture.inventory.submit_referral(&caller, "reddit", None).await.unwrap();
        let mut share = NewShare::new(fixture.organization, "the office");
        share.password = Some(PASSWORD.to_owned());
        let share = fixture.inventory.create_share(share).await.unwrap().id;
        let mut host = bare_host(id(1), fixture.network);
        host.ports = vec![port(&host, PORT, 443, Protocol::Tcp)];
        fixture.put(&host).await;
        let free_network = fixture.inventory.create_network(fixture.organization, "free").await.unwrap().id;
        fixture.user("grantee@example.net", Permission::Viewer, &[free_network]).await;
        let free_tag = fixture.tags[1];
        Self {
            fixture,
            probe,
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
