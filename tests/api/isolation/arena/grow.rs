//! New records, created directly on the inventory.

use toposcope::inventory::{NewOrganization, NewShare, NewUser};
use toposcope::model::{Permission, ShareOptions};
use uuid::Uuid;

use super::Arena;
use crate::isolation::records::{LEVELS, Network, Organization, Session, Share, Tag, User};

const SESSION_MICROS: i64 = 7 * 24 * 60 * 60 * 1_000_000;

impl Arena {
    pub(super) async fn found_organization(&mut self, api_access: bool) {
        let place = self.model.organizations.len();
        // The marker contains the id, so the organization is named afterwards.
        let name = format!("zqzq{} organization", char::from(b'a' + u8::try_from(place).unwrap()));
        let mut new = NewOrganization::new(name.as_str());
        new.api_access = api_access;
        let id = self.inventory.create_organization(new).await.unwrap().id;
        let marker = self.leaks.mark(id);
        assert!(name.starts_with(&marker));
        self.leaks.own(id, id);
        self.model.organizations.push(Organization { id, marker, api_access });
        for _ in 0..3 {
            self.add_network(id).await;
            self.add_tag(id).await;
        }
        for level in LEVELS.into_iter().chain([Permission::Member, Permission::Viewer]) {
            let user = self.add_user(id, level).await;
            self.sign_in(user).await;
            for _ in 0..2 {
                self.add_user_key(user).await;
            }
        }
        for network in self.model.networks_of(id) {
            self.add_daemon_key(network).await;
            for _ in 0..4 {
                self.put_host(id, network, None).await;
            }
        }
        for _ in 0..4 {
            self.add_share(id).await;
        }
    }

    pub(super) async fn add_network(&mut self, organization: Uuid) {
        let name = self.text(organization, "network");
        let id = self.inventory.create_network(organization, &name).await.unwrap().id;
        self.leaks.own(id, organization);
        self.model.networks.push(Network { id, organization, name, created_at: self.model.now });
    }

    pub(super) async fn add_tag(&mut self, organization: Uuid) {
        let name = self.text(organization, "tag");
        let id = self.inventory.create_tag(organization, &name).await.unwrap().id;
        self.leaks.own(id, organization);
        self.model.tags.push(Tag { id, organization, name, created_at: self.model.now });
    }

    /// Creates a user with some of the networks, nearly always with a password.
    pub(super) async fn add_user(&mut self, organization: Uuid, level: Permission) -> Uuid {
        let email = self.text(organization, "user").replace(' ', "-") + "@example.net";
        let networks = self.random.some_of(&self.model.networks_of(organization));
        let password = (!self.random.once_in(10)).then(|| self.new_password());
        let mut new = NewUser::new(organization, &email, level);
        (new.network_ids, new.password) = (networks.clone(), password.clone());
        let id = self.inventory.create_user(new).await.unwrap().id;
        self.leaks.own(id, organization);
        let now = self.model.now;
        self.model.users.push(User {
            id,
            organization,
            email,
            level,
            networks,
            password,
            is_disabled: false,
            created_at: now,
            updated_at: now,
        });
        id
    }

    pub(super) fn new_password(&mut self) -> String {
        let password = format!("{:016x}{:016x}", self.random.next(), self.random.next());
        self.leaks.keep(&password);
        password
    }

    /// Creates a session, unless the user cannot log in.
    pub(super) async fn sign_in(&mut self, user: Uuid) {
        let user = self.model.user(user).unwrap().clone();
        let Some(password) = user.password.filter(|_| !user.is_disabled) else { return };
        let window = 15 * 60 * 1_000_000;
        let mut failures = self.model.failed_logins.iter();
        if failures.any(|(email, time)| *email == user.email && time.plus_micros(window) > self.model.now) {
            return;
        }
        let session = self.inventory.log_in(&user.email, password).await.unwrap();
        self.settle_tasks().await;
        self.begin_session(user.id, session.plaintext().to_owned());
    }

    /// Records a new session in the model. Once an hour this also purges expired sessions.
    pub(super) fn begin_session(&mut self, user: Uuid, text: String) {
        self.leaks.keep(&text);
        let now = self.model.now;
        let expires_at = now.plus_micros(SESSION_MICROS);
        self.model.sessions.push(Session { text, user, expires_at });
        let hour = 60 * 60 * 1_000_000;
        if self.model.purged_at.is_none_or(|time| now.unix_micros() - time.unix_micros() >= hour) {
            self.model.purged_at = Some(now);
            self.forget_sessions(|session, now| session.expires_at <= now);
        }
    }

    pub(super) fn forget_sessions(
        &mut self,
        is_meant: impl Fn(&Session, toposcope::model::Timestamp) -> bool,
    ) {
        let now = self.model.now;
        let over = self.model.sessions.iter().filter(|session| is_meant(session, now));
        self.lost.extend(over.map(|session| session.text.clone()));
        self.model.sessions.retain(|session| !is_meant(session, now));
    }

    pub(super) async fn add_share(&mut self, organization: Uuid) {
        let mut new = NewShare::new(organization, self.text(organization, "share"));
        let networks = self.model.networks_of(organization);
        new.network_id = self.random.once_in(2).then(|| self.random.choose(&networks));
        new.password = self.random.once_in(3).then(|| self.new_password());
        new.is_enabled = !self.random.once_in(4);
        new.expires_at = self.end();
        let shows = [(); 4].map(|()| self.random.once_in(2));
        let [show_export_button, show_inspect_panel, show_minimap, show_zoom_controls] = shows;
        new.options =
            ShareOptions { show_export_button, show_inspect_panel, show_minimap, show_zoom_controls };
        let id = self.inventory.create_share(new.clone()).await.unwrap().id;
        self.leaks.own(id, organization);
        let now = self.model.now;
        self.model.shares.push(Share {
            id,
            organization,
            network: new.network_id,
            name: new.name,
            requires_password: new.password.is_some(),
            shows,
            is_enabled: new.is_enabled,
            expires_at: new.expires_at,
            created_at: now,
            updated_at: now,
        });
    }
}
