//! The records that a request is about, and its credentials.
//!
//! They are mostly the caller's, but also foreign and unknown ones.

use base64ct::{Base64UrlUnpadded, Encoding};
use toposcope::model::Permission;
use uuid::Uuid;

use super::request::ApiRequest;
use super::{Choose, Generator};
use crate::common::NOBODY;
use crate::isolation::model::{By, Caller, Host, Key, LEVELS, Named, Record, find, granted, ids, ids_of};
use crate::isolation::oracle::identify;

const ORDERS: &str = "created_at|updated_at|name|hostname|network_id|virtualized_by|interface_ip|name_natural|hostname_natural";

impl Generator<'_> {
    /// Returns an id of one of these records, or sometimes an unknown one. The caller reaches most of the records that
    /// are returned.
    fn among<T: Record>(
        &mut self,
        all: &[T],
        is_reached: impl Fn(&Caller, &T) -> bool,
        ids: impl Fn(&T) -> Vec<Uuid>,
    ) -> Uuid {
        let caller = self.caller.as_ref();
        let is_own = |record: &T| caller.is_some_and(|caller| caller.organization == record.organization());
        let is_reached = |record: &T| caller.is_some_and(|caller| is_reached(caller, record));
        let mut found: Vec<Uuid> = match self.random.usize(..100) {
            0..70 => all.iter().filter(|record| is_reached(record)).flat_map(&ids).collect(),
            70..85 => {
                let beyond = all.iter().filter(|record| is_own(record) && !is_reached(record));
                beyond.flat_map(&ids).collect()
            }
            _ => vec![],
        };
        if found.is_empty() {
            found = all.iter().flat_map(&ids).collect();
        }
        if found.is_empty() || self.random.once_in(25) { NOBODY } else { self.random.choose(&found) }
    }

    pub(super) fn host(&mut self) -> Uuid {
        self.among(&self.model.hosts, reaches_host, |host| vec![host.id])
    }

    pub(super) fn port(&mut self) -> Uuid {
        let ports = |host: &Host| host.ports.iter().map(|port| port.id).collect();
        self.among(&self.model.hosts, reaches_host, ports)
    }

    pub(super) fn network(&mut self) -> Uuid {
        let reaches = |caller: &Caller, network: &Named| {
            caller.organization == network.organization && caller.reaches(network.id)
        };
        self.among(&self.model.networks, reaches, |network| vec![network.id])
    }

    pub(super) fn share(&mut self) -> Uuid {
        self.among(&self.model.shares, |_, _| false, |share| vec![share.id])
    }

    pub(super) fn user_key(&mut self) -> Uuid {
        // By the user alone: the host application may supply a user of another organization.
        let user_key = |key: &Key| key.user.map(|_| key.id).into_iter().collect();
        self.among(&self.model.keys, |caller, key| Some(caller.user) == key.user, user_key)
    }

    /// Returns the id of any record, or one that is likely to be special.
    pub(crate) fn any_id(&mut self) -> Uuid {
        let model = self.model;
        let ids = match self.random.usize(..9) {
            0 => ids(&model.organizations),
            1 => ids(&model.networks),
            2 => ids(&model.tags),
            3 => ids(&model.users),
            4 => ids(&model.keys),
            5 => ids(&model.shares),
            6 => ids(&model.hosts),
            7 => model.hosts.iter().flat_map(|host| &host.ports).map(|port| port.id).collect(),
            _ => vec![NOBODY, Uuid::nil(), Uuid::max()],
        };
        self.random.choose(&ids)
    }

    /// Returns tags of the caller's organization, sometimes with a foreign one at any position.
    pub(super) fn tags(&mut self) -> Vec<Uuid> {
        let caller = self.caller.as_ref();
        let own = caller.map_or(vec![], |caller| ids_of(&self.model.tags, caller.organization));
        let mut tags = self.random.some_of(&own);
        if self.random.once_in(6) {
            let mut foreign = ids(&self.model.tags);
            foreign.retain(|tag| !own.contains(tag));
            tags.push(if foreign.is_empty() { NOBODY } else { self.random.choose(&foreign) });
        }
        if self.random.once_in(20) {
            tags.push(NOBODY);
        }
        self.random.shuffle(&mut tags);
        tags
    }

    /// Returns networks, of which most are the caller's.
    pub(super) fn networks(&mut self) -> Vec<Uuid> {
        (0..self.random.usize(..3)).map(|_| self.network()).collect()
    }

    /// Returns a text of the caller's organization, or of no organization.
    pub(super) fn text(&mut self, what: &str) -> String {
        let caller = self.caller.as_ref();
        let organization = caller.and_then(|caller| find(&self.model.organizations, caller.organization));
        let marker = organization.map_or("", |organization| organization.marker.as_str());
        format!("{marker} {what} {}", self.random.usize(..1000)).trim().to_owned()
    }

    pub(super) fn add_hosts_query(&mut self, request: &mut ApiRequest) {
        let mut query: Vec<(&'static str, String)> = vec![];
        if self.random.once_in(3) {
            let network = self.network().to_string();
            let given = self.random.choose(&[network.clone(), network.clone(), network, String::new()]);
            query.push(("network_id", given));
        }
        if self.random.once_in(4) {
            let ids: Vec<Uuid> = (0..=self.random.usize(..5)).map(|_| self.host()).collect();
            self.push_ids(&mut query, "ids", &ids);
        }
        if self.random.once_in(4) {
            let mut tags = self.tags();
            tags.push(NOBODY);
            self.push_ids(&mut query, "tag_ids", &tags);
        }
        for name in ["tag_ids_all", "tag_ids_none"] {
            if self.random.once_in(8) {
                let mut tags = self.tags();
                tags.truncate(1 + self.random.usize(..2));
                if !tags.is_empty() {
                    self.push_ids(&mut query, name, &tags);
                }
            }
        }
        if self.random.once_in(10) {
            query.push(("without_tags", self.random.choose_part("true|False|TRUE|false").to_owned()));
        }
        for (name, times, values) in [
            ("group_by", 3, ORDERS),
            ("order_by", 3, ORDERS),
            ("order_direction", 4, "asc|desc"),
            ("limit", 3, "0|1|3|1000|"),
            ("offset", 4, "0|1|4|500|2147483647"),
        ] {
            if self.random.once_in(times) {
                query.push((name, self.random.choose_part(values).to_owned()));
            }
        }
        if self.is_malformed(25) {
            query = vec![self.wrong_parameter()];
        }
        self.random.shuffle(&mut query);
        request.query = query;
    }

    fn wrong_parameter(&mut self) -> (&'static str, String) {
        let names = [
            "network_id",
            "ids",
            "tag_ids",
            "order_direction",
            "order_by",
            "group_by",
            "limit",
            "offset",
            "tag_ids_none",
        ];
        let name = self.random.choose(&names);
        let wrong = match name {
            "limit" => "-1|1001|ten",
            "offset" => "-1|2147483648|99999999999999999999",
            _ => "x|1,2|up|id",
        };
        (name, self.random.choose_part(wrong).to_owned())
    }

    fn push_ids(&mut self, query: &mut Vec<(&'static str, String)>, name: &'static str, ids: &[Uuid]) {
        let texts: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        if self.random.bool() {
            query.push((name, texts.join(",")));
        } else {
            query.extend(texts.into_iter().map(|text| (name, text)));
        }
    }
}

/// A credential of a request.
enum Credential {
    UserKey,
    DaemonKey,
    Session,
    BadKey,
    BadSession,
    /// A caller that the host application supplies.
    Supplied,
}

impl Generator<'_> {
    /// Returns a request with only credentials, valid or not.
    pub(crate) fn any_credentials(&mut self) -> ApiRequest {
        let is_careful = std::mem::take(&mut self.is_careful);
        let request = self.credentials();
        self.is_careful = is_careful;
        request
    }

    /// Returns a request with only credentials, mostly valid ones.
    pub(super) fn credentials(&mut self) -> ApiRequest {
        loop {
            if self.is_malformed(12) {
                return self.lost_credential();
            }
            let request = self.random_credentials();
            let is_useful = match identify(self.model, &request).0 {
                // Viewers are refused before their requests are read.
                Ok(caller) => {
                    !self.is_careful || caller.level != Permission::Viewer || self.random.once_in(4)
                }
                Err(_) => self.is_malformed(3),
            };
            if is_useful {
                return request;
            }
        }
    }

    fn random_credentials(&mut self) -> ApiRequest {
        let mut request = ApiRequest::new("GET", "");
        let credentials: &[Credential] = match self.random.usize(..100) {
            0..4 => &[],
            4..9 => &[Credential::BadKey],
            9..13 => &[Credential::BadSession],
            13..43 => &[Credential::UserKey],
            43..47 => &[Credential::DaemonKey],
            47..77 => &[Credential::Session],
            77..84 => &[Credential::UserKey, Credential::Session],
            84..86 => &[Credential::BadKey, Credential::Session],
            86..88 => &[Credential::UserKey, Credential::UserKey],
            88..90 => &[Credential::Session, Credential::Session],
            _ => &[Credential::Supplied],
        };
        for credential in credentials {
            match credential {
                Credential::BadKey => request.authorization.push(self.bad_key()),
                Credential::BadSession => request.cookies.push(("session_id", self.bad_session())),
                Credential::UserKey => {
                    let scheme = if self.random.once_in(10) { "bEARER " } else { "Bearer" };
                    let key = self.random.choice(self.model.user_keys());
                    request.authorization.extend(key.map(|key| format!("{scheme} {}", key.text)));
                }
                Credential::DaemonKey => {
                    let key = self.random.choice(self.model.daemon_keys());
                    request.authorization.extend(key.map(|key| format!("Bearer {}", key.text)));
                }
                Credential::Session => {
                    if self.random.once_in(4) {
                        request.cookies.push(("theme", "dark".to_owned()));
                    }
                    let session = self.random.choice(&self.model.sessions);
                    request.cookies.extend(session.map(|session| ("session_id", session.text.clone())));
                }
                Credential::Supplied => request.supplied_caller = Some(self.supplied_caller()),
            }
        }
        request
    }

    /// Returns a request with a credential that was valid until recently.
    fn lost_credential(&mut self) -> ApiRequest {
        let mut request = ApiRequest::new("GET", "");
        let latest = &self.lost[self.lost.len().saturating_sub(6)..];
        if let Some(text) = self.random.choice(latest) {
            if text.starts_with("topo_") {
                request.authorization.push(format!("Bearer {text}"));
            } else {
                request.cookies.push(("session_id", text.clone()));
            }
        }
        request
    }

    /// Returns an `Authorization` header that belongs to no user.
    fn bad_key(&mut self) -> String {
        let of_user = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
        let of_daemon = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
        let unknown = if self.random.bool() { of_user } else { of_daemon }.to_owned();
        let known = self.model.user_keys().first().map_or(unknown.clone(), |key| key.text.clone());
        match self.random.usize(..7) {
            0 => String::new(),
            1 => "Bearer".to_owned(),
            2 => format!("Basic {known}"),
            3 => format!("Bearer {}", known.to_lowercase()),
            4 => format!("Bearer {known}0"),
            5 if !self.lost.is_empty() => format!("Bearer {}", self.random.choose(self.lost)),
            _ => format!("Bearer {unknown}"),
        }
    }

    fn bad_session(&mut self) -> String {
        match self.random.usize(..3) {
            0 => "x".to_owned(),
            1 if !self.lost.is_empty() => self.random.choose(self.lost),
            _ => {
                let mut id = [0; 32];
                self.random.fill(&mut id);
                Base64UrlUnpadded::encode_string(&id)
            }
        }
    }

    /// Returns a caller as the host application supplies it, usually an existing user. Because the service trusts the
    /// application, the caller may also have another organization, another level, or foreign networks.
    fn supplied_caller(&mut self) -> Caller {
        let user = self.random.choice(&self.model.users).unwrap();
        let mut caller = Caller {
            organization: user.organization,
            user: user.id,
            level: user.level,
            networks: granted(user),
            by: By::Host,
        };
        match self.random.usize(..6) {
            0 => caller.organization = self.random.choose(&ids(&self.model.organizations)),
            1 => caller.user = NOBODY,
            2 => caller.level = self.random.choose(&LEVELS),
            3 => caller.networks = Some(self.random.some_of(&ids(&self.model.networks))),
            _ => {}
        }
        caller
    }
}

fn reaches_host(caller: &Caller, host: &Host) -> bool {
    caller.organization == host.organization && caller.reaches(host.network)
}
