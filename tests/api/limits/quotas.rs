//! Limits on an organization's records: exact, also under concurrency, and named in the error.

use std::time::Duration;
use toposcope::access::Caller;

use serde_json::json;
use tokio::task::JoinSet;
use toposcope::inventory::{
    Entity, Error, ErrorKind, Import, Inventory, NewDaemonApiKey, NewUserApiKey, PortUpdate, Quotas,
};
use toposcope::model::{HostId, OrganizationId, Permission, PortId, Protocol, Tag, User};

use crate::backend::{run, run_on_threads};
use crate::common::{
    Fixture, Hook, LAB, OFFICE, PASSWORD, Server, ample, host, key_for, send_json, with_key, with_port,
};

/// The limit of each quota, and the number of concurrent creations.
const LIMIT: u64 = 5;
const CREATIONS: u64 = 16;

/// A fixture whose records are created under quotas.
struct Limited {
    fixture: Fixture,
    inventory: Inventory,
    user: User,
}

impl Limited {
    async fn new(set: impl FnOnce(&mut Quotas)) -> Self {
        let fixture = Fixture::new().await;
        let mut quotas = Quotas::default();
        set(&mut quotas);
        let inventory = fixture.inventory_with(&Hook::yielding()).with_quotas(quotas);
        let user = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        Self { fixture, inventory, user }
    }

    fn organization(&self) -> OrganizationId {
        self.fixture.home.organization.id
    }

    /// Creates many records concurrently. Returns how many were created; the quota must have refused all
    /// others.
    async fn race<F>(&self, entity: Entity, create: impl Fn(Inventory, u64) -> F) -> u64
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let mut creations = JoinSet::new();
        for number in 0..CREATIONS {
            creations.spawn(create(self.inventory.clone(), number));
        }
        let mut created = 0;
        while let Some(result) = creations.join_next().await {
            match result.unwrap() {
                Ok(()) => created += 1,
                Err(error) => {
                    assert_eq!(*error.kind(), ErrorKind::QuotaExceeded { entity, limit: LIMIT });
                }
            }
        }
        created
    }
}

#[test]
fn tags_of_an_organization_are_limited_exactly() {
    run_on_threads(async || {
        // Three exist before.
        let limited = Limited::new(|quotas| quotas.tags_per_organization = Some(LIMIT)).await;
        let organization = limited.organization();
        let created = limited.race(Entity::Tag, |inventory, number| async move {
            inventory
                .tags()
                .create(&Caller::system(organization), Tag::new(format!("tag {number}")))
                .await
                .map(drop)
        });
        assert_eq!(created.await, LIMIT - 3);
        let tags = limited.inventory.tags().all(&Caller::system(organization)).await.unwrap();
        assert_eq!(tags.len() as u64, LIMIT);
        // A deletion makes room; the other organization has its own quota.
        limited.inventory.tags().delete(&Caller::system(tags[0].organization_id), tags[0].id).await.unwrap();
        limited
            .inventory
            .tags()
            .create(&Caller::system(organization), Tag::new("in its place"))
            .await
            .unwrap();
        limited
            .inventory
            .tags()
            .create(&Caller::system(limited.fixture.abroad.organization.id), Tag::new("elsewhere"))
            .await
            .unwrap();
    });
}

#[test]
fn api_keys_of_a_user_are_limited_exactly() {
    run_on_threads(async || {
        let limited = Limited::new(|quotas| quotas.user_api_keys_per_user = Some(LIMIT)).await;
        let (user, organization) = (limited.user.id, limited.organization());
        let created = limited.race(Entity::UserApiKey, |inventory, _| async move {
            let key = NewUserApiKey::new(user, "one more", Permission::Viewer);
            inventory.user_api_keys().create(&Caller::system(organization), key).await.map(drop)
        });
        assert_eq!(created.await, LIMIT);
        let other = limited.fixture.user(&limited.fixture.home, Permission::Viewer, &[]).await;
        let key = NewUserApiKey::new(other.id, "another user's", Permission::Viewer);
        limited.inventory.user_api_keys().create(&Caller::system(other.organization_id), key).await.unwrap();
    });
}

#[test]
fn daemon_api_keys_of_a_network_are_limited_exactly() {
    run_on_threads(async || {
        let limited = Limited::new(|quotas| quotas.daemon_api_keys_per_network = Some(LIMIT)).await;
        let organization = limited.organization();
        let created = limited.race(Entity::DaemonApiKey, |inventory, _| async move {
            inventory
                .daemon_api_keys()
                .create(&Caller::system(organization), NewDaemonApiKey::new(OFFICE, "one more"))
                .await
                .map(drop)
        });
        assert_eq!(created.await, LIMIT);
        limited
            .inventory
            .daemon_api_keys()
            .create(&limited.fixture.system(), NewDaemonApiKey::new(LAB, "another network's"))
            .await
            .unwrap();
    });
}

#[test]
fn hosts_of_an_organization_are_limited_exactly() {
    run_on_threads(async || {
        let limited = Limited::new(|quotas| quotas.hosts_per_organization = Some(LIMIT)).await;
        let organization = limited.organization();
        let created = limited.race(Entity::Host, |inventory, number| async move {
            inventory
                .hosts()
                .put(&Caller::system(organization), host(1 + u128::from(number), OFFICE))
                .await
                .map(drop)
        });
        assert_eq!(created.await, LIMIT);
        let ids = limited.fixture.ids("").await;
        assert_eq!(ids.len() as u64, LIMIT);
        // An existing host is replaced at the limit, and a deleted one makes room.
        limited.inventory.hosts().put(&Caller::system(organization), host(ids[0], LAB)).await.unwrap();
        limited
            .inventory
            .hosts()
            .delete(&Caller::system(organization), HostId::from_u128(ids[0]))
            .await
            .unwrap();
        limited.inventory.hosts().put(&Caller::system(organization), host(0x77, OFFICE)).await.unwrap();
    });
}

#[test]
fn import_beyond_the_quota_refuses_the_surplus() {
    run(async || {
        let limited = Limited::new(|quotas| quotas.hosts_per_organization = Some(LIMIT)).await;
        let hosts = (1..=8).map(|id| serde_json::to_string(&host(id, OFFICE)).unwrap());
        let lines = hosts.collect::<Vec<_>>().join("\n");
        let report = limited
            .inventory
            .hosts()
            .import(&Caller::system(limited.organization()), lines.as_bytes(), Import::new())
            .await;
        let report = report.unwrap();
        assert_eq!((report.imported, report.refused), (LIMIT, 3));
        assert!(report.refusals[0].reason.contains("quota"), "{:?}", report.refusals);
    });
}

#[test]
fn sessions_of_a_user_are_limited_exactly_and_none_is_refused() {
    run_on_threads(async || {
        let limited = Limited::new(|quotas| quotas.sessions_per_user = Some(LIMIT)).await;
        let email = limited.user.email.clone();
        let log_in = |inventory: Inventory, _| {
            let email = email.clone();
            async move { inventory.log_in(&email, PASSWORD.to_owned()).await.map(drop) }
        };
        assert_eq!(limited.race(Entity::Session, log_in).await, CREATIONS);
        limited.fixture.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
        assert_eq!(limited.inventory.purge_expired().await.unwrap(), LIMIT);
    });
}

#[test]
fn hosts_beyond_the_bytes_of_the_quota_are_too_large() {
    run(async || {
        let (small, port) =
            (with_port(HostId::from_u128(1), OFFICE, PortId::from_u128(5)), PortId::from_u128(5));
        let limit = serde_json::to_vec(&small).unwrap().len();
        let limited = Limited::new(|quotas| quotas.host_bytes = Some(limit)).await;
        let organization = limited.organization();
        limited.inventory.hosts().put(&Caller::system(organization), small.clone()).await.unwrap();
        let mut large = host(2, OFFICE);
        large.description = Some("x".repeat(limit));
        let refused =
            limited.inventory.hosts().put(&Caller::system(organization), large.clone()).await.unwrap_err();
        assert_eq!(*refused.kind(), ErrorKind::TooLarge { entity: Entity::Host, limit });

        // A port update that makes the host larger is refused too, by the API as a 409.
        let body = json!({"host_id": small.id, "network_id": OFFICE, "number": 65535, "protocol": "Tcp"});
        let member = key_for(&limited.user, Permission::Member, &[OFFICE]);
        let key = limited.fixture.issue(member).await;
        let server = Server::new(limited.inventory.clone(), ample());
        let request = send_json("PUT", &format!("/api/v1/ports/{port}"), &body);
        let reply = server.send(with_key(request, &key)).await;
        let params = reply.refuses(409, "quota_exceeded").clone();
        assert_eq!(params, json!({"entity": "Host", "limit": limit}));

        // A host that was stored before the quota was set may change as long as it does not grow.
        let before = limited.fixture.inventory.clone();
        large.ports = with_port(large.id, OFFICE, PortId::from_u128(6)).ports;
        before.hosts().put(&Caller::system(organization), large.clone()).await.unwrap();
        let owner = limited.fixture.owner(&limited.fixture.home);
        let update = PortUpdate::new(large.id, OFFICE, 631.try_into().unwrap(), Protocol::Tcp);
        let error = limited.inventory.parts().replace(&owner, PortId::from_u128(6), update).await;
        assert!(error.is_ok(), "{error:?}");
    });
}

#[test]
fn default_quota_of_bytes_is_32_mebibytes() {
    let quotas = Quotas::default();
    assert_eq!(quotas.host_bytes, Some(32 * 1024 * 1024));
    assert_eq!(quotas.hosts_per_organization, None);
}
