//! How the records of the inventory lie in a store: their kinds, and the names under which they are found.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Error;
use crate::model::Timestamp;
use crate::store::{
    Direction, Facets, Key, Link, LinkFilter, Name, Order, Query, Record, SortKey, UniqueKey,
};

pub(super) const ORGANIZATION: Name = Name::new("organization");
pub(super) const USER: Name = Name::new("user");
/// The hash of a user's password, under the user's id.
pub(super) const PASSWORD: Name = Name::new("password");
pub(super) const NETWORK: Name = Name::new("network");
pub(super) const TAG: Name = Name::new("tag");
pub(super) const USER_API_KEY: Name = Name::new("user_api_key");
/// What verifies an API key, under the key's id: a record of its own, so that no response is ever made from it.
pub(super) const KEY_SECRET: Name = Name::new("key_secret");
/// When an API key was last used, under the key's id.
pub(super) const KEY_USE: Name = Name::new("key_use");
pub(super) const DAEMON_API_KEY: Name = Name::new("daemon_api_key");
pub(super) const SESSION: Name = Name::new("session");
pub(super) const SHARE: Name = Name::new("share");
/// The hash of a share's password, under the share's id.
pub(super) const SHARE_PASSWORD: Name = Name::new("share_password");
pub(super) const REFERRAL: Name = Name::new("referral");
pub(super) const HOST: Name = Name::new("host");

/// The e-mail address of a user, in the form in which addresses are compared.
pub(super) const EMAIL_UNIQUE_KEY: Name = Name::new("email");
/// The half of a key's digest under which it is looked up.
pub(super) const DIGEST_UNIQUE_KEY: Name = Name::new("digest");
/// The half of a session id's digest under which it is looked up.
pub(super) const SESSION_UNIQUE_KEY: Name = Name::new("session");
/// An organization and a user of it, for what that user said there.
pub(super) const REFERRAL_UNIQUE_KEY: Name = Name::new("referral");
/// A port within its organization, for the host that it is embedded in.
pub(super) const PORT_UNIQUE_KEY: Name = Name::new("port");
/// A service within its organization, for the host that it is embedded in.
pub(super) const SERVICE_UNIQUE_KEY: Name = Name::new("service");

pub(super) const TAG_LINK: Name = Name::new("tag");
pub(super) const SERVICE_TAG_LINK: Name = Name::new("service_tag");
pub(super) const NETWORK_LINK: Name = Name::new("network");
pub(super) const USER_LINK: Name = Name::new("user");
/// From a session to its user: a relation of its own, so that a change can be sure of all the sessions there are.
pub(super) const SESSION_LINK: Name = Name::new("session_of");
/// From a host to the service that virtualizes it.
pub(super) const VIRTUALIZED_BY_LINK: Name = Name::new("virtualized_by");

pub(super) const CREATED_AT: Name = Name::new("created_at");
pub(super) const NAME: Name = Name::new("name");

pub(super) const fn organization_key(id: Uuid) -> Key {
    Key::new(ORGANIZATION, id)
}

pub(super) const fn user_key(id: Uuid) -> Key {
    Key::new(USER, id)
}

pub(super) const fn password_key(id: Uuid) -> Key {
    Key::new(PASSWORD, id)
}

pub(super) const fn network_key(id: Uuid) -> Key {
    Key::new(NETWORK, id)
}

pub(super) const fn tag_key(id: Uuid) -> Key {
    Key::new(TAG, id)
}

pub(super) const fn user_api_key_key(id: Uuid) -> Key {
    Key::new(USER_API_KEY, id)
}

pub(super) const fn daemon_api_key_key(id: Uuid) -> Key {
    Key::new(DAEMON_API_KEY, id)
}

pub(super) const fn secret_key(id: Uuid) -> Key {
    Key::new(KEY_SECRET, id)
}

pub(super) const fn key_use_key(id: Uuid) -> Key {
    Key::new(KEY_USE, id)
}

pub(super) const fn share_key(id: Uuid) -> Key {
    Key::new(SHARE, id)
}

pub(super) const fn share_password_key(id: Uuid) -> Key {
    Key::new(SHARE_PASSWORD, id)
}

pub(super) const fn host_key(id: Uuid) -> Key {
    Key::new(HOST, id)
}

/// The sort key of a time: its microseconds, the sign bit turned so that earlier is smaller as bytes.
pub(super) fn time_key(name: Name, time: Timestamp) -> SortKey {
    SortKey::new(name, (time.unix_micros() ^ i64::MIN).to_be_bytes())
}

/// The facets that all records of an organization have.
pub(super) fn facets(organization: Uuid, created_at: Timestamp) -> Facets {
    Facets {
        organization: Some(organization),
        sort_keys: vec![time_key(CREATED_AT, created_at)],
        ..Facets::default()
    }
}

/// The records of a kind that an organization has, the oldest first.
pub(super) fn all_of(kind: Name, organization: Uuid) -> Query {
    let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
    Query { organization: Some(organization), order, ..Query::new(kind) }
}

/// The records of a kind that an organization has and that refer to another record.
pub(super) fn linked(kind: Name, organization: Uuid, link: Link) -> Query {
    let filter = LinkFilter { relation: link.relation, targets: vec![link.target] };
    Query { links: vec![filter], ..all_of(kind, organization) }
}

/// The records of a kind that an organization has on a network, by id.
pub(super) fn on_network(kind: Name, organization: Uuid, network: Uuid) -> Query {
    Query { organization: Some(organization), networks: Some(vec![network]), ..Query::new(kind) }
}

pub(super) fn links(relation: Name, targets: &[Uuid]) -> impl Iterator<Item = Link> + '_ {
    targets.iter().map(move |target| Link::new(relation, *target))
}

/// The unique key of a part of a host, such as a port, within its organization.
///
/// A part of another organization resolves like one that does not exist: without reading the foreign host. A digest takes
/// the place of the two ids because unique keys stay in memory, and half as long a key is enough.
pub(super) fn part_unique_key(name: Name, organization: Uuid, id: Uuid) -> UniqueKey {
    let digest = Sha256::new().chain_update(organization).chain_update(id).finalize();
    UniqueKey::new(name, digest.first_chunk::<16>().map_or(digest.as_slice(), <[u8; 16]>::as_slice))
}

pub(super) fn encode(value: &impl Serialize) -> Result<Bytes, Error> {
    serde_json::to_vec(value).map(|body| body.into_boxed_slice().into()).map_err(Error::internal)
}

pub(super) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, &record.body)
}

/// Decodes what the body of a record holds.
pub(super) fn decode_text<T: DeserializeOwned>(key: Key, text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|error| damaged(key, &error))
}

/// A record that was written by this crate and cannot be read by it.
fn damaged(key: Key, error: &serde_json::Error) -> Error {
    // Without serde's own text: it may quote what is in the record.
    Error::internal(format!(
        "the {key} cannot be read: {:?} error at column {}",
        error.classify(),
        error.column()
    ))
}
