//! Ids in requests: mostly the caller's, but also foreign and unknown ones.

use uuid::Uuid;

use super::Asker;
use crate::common::NOBODY;
use crate::isolation::records::{Host, UserKey};

/// Ids of one kind, by their distance from the caller.
struct Ids {
    /// Ids that the caller may reach.
    reached: Vec<Uuid>,
    /// Other ids of the caller's organization.
    own: Vec<Uuid>,
    all: Vec<Uuid>,
}

impl Asker<'_> {
    /// Returns an id that is mostly reachable, sometimes foreign or unknown.
    fn near(&mut self, ids: &Ids) -> Uuid {
        let from = match self.random.below(100) {
            0..70 if !ids.reached.is_empty() => &ids.reached,
            70..85 if !ids.own.is_empty() => &ids.own,
            _ => &ids.all,
        };
        if from.is_empty() || self.random.once_in(25) { NOBODY } else { self.random.choose(from) }
    }

    /// Returns the ids of one kind within hosts.
    fn of_hosts(&self, ids: impl Fn(&Host) -> Vec<Uuid>) -> Ids {
        let all = || self.model.hosts.iter();
        let caller = self.caller.as_ref();
        let is_own = |host: &Host| caller.is_some_and(|caller| caller.organization == host.organization);
        let is_reached = |host: &Host| caller.is_some_and(|caller| caller.reaches(host.network));
        Ids {
            reached: all().filter(|host| is_own(host) && is_reached(host)).flat_map(&ids).collect(),
            own: all().filter(|host| is_own(host) && !is_reached(host)).flat_map(&ids).collect(),
            all: all().flat_map(&ids).collect(),
        }
    }

    pub(super) fn host(&mut self) -> Uuid {
        let ids = self.of_hosts(|host| vec![host.id]);
        self.near(&ids)
    }

    pub(super) fn port(&mut self) -> Uuid {
        let ids = self.of_hosts(|host| host.ports.iter().map(|port| port.id).collect());
        self.near(&ids)
    }

    pub(super) fn network(&mut self) -> Uuid {
        let caller = self.caller.as_ref();
        let own = caller.map_or(vec![], |caller| self.model.networks_of(caller.organization));
        let is_reached = |network: &Uuid| caller.is_some_and(|caller| caller.reaches(*network));
        let (reached, own) = own.into_iter().partition(is_reached);
        let all = self.model.networks.iter().map(|network| network.id).collect();
        self.near(&Ids { reached, own, all })
    }

    pub(super) fn share(&mut self) -> Uuid {
        let all = self.model.shares.iter().map(|share| share.id).collect();
        self.near(&Ids { reached: vec![], own: vec![], all })
    }

    pub(super) fn user_key(&mut self) -> Uuid {
        let caller = self.caller.as_ref();
        let keys = || self.model.user_keys.iter();
        let is_own = |key: &UserKey| caller.is_some_and(|caller| caller.organization == key.organization);
        // By the user alone: the host application may supply a user of another organization.
        let is_reached = |key: &UserKey| caller.is_some_and(|caller| caller.user == key.user);
        let ids = Ids {
            reached: keys().filter(|key| is_reached(key)).map(|key| key.id).collect(),
            own: keys().filter(|key| is_own(key) && !is_reached(key)).map(|key| key.id).collect(),
            all: keys().map(|key| key.id).collect(),
        };
        self.near(&ids)
    }

    /// Tags of the caller's organization, sometimes with a foreign one at any position.
    pub(super) fn tags(&mut self) -> Vec<Uuid> {
        let own = self.caller.as_ref().map_or(vec![], |caller| self.model.tags_of(caller.organization));
        let mut tags = self.random.some_of(&own);
        if self.random.once_in(6) {
            let all: Vec<Uuid> = self.model.tags.iter().map(|tag| tag.id).collect();
            let foreign: Vec<Uuid> = all.into_iter().filter(|tag| !own.contains(tag)).collect();
            tags.push(if foreign.is_empty() { NOBODY } else { self.random.choose(&foreign) });
        }
        if self.random.once_in(20) {
            tags.push(NOBODY);
        }
        self.random.shuffle(&mut tags);
        tags
    }

    /// Networks, of which most are the caller's.
    pub(super) fn networks(&mut self) -> Vec<Uuid> {
        let mut networks = vec![];
        for _ in 0..self.random.below(3) {
            networks.push(self.network());
        }
        networks
    }

    /// A text of the caller's organization, or of no organization.
    pub(super) fn text(&mut self, what: &str) -> String {
        let organization = self.caller.as_ref().map(|caller| caller.organization);
        let organization = organization.and_then(|id| self.model.organization(id));
        let marker = organization.map_or("", |organization| organization.marker.as_str());
        format!("{marker} {what} {}", self.random.below(1000)).trim().to_owned()
    }
}
