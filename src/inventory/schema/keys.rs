//! The keys of records that are stored under an id of the model.

use uuid::Uuid;

use super::{
    DAEMON, DAEMON_API_KEY, DISCOVERED_HOSTS, DISCOVERY, HOST, HOST_DISCOVERY, KEY_SECRET, KEY_USE, NETWORK,
    NETWORK_DELETION, ORGANIZATION, ORGANIZATION_DELETION, PASSWORD, REVOCATION, SHARE, SHARE_PASSWORD,
    SHARE_SECRET, SUBNET, TAG, USER, USER_API_KEY,
};
use crate::model::{
    DaemonApiKeyId, DaemonId, DiscoveryId, HostId, NetworkId, OrganizationId, ShareId, SubnetId, TagId,
    UserApiKeyId, UserId,
};
use crate::store::Key;

pub(in crate::inventory) const fn organization_key(id: OrganizationId) -> Key {
    Key::new(ORGANIZATION, id.uuid())
}

pub(in crate::inventory) const fn organization_deletion_key(id: OrganizationId) -> Key {
    Key::new(ORGANIZATION_DELETION, id.uuid())
}

pub(in crate::inventory) const fn revocation_key(user: UserId) -> Key {
    Key::new(REVOCATION, user.uuid())
}

pub(in crate::inventory) const fn user_key(id: UserId) -> Key {
    Key::new(USER, id.uuid())
}

pub(in crate::inventory) const fn password_key(id: UserId) -> Key {
    Key::new(PASSWORD, id.uuid())
}

pub(in crate::inventory) const fn network_key(id: NetworkId) -> Key {
    Key::new(NETWORK, id.uuid())
}

pub(in crate::inventory) const fn network_deletion_key(id: NetworkId) -> Key {
    Key::new(NETWORK_DELETION, id.uuid())
}

pub(in crate::inventory) const fn tag_key(id: TagId) -> Key {
    Key::new(TAG, id.uuid())
}

pub(in crate::inventory) const fn user_api_key_record_key(id: UserApiKeyId) -> Key {
    Key::new(USER_API_KEY, id.uuid())
}

pub(in crate::inventory) const fn daemon_api_key_record_key(id: DaemonApiKeyId) -> Key {
    Key::new(DAEMON_API_KEY, id.uuid())
}

pub(in crate::inventory) const fn key_secret_record_key(id: Uuid) -> Key {
    Key::new(KEY_SECRET, id)
}

pub(in crate::inventory) const fn key_use_record_key(id: Uuid) -> Key {
    Key::new(KEY_USE, id)
}

pub(in crate::inventory) const fn share_key(id: ShareId) -> Key {
    Key::new(SHARE, id.uuid())
}

pub(in crate::inventory) const fn share_secret_key(id: ShareId) -> Key {
    Key::new(SHARE_SECRET, id.uuid())
}

pub(in crate::inventory) const fn share_password_key(id: ShareId) -> Key {
    Key::new(SHARE_PASSWORD, id.uuid())
}

pub(in crate::inventory) const fn host_key(id: HostId) -> Key {
    Key::new(HOST, id.uuid())
}

pub(in crate::inventory) const fn subnet_key(id: SubnetId) -> Key {
    Key::new(SUBNET, id.uuid())
}

pub(in crate::inventory) const fn daemon_record_key(id: DaemonId) -> Key {
    Key::new(DAEMON, id.uuid())
}

pub(in crate::inventory) const fn discovery_key(id: DiscoveryId) -> Key {
    Key::new(DISCOVERY, id.uuid())
}

pub(in crate::inventory) const fn host_discovery_key(host: HostId) -> Key {
    Key::new(HOST_DISCOVERY, host.uuid())
}

pub(in crate::inventory) const fn discovered_hosts_key(network: NetworkId) -> Key {
    Key::new(DISCOVERED_HOSTS, network.uuid())
}
