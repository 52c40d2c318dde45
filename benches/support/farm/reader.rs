//! The user by whom networks are read over SNMPv3.

use async_snmp::{AuthProtocol, PrivProtocol};
use toposcope::collect::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use super::usm::FarmUser;

/// Returns a user with authentication and privacy, as the agents know it and as a secret.
pub(crate) fn reader() -> (FarmUser, SnmpSecret) {
    let [authentication, privacy] = ["the authentication", "the private key"];
    let farm_user = FarmUser::new(
        "reader",
        Some((AuthProtocol::Sha256, authentication)),
        Some((PrivProtocol::Aes128, privacy)),
    );
    let user = SnmpUser::new("reader")
        .authentication(SnmpAuthentication::Sha256, authentication)
        .privacy(SnmpPrivacy::Aes128, privacy);
    (farm_user, SnmpSecret::v3(user))
}
