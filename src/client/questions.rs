//! Questions about the links of a network.

use form_urlencoded::Serializer;

use super::call::ClientCall;
use super::{Client, ClientError, HttpService};
use crate::model::NetworkId;
use crate::topology::paths::{
    Fragile, FragileQuery, Impact, ImpactQuery, LocateTarget, Location, Paths, VlanList, VlanQuery,
};

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
}
