use std::sync::Arc;

use toposcope::Inventory;
use toposcope::access::{Caller, ManualClock, Scope};
use toposcope::inventory::{Error, ErrorKind};
use toposcope::model::{Host, HostId, Network, NetworkId, OrganizationId, Permission, Tag, TagId};
use toposcope::store::Store;

use crate::backend::{TestStore, run};
use crate::support::{NOW, guest_of, id, inventory_in, owner_of, rich_host, time};

pub(super) const LATER: &str = "2026-08-15T00:00:00.000001Z";

/// Two organizations: one with three rich hosts, the other with one rich host.
///
/// The second of the three hosts is on another network and runs on a service of the first.
pub(super) struct Setup {
    pub(super) inventory: Inventory,
    pub(super) clock: ManualClock,
    pub(super) organization: OrganizationId,
    pub(super) networks: [NetworkId; 2],
    pub(super) tags: Vec<TagId>,
    pub(super) hosts: Vec<Host>,
    pub(super) foreign: Host,
    pub(super) foreign_organization: OrganizationId,
}

/// Runs a test once on each backend.
pub(super) fn on_each_store(test: impl AsyncFn(&Setup)) {
    run(async move || {
        let backend = TestStore::new().await;
        test(&Setup::new(backend.store()).await).await;
    });
}

impl Setup {
    pub(super) async fn new(store: Arc<dyn Store>) -> Self {
        let clock = ManualClock::new(time(NOW));
        let inventory = inventory_in(store).with_clock(Arc::new(clock.clone()));
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let mut networks = [NetworkId::nil(); 2];
        for (network, name) in networks.iter_mut().zip(["Office", "Laboratory"]) {
            *network = inventory
                .networks()
                .create(&Caller::system(organization), Network::new(name))
                .await
                .unwrap()
                .id;
        }
        let tags =
            vec![inventory.tags().create(&Caller::system(organization), Tag::new("first")).await.unwrap().id];
        let mut hosts: Vec<Host> = [(1, networks[0]), (2, networks[1]), (3, networks[0])]
            .map(|(number, network)| rich_host(number, network, &tags))
            .into();
        let agent = hosts[0].services[1].id;
        guest_of(&mut hosts[1], agent);
        for host in &hosts {
            inventory.hosts().put(&Caller::system(organization), host.clone()).await.unwrap();
        }
        let foreign_organization = inventory.organizations().create("Elsewhere").await.unwrap().id;
        let network = inventory
            .networks()
            .create(&Caller::system(foreign_organization), Network::new("Theirs"))
            .await
            .unwrap()
            .id;
        let foreign = rich_host(9, network, &[]);
        inventory.hosts().put(&Caller::system(foreign_organization), foreign.clone()).await.unwrap();
        clock.set(time(LATER));
        Self { inventory, clock, organization, networks, tags, hosts, foreign, foreign_organization }
    }

    pub(super) fn owner(&self) -> Caller {
        owner_of(self.organization)
    }

    /// Returns a caller with access to the network of the first and third host.
    pub(super) fn near(&self, level: Permission) -> Caller {
        Caller::new(self.organization, id(1), level, Scope::only([self.networks[0], self.foreign.network_id]))
    }

    /// Makes the second host run on no service any more, and returns it.
    pub(super) async fn free_guest(&self) -> Host {
        let free = |guest: &mut Host| {
            guest.virtualization = None;
            Ok(())
        };
        self.inventory.hosts().update(&self.owner(), self.hosts[1].id, free).await.unwrap()
    }

    /// Returns a host as stored, and asserts that it is valid.
    pub(super) async fn host(&self, id: HostId) -> Host {
        let host = self.inventory.hosts().get(&Caller::system(self.organization), id).await.unwrap();
        self.inventory.hosts().put(&Caller::system(self.organization), host.clone()).await.unwrap();
        host
    }

    /// Returns why an operation was refused, and asserts that it changed no host.
    pub(super) async fn refused<T>(&self, attempt: impl Future<Output = Result<T, Error>>) -> ErrorKind {
        let error = attempt.await.err().expect("this should have been refused");
        for host in &self.hosts {
            assert_eq!(
                self.inventory.hosts().get(&Caller::system(self.organization), host.id).await.unwrap(),
                *host,
                "{error}"
            );
        }
        let theirs = self
            .inventory
            .hosts()
            .get(&Caller::system(self.foreign_organization), self.foreign.id)
            .await
            .unwrap();
        assert_eq!(theirs, self.foreign);
        error.kind().clone()
    }
}
