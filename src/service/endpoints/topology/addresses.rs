//! The addresses of subnets.

use std::net::IpAddr;

use super::questions::answer;
use crate::access::Caller;
use crate::inventory::{Inventory, MAX_RESERVED};
use crate::model::SubnetId;
use crate::service::input::{Fields, read_addresses_query, read_id};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::routes::route::{Call, Pending};
use crate::wire::AddressList;

/// The size of an address in an answer, in bytes, with the longest name.
const BYTES_PER_ADDRESS: usize = 1_024;

/// `GET /api/v1/subnets/{id}/addresses`.
pub(in crate::service) fn list_addresses(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: SubnetId = read_id(&call.path)?;
        let query = read_addresses_query(call.input.request.uri.query(), &call.route.query)?;
        let (state, request) = (call.state, call.input.request);
        let caller = call.into_caller()?;
        let organization = caller.organization_id();
        // The answer that the client has already is of use only if it may still see the subnet.
        state.inventory.subnets().get(&caller, id).await?;
        let revision = state.inventory.addresses_revision(organization).await?;
        let version = state.responder.server_version();
        let tag = revision
            .and_then(|revision| EntityTag::of_topology(revision.numbers(), organization, request, version));
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        let found = state.inventory.addresses().list(&caller, id, query).await?;
        answer(state, &found, tag)
    })
}

/// `POST /api/v1/subnets/{id}/addresses/reserve`.
pub(in crate::service) fn reserve_addresses(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: SubnetId = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (count, name): (u32, String) = (fields.required("count")?, fields.required("name")?);
        call.input.room.answer().reserve(count.min(MAX_RESERVED) as usize * BYTES_PER_ADDRESS)?;
        let sender: &Caller = &caller;
        let reserve = |inventory: Inventory| async move {
            inventory.addresses().reserve(sender, id, count, &name).await
        };
        let respond = |reserved: &AddressList| call.state.responder.value(reserved);
        call.repeatable().once(&caller, &body, reserve, respond).await
    })
}

/// `POST /api/v1/subnets/{id}/addresses/release`.
pub(in crate::service) fn release_addresses(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: SubnetId = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let addresses: Vec<IpAddr> = Fields::read(&body, call.route.body)?.required("addresses")?;
        let released = call.state.inventory.addresses().release(&caller, id, &addresses).await?;
        call.state.responder.value(&released)
    })
}
