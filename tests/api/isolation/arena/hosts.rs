//! Random hosts.

use toposcope::model::Host as StoredHost;
use uuid::Uuid;

use super::Arena;
use crate::isolation::json;
use crate::isolation::records::{Binding, Entry, Host, Interface, NUMBERS, Port, Service};

const ADDRESSES: [&str; 4] = ["10.0.0.9", "10.0.0.10", "9.9.9.9", "2001:db8::1"];

impl Arena {
    /// Puts a host, either a new one or a replacement.
    pub(super) async fn put_host(&mut self, organization: Uuid, network: Uuid, replaced: Option<Uuid>) {
        let mut host = self.random_host(organization, network);
        if let Some(before) = replaced.and_then(|id| self.model.host(id)) {
            (host.id, host.created_at) = (before.id, before.created_at);
        }
        self.know_parts(&host);
        let stored: StoredHost = serde_json::from_value(json::host(&host)).unwrap();
        self.inventory.put_host(organization, stored).await.unwrap();
        self.model.hosts.retain(|known| known.id != host.id);
        self.model.hosts.push(host);
    }

    fn random_host(&mut self, organization: Uuid, network: Uuid) -> Host {
        let now = self.model.now;
        let tags = self.model.tags_of(organization);
        let services: Vec<Uuid> =
            self.model.hosts.iter().flat_map(|host| &host.services).map(|service| service.id).collect();
        // A client may name a service of another organization.
        let runs_on = (self.random.once_in(3) && !services.is_empty()).then(|| self.random.choose(&services));
        let mut host = Host {
            id: self.new_id(),
            organization,
            network,
            name: self.text(organization, "host"),
            hostname: self.random.once_in(2).then(|| self.text(organization, "hostname")),
            hidden: self.random.once_in(4),
            tags: self.random.some_of(&tags),
            runs_on,
            credential: self.random.once_in(4).then(|| self.new_id()),
            interfaces: vec![],
            ports: vec![],
            services: vec![],
            entries: vec![],
            created_at: now,
            updated_at: now,
        };
        self.add_parts(&mut host, &tags);
        host
    }

    fn add_parts(&mut self, host: &mut Host, tags: &[Uuid]) {
        for _ in 0..self.random.below(3) {
            let name = self.text(host.organization, "interface");
            let address = self.random.choose(&ADDRESSES).parse().unwrap();
            let position = i64::from(self.random.once_in(2));
            host.interfaces.push(Interface { id: self.new_id(), name, address, position });
        }
        for _ in 0..1 + self.random.below(3) {
            let (number, protocol) = (self.random.choose(&NUMBERS), self.random.choose(&["Tcp", "Udp"]));
            if !host.ports.iter().any(|port| (port.number, port.protocol) == (number, protocol)) {
                let (created_at, updated_at) = (host.created_at, host.created_at);
                host.ports.push(Port { id: self.new_id(), number, protocol, created_at, updated_at });
            }
        }
        for _ in 0..self.random.below(3) {
            let service = self.random_service(host, tags);
            host.services.push(service);
        }
        if self.random.once_in(3) {
            let alias = self.text(host.organization, "alias");
            let mut own = self.model.hosts.iter().filter(|other| other.organization == host.organization);
            let neighbor = own.next_back().map(|other| other.id);
            host.entries.push(Entry { id: self.new_id(), index: 1, alias, neighbor });
        }
    }

    fn random_service(&mut self, host: &Host, tags: &[Uuid]) -> Service {
        let mut bindings = vec![];
        if self.random.once_in(2) {
            let port = self.random.choose(&host.ports).id;
            bindings.push(Binding { id: self.new_id(), port: Some(port), interface: None });
        }
        if let Some(interface) = host.interfaces.first().filter(|_| self.random.once_in(2)) {
            bindings.push(Binding { id: self.new_id(), port: None, interface: Some(interface.id) });
        }
        Service {
            id: self.new_id(),
            name: self.text(host.organization, "service"),
            position: i64::from(self.random.once_in(2)),
            tags: self.random.some_of(tags),
            bindings,
        }
    }

    fn know_parts(&mut self, host: &Host) {
        let parts = host.interfaces.iter().map(|part| part.id);
        let parts = parts.chain(host.ports.iter().map(|part| part.id));
        let parts = parts.chain(host.services.iter().map(|part| part.id));
        let bindings = host.services.iter().flat_map(|service| &service.bindings);
        let parts = parts.chain(bindings.map(|part| part.id));
        let parts = parts.chain(host.entries.iter().map(|part| part.id));
        for id in parts.chain(host.credential).chain([host.id]) {
            self.leaks.own(id, host.organization);
        }
        if let Some(service) = host.runs_on {
            self.leaks.note(service, host.organization);
        }
    }

    fn new_id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.random.next(), self.random.next())
    }
}
