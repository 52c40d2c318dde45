//! Questions about the links and addresses of a network.

use std::net::IpAddr;

use form_urlencoded::Serializer;
use serde::Serialize;

use super::call::ClientCall;
use super::{Client, ClientError, Collection, HttpService};
use crate::model::{NetworkId, Subnet, SubnetId};
use crate::topology::paths::{
    Fragile, FragileQuery, Impact, ImpactQuery, LocateTarget, Location, Paths, VlanList, VlanQuery,
};
use crate::wire::{AddressList, AddressQuery};

const PATH: &str = "/api/v1/topology";

fn query_of(network: NetworkId) -> Serializer<'static, String> {
    let mut query = Serializer::new(String::new());
    query.append_pair("network_id", &network.to_string());
    query
}

impl<S: HttpService> Client<S> {
    /// Returns the ports at which a device is connected.
    ///
    /// # Errors
    /// `entity_not_found` if nothing in the network has the address or the name; `validation_ambiguous` if several hosts have
    /// the name; `entity_access_denied`, `store_unavailable`, `internal_error`.
    pub async fn locate(&self, network: NetworkId, target: &LocateTarget) -> Result<Location, ClientError> {
        let mut query = query_of(network);
        match target {
            LocateTarget::Mac(mac) => query.append_pair("mac", &mac.to_string()),
            LocateTarget::Ip(ip) => query.append_pair("ip", &ip.to_string()),
            LocateTarget::Name(name) => query.append_pair("name", name),
        };
        self.value(ClientCall::get(format!("{PATH}/locate?{}", query.finish()))).await
    }

    /// Returns up to `k` of the shortest paths between two nodes, given by ids, addresses or names.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::NetworkId;
    /// # async fn example<S: HttpService>(client: Client<S>, network: NetworkId) -> Result<(), ClientError> {
    /// let answer = client.paths(network, "pc-7", "192.0.2.9", None, 1).await?;
    /// for hop in answer.paths.iter().flat_map(|path| &path.hops) {
    ///     println!("{}", hop.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`locate`](Self::locate); `validation_out_of_range` unless `k` is 1 to 16.
    pub async fn paths(
        &self,
        network: NetworkId,
        from: &str,
        to: &str,
        vlan: Option<u16>,
        k: usize,
    ) -> Result<Paths, ClientError> {
        let mut query = query_of(network);
        query.append_pair("from", from).append_pair("to", to).append_pair("k", &k.to_string());
        if let Some(vlan) = vlan {
            query.append_pair("vlan", &vlan.to_string());
        }
        self.value(ClientCall::get(format!("{PATH}/path?{}", query.finish()))).await
    }

    /// Returns the consequences if nodes and links fail at the same time.
    ///
    /// # Errors
    /// The errors of [`locate`](Self::locate); `validation_required` if nothing fails.
    pub async fn impact(&self, network: NetworkId, asked: &ImpactQuery) -> Result<Impact, ClientError> {
        let mut query = query_of(network);
        for node in &asked.nodes {
            query.append_pair("node", &node.to_string());
        }
        for edge in &asked.edges {
            query.append_pair("edge", &edge.to_string());
        }
        for location in &asked.locations {
            query.append_pair("location", location);
        }
        for node in &asked.from {
            query.append_pair("from", &node.to_string());
        }
        query.append_pair("limit", &asked.limit.to_string());
        self.value(ClientCall::get(format!("{PATH}/impact?{}", query.finish()))).await
    }

    /// Returns the devices and links of a network that must not fail.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph).
    pub async fn fragile(&self, network: NetworkId, asked: &FragileQuery) -> Result<Fragile, ClientError> {
        let mut query = query_of(network);
        for (name, is_asked) in [("leaves", asked.leaves), ("pairs", asked.pairs)] {
            query.append_pair(name, if is_asked { "true" } else { "false" });
        }
        query.append_pair("limit", &asked.limit.to_string());
        self.value(ClientCall::get(format!("{PATH}/fragile?{}", query.finish()))).await
    }

    /// Returns the VLANs of a network.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph).
    pub async fn vlans(&self, network: NetworkId, asked: &VlanQuery) -> Result<VlanList, ClientError> {
        let mut query = query_of(network);
        if let Some(vlan) = asked.vlan {
            query.append_pair("vlan", &vlan.to_string());
        }
        query.append_pair("limit", &asked.limit.to_string());
        self.value(ClientCall::get(format!("{PATH}/vlans?{}", query.finish()))).await
    }

    /// Returns addresses of a subnet, the lowest first.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::inventory::AddressQuery;
    /// # use toposcope::model::SubnetId;
    /// # async fn example<S: HttpService>(client: Client<S>, subnet: SubnetId) -> Result<(), ClientError> {
    /// let free = client.addresses(subnet, &AddressQuery::free(10)).await?;
    /// println!("{} addresses are free, the first one is {:?}", free.addresses_total, free.addresses.first());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`, `validation_out_of_range`, `answer_too_large`, `store_unavailable`,
    /// `internal_error`.
    pub async fn addresses(
        &self,
        subnet: SubnetId,
        asked: &AddressQuery,
    ) -> Result<AddressList, ClientError> {
        let mut query = Serializer::new(String::new());
        if let Some(state) = asked.state {
            query.append_pair("state", state.as_str());
        }
        query.append_pair("limit", &asked.limit.to_string());
        self.value(ClientCall::get(format!("{}?{}", addresses_of(subnet), query.finish()))).await
    }

    /// Reserves free addresses of a subnet under a name. No address is reserved twice.
    ///
    /// A client [with an idempotency key](Self::with_idempotency_key) may repeat it after a lost answer.
    ///
    /// # Errors
    /// The errors of [`addresses`](Self::addresses); `addresses_exhausted` if the subnet has fewer free addresses;
    /// `auth_permission_denied`, `quota_exceeded`, `entity_conflict`.
    pub async fn reserve_addresses(
        &self,
        subnet: SubnetId,
        count: u32,
        name: &str,
    ) -> Result<AddressList, ClientError> {
        #[derive(Serialize)]
        struct Body<'b> {
            count: u32,
            name: &'b str,
        }
        let call = ClientCall::post(format!("{}/reserve", addresses_of(subnet)));
        self.value(call.json(&Body { count, name })?).await
    }

    /// Releases reserved addresses of a subnet. Returns the released ones, with their present states.
    ///
    /// # Errors
    /// The errors of [`addresses`](Self::addresses); `auth_permission_denied`, `entity_conflict`.
    pub async fn release_addresses(
        &self,
        subnet: SubnetId,
        addresses: &[IpAddr],
    ) -> Result<AddressList, ClientError> {
        #[derive(Serialize)]
        struct Body<'b> {
            addresses: &'b [IpAddr],
        }
        let call = ClientCall::post(format!("{}/release", addresses_of(subnet)));
        self.value(call.json(&Body { addresses })?).await
    }
}

fn addresses_of(subnet: SubnetId) -> String {
    format!("{}/{subnet}/addresses", Subnet::PATH)
}
