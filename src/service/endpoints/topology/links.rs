//! Links that users enter, and those that they suppress.

use crate::inventory::{Error, Problem};
use crate::model::TopologyLink;
use crate::service::endpoints::lists;
use crate::service::input::read_list_query;
use crate::service::routes::route::{Call, Pending};

/// `GET /api/v1/topology/links`.
pub(in crate::service) fn list_links(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (query, _) = read_list_query(call.input.query(), &call.route.query)?;
        let network = query.network_id.ok_or_else(|| Error::invalid("network_id", Problem::Required))?;
        let (state, caller) = (call.state, call.caller()?.clone());
        state.inventory.require_network(&caller, network).await?;
        lists::list::<TopologyLink>(call).await
    })
}
