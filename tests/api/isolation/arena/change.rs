//! Changes between requests, made directly on the inventory.

use uuid::Uuid;

use super::Arena;
use crate::isolation::records::{LEVELS, Model};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;

impl Arena {
    /// Makes a random change.
    pub(crate) async fn change(&mut self) {
        let organizations: Vec<Uuid> = self.model.organizations.iter().map(|known| known.id).collect();
        let organization = self.random.choose(&organizations);
        match self.random.below(100) {
            0..20 => self.time_passes(),
            20..34 => self.change_rights(organization).await,
            34..42 => self.enable_user(organization).await,
            42..44 => self.change_password(organization).await,
            44..49 => self.come_or_go(organization).await,
            49..55 => self.add_key_of_somebody(organization).await,
            55..63 => self.enable_or_delete_user_key(organization).await,
            63..69 => self.change_daemon_keys(organization).await,
            69..77 => self.change_hosts(organization).await,
            77..81 => self.change_api_access(organization).await,
            81..87 => self.change_shares(organization).await,
            87..89 => self.change_tags(organization).await,
            89..91 => self.change_networks(organization).await,
            91..92 => {
                self.inventory.purge_expired().await.unwrap();
                self.forget_sessions(|session, now| session.expires_at <= now);
            }
            92..93 => {
                if let Some(user) = self.somebody(organization) {
                    self.inventory.end_sessions(user).await.unwrap();
                    self.forget_sessions(|session, _| session.user == user);
                }
            }
            _ => {
                if let Some(user) = self.somebody(organization) {
                    self.sign_in(user).await;
                }
            }
        }
    }

    fn time_passes(&mut self) {
        if self.random.once_in(4) {
            return self.go_to_an_end();
        }
        let steps = [1, 1, SECOND, 20 * SECOND, 61 * SECOND, 300 * SECOND, 901 * SECOND, 2 * HOUR];
        let step = if self.random.once_in(40) { 72 * HOUR } else { self.random.choose(&steps) };
        self.later(step);
    }

    /// Advances the clock to the moment at which something expires, or to the one before.
    fn go_to_an_end(&mut self) {
        let model = &self.model;
        let ends = model.user_keys.iter().filter_map(|key| key.expires_at);
        let ends = ends.chain(model.daemon_keys.iter().filter_map(|key| key.expires_at));
        let ends = ends.chain(model.shares.iter().filter_map(|share| share.expires_at));
        let ends = ends.chain(model.sessions.iter().map(|session| session.expires_at));
        let mut ahead: Vec<i64> = ends.map(|end| end.unix_micros() - model.now.unix_micros()).collect();
        ahead.retain(|micros| *micros > 1);
        ahead.sort_unstable();
        ahead.truncate(12);
        if !ahead.is_empty() {
            let before = i64::from(self.random.once_in(4));
            let step = self.random.choose(&ahead);
            self.later(step - before);
        }
    }

    fn somebody(&mut self, organization: Uuid) -> Option<Uuid> {
        let own = self.model.users.iter().filter(|user| user.organization == organization);
        let own: Vec<Uuid> = own.map(|user| user.id).collect();
        if own.is_empty() { None } else { Some(self.random.choose(&own)) }
    }

    async fn change_rights(&mut self, organization: Uuid) {
        let Some(id) = self.somebody(organization) else { return };
        let level = self.random.choose(&LEVELS);
        let networks = self.random.some_of(&self.model.networks_of(organization));
        self.inventory.set_user_rights(id, level, networks.clone()).await.unwrap();
        let now = self.model.now;
        let user = self.model.users.iter_mut().find(|user| user.id == id).unwrap();
        (user.level, user.networks, user.updated_at) = (level, networks, now);
    }

    async fn enable_user(&mut self, organization: Uuid) {
        let Some(id) = self.somebody(organization) else { return };
        let is_enabled = !self.random.once_in(4);
        if is_enabled {
            self.inventory.enable_user(id).await.unwrap()
        } else {
            self.inventory.disable_user(id).await.unwrap()
        };
        let now = self.model.now;
        let user = self.model.users.iter_mut().find(|user| user.id == id).unwrap();
        (user.is_disabled, user.updated_at) = (!is_enabled, now);
        self.forget_sessions(|session, _| session.user == id && !is_enabled);
    }

    async fn change_password(&mut self, organization: Uuid) {
        let Some(id) = self.somebody(organization) else { return };
        let password = (!self.random.once_in(6)).then(|| self.new_password());
        self.inventory.set_user_password(id, password.clone()).await.unwrap();
        self.model.users.iter_mut().find(|user| user.id == id).unwrap().password = password;
        self.forget_sessions(|session, _| session.user == id);
    }

    async fn come_or_go(&mut self, organization: Uuid) {
        let count = self.model.users.iter().filter(|user| user.organization == organization).count();
        if count < 4 + self.random.below(6) {
            let level = self.random.choose(&LEVELS);
            let user = self.add_user(organization, level).await;
            self.sign_in(user).await;
            return self.add_user_key(user).await;
        }
        let Some(id) = self.somebody(organization) else { return };
        self.inventory.delete_user(id).await.unwrap();
        self.forget_user_keys(|key| key.user == id);
        self.forget_sessions(|session, _| session.user == id);
        self.model.users.retain(|user| user.id != id);
        self.model.referrals.retain(|referral| (referral.organization, referral.user) != (organization, id));
    }

    async fn add_key_of_somebody(&mut self, organization: Uuid) {
        let count = self.model.user_keys.iter().filter(|key| key.organization == organization).count();
        if let Some(user) = self.somebody(organization).filter(|_| count < 25) {
            self.add_user_key(user).await;
        }
    }

    async fn enable_or_delete_user_key(&mut self, organization: Uuid) {
        let own = self.model.user_keys.iter().filter(|key| key.organization == organization);
        let own: Vec<Uuid> = own.map(|key| key.id).collect();
        if own.is_empty() {
            return;
        }
        let id = self.random.choose(&own);
        if self.random.once_in(4) {
            self.inventory.delete_user_api_key(id).await.unwrap();
            return self.forget_user_keys(|key| key.id == id);
        }
        let is_enabled = !self.random.once_in(3);
        if is_enabled {
            self.inventory.enable_user_api_key(id).await.unwrap()
        } else {
            self.inventory.disable_user_api_key(id).await.unwrap()
        };
        let now = self.model.now;
        let key = self.model.user_keys.iter_mut().find(|key| key.id == id).unwrap();
        (key.is_enabled, key.updated_at) = (is_enabled, now);
    }

    async fn change_daemon_keys(&mut self, organization: Uuid) {
        let own = self.model.daemon_keys.iter().filter(|key| key.organization == organization);
        let own: Vec<Uuid> = own.map(|key| key.id).collect();
        if own.is_empty() {
            let networks = self.model.networks_of(organization);
            let network = self.random.choose(&networks);
            return self.add_daemon_key(network).await;
        }
        let id = self.random.choose(&own);
        if self.random.once_in(2) || own.len() > 12 {
            self.inventory.delete_daemon_api_key(id).await.unwrap();
            let gone = self.model.daemon_keys.iter().find(|key| key.id == id).unwrap();
            self.lost.push(gone.text.clone());
            return self.model.daemon_keys.retain(|key| key.id != id);
        }
        let is_enabled = !self.random.once_in(3);
        if is_enabled {
            self.inventory.enable_daemon_api_key(id).await.unwrap()
        } else {
            self.inventory.disable_daemon_api_key(id).await.unwrap()
        };
        let now = self.model.now;
        let key = self.model.daemon_keys.iter_mut().find(|key| key.id == id).unwrap();
        (key.is_enabled, key.updated_at) = (is_enabled, now);
    }

    async fn change_hosts(&mut self, organization: Uuid) {
        let own = self.model.hosts.iter().filter(|host| host.organization == organization);
        let own: Vec<Uuid> = own.map(|host| host.id).collect();
        let networks = self.model.networks_of(organization);
        let network = self.random.choose(&networks);
        if own.len() < 10 {
            return self.put_host(organization, network, None).await;
        }
        let id = self.random.choose(&own);
        if self.random.once_in(2) {
            return self.put_host(organization, network, Some(id)).await;
        }
        self.inventory.delete_host(organization, id).await.unwrap();
        self.model.hosts.retain(|host| host.id != id);
    }

    async fn change_api_access(&mut self, id: Uuid) {
        let api_access = !self.random.once_in(4);
        if api_access {
            self.inventory.enable_api_access(id).await.unwrap()
        } else {
            self.inventory.disable_api_access(id).await.unwrap()
        };
        self.model.organizations.iter_mut().find(|known| known.id == id).unwrap().api_access = api_access;
    }

    async fn change_shares(&mut self, organization: Uuid) {
        let own = self.model.shares.iter().filter(|share| share.organization == organization);
        let own: Vec<Uuid> = own.map(|share| share.id).collect();
        if own.len() < 4 {
            return self.add_share(organization).await;
        }
        let id = self.random.choose(&own);
        if self.random.once_in(2) {
            self.inventory.delete_share(id).await.unwrap();
            return self.model.shares.retain(|share| share.id != id);
        }
        let is_enabled = !self.random.once_in(3);
        if is_enabled {
            self.inventory.enable_share(id).await.unwrap()
        } else {
            self.inventory.disable_share(id).await.unwrap()
        };
        let now = self.model.now;
        let share = self.model.shares.iter_mut().find(|share| share.id == id).unwrap();
        (share.is_enabled, share.updated_at) = (is_enabled, now);
    }

    async fn change_tags(&mut self, organization: Uuid) {
        let tags = self.model.tags_of(organization);
        if tags.len() < 4 {
            return self.add_tag(organization).await;
        }
        let id = self.random.choose(&tags);
        let is_deleted = self.inventory.delete_tag(id).await.is_ok();
        assert_eq!(is_deleted, !is_tag_borne(&self.model, id));
        self.model.tags.retain(|tag| tag.id != id || !is_deleted);
    }

    /// Deleting a network removes it from the grants of users and keys.
    async fn change_networks(&mut self, organization: Uuid) {
        let networks = self.model.networks_of(organization);
        if networks.len() < 4 {
            return self.add_network(organization).await;
        }
        let id = self.random.choose(&networks);
        let is_deleted = self.inventory.delete_network(id).await.is_ok();
        assert_eq!(is_deleted, !is_occupied(&self.model, id));
        if is_deleted {
            self.model.networks.retain(|network| network.id != id);
            let now = self.model.now;
            for user in self.model.users.iter_mut().filter(|user| user.networks.contains(&id)) {
                user.networks.retain(|network| *network != id);
                user.updated_at = now;
            }
            for key in self.model.user_keys.iter_mut().filter(|key| key.networks.contains(&id)) {
                key.networks.retain(|network| *network != id);
                key.updated_at = now;
            }
        }
    }
}

fn is_tag_borne(model: &Model, tag: Uuid) -> bool {
    let services = || model.hosts.iter().flat_map(|host| &host.services);
    model.hosts.iter().any(|host| host.tags.contains(&tag))
        || services().any(|service| service.tags.contains(&tag))
        || model.user_keys.iter().any(|key| key.tags.contains(&tag))
        || model.daemon_keys.iter().any(|key| key.tags.contains(&tag))
}

fn is_occupied(model: &Model, network: Uuid) -> bool {
    model.hosts.iter().any(|host| host.network == network)
        || model.daemon_keys.iter().any(|key| key.network == network)
        || model.shares.iter().any(|share| share.network == Some(network))
}
