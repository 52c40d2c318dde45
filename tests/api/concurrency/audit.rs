use std::collections::HashSet;

use toposcope::inventory::{ErrorKind, HostQuery};
use toposcope::model::Host;
use uuid::Uuid;

use super::references::Scene;

/// Ids of the records that exist.
struct Known {
    networks: HashSet<Uuid>,
    tags: HashSet<Uuid>,
    users: HashSet<Uuid>,
}

impl Known {
    fn check(&self, what: &str, networks: &[Uuid], tags: &[Uuid]) {
        assert!(networks.iter().all(|id| self.networks.contains(id)), "{what} is on a network that is gone");
        assert!(tags.iter().all(|id| self.tags.contains(id)), "{what} bears a tag that is gone");
    }
}

/// Asserts that every reference in the organization leads to an existing record.
pub(super) async fn audit(scene: &Scene) {
    let (inventory, organization) = (&scene.stage.world.inventory, scene.stage.organization());
    let networks = inventory.networks(organization).await.unwrap();
    let tags = inventory.tags(organization).await.unwrap();
    let users = inventory.users(organization).await.unwrap();
    let known = Known {
        networks: networks.iter().map(|network| network.id).collect(),
        tags: tags.iter().map(|tag| tag.id).collect(),
        users: users.iter().map(|user| user.id).collect(),
    };
    for user in &users {
        known.check("a user", &user.network_ids, &[]);
    }
    audit_hosts(scene, &known).await;
    for key in inventory.daemon_api_keys(organization).await.unwrap() {
        known.check("a daemon key", &[key.network_id], &key.tags);
    }
    for share in inventory.shares(organization).await.unwrap() {
        known.check("a share", share.network_id.as_slice(), &[]);
    }
    for referral in inventory.referrals(organization).await.unwrap() {
        assert!(known.users.contains(&referral.user_id), "a referral of a deleted user exists");
    }
    audit_credentials(scene, &known).await;
    scene.stage.world.store.verify().await;
}

async fn audit_hosts(scene: &Scene, known: &Known) {
    let inventory = &scene.stage.world.inventory;
    let caller = inventory.authenticate_session(&scene.session).await.unwrap();
    let page = inventory.list_hosts(&caller, &HostQuery::default()).await.unwrap();
    for document in page.documents {
        let host: Host = serde_json::from_slice(&document).unwrap();
        let services = host.services.iter().flat_map(|service| &service.tags);
        let tags: Vec<Uuid> = host.tags.iter().chain(services).copied().collect();
        known.check("a host", &[host.network_id], &tags);
    }
}

/// Asserts that keys and sessions exist if and only if their user does.
async fn audit_credentials(scene: &Scene, known: &Known) {
    let inventory = &scene.stage.world.inventory;
    let keys = scene.keys.lock().unwrap().clone();
    for (id, user) in keys {
        match inventory.user_api_key(id).await {
            Ok(key) => {
                assert!(known.users.contains(&user), "a key of a deleted user exists");
                known.check("a key", &key.network_ids, &key.tags);
            }
            Err(error) => {
                assert!(!known.users.contains(&user));
                assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
            }
        }
    }
    let boss = inventory.user_api_key(scene.key).await.unwrap();
    known.check("a key", &boss.network_ids, &boss.tags);
    let sessions = scene.sessions.lock().unwrap().clone();
    for (session, user) in sessions {
        let is_known = inventory.authenticate_session(&session).await.is_ok();
        let is_over = !known.users.contains(&user) || scene.changed.lock().unwrap().contains(&user);
        assert_ne!(is_known, is_over, "a session ends with its user or with the password, and no sooner");
    }
}
