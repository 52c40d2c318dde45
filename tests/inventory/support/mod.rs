//! The fixture of all tests of the inventory, with hosts and hooks.
//!
//! The hosts are put into the fixture's store, and the hooks observe or disturb it.

mod concurrency;
mod fixture;
mod hooks;
mod hosts;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use toposcope::access::{Caller, RandomError, RandomSource, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, Problem};
use toposcope::model::{NetworkId, OrganizationId, Permission, Timestamp, User, UserApiKeyId, UserId};
use uuid::Uuid;

#[cfg(feature = "discovery")]
pub(crate) use concurrency::followed;
pub(crate) use concurrency::{at_every_call, concurrently, settle, with_interference_at_every_call};
pub(crate) use fixture::{Fixture, Foreign, documents, inventory_in};
pub(crate) use hooks::{Fault, Probe};
pub(crate) use hosts::{
    Document, assert_virtualized_by, bare_host, binding, entry, guest_of, id, interface, jsonl,
    numbered_hosts, port, refusal_of_second, rich_host, service, uuid,
};

pub(crate) const NOW: &str = "2026-08-14T12:00:00Z";

pub(crate) const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

/// The password of all users who can log in.
pub(crate) const PASSWORD: &str = "correct horse";

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// Returns a caller who sees all of an organization.
pub(crate) fn owner_of(organization: OrganizationId) -> Caller {
    Caller::new(organization, UserId::from_u128(0xca11e4), Permission::Owner, Scope::all())
}

/// Returns the user as a caller with a session and all rights of the user.
pub(crate) fn in_person(user: &User) -> Caller {
    let scope = Scope::granted(user.permissions, user.network_ids.iter().copied());
    Caller::new(user.organization_id, user.id, user.permissions, scope).through_session()
}

/// Returns the user as a caller with an API key that restricts no rights.
pub(crate) fn through_a_key(user: &User) -> Caller {
    let networks = user.network_ids.iter().copied();
    in_person(user).through_key(UserApiKeyId::from_u128(0x6e1), user.permissions, networks)
}

/// Returns why an operation was refused.
#[track_caller]
pub(crate) fn refusal<T: fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    match result {
        Ok(value) => panic!("this should have been refused: {value:?}"),
        Err(error) => error.kind().clone(),
    }
}

pub(crate) fn invalid(field: &str, problem: Problem) -> ErrorKind {
    ErrorKind::Invalid { field: field.to_owned(), problem }
}

pub(crate) fn not_found(entity: Entity, id: impl Into<Uuid>) -> ErrorKind {
    ErrorKind::NotFound { entity, id: id.into() }
}

pub(crate) fn reference_invalid(entity: Entity, field: &str) -> ErrorKind {
    ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }
}

pub(crate) fn already_exists(entity: Entity, name: &(impl ToString + ?Sized)) -> ErrorKind {
    ErrorKind::AlreadyExists { entity, name: name.to_string() }
}

pub(crate) fn in_use(entity: Entity, name: &str, used_by: Entity) -> ErrorKind {
    ErrorKind::InUse { entity, name: name.to_owned(), used_by }
}

pub(crate) fn access_denied(network: NetworkId) -> ErrorKind {
    ErrorKind::AccessDenied { entity: Entity::Network, id: network.uuid() }
}

/// A reproducible source of ids and secrets.
#[derive(Debug, Default)]
pub(crate) struct Seeded(AtomicU64);

impl RandomSource for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        fastrand::Rng::with_seed(self.0.fetch_add(1, Ordering::Relaxed)).fill(bytes);
        Ok(())
    }
}
