//! Warnings of a graph about uncertain links.

use std::collections::BTreeMap;

use super::arrange::text::cut_text;
use super::context::Context;
use super::draft::Draft;
use super::shape::Warning;
use crate::model::HostId;
use crate::topology::links::LinkWarning;

/// Maximum number of warnings with one code. `more_warnings` counts the others.
const MAX_OF_CODE: usize = 20;

/// Adds the warnings about links of hosts that the graph may show.
pub(super) fn add_warnings(context: &Context<'_>, draft: &mut Draft) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut more = 0_usize;
    for (code, params) in context.input.warnings.iter().filter_map(|warning| described(warning, context)) {
        let count = counts.entry(code).or_default();
        if *count == MAX_OF_CODE {
            more = more.saturating_add(1);
            continue;
        }
        *count = count.saturating_add(1);
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        draft.warnings.push(Warning { code: code.to_owned(), params });
    }
    draft.warn_count("more_warnings", more);
}

/// Returns the code and the parameters of a warning. `None` if it is about hosts that are not shown.
fn described(
    warning: &LinkWarning,
    context: &Context<'_>,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let shown = |id: &HostId| context.hosts.contains_key(id).then(|| ("host_id", id.to_string()));
    Some(match warning {
        LinkWarning::DuplicateChassisId { chassis_id, host_ids } => {
            let host = host_ids.iter().find_map(shown)?;
            let count = ("count", host_ids.len().to_string());
            ("duplicate_chassis_id", vec![host, ("chassis_id", chassis_id.clone()), count])
        }
        LinkWarning::AmbiguousNeighbor { host_id, if_entry_id, names } => {
            let port = if_entry_id.map(|id| ("if_entry_id", id.to_string()));
            let params = [shown(host_id)?, ("names", cut_text(names))];
            ("ambiguous_neighbor", params.into_iter().chain(port).collect())
        }
        LinkWarning::TruncatedTable { host_id, kind } => {
            ("truncated_table", vec![shown(host_id)?, ("table", kind.as_str().to_owned())])
        }
        LinkWarning::TooManyBridges { host_id, if_entry_id, count } => {
            let port = if_entry_id.map(|id| ("if_entry_id", id.to_string()));
            let params = [shown(host_id)?, ("count", count.to_string())];
            ("too_many_bridges", params.into_iter().chain(port).collect())
        }
    })
}
