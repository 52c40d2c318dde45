use serde::Serialize;

use super::response::{Reply, Responder};
use crate::wire::{API_VERSION, ApiError, read_no_query};

#[derive(Serialize)]
struct Versions<'a> {
    api_version: u32,
    server_version: &'a str,
}

/// `GET /api/version`.
pub(super) fn get(responder: &Responder, query: Option<&str>) -> Result<Reply, ApiError> {
    read_no_query(query)?;
    responder.value(Versions { api_version: API_VERSION, server_version: responder.server_version() })
}
