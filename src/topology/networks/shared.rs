//! Graphs as shares show them.

use super::Topologies;
use super::revision::revision_of;
use super::state::NetworkState;
use crate::inventory::{Error, OpenShare};
use crate::model::Redaction;
use crate::topology::graph::{Graph, GraphOptions, Positions, Redactor, SensitiveValues, build, lay_out};

impl Topologies {
    /// Draws the graph of a share and returns the result of `finish` for it. The graph has positions.
    ///
    /// All ids are made under the share's secret, and what the share conceals is replaced before anything depends on
    /// it.
    pub(crate) async fn shared<T: Send + 'static>(
        &self,
        open: &OpenShare,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let OpenShare { share, network_id: network, secret } = open;
        let organization = share.organization_id;
        let options = GraphOptions::new(share.view);
        let layout = self.inventory.topology_layout(*network, share.view).await?;
        let (share, network, secret) = (share.clone(), *network, secret.clone());
        let draw = move |state: &NetworkState| {
            let mut graph = build(&state.input(network, &options));
            graph.revision = revision_of(&graph);
            let mut values = SensitiveValues::of(state.hosts(), &share.redact);
            if share.redact.contains(&Redaction::Names) {
                state.subnets().iter().for_each(|subnet| values.insert(&subnet.name));
            }
            let redactor = Redactor::new(|value| secret.code(value), &share.redact, &values);
            let redactor =
                if share.options.show_inspect_panel { redactor } else { redactor.without_evidence() };
            redactor.redact(&mut graph);
            let pins = layout.positions.iter();
            let pinned = pins.map(|node| (redactor.id(node.id), [node.x, node.y])).collect();
            lay_out(&mut graph, &Positions { pinned, ..Positions::default() });
            finish(graph)
        };
        self.with_network(organization, network, draw).await
    }
}
