//! Shared fixtures for tests of the API.
//!
//! A [`Fixture`] has organizations and their records, and a [`Server`] checks its answers.

mod asked;
mod check;
#[cfg(feature = "openapi")]
mod description;
mod fixture;
mod hook;
mod records;
mod rows;
mod server;
mod under_way;
mod upload;

pub(crate) use check::CODES;
#[cfg(feature = "openapi")]
pub(crate) use description::{openapi_document, validator};
pub(crate) use fixture::{Fixture, PASSWORD, Site, cheap_passwords, key_for};
pub(crate) use hook::{Fault, Hook, InProgress, Unfollowed, WatchedStore};
pub(crate) use records::*;
pub(crate) use rows::{Produced, Row, check, produced_by};
pub(crate) use server::{
    Log, Reply, Server, VERSION, ample, bare, from, get, limit, log_in, send_json, with_caller, with_header,
    with_key, with_session,
};
pub(crate) use under_way::{until, until_commits};
pub(crate) use upload::Upload;

use toposcope::model::NetworkId;
use uuid::Uuid;

/// An id that no record has.
pub(crate) const NOBODY: Uuid = Uuid::from_u128(0xdead_0000_0000_4000_8000_0000_0000_beef);

/// The networks of the home organization, which most tests use.
pub(crate) const OFFICE: NetworkId = NetworkId::from_u128(0x100);
pub(crate) const LAB: NetworkId = NetworkId::from_u128(0x101);
pub(crate) const VAULT: NetworkId = NetworkId::from_u128(0x102);
/// A network of the other organization.
pub(crate) const ELSEWHERE: NetworkId = NetworkId::from_u128(0x200);
