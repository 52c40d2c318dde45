//! State of the oracle: plain records in plain lists, searched linearly.

use std::net::IpAddr;

use toposcope::model::{Permission, Timestamp};
use uuid::Uuid;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) now: Timestamp,
    pub(crate) organizations: Vec<Organization>,
    pub(crate) networks: Vec<Named>,
    pub(crate) tags: Vec<Named>,
    pub(crate) users: Vec<User>,
    pub(crate) keys: Vec<Key>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) shares: Vec<Share>,
    pub(crate) referrals: Vec<Referral>,
    pub(crate) hosts: Vec<Host>,
    /// Addresses of failed logins in the form in which they are counted, with their times.
    pub(crate) failed_logins: Vec<(String, Timestamp)>,
    /// When a login last purged expired sessions.
    pub(crate) purged_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub(crate) struct Organization {
    pub(crate) id: Uuid,
    /// Contained in every text of this organization and in none of another.
    pub(crate) marker: String,
    pub(crate) api_access: bool,
}

/// A network or a tag.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) id: Uuid,
    pub(crate) organization: Uuid,
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: Uuid,
    pub(crate) organization: Uuid,
    pub(crate) email: String,
    pub(crate) level: Permission,
    pub(crate) networks: Vec<Uuid>,
    pub(crate) password: Option<String>,
    pub(crate) is_disabled: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// A user API key or a daemon API key.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) id: Uuid,
    pub(crate) organization: Uuid,
    /// `None` for a daemon key.
    pub(crate) user: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) tags: Vec<Uuid>,
    pub(crate) text: String,
    pub(crate) level: Permission,
    /// The only network of a daemon key.
    pub(crate) networks: Vec<Uuid>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) is_enabled: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) uses: Uses,
}

impl Key {
    /// Returns a new daemon key without id and text.
    pub(crate) fn new(organization: Uuid, network: Uuid, name: String, now: Timestamp) -> Self {
        Self {
            id: Uuid::nil(),
            organization,
            user: None,
            name,
            tags: vec![],
            text: String::new(),
            level: Permission::Viewer,
            networks: vec![network],
            expires_at: None,
            is_enabled: true,
            created_at: now,
            updated_at: now,
            uses: Uses::default(),
        }
    }
}

/// The times at which a key was used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    pub(crate) all: Vec<Use>,
    /// The `last_used` that the key last showed.
    pub(crate) shown: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) at: Timestamp,
    /// Whether the store worked, so that the use was recorded.
    pub(crate) is_certain: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) text: String,
    pub(crate) user: Uuid,
    pub(crate) expires_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) id: Uuid,
    pub(crate) organization: Uuid,
    pub(crate) network: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) requires_password: bool,
    /// Export button, inspect panel, minimap, zoom controls.
    pub(crate) shows: [bool; 4],
    pub(crate) is_enabled: bool,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Referral {
    pub(crate) organization: Uuid,
    pub(crate) user: Uuid,
    pub(crate) source: String,
    pub(crate) other: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) id: Uuid,
    pub(crate) organization: Uuid,
    pub(crate) network: Uuid,
    pub(crate) name: String,
    pub(crate) hostname: Option<String>,
    pub(crate) hidden: bool,
    pub(crate) tags: Vec<Uuid>,
    /// The service that virtualizes the host.
    pub(crate) runs_on: Option<Uuid>,
    pub(crate) credential: Option<Uuid>,
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) ports: Vec<Port>,
    pub(crate) services: Vec<Service>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) address: IpAddr,
    pub(crate) position: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) id: Uuid,
    pub(crate) number: u16,
    pub(crate) protocol: &'static str,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) position: i64,
    pub(crate) tags: Vec<Uuid>,
    pub(crate) bindings: Vec<Binding>,
    /// When a tag of it was last deleted.
    pub(crate) untagged_at: Option<Timestamp>,
}

/// A binding to a port, or to an interface if there is no port.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) id: Uuid,
    pub(crate) port: Option<Uuid>,
    pub(crate) interface: Option<Uuid>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: Uuid,
    pub(crate) index: i64,
    pub(crate) alias: String,
    /// A host of the same organization.
    pub(crate) neighbor: Option<Uuid>,
}

/// An authenticated caller and its current scope.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) organization: Uuid,
    pub(crate) user: Uuid,
    pub(crate) level: Permission,
    /// `None` means every network of the organization.
    pub(crate) networks: Option<Vec<Uuid>>,
    pub(crate) by: By,
}

/// How a caller was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Host,
    Session,
    Key,
}

/// Ranks a level, independently of the crate's own order.
pub(crate) fn rank(level: Permission) -> u8 {
    match level {
        Permission::Owner => 4,
        Permission::Admin => 3,
        Permission::Member => 2,
        Permission::Viewer => 1,
    }
}

pub(crate) const LEVELS: [Permission; 4] =
    [Permission::Owner, Permission::Admin, Permission::Member, Permission::Viewer];

/// The port numbers used here, few enough that they collide.
pub(crate) const NUMBERS: [u16; 9] = [22, 53, 80, 161, 443, 8080, 9999, 1, 65535];

impl Model {
    pub(crate) const fn new(now: Timestamp) -> Self {
        Self {
            now,
            organizations: vec![],
            networks: vec![],
            tags: vec![],
            users: vec![],
            keys: vec![],
            sessions: vec![],
            shares: vec![],
            referrals: vec![],
            hosts: vec![],
            failed_logins: vec![],
            purged_at: None,
        }
    }

    pub(crate) fn user_keys(&self) -> Vec<&Key> {
        self.keys.iter().filter(|key| key.user.is_some()).collect()
    }

    pub(crate) fn daemon_keys(&self) -> Vec<&Key> {
        self.keys.iter().filter(|key| key.user.is_none()).collect()
    }

    /// Returns whether a service of a host virtualizes another host of the organization.
    pub(crate) fn virtualizes_others(&self, id: Uuid) -> bool {
        let Some(host) = self.hosts.iter().find(|host| host.id == id) else { return false };
        let mut guests = self.hosts.iter().filter(|other| other.id != id);
        guests.any(|guest| {
            guest.organization == host.organization
                && host.services.iter().any(|service| Some(service.id) == guest.runs_on)
        })
    }

    /// Removes a tag, also from the records that have it.
    pub(crate) fn delete_tag(&mut self, id: Uuid) {
        self.tags.retain(|tag| tag.id != id);
        for host in &mut self.hosts {
            let services = host.services.iter_mut().filter(|service| service.tags.contains(&id));
            let mut is_changed = host.tags.contains(&id);
            for service in services {
                service.tags.retain(|tag| *tag != id);
                service.untagged_at = Some(self.now);
                is_changed = true;
            }
            host.tags.retain(|tag| *tag != id);
            if is_changed {
                host.updated_at = self.now;
            }
        }
        for key in self.keys.iter_mut().filter(|key| key.tags.contains(&id)) {
            key.tags.retain(|tag| *tag != id);
            key.updated_at = self.now;
        }
    }

    /// Returns whether the network exists and belongs to the caller's organization.
    pub(crate) fn is_own_network(&self, caller: &Caller, id: Uuid) -> bool {
        find(&self.networks, id).is_some_and(|network| network.organization == caller.organization)
    }
}

/// A record with an id that belongs to an organization.
pub(crate) trait Record {
    fn id(&self) -> Uuid;
    fn organization(&self) -> Uuid;
}

macro_rules! records {
    ($($record:ty: $organization:ident),*) => {
        $(impl Record for $record {
            fn id(&self) -> Uuid {
                self.id
            }

            fn organization(&self) -> Uuid {
                self.$organization
            }
        })*
    };
}

records!(Organization: id, Named: organization, User: organization);
records!(Key: organization, Share: organization, Host: organization);

pub(crate) fn find<T: Record>(records: &[T], id: Uuid) -> Option<&T> {
    records.iter().find(|record| record.id() == id)
}

pub(crate) fn find_mut<T: Record>(records: &mut [T], id: Uuid) -> Option<&mut T> {
    records.iter_mut().find(|record| record.id() == id)
}

/// Returns the records of an organization.
pub(crate) fn all_of<T: Record>(records: &[T], organization: Uuid) -> impl Iterator<Item = &T> {
    records.iter().filter(move |record| record.organization() == organization)
}

pub(crate) fn ids_of<T: Record>(records: &[T], organization: Uuid) -> Vec<Uuid> {
    all_of(records, organization).map(Record::id).collect()
}

pub(crate) fn ids<T: Record>(records: &[T]) -> Vec<Uuid> {
    records.iter().map(Record::id).collect()
}

impl Caller {
    /// Returns whether the caller's scope contains a network of the organization.
    pub(crate) fn reaches(&self, network: Uuid) -> bool {
        match &self.networks {
            None => true,
            Some(networks) => networks.contains(&network),
        }
    }
}

/// Returns the networks that a user reaches with a session.
pub(crate) fn granted(user: &User) -> Option<Vec<Uuid>> {
    if rank(user.level) >= rank(Permission::Admin) { None } else { Some(user.networks.clone()) }
}
