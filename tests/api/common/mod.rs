//! Shared fixtures: a [`World`] of organizations and their records, and a [`Server`] that checks its answers.

mod check;
mod hosts;
mod log;
mod logged;
mod random;
mod server;
mod switched;
mod watched;
mod world;
mod yielding;

pub(crate) use check::CODES;
pub(crate) use hosts::{address, at, guest, host, interface, service};
pub(crate) use log::Log;
pub(crate) use logged::Logged;
pub(crate) use random::SplitMix64;
pub(crate) use server::{Reply, Server, VERSION, ample, bare, get, send_json, with_key, with_session};
pub(crate) use switched::Switched;
pub(crate) use watched::Watched;
pub(crate) use world::{PASSWORD, Site, World, cheap_passwords, key_for};
pub(crate) use yielding::Yielding;

use uuid::Uuid;

/// An id that no record has.
pub(crate) const NOBODY: Uuid = Uuid::from_u128(0xdead_0000_0000_4000_8000_0000_0000_beef);

/// The networks of the home organization, which most tests use.
pub(crate) const OFFICE: Uuid = Uuid::from_u128(0x100);
pub(crate) const LAB: Uuid = Uuid::from_u128(0x101);
pub(crate) const VAULT: Uuid = Uuid::from_u128(0x102);
/// A network of the other organization.
pub(crate) const ELSEWHERE: Uuid = Uuid::from_u128(0x200);
