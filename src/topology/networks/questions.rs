//! Questions about the links of a network.

use super::Topologies;
use super::state::NetworkState;
use crate::access::Caller;
use crate::inventory::{Entity, Error, ErrorKind, Problem};
use crate::model::{LinkId, NetworkId, NodeId};
use crate::topology::paths::{
    Fragile, FragileQuery, Impact, ImpactQuery, LocateTarget, Location, LookupError, PathQuery, Paths,
    UnknownIdError, VlanList, VlanQuery,
};

impl Topologies {
    /// Returns the consequences in a network if nodes and links fail at the same time. Every level may read.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `NotFound` for an id that no node or link of the network has,
    /// `NotNamed` for a location without a host.
    pub async fn impact(
        &self,
        caller: &Caller,
        network: NetworkId,
        query: ImpactQuery,
    ) -> Result<Impact, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| {
            let index = state.index(network);
            if let Some(name) = query.locations.iter().find(|location| !index.has_location(location)) {
                return Err(ErrorKind::NotNamed { entity: Entity::Location, name: name.clone() }.into());
            }
            let found = index.impact(&query);
            found.map_err(|error| unknown_id(error, query.edges.contains(&LinkId::from(error.id))))
        };
        self.with_network(caller.organization_id(), network, ask).await?
    }

    /// Returns the devices and links of a network that must not fail. Every level may read.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph).
    pub async fn fragile(
        &self,
        caller: &Caller,
        network: NetworkId,
        query: FragileQuery,
    ) -> Result<Fragile, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| state.index(network).fragile(&query);
        self.with_network(caller.organization_id(), network, ask).await
    }

    /// Returns the shortest paths between two nodes of a network. Every level may read.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `NotFound` for an id that no node of the network has.
    pub async fn paths(&self, caller: &Caller, network: NetworkId, query: PathQuery) -> Result<Paths, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| {
            let found = state.index(network).paths(&query, |id| state.links.get(id));
            found.map_err(|error| unknown_id(error, false))
        };
        self.with_network(caller.organization_id(), network, ask).await?
    }

    /// Returns the ports at which a device is connected to a network. Every level may read.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `NotNamed` if nothing has the address or the name, `Invalid` if several
    /// hosts have the name.
    pub async fn locate(
        &self,
        caller: &Caller,
        network: NetworkId,
        target: LocateTarget,
    ) -> Result<Location, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| {
            let (field, text) = match &target {
                LocateTarget::Mac(mac) => ("mac", mac.to_string()),
                LocateTarget::Ip(ip) => ("ip", ip.to_string()),
                LocateTarget::Name(name) => ("name", name.clone()),
            };
            state.index(network).locate(&state.links, &target).map_err(|error| not_one(error, field, &text))
        };
        self.with_network(caller.organization_id(), network, ask).await?
    }

    /// Returns the VLANs of a network. Every level may read.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph).
    pub async fn vlans(
        &self,
        caller: &Caller,
        network: NetworkId,
        query: VlanQuery,
    ) -> Result<VlanList, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| state.index(network).vlans(&state.links, &query);
        self.with_network(caller.organization_id(), network, ask).await
    }

    /// Returns the nodes of a network that texts name: each by its id, or else an address, or else a name. The first of each pair
    /// names the field of the text in errors.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `NotNamed` for a text that names no node, `Invalid` for one that names several.
    pub async fn find_nodes(
        &self,
        caller: &Caller,
        network: NetworkId,
        texts: Vec<(&'static str, String)>,
    ) -> Result<Vec<NodeId>, Error> {
        self.inventory.require_network(caller, network).await?;
        let ask = move |state: &NetworkState| {
            let index = state.index(network);
            let find = |(field, text): &(&str, String)| {
                index.find(text).map_err(|error| not_one(error, field, text))
            };
            texts.iter().map(find).collect()
        };
        self.with_network(caller.organization_id(), network, ask).await?
    }
}

fn unknown_id(error: UnknownIdError, is_link: bool) -> Error {
    let entity = if is_link { Entity::TopologyLink } else { Entity::Host };
    ErrorKind::NotFound { entity, id: error.id }.into()
}

fn not_one(error: LookupError, field: &str, text: &str) -> Error {
    match error {
        LookupError::NotFound => ErrorKind::NotNamed { entity: Entity::Host, name: text.to_owned() }.into(),
        LookupError::Ambiguous { candidates } => {
            let candidates = candidates.into_iter().map(NodeId::uuid).collect();
            Error::invalid(field, Problem::Ambiguous { candidates })
        }
    }
}
