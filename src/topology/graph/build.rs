use super::GraphInput;
use super::arrange::size;
use super::context::Context;
use super::focus::focus;
use super::fold::fold;
use super::limit::limit;
use super::shape::{Bounds, Graph};
use super::views::{l2, l3, workloads};
use crate::model::TopologyView;

/// Selects what a view shows of a network. The nodes have extents, but no positions.
#[must_use]
pub fn build(input: &GraphInput<'_>) -> Graph {
    let context = Context::new(input);
    let mut draft = match input.options.view {
        TopologyView::L2 => l2::draft(&context),
        TopologyView::L3 => l3::draft(&context),
        TopologyView::Workloads => workloads::draft(&context),
    };
    draft.hidden.stale = context.hidden_stale;
    draft.spread_staleness();
    if let Some(id) = input.options.focus {
        focus(&mut draft, id, input.options.depth);
    }
    fold(&mut draft, input.options);
    limit(&mut draft, input.options);
    let (mut nodes, edges, hidden, warnings) = draft.into_parts();
    size::measure(&mut nodes);
    Graph {
        network_id: Some(input.network_id),
        view: input.options.view,
        revision: input.revision.to_owned(),
        observed_at: input.observed_at,
        bounds: Bounds::default(),
        nodes,
        edges,
        hidden,
        warnings,
    }
}
