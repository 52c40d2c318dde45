//! The endpoints with which users give work to discovery daemons.

use crate::inventory::NewDiscovery;
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::entity_tag::EntityTag;
use crate::service::routes::route::{Call, Pending};

/// `POST /api/v1/discoveries`.
pub(in crate::service) fn create_discovery(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let mut new = NewDiscovery::new(fields.required("network_id")?);
        new.daemon_id = fields.optional("daemon_id")?;
        new.discovery_type = fields.optional("type")?.unwrap_or(new.discovery_type);
        new.subnet_ids = fields.optional("subnet_ids")?;
        let discovery = call.state.inventory.create_discovery_as(&caller, new).await?;
        let tag = EntityTag::of_record(&discovery)?;
        call.state.responder.record(&discovery, tag)
    })
}

/// `POST /api/v1/discoveries/{id}/cancel`.
pub(in crate::service) fn cancel_discovery(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let state = call.state;
        let discovery = state.inventory.cancel_discovery_as(&call.into_caller()?, id).await?;
        let tag = EntityTag::of_record(&discovery)?;
        state.responder.record(&discovery, tag)
    })
}
