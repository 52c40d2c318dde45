//! Changes to records while concurrent tasks delete what these refer to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use tokio::task::yield_now;
use toposcope::inventory::{Entity, Error, ErrorKind, NewShare, NewUser, NewUserApiKey};
use toposcope::model::Permission;

use super::outcome::{
    access_denied, conflict, not_authenticated, not_found, reference_invalid, succeeded_or,
};
use super::references::Round;
use crate::common::{OFFICE, PASSWORD, SplitMix64, host, send_json, service, with_session};

/// One operation of a round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    DeleteNetwork,
    DeleteTag,
    DeleteUser,
    ChangePassword,
    PutHost,
    CreateDaemonKey,
    UpdateKey,
    GrantNetwork,
    CreateUser,
    CreateShare,
    CreateKey,
    UpdateOwnKey,
    LogIn,
    SubmitReferral,
}

/// Operations that prevent a network from being deleted.
const OCCUPYING: [Deed; 3] = [Deed::PutHost, Deed::CreateDaemonKey, Deed::CreateShare];
const OTHERS: [Deed; 7] = [
    Deed::UpdateKey,
    Deed::GrantNetwork,
    Deed::CreateUser,
    Deed::CreateKey,
    Deed::UpdateOwnKey,
    Deed::LogIn,
    Deed::SubmitReferral,
];

/// Returns the operations of a round: one deletion, and a few concurrent operations that refer to its record.
pub(super) fn deeds(random: &mut SplitMix64) -> Vec<Deed> {
    let mut deeds = vec![Deed::DeleteNetwork, Deed::DeleteTag];
    deeds.push(random.choose(&[Deed::DeleteUser, Deed::ChangePassword]));
    if random.once_in(2) {
        deeds.extend(random.some_of(&OCCUPYING));
    }
    deeds.extend((0..8).map(|_| random.choose(&OTHERS)));
    deeds
}

impl Round {
    /// Returns the value of a success, or `None` for an error that concurrent operations explain.
    fn excused<T>(&self, result: Result<T, Error>, entity: Entity) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let is_excused = match error.kind() {
            ErrorKind::Conflict { entity: contended, .. } => *contended == entity,
            ErrorKind::ReferenceInvalid { entity: Entity::Network | Entity::Tag, .. } => true,
            ErrorKind::NotFound { entity: Entity::User, id } => *id == self.user.id,
            ErrorKind::InUse { entity: Entity::Network, .. } => entity == Entity::Network,
            ErrorKind::InUse { entity: Entity::Tag, .. } => entity == Entity::Tag,
            _ => false,
        };
        assert!(is_excused, "{error}");
        None
    }

    /// Carries out the operation after a random delay.
    pub(super) async fn act(self: Arc<Self>, deed: Deed, mut random: SplitMix64) {
        for _ in 0..random.below(24) {
            yield_now().await;
        }
        match deed {
            Deed::DeleteNetwork | Deed::DeleteTag | Deed::DeleteUser => self.delete(deed).await,
            Deed::ChangePassword => self.change_password().await,
            Deed::PutHost => self.put_host(&mut random).await,
            Deed::CreateDaemonKey => self.create_daemon_key().await,
            Deed::UpdateKey => self.update_key().await,
            Deed::GrantNetwork | Deed::CreateUser => self.grant(deed).await,
            Deed::CreateShare => self.create_share().await,
            Deed::CreateKey => self.create_key().await,
            Deed::UpdateOwnKey => self.update_own_key().await,
            Deed::LogIn => self.log_in().await,
            Deed::SubmitReferral => self.submit_referral().await,
        }
    }

    async fn delete(&self, deed: Deed) {
        let inventory = &self.scene.stage.inventory;
        let (result, entity, place) = match deed {
            Deed::DeleteNetwork => (inventory.delete_network(self.network).await, Entity::Network, 0),
            Deed::DeleteTag => (inventory.delete_tag(self.tag).await, Entity::Tag, 1),
            _ => (inventory.delete_user(self.user.id).await, Entity::User, 2),
        };
        if self.excused(result, entity).is_some() {
            self.scene.deleted[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn change_password(&self) {
        let changed =
            self.scene.stage.inventory.set_user_password(self.user.id, Some("another password".to_owned()));
        if self.excused(changed.await, Entity::User).is_some() {
            self.scene.changed.lock().unwrap().insert(self.user.id);
        }
    }

    async fn put_host(&self, random: &mut SplitMix64) {
        let mut host = host(0x1_0000 + self.number as u128, self.network);
        match random.below(3) {
            0 => host.tags = vec![self.tag],
            1 => {
                let mut tagged = service(0x2_0000 + self.number as u128, &host, "a service");
                tagged.tags = vec![self.tag];
                host.services = vec![tagged];
            }
            _ => {}
        }
        self.excused(
            self.scene.stage.inventory.put_host(self.scene.stage.organization(), host).await,
            Entity::Host,
        );
    }

    async fn create_daemon_key(&self) {
        let body = json!({"name": "a daemon", "network_id": self.network, "tags": [self.tag]});
        let request = with_session(send_json("POST", "/api/v1/auth/daemon", &body), &self.scene.session);
        let reply = self.scene.stage.server.send(request).await;
        succeeded_or(
            &reply,
            &[
                access_denied(self.network),
                reference_invalid("Tag", "tags.0"),
                (409, "entity_conflict", json!(null)),
            ],
        );
    }

    async fn update_key(&self) {
        let body = json!({
            "name": "a key",
            "organization_id": self.scene.stage.organization(),
            "user_id": self.scene.boss.id,
            "tags": [self.tag],
            "network_ids": [self.network],
        });
        let request = send_json("PUT", &format!("/api/v1/auth/keys/{}", self.scene.key), &body);
        let reply = self.scene.stage.server.send(with_session(request, &self.scene.session)).await;
        succeeded_or(
            &reply,
            &[
                reference_invalid("Network", "network_ids.0"),
                reference_invalid("Tag", "tags.0"),
                conflict("User API Key", self.scene.key),
            ],
        );
    }

    async fn grant(&self, deed: Deed) {
        let inventory = &self.scene.stage.inventory;
        if matches!(deed, Deed::GrantNetwork) {
            let member = self.scene.stage.member.id;
            let networks = vec![OFFICE, self.network];
            let granted = inventory.set_user_rights(member, Permission::Member, networks).await;
            self.excused(granted, Entity::User);
        } else {
            let number = self.scene.created.fetch_add(1, Ordering::Relaxed);
            let email = format!("new{number}@example.net");
            let mut new = NewUser::new(self.scene.stage.organization(), email, Permission::Viewer);
            new.network_ids = vec![self.network];
            self.excused(inventory.create_user(new).await, Entity::User);
        }
    }

    async fn create_share(&self) {
        let mut share = NewShare::new(self.scene.stage.organization(), "a share");
        share.network_id = Some(self.network);
        self.excused(self.scene.stage.inventory.create_share(share).await, Entity::Share);
    }

    async fn create_key(&self) {
        let mut key = NewUserApiKey::new(self.user.id, "a key", Permission::Viewer);
        key.network_ids = vec![self.network];
        key.tags = vec![self.tag];
        let key = self.excused(self.scene.stage.inventory.create_user_api_key(key).await, Entity::UserApiKey);
        let Some(key) = key else { return };
        self.scene.keys.lock().unwrap().push((key.record().id, self.user.id));
    }

    async fn update_own_key(&self) {
        let body = json!({
            "name": "another name",
            "organization_id": self.scene.stage.organization(),
            "user_id": self.user.id,
            "tags": [],
        });
        let request = send_json("PUT", &format!("/api/v1/auth/keys/{}", self.key), &body);
        let reply = self.scene.stage.server.send(with_session(request, &self.session)).await;
        let not_found = not_found("User API Key", self.key);
        succeeded_or(&reply, &[not_authenticated(), not_found, conflict("User API Key", self.key)]);
        self.scene.keys.lock().unwrap().push((self.key, self.user.id));
    }

    async fn log_in(&self) {
        let body = json!({"email": self.user.email, "password": PASSWORD});
        let reply = self.scene.stage.server.send(send_json("POST", "/api/auth/login", &body)).await;
        let refusals = [
            (401, "auth_invalid_credentials", json!({})),
            (409, "entity_conflict", json!(null)),
            // Logins for a deleted user may exceed the limit on failed logins.
            (429, "auth_too_many_attempts", json!({"retry_after": 900})),
        ];
        if succeeded_or(&reply, &refusals) {
            let cookie = reply.header("set-cookie");
            let (_, rest) = cookie.split_once('=').unwrap();
            let session = rest.split(';').next().unwrap().to_owned();
            self.scene.sessions.lock().unwrap().push((session, self.user.id));
        }
    }

    async fn submit_referral(&self) {
        let body = json!({"referral_source": "reddit"});
        let request = send_json("POST", "/api/v1/organizations/referral-source", &body);
        let reply = self.scene.stage.server.send(with_session(request, &self.session)).await;
        succeeded_or(&reply, &[not_authenticated(), conflict("User", self.user.id)]);
    }
}
