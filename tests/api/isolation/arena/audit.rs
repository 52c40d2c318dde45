//! Compares the stored records with those of the oracle.

use serde_json::{Value, json};
use toposcope::inventory::ErrorKind;
use uuid::Uuid;

use super::{Arena, used};
use crate::isolation::json;
use crate::isolation::oracle::Change;

/// The record as the API would show it.
fn shown(record: impl serde::Serialize) -> Value {
    serde_json::to_value(record).unwrap()
}

fn all_shown<T: serde::Serialize>(records: &[T]) -> Vec<Value> {
    records.iter().map(shown).collect()
}

/// Asserts that both are the same records, in any order.
#[track_caller]
fn same(stored: &[Value], known: &[Value]) {
    for record in stored {
        assert!(known.contains(record), "this is stored, and should not be: {record:#}\n{known:#?}");
    }
    for record in known {
        assert!(stored.contains(record), "this should be stored, and is not: {record:#}");
    }
    assert_eq!(stored.len(), known.len());
}

impl Arena {
    /// Every record of every organization.
    pub(crate) async fn audit(&mut self) {
        for organization in self.model.organizations.clone() {
            let id = organization.id;
            let stored = self.inventory.organization(id).await.unwrap();
            assert_eq!(stored.api_access, organization.api_access);
            self.audit_users(id).await;
            self.audit_keys(id).await;
            self.audit_networks_and_tags(id).await;
            self.audit_shares_and_referrals(id).await;
        }
        for host in self.model.hosts.clone() {
            self.audit_host(host.id).await;
        }
        self.store.verify().await;
    }

    pub(crate) async fn audit_host(&self, id: Uuid) {
        let host = self.model.host(id).unwrap();
        let stored = self.inventory.host(host.organization, id).await.unwrap();
        assert_eq!(shown(stored), json::host(host), "what is stored, what should be");
        for other in self.model.organizations.iter().filter(|other| other.id != host.organization) {
            self.inventory.host(other.id, id).await.unwrap_err();
        }
    }

    /// Returns what was stored of a change when the store failed meanwhile: all of it or nothing. Only
    /// sessions end one by one, and ending the others once more does no harm.
    pub(crate) async fn stored_of(&self, change: &Change) -> Change {
        let Change::NoSessions(named) = change else { return Change::Nothing };
        let mut ended = vec![];
        for text in named {
            let found = self.inventory.authenticate_session(text).await;
            if found.is_err_and(|error| *error.kind() == ErrorKind::NotAuthenticated) {
                ended.push(text.clone());
            }
        }
        Change::NoSessions(ended)
    }

    async fn audit_users(&self, organization: Uuid) {
        let stored = self.inventory.users(organization).await.unwrap();
        let known = self.model.users.iter().filter(|user| user.organization == organization);
        same(&all_shown(&stored), &known.map(json::user).collect::<Vec<_>>());
    }

    pub(crate) async fn audit_keys(&mut self, organization: Uuid) {
        let users = self.model.users.iter().filter(|user| user.organization == organization);
        let mut stored = vec![];
        for user in users.map(|user| user.id).collect::<Vec<_>>() {
            stored.extend(self.inventory.user_api_keys(user).await.unwrap());
        }
        for key in &stored {
            self.check_last_used(key.id, key.last_used);
        }
        let last_used = |id| stored.iter().find(|key| key.id == id).and_then(|key| key.last_used);
        let known = self.model.user_keys.iter().filter(|key| key.organization == organization);
        let known = known.map(|key| json::user_key(key, last_used(key.id)));
        same(&all_shown(&stored), &known.collect::<Vec<_>>());

        let stored = self.inventory.daemon_api_keys(organization).await.unwrap();
        let last_used = |id| stored.iter().find(|key| key.id == id).and_then(|key| key.last_used);
        let mut known = vec![];
        for key in self.model.daemon_keys.iter_mut().filter(|key| key.organization == organization) {
            used::check(&mut key.uses, last_used(key.id));
            known.push(json::daemon_key(key, last_used(key.id)));
        }
        same(&all_shown(&stored), &known);
    }

    async fn audit_networks_and_tags(&self, organization: Uuid) {
        let record = |id: Uuid, name: &str, created_at| {
            json!({
                "id": id, "organization_id": organization, "name": name, "created_at": created_at,
                "updated_at": created_at,
            })
        };
        let stored = self.inventory.networks(organization).await.unwrap();
        let known = self.model.networks.iter().filter(|network| network.organization == organization);
        let known = known.map(|network| record(network.id, &network.name, network.created_at));
        same(&all_shown(&stored), &known.collect::<Vec<_>>());

        let stored = self.inventory.tags(organization).await.unwrap();
        let known = self.model.tags.iter().filter(|tag| tag.organization == organization);
        let known = known.map(|tag| record(tag.id, &tag.name, tag.created_at));
        same(&all_shown(&stored), &known.collect::<Vec<_>>());
    }

    async fn audit_shares_and_referrals(&self, organization: Uuid) {
        let stored = self.inventory.shares(organization).await.unwrap();
        let known = self.model.shares.iter().filter(|share| share.organization == organization);
        let known = known.map(|share| {
            let mut record = json::share_metadata(share);
            record["organization_id"] = json!(share.organization);
            record["network_id"] = json!(share.network);
            record["is_enabled"] = json!(share.is_enabled);
            record["expires_at"] = json!(share.expires_at);
            record["created_at"] = json!(share.created_at);
            record["updated_at"] = json!(share.updated_at);
            record
        });
        same(&all_shown(&stored), &known.collect::<Vec<_>>());

        let stored = self.inventory.referrals(organization).await.unwrap();
        let stored = stored.iter().map(|referral| {
            let mut record = shown(referral);
            record.as_object_mut().unwrap().remove("id");
            record
        });
        let known = self.model.referrals.iter().filter(|referral| referral.organization == organization);
        same(&stored.collect::<Vec<_>>(), &known.map(json::referral).collect::<Vec<_>>());
    }
}
