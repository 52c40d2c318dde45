use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use async_snmp::{AuthProtocol, MasterKeys, PrivProtocol};
use zeroize::Zeroizing;

use super::snmp::SnmpRefusal;

/// The credentials for an SNMP agent: a community, or a user with passwords.
///
/// It is never part of a `Debug` output, an error or a report, and its bytes are zeroized when it is dropped.
#[derive(Clone)]
pub struct SnmpSecret {
    pub(super) kind: SecretKind,
}

#[derive(Clone)]
pub(super) enum SecretKind {
    V1(Zeroizing<Vec<u8>>),
    V2c(Zeroizing<Vec<u8>>),
    User(Arc<SnmpUser>),
}

impl SnmpSecret {
    /// A community for SNMPv2c.
    #[must_use]
    pub fn v2c(community: impl Into<Vec<u8>>) -> Self {
        Self { kind: SecretKind::V2c(Zeroizing::new(community.into())) }
    }

    /// A community for SNMPv1.
    #[must_use]
    pub fn v1(community: impl Into<Vec<u8>>) -> Self {
        Self { kind: SecretKind::V1(Zeroizing::new(community.into())) }
    }

    /// A user of SNMPv3.
    #[must_use]
    pub fn v3(user: SnmpUser) -> Self {
        Self { kind: SecretKind::User(Arc::new(user)) }
    }

    /// Returns whether this is a user of SNMPv3.
    #[must_use]
    pub const fn is_v3(&self) -> bool {
        matches!(self.kind, SecretKind::User(_))
    }

    /// Returns whether both are the same community or user.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (SecretKind::V1(one), SecretKind::V1(other)) | (SecretKind::V2c(one), SecretKind::V2c(other)) => {
                one == other
            }
            (SecretKind::User(one), SecretKind::User(other)) => {
                Arc::ptr_eq(one, other)
                    || (&one.name, &one.authentication, &one.privacy)
                        == (&other.name, &other.authentication, &other.privacy)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for SnmpSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.kind {
            SecretKind::V1(_) => "SnmpSecret(v1)",
            SecretKind::V2c(_) => "SnmpSecret(v2c)",
            SecretKind::User(_) => "SnmpSecret(v3)",
        })
    }
}

/// A user of SNMPv3 (USM), with the protocols and passwords of authentication and privacy.
///
/// The keys are made of the passwords once, however often the secret is cloned.
pub struct SnmpUser {
    name: Zeroizing<Vec<u8>>,
    authentication: Option<(SnmpAuthentication, Zeroizing<Vec<u8>>)>,
    privacy: Option<(SnmpPrivacy, Zeroizing<Vec<u8>>)>,
    keys: OnceLock<Result<MasterKeys, SnmpRefusal>>,
}

impl SnmpUser {
    /// Creates a user whose messages are neither authenticated nor encrypted.
    #[must_use]
    pub fn new(name: impl Into<Vec<u8>>) -> Self {
        Self { name: Zeroizing::new(name.into()), authentication: None, privacy: None, keys: OnceLock::new() }
    }

    /// Authenticates messages.
    #[must_use]
    pub fn authentication(self, protocol: SnmpAuthentication, password: impl Into<Vec<u8>>) -> Self {
        let authentication = Some((protocol, Zeroizing::new(password.into())));
        Self { authentication, keys: OnceLock::new(), ..self }
    }

    /// Encrypts messages. It takes effect with [`authentication`](Self::authentication) only.
    #[must_use]
    pub fn privacy(self, protocol: SnmpPrivacy, password: impl Into<Vec<u8>>) -> Self {
        Self { privacy: Some((protocol, Zeroizing::new(password.into()))), keys: OnceLock::new(), ..self }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(super) const fn has_authentication(&self) -> bool {
        self.authentication.is_some()
    }

    pub(super) const fn has_privacy(&self) -> bool {
        self.authentication.is_some() && self.privacy.is_some()
    }

    /// Returns the keys that the passwords give, or `None` without authentication.
    pub(super) fn keys(&self) -> Option<&Result<MasterKeys, SnmpRefusal>> {
        let (authentication, password) = self.authentication.as_ref()?;
        Some(self.keys.get_or_init(|| {
            let keys =
                MasterKeys::new(authentication.protocol(), password).map_err(|_| SnmpRefusal::BadPassword)?;
            match &self.privacy {
                Some((privacy, password)) => {
                    keys.with_privacy(privacy.protocol(), password).map_err(|_| SnmpRefusal::BadPassword)
                }
                None => Ok(keys),
            }
        }))
    }
}

impl fmt::Debug for SnmpUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SnmpUser").finish_non_exhaustive()
    }
}

/// The authentication protocol of SNMPv3 messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SnmpAuthentication {
    /// HMAC-MD5-96.
    Md5,
    /// HMAC-SHA-96.
    Sha1,
    /// HMAC-128-SHA-224.
    Sha224,
    /// HMAC-192-SHA-256.
    Sha256,
    /// HMAC-256-SHA-384.
    Sha384,
    /// HMAC-384-SHA-512.
    Sha512,
}

impl SnmpAuthentication {
    const fn protocol(self) -> AuthProtocol {
        match self {
            Self::Md5 => AuthProtocol::Md5,
            Self::Sha1 => AuthProtocol::Sha1,
            Self::Sha224 => AuthProtocol::Sha224,
            Self::Sha256 => AuthProtocol::Sha256,
            Self::Sha384 => AuthProtocol::Sha384,
            Self::Sha512 => AuthProtocol::Sha512,
        }
    }
}

/// The privacy protocol of SNMPv3 messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SnmpPrivacy {
    /// DES in CBC mode.
    Des,
    /// AES with 128 bits.
    Aes128,
    /// AES with 192 bits, and keys extended as net-snmp does.
    Aes192,
    /// AES with 192 bits, and keys extended as Cisco does.
    Aes192Cisco,
    /// AES with 256 bits, and keys extended as net-snmp does.
    Aes256,
    /// AES with 256 bits, and keys extended as Cisco does.
    Aes256Cisco,
}

impl SnmpPrivacy {
    const fn protocol(self) -> PrivProtocol {
        match self {
            Self::Des => PrivProtocol::Des,
            Self::Aes128 => PrivProtocol::Aes128,
            Self::Aes192 => PrivProtocol::Aes192Blumenthal,
            Self::Aes192Cisco => PrivProtocol::Aes192Reeder,
            Self::Aes256 => PrivProtocol::Aes256Blumenthal,
            Self::Aes256Cisco => PrivProtocol::Aes256Reeder,
        }
    }
}

/// The secrets of the host application.
pub trait SnmpSecrets: Send + Sync + 'static {
    /// Returns the secrets for an address. At most four are tried, users of SNMPv3 first.
    fn for_target(&self, address: IpAddr) -> Vec<SnmpSecret>;
}

impl<F: Fn(IpAddr) -> Vec<SnmpSecret> + Send + Sync + 'static> SnmpSecrets for F {
    fn for_target(&self, address: IpAddr) -> Vec<SnmpSecret> {
        self(address)
    }
}
