//! Credentials of a request, valid or not.

use base64ct::{Base64UrlUnpadded, Encoding};
use uuid::Uuid;

use super::Asker;
use crate::common::NOBODY;
use crate::isolation::ask::Ask;
use crate::isolation::oracle::identify;
use crate::isolation::records::{By, Caller, LEVELS, granted};

impl Asker<'_> {
    /// Adds mostly valid credentials, so that the code behind authentication is exercised too.
    pub(super) fn add_credentials(&mut self, ask: &mut Ask) {
        loop {
            (ask.authorization, ask.cookies, ask.vouched_for) = (vec![], vec![], None);
            self.add_random_credentials(ask);
            if self.random.once_in(12) {
                return self.add_lost(ask);
            }
            if identify(self.model, ask).0.is_ok() || self.random.once_in(3) {
                return;
            }
        }
    }

    fn add_random_credentials(&mut self, ask: &mut Ask) {
        match self.random.below(100) {
            0..4 => {}
            4..9 => ask.authorization.push(self.garbage()),
            9..13 => ask.cookies.push(("session_id", self.garbage_session())),
            13..43 => self.add_key(ask),
            43..47 => self.add_daemon_key(ask),
            47..77 => self.add_session(ask),
            77..84 => {
                self.add_key(ask);
                self.add_session(ask);
            }
            84..86 => {
                ask.authorization.push(self.garbage());
                self.add_session(ask);
            }
            86..88 => {
                self.add_key(ask);
                self.add_key(ask);
            }
            88..90 => {
                self.add_session(ask);
                self.add_session(ask);
            }
            _ => ask.vouched_for = Some(self.vouched_for()),
        }
    }

    fn add_key(&mut self, ask: &mut Ask) {
        if self.model.user_keys.is_empty() {
            return;
        }
        let place = self.random.below(self.model.user_keys.len());
        let text = &self.model.user_keys[place].text;
        let scheme = if self.random.once_in(10) { "bEARER " } else { "Bearer" };
        ask.authorization.push(format!("{scheme} {text}"));
    }

    /// Adds a credential that was valid until recently.
    fn add_lost(&mut self, ask: &mut Ask) {
        (ask.authorization, ask.cookies, ask.vouched_for) = (vec![], vec![], None);
        let latest = &self.lost[self.lost.len().saturating_sub(6)..];
        if latest.is_empty() {
            return;
        }
        let text = self.random.choose(latest);
        if text.starts_with("topo_") {
            ask.authorization.push(format!("Bearer {text}"));
        } else {
            ask.cookies.push(("session_id", text));
        }
    }

    fn add_daemon_key(&mut self, ask: &mut Ask) {
        if !self.model.daemon_keys.is_empty() {
            let place = self.random.below(self.model.daemon_keys.len());
            ask.authorization.push(format!("Bearer {}", self.model.daemon_keys[place].text));
        }
    }

    fn add_session(&mut self, ask: &mut Ask) {
        if self.random.once_in(4) {
            ask.cookies.push(("theme", "dark".to_owned()));
        }
        if !self.model.sessions.is_empty() {
            let place = self.random.below(self.model.sessions.len());
            ask.cookies.push(("session_id", self.model.sessions[place].text.clone()));
        }
    }

    /// Returns an `Authorization` header that belongs to no user.
    fn garbage(&mut self) -> String {
        let of_user = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
        let of_daemon = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
        let unknown = if self.random.once_in(2) { of_user } else { of_daemon }.to_owned();
        let known = self.model.user_keys.first().map_or(unknown.clone(), |key| key.text.clone());
        match self.random.below(7) {
            0 => String::new(),
            1 => "Bearer".to_owned(),
            2 => format!("Basic {known}"),
            3 => format!("Bearer {}", known.to_lowercase()),
            4 => format!("Bearer {known}0"),
            5 if !self.lost.is_empty() => format!("Bearer {}", self.random.choose(self.lost)),
            _ => format!("Bearer {unknown}"),
        }
    }

    fn garbage_session(&mut self) -> String {
        match self.random.below(3) {
            0 => "x".to_owned(),
            1 if !self.lost.is_empty() => self.random.choose(self.lost),
            _ => {
                let mut id = [0; 32];
                self.secrets.fill(&mut id).unwrap();
                Base64UrlUnpadded::encode_string(&id)
            }
        }
    }

    /// A caller as the host application supplies it: usually an existing user. Because the service trusts it,
    /// also one of another organization, of another level, or with foreign networks.
    fn vouched_for(&mut self) -> Caller {
        let place = self.random.below(self.model.users.len());
        let user = &self.model.users[place];
        let mut caller = Caller {
            organization: user.organization,
            user: user.id,
            level: user.level,
            networks: granted(user),
            by: By::Host,
        };
        let organizations: Vec<Uuid> = self.model.organizations.iter().map(|known| known.id).collect();
        let networks: Vec<Uuid> = self.model.networks.iter().map(|network| network.id).collect();
        match self.random.below(6) {
            0 => caller.organization = self.random.choose(&organizations),
            1 => caller.user = NOBODY,
            2 => caller.level = self.random.choose(&LEVELS),
            3 => caller.networks = Some(self.random.some_of(&networks)),
            _ => {}
        }
        caller
    }
}
