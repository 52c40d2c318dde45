//! Random changes through the API.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use fastrand::Rng;
use serde_json::json;
use toposcope::client::{Client, ClientError, ClientErrorKind, HttpService};
use toposcope::model::{
    BindingTarget, Host, HostId, IfEntry, Interface, InterfaceId, Network, Port, PortNumber, Protocol,
    Service, ServiceDefinition, Subnet, Tag,
};
use toposcope::wire::{Atomicity, ChangeQuery, ListQuery};

/// The number of hosts that are created and deleted.
const HOSTS: u128 = 12;

/// The kinds of changes.
const KINDS: [&str; 12] = [
    "hosts in bulk",
    "update of a host",
    "deletion of a host",
    "deletion in bulk",
    "new part",
    "update of a part",
    "deletion of a part",
    "new record",
    "update of a tag",
    "update of a network",
    "deletion of a record",
    "reversion",
];

/// The number of changes among which there are some of each kind.
const MAX_STEPS: usize = 5_000;

/// Changes an inventory at random.
pub struct Changes<S> {
    client: Client<S>,
    random: Rng,
    number: u32,
    /// The kinds of changes that were made.
    made: BTreeSet<&'static str>,
}

impl<S: HttpService> Changes<S> {
    /// `client` needs a session, because API keys do not change networks.
    pub fn new(client: Client<S>, seed: u64) -> Self {
        Self { client, random: Rng::with_seed(seed), number: 0, made: BTreeSet::new() }
    }

    /// Makes a change. One that the rules forbid in this state is none.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn step(&mut self) -> Result<(), ClientError> {
        self.number += 1;
        let kind = KINDS[self.random.usize(..KINDS.len())];
        match self.change(kind).await {
            Ok(true) => drop(self.made.insert(kind)),
            Ok(false) => {}
            Err(error)
                if error.kind() == ClientErrorKind::Api
                    && error.status().is_some_and(|s| s.as_u16() < 500) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Makes changes until there were some of each kind.
    ///
    /// # Errors
    /// If the server cannot be reached.
    ///
    /// # Panics
    /// If a kind is not among many changes.
    pub async fn make_all(&mut self) -> Result<(), ClientError> {
        for _ in 0..MAX_STEPS {
            if KINDS.iter().all(|kind| self.made.contains(kind)) {
                return Ok(());
            }
            self.step().await?;
        }
        self.assert_made_all();
        Ok(())
    }

    /// Asserts that there were changes of each kind.
    pub fn assert_made_all(&self) {
        let missing: Vec<_> = KINDS.iter().filter(|kind| !self.made.contains(*kind)).collect();
        assert!(missing.is_empty(), "never made: {missing:?}");
    }

    /// Returns whether there was a record to change.
    async fn change(&mut self, kind: &str) -> Result<bool, ClientError> {
        match kind {
            "hosts in bulk" => {
                let mut hosts = Vec::new();
                for _ in 0..self.random.usize(1..6) {
                    hosts.push(self.new_host().await?);
                }
                hosts.dedup_by_key(|host| host.id);
                drop(self.client.put_hosts(&hosts, Atomicity::PerHost).await?);
            }
            "deletion of a host" => {
                let id = self.host_id();
                self.client.delete::<Host>(id, None).await?;
            }
            "deletion in bulk" => {
                let ids = [self.host_id(), self.host_id(), self.host_id()];
                return Ok(self.client.delete_many::<Host>(&ids).await? > 0);
            }
            "new record" => self.create_record().await?,
            "deletion of a record" => return self.delete_record().await,
            "update of a tag" => {
                let Some(mut tag) = self.any::<Tag>().await? else { return Ok(false) };
                tag.description = self.random.bool().then(|| self.text("about"));
                tag.name = self.text("tag");
                drop(self.client.update(&tag, None).await?);
            }
            "update of a network" => {
                let Some(mut network) = self.any::<Network>().await? else { return Ok(false) };
                network.name = self.text("network");
                network.custom.clear();
                if self.random.bool() {
                    network.custom.insert("a.b".to_owned(), json!({"number": self.number, "nothing": null}));
                }
                drop(self.client.update(&network, None).await?);
            }
            kind => return self.change_host(kind).await,
        }
        Ok(true)
    }

    async fn create_record(&mut self) -> Result<(), ClientError> {
        match self.random.u8(..5) {
            0 => drop(self.client.create(&Network::new(self.text("network"))).await?),
            1 | 2 => drop(self.client.create(&Tag::new(self.text("tag"))).await?),
            _ => {
                let Some(network) = self.any::<Network>().await? else { return Ok(()) };
                let cidr =
                    format!("10.{}.0.0/{}", self.random.u8(..4), self.random.u8(16..20)).parse().unwrap();
                drop(self.client.create(&Subnet::new(network.id, self.text("subnet"), cidr)).await?);
            }
        }
        Ok(())
    }

    async fn delete_record(&mut self) -> Result<bool, ClientError> {
        match self.random.u8(..3) {
            0 => {
                let Some(tag) = self.any::<Tag>().await? else { return Ok(false) };
                self.client.delete::<Tag>(tag.id, None).await?;
            }
            1 => {
                let Some(subnet) = self.any::<Subnet>().await? else { return Ok(false) };
                self.client.delete::<Subnet>(subnet.id, None).await?;
            }
            _ => {
                let Some(network) = self.any::<Network>().await? else { return Ok(false) };
                self.client.delete::<Network>(network.id, None).await?;
            }
        }
        Ok(true)
    }

    async fn change_host(&mut self, kind: &str) -> Result<bool, ClientError> {
        let id = self.host_id();
        let mut host = self.client.get::<Host>(id).await?.record;
        match kind {
            "update of a host" => {
                self.vary(&mut host).await?;
                drop(self.client.update(&host, None).await?);
            }
            "new part" => match self.random.bool() {
                true => {
                    let mut interface = Interface::new(&host, self.address().into());
                    interface.id = InterfaceId::nil();
                    drop(self.client.create(&interface).await?);
                }
                false => {
                    let port = Port::new(&host, self.port(), Protocol::Udp);
                    drop(self.client.create(&port).await?);
                }
            },
            "update of a part" => {
                if host.interfaces.is_empty() {
                    return Ok(false);
                }
                let mut interface = host.interfaces.swap_remove(self.random.usize(..host.interfaces.len()));
                interface.name = self.random.bool().then(|| self.text("interface"));
                interface.ip_address = self.address().into();
                drop(self.client.update(&interface, None).await?);
            }
            "deletion of a part" => match (host.interfaces.pop(), host.ports.pop()) {
                (_, Some(port)) => self.client.delete::<Port>(port.id, None).await?,
                (Some(interface), None) => self.client.delete::<Interface>(interface.id, None).await?,
                (None, None) => return Ok(false),
            },
            "reversion" => {
                let changes = self.client.history::<Host>(id, &ChangeQuery::default()).await?.changes;
                let place = self.random.usize(..changes.len());
                drop(self.client.revert::<Host>(id, &changes[place].position, None).await?);
            }
            other => unreachable!("{other}"),
        }
        Ok(true)
    }

    /// Changes some of everything in a host.
    async fn vary(&mut self, host: &mut Host) -> Result<(), ClientError> {
        host.name = self.text("host");
        host.description = self.random.bool().then(|| self.text("about"));
        host.hostname = self.random.bool().then(|| self.text("name"));
        host.sys_location = self.random.bool().then(|| self.text("room"));
        host.hidden = self.random.bool();
        let tag = self.any::<Tag>().await?;
        host.tags = tag.into_iter().map(|tag| tag.id).collect();
        let name = ["order", "a.b", "field"][self.random.usize(..3)];
        if host.custom.remove(name).is_none() {
            host.custom.insert(name.to_owned(), json!([{"id": "1", "nothing": null}, self.number]));
        }
        match self.random.u8(..4) {
            0 => {
                let count = host.interfaces.len() as i64;
                for (place, interface) in host.interfaces.iter_mut().enumerate() {
                    interface.position = count - place as i64;
                }
            }
            1 => host.if_entries.clear(),
            2 => {
                host.services.clear();
                host.ports.truncate(1);
            }
            _ => *host = self.host_with_parts(host.clone()),
        }
        Ok(())
    }

    async fn new_host(&mut self) -> Result<Host, ClientError> {
        let network = self.any::<Network>().await?.expect("one network always stays");
        let host = Host::with_id(self.host_id(), network.id, self.text("host"));
        Ok(self.host_with_parts(host))
    }

    /// Adds parts of each kind.
    fn host_with_parts(&mut self, mut host: Host) -> Host {
        for _ in 0..self.random.usize(..3) {
            let interface = Interface::new(&host, self.address().into());
            if !host.interfaces.iter().any(|known| known.id == interface.id) {
                host.interfaces.push(interface);
            }
        }
        for index in 1..self.random.i64(1..4) {
            let entry = IfEntry::new(&host, index);
            if !host.if_entries.iter().any(|known| known.id == entry.id) {
                host.if_entries.push(entry);
            }
        }
        let port = Port::new(&host, self.port(), Protocol::Tcp);
        if !host.ports.iter().any(|known| known.id == port.id) {
            let definition = ServiceDefinition::new("Web Service").unwrap();
            let target = BindingTarget::Port { port_id: port.id, interface_id: None };
            host.services.push(Service::new(&host, self.text("service"), definition).bound_to(target));
            host.ports.push(port);
        }
        host
    }

    /// Returns one of the first records of a kind.
    async fn any<T>(&mut self) -> Result<Option<T>, ClientError>
    where
        T: toposcope::client::Collection<Query = ListQuery>,
    {
        let mut query = ListQuery::default();
        query.limit = Some(6);
        let mut records = self.client.list::<T>(&query).await?.records;
        if records.is_empty() {
            return Ok(None);
        }
        Ok(Some(records.swap_remove(self.random.usize(..records.len()))))
    }

    fn host_id(&mut self) -> HostId {
        HostId::from_u128(1 + self.random.u128(..HOSTS))
    }

    fn address(&mut self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.random.u8(..4), self.random.u8(..32), self.random.u8(1..))
    }

    fn port(&mut self) -> PortNumber {
        PortNumber::try_from(1 + self.random.u16(..500)).unwrap()
    }

    fn text(&self, what: &str) -> String {
        format!("{what} {}", self.number)
    }
}
