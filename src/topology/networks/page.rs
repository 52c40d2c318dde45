//! The choice between devices and overview for the page of a network, by the size of names.

use std::collections::BTreeSet;

use super::Topologies;
use super::drawing::{Drawing, Placement};
use super::state::NetworkState;
use crate::inventory::Error;
use crate::model::{NetworkId, OrganizationId};
use crate::topology::graph::{Detail, Graph, GraphOptions, Positions, SCREEN, lay_out};

impl Topologies {
    /// Draws the graph for the page of a network and returns the result of `finish` for it. Access to the network must have been
    /// checked.
    ///
    /// It is the overview if the names of devices would be too small on a page, unless the options say what to draw.
    pub(crate) async fn drawn_for_page<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        mut options: GraphOptions,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        if options.detail.is_none() && options.collapse {
            options.detail = Some(self.detail_of_page(organization, network, &options).await?);
        }
        self.drawn(organization, network, options, Placement::Remembered, finish).await
    }

    async fn detail_of_page(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        options: &GraphOptions,
    ) -> Result<Detail, Error> {
        // Unfolding or moving nodes must not change this choice.
        let folded = GraphOptions { expand: BTreeSet::new(), ..options.clone() };
        let drawing = self.drawing(organization, network, folded, Placement::Nowhere).await?;
        let choose = move |state: &NetworkState| {
            if drawing.fits_on_screen(state) { Detail::Devices } else { Detail::Overview }
        };
        self.with_network(organization, network, choose).await
    }
}

impl Drawing {
    /// Returns whether the names of the picture are large enough on a page. The layout by which this is found out is not kept.
    fn fits_on_screen(&self, state: &NetworkState) -> bool {
        let mut graph = self.build(state, &self.options, None);
        if !SCREEN.may_hold(&graph) {
            return false;
        }
        lay_out(&mut graph, &Positions::default());
        SCREEN.holds(&graph)
    }
}
