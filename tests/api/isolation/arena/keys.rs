//! New keys, created directly on the inventory.

use toposcope::inventory::{NewDaemonApiKey, NewUserApiKey};
use uuid::Uuid;

use super::Arena;
use crate::isolation::records::{DaemonKey, LEVELS, UserKey, Uses, granted, rank};

impl Arena {
    /// Creates a key with rights that its owner has at this moment.
    pub(super) async fn add_user_key(&mut self, user: Uuid) {
        let owner = self.model.user(user).unwrap().clone();
        let organization = owner.organization;
        let levels: Vec<_> = LEVELS.into_iter().filter(|level| rank(*level) <= rank(owner.level)).collect();
        let networks = granted(&owner).unwrap_or_else(|| self.model.networks_of(organization));
        let mut new = NewUserApiKey::new(user, self.text(organization, "key"), self.random.choose(&levels));
        new.network_ids = if self.random.once_in(3) { networks } else { self.random.some_of(&networks) };
        new.tags = self.random.some_of(&self.model.tags_of(organization));
        new.expires_at = self.end();
        new.is_enabled = !self.random.once_in(8);
        let issued = self.inventory.create_user_api_key(new.clone()).await.unwrap();
        let (id, text) = (issued.record().id, issued.plaintext().to_owned());
        self.leaks.own(id, organization);
        self.leaks.keep(&text);
        let now = self.model.now;
        self.model.user_keys.push(UserKey {
            id,
            organization,
            user,
            name: new.name,
            tags: new.tags,
            text,
            level: new.permissions,
            networks: new.network_ids,
            expires_at: new.expires_at,
            is_enabled: new.is_enabled,
            created_at: now,
            updated_at: now,
            uses: Uses::default(),
        });
    }

    pub(super) async fn add_daemon_key(&mut self, network: Uuid) {
        let found = self.model.networks.iter().find(|found| found.id == network).unwrap();
        let organization = found.organization;
        let mut new = NewDaemonApiKey::new(network, self.text(organization, "daemon key"));
        new.tags = self.random.some_of(&self.model.tags_of(organization));
        new.expires_at = self.end();
        new.is_enabled = !self.random.once_in(8);
        let issued = self.inventory.create_daemon_api_key(new.clone()).await.unwrap();
        let now = self.model.now;
        self.know_daemon_key(DaemonKey {
            id: issued.record().id,
            organization,
            network,
            name: new.name,
            tags: new.tags,
            text: issued.plaintext().to_owned(),
            expires_at: new.expires_at,
            is_enabled: new.is_enabled,
            created_at: now,
            updated_at: now,
            uses: Uses::default(),
        });
    }

    pub(super) fn know_daemon_key(&mut self, key: DaemonKey) {
        self.leaks.own(key.id, key.organization);
        self.leaks.keep(&key.text);
        self.model.daemon_keys.push(key);
    }

    pub(super) fn forget_user_keys(&mut self, is_meant: impl Fn(&UserKey) -> bool) {
        let gone = self.model.user_keys.iter().filter(|key| is_meant(key));
        self.lost.extend(gone.map(|key| key.text.clone()));
        self.model.user_keys.retain(|key| !is_meant(key));
    }
}
