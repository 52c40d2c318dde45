//! The query of a topology.

use super::history::parsed;
use super::parameters::{MAX_IDS, MAX_TERMS};
use super::query_values::{KnownParameters, QueryValues, invalid_format};
use crate::inventory::{Error, GraphMoments, Problem};
use crate::model::NetworkId;
use crate::service::response::error::ApiError;
use crate::topology::Placement;
use crate::topology::graph::{GraphOptions, GroupBy};
use crate::topology::links::Confidence;
use crate::topology::render::{ColorScheme, Format};

/// Maximum distance of nodes from the focus of a topology.
pub(in crate::service) const MAX_DEPTH: u32 = 100;

/// The smallest and the greatest number of a VLAN.
pub(in crate::service) const MIN_VLAN: u16 = 1;
pub(in crate::service) const MAX_VLAN: u16 = 4_094;

/// The query of a request for a topology.
#[derive(Clone, Debug)]
pub(in crate::service) struct TopologyQuery {
    pub(in crate::service) network_id: NetworkId,
    pub(in crate::service) options: GraphOptions,
    pub(in crate::service) placement: Placement,
    pub(in crate::service) moments: GraphMoments,
    pub(in crate::service) format: Format,
    pub(in crate::service) scheme: ColorScheme,
}

/// Parses the query of a topology.
pub(in crate::service) fn read_topology_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<TopologyQuery, ApiError> {
    let values = QueryValues::read(query, known)?;
    let network_id =
        values.value("network_id")?.ok_or_else(|| Error::invalid("network_id", Problem::Required))?;
    Ok(TopologyQuery {
        network_id,
        options: read_options(&values)?,
        placement: read_placement(&values)?,
        moments: read_moments(&values)?,
        format: values.value("format")?.unwrap_or_default(),
        scheme: values.value("theme")?.unwrap_or_default(),
    })
}

/// Parses the query of the page of a network, whose path names the network.
pub(in crate::service) fn read_page_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(GraphOptions, GraphMoments), ApiError> {
    let values = QueryValues::read(query, known)?;
    Ok((read_options(&values)?, read_moments(&values)?))
}

/// Parses the query that names the containers of a picture.
pub(in crate::service) fn read_grouping(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<GroupBy>, ApiError> {
    QueryValues::read(query, known)?.value("group_by")
}

fn read_placement(values: &QueryValues<'_>) -> Result<Placement, ApiError> {
    let is_tidy = values.flag("tidy")?;
    let is_placed = values.boolean("layout")?.unwrap_or(true);
    Ok(match (is_placed, is_tidy) {
        (false, _) => Placement::Nowhere,
        (true, true) => Placement::Tidy,
        (true, false) => Placement::Remembered,
    })
}

fn read_moments(values: &QueryValues<'_>) -> Result<GraphMoments, ApiError> {
    Ok(GraphMoments { at: parsed(values, "at")?, compare: parsed(values, "compare")? })
}

fn read_options(values: &QueryValues<'_>) -> Result<GraphOptions, ApiError> {
    let mut options = GraphOptions::new(values.value("view")?.unwrap_or_default());
    options.focus = values.value("focus")?;
    // Clients send it with every query. It has a meaning only with a focus.
    options.depth = values.number("depth", MAX_DEPTH)?.unwrap_or(options.depth);
    options.tag_ids = values.list("tag_ids", MAX_IDS)?.unwrap_or_default().into_iter().collect();
    let vlan = values.number_within("vlan", MIN_VLAN.into(), MAX_VLAN.into())?;
    options.vlan = vlan.and_then(|vlan| u16::try_from(vlan).ok());
    options.roles = values.list("role", MAX_TERMS)?.unwrap_or_default().into_iter().collect();
    options.group_by = values.value("group_by")?;
    options.detail = values.value("detail")?;
    options.collapse = values.flag("collapse")?;
    options.expand = values.list("expand", MAX_IDS)?.unwrap_or_default().into_iter().collect();
    if let Some(text) = values.text("min_confidence")? {
        let chosen = Confidence::ALL.iter().find(|confidence| confidence.as_str() == text);
        options.min_confidence = *chosen.ok_or_else(|| invalid_format("min_confidence"))?;
    }
    options.show_stale = values.flag("show_stale")?;
    Ok(options)
}
