//! Effects of a request on the model.

use serde_json::{Value, json};

use super::Arena;
use crate::common::Reply;
use crate::isolation::json;
use crate::isolation::oracle::{Change, Decision, Success};
use crate::isolation::records::DaemonKey;

impl Arena {
    /// Applies the expected change to the model, and takes from the answer what only the answer determines.
    /// Returns the expected `data`.
    pub(crate) fn settle(&mut self, decision: &Decision, reply: &Reply) -> Option<Value> {
        match decision.change.clone() {
            Change::Nothing => {}
            Change::Port(moved) => {
                let now = self.model.now;
                for host in &mut self.model.hosts {
                    host.ports.retain(|port| port.id != moved.port.id);
                    if host.id == moved.to {
                        host.ports.push(moved.port.clone());
                    }
                    if host.id == moved.to || host.id == moved.from {
                        host.updated_at = now;
                    }
                }
            }
            Change::NewDaemonKey(key) => return Some(self.learn_daemon_key(*key, reply)),
            Change::UserKey(key) => {
                let place = self.model.user_keys.iter().position(|known| known.id == key.id).unwrap();
                self.model.user_keys[place] = *key;
            }
            Change::NoUserKey(id) => self.forget_user_keys(|key| key.id == id),
            Change::Referral(referral) => {
                let place = self.model.referrals.iter().position(|known| {
                    (known.organization, known.user) == (referral.organization, referral.user)
                });
                match place {
                    Some(place) => self.model.referrals[place] = *referral,
                    None => self.model.referrals.push(*referral),
                }
            }
            Change::FailedLogin(email) => self.model.failed_logins.push((email, self.model.now)),
            Change::Session(user) => {
                let text = session_of(reply);
                self.leaks.keep_digest(&text);
                self.begin_session(user, text);
            }
            Change::NoSessions(named) => self.forget_sessions(|session, _| named.contains(&session.text)),
        }
        self.shown(decision, reply)
    }

    fn shown(&mut self, decision: &Decision, reply: &Reply) -> Option<Value> {
        match decision.answer.as_ref().ok()? {
            Success::Data(data) | Success::LoggedIn(data) => Some(data.clone()),
            Success::Page { hosts, .. } => Some(Value::from(hosts.clone())),
            Success::LoggedOut => Some(json!({})),
            Success::Issued => None,
            Success::Key(key) => {
                let told = &reply.json["data"]["last_used"];
                let told = told.as_str().map(|text| text.parse().expect("a time"));
                self.check_last_used(key.id, told);
                Some(json::user_key(key, told))
            }
        }
    }

    /// The only answer that shows a key.
    fn learn_daemon_key(&mut self, key: DaemonKey, reply: &Reply) -> Value {
        let data = &reply.json["data"];
        let id = data["api_key"]["id"].as_str().and_then(|id| id.parse().ok()).expect("the id of a key");
        assert!(!self.leaks.knows(id), "the id of another record: {id}");
        let text = data["key"].as_str().expect("the text of a key").to_owned();
        assert!(text.starts_with("topo_d_") && text.len() == 45, "no key: {text}");
        let key = DaemonKey { id, text, ..key };
        let mut shown = json::daemon_key(&key, None);
        shown["key"] = Value::from(key.text.clone());
        let data = json!({"api_key": shown, "key": key.text});
        self.know_daemon_key(key);
        data
    }
}

/// Returns the id of the session that an answer begins.
pub(crate) fn session_of(reply: &Reply) -> String {
    let cookie = reply.header("set-cookie");
    let text = cookie.strip_prefix("session_id=").and_then(|rest| rest.split(';').next());
    text.expect("the cookie of a session").to_owned()
}
