//! The roles of devices.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::invariant::Invariant;

/// The beginning of the text of every role of the host application.
const PREFIX: &str = "x.";

/// Maximum length of the text of a role of the host application, the beginning included.
const MAX_LENGTH: usize = 32;

/// Defines the roles that the crate knows by their texts.
macro_rules! roles {
    ($(#[doc = $sentence:literal] $role:ident = $text:literal,)+) => {
        /// The role of a device in a network.
        ///
        /// In the API, a role is a text: one of [`ALL`](Self::ALL), or one of the host application.
        ///
        /// ```
        /// use toposcope::model::HostRole;
        ///
        /// let role: HostRole = "access_point".parse().unwrap();
        /// assert_eq!(role, HostRole::AccessPoint);
        ///
        /// let role: HostRole = "x.load_balancer".parse().unwrap();
        /// assert!(matches!(role, HostRole::Other(_)));
        /// assert_eq!(role.as_str(), "x.load_balancer");
        ///
        /// assert!("load_balancer".parse::<HostRole>().is_err());
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum HostRole {
            $(#[doc = $sentence] $role,)+
            /// Nothing reveals the role.
            #[default]
            Unknown,
            /// A role of the host application. Only users and the application set it; pictures draw the device as an end
            /// device.
            Other(ApplicationRole),
        }

        impl HostRole {
            /// The roles that the crate knows, in their order; those of host applications are not among them.
            pub const ALL: &[Self] = &[$(Self::$role,)+ Self::Unknown];

            /// The form of all texts, as a regular expression.
            #[cfg(any(feature = "openapi", all(feature = "service", feature = "topology")))]
            pub(crate) const PATTERN: &str =
                concat!("^(", $($text, "|",)+ "unknown|x\\.[a-z0-9_-]{1,30})$");

            /// Returns the text of a role that the crate knows; `None` for one of the host application.
            pub(crate) const fn known_text(self) -> Option<&'static str> {
                match self {
                    $(Self::$role => Some($text),)+
                    Self::Unknown => Some("unknown"),
                    Self::Other(_) => None,
                }
            }
        }

        #[cfg(feature = "openapi")]
        impl schemars::JsonSchema for HostRole {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "HostRole".into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!(
                        "The role of a device in a network: one of those below, or a role of the host application, which \
                         begins with `x.`, such as `x.load_balancer`.\n\n| Role | Meaning |\n|---|---|",
                        $("\n| `", $text, "` |", $sentence, " |",)+
                        "\n| `unknown` | Nothing reveals the role. |",
                    ),
                    "pattern": Self::PATTERN,
                })
            }
        }
    };
}

roles! {
    /// Forwards packets between subnets.
    Router = "router",
    /// Forwards frames between ports.
    Switch = "switch",
    /// Connects wireless clients.
    AccessPoint = "access_point",
    /// Filters traffic between networks.
    Firewall = "firewall",
    /// Offers services to other hosts.
    Server = "server",
    /// Prints.
    Printer = "printer",
    /// A desk or conference phone.
    Phone = "phone",
    /// A network camera.
    Camera = "camera",
    /// Stores files or blocks for other hosts.
    Storage = "storage",
    /// Runs virtual machines.
    Hypervisor = "hypervisor",
    /// A personal computer.
    Workstation = "workstation",
    /// Stands for networks outside, such as the Internet or that of a provider.
    Internet = "internet",
    /// A virtual machine of which nothing else is known.
    Guest = "guest",
    /// Controls access points.
    WirelessController = "wireless_controller",
    /// Supplies or distributes power.
    Ups = "ups",
    /// Controls machines, such as a PLC.
    IndustrialController = "industrial_controller",
    /// Plays video or sound, such as a television.
    Media = "media",
    /// A sensor, an actuator or another small device.
    Iot = "iot",
}

impl HostRole {
    /// Returns the text that stands for the role in the API.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(role) => role.as_str(),
            known => known.known_text().asserted_or_default(),
        }
    }
}

impl fmt::Display for HostRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The error for a text that is no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a known role, nor `x.` and up to 30 lower-case letters, digits, `_` and `-`")]
#[non_exhaustive]
pub struct HostRoleError;

impl FromStr for HostRole {
    type Err = HostRoleError;

    fn from_str(text: &str) -> Result<Self, HostRoleError> {
        let known = Self::ALL.iter().copied().find(|role| role.known_text() == Some(text));
        known.or_else(|| ApplicationRole::read(text).map(Self::Other)).ok_or(HostRoleError)
    }
}

impl Serialize for HostRole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for HostRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(RoleVisitor)
    }
}

struct RoleVisitor;

impl Visitor<'_> for RoleVisitor {
    type Value = HostRole;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the role of a device")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<HostRole, E> {
        text.parse().map_err(E::custom)
    }
}

/// A role of the host application, such as `x.load_balancer`.
///
/// Its text is `x.` and 1 to 30 lower-case letters, digits, `_` and `-`. No role that a later version of the crate knows begins
/// with `x.`. Declare it as a constant, so that an invalid text does not compile:
///
/// ```
/// use toposcope::model::{ApplicationRole, Host, HostRole, NetworkId};
///
/// const LOAD_BALANCER: HostRole = HostRole::Other(ApplicationRole::new("x.load_balancer"));
///
/// let mut host = Host::new(NetworkId::nil(), "lb-1");
/// host.role = Some(LOAD_BALANCER);
/// assert_eq!(serde_json::to_value(&host).unwrap()["role"], "x.load_balancer");
/// ```
///
/// ```compile_fail
/// # use toposcope::model::ApplicationRole;
/// const LOAD_BALANCER: ApplicationRole = ApplicationRole::new("load balancer");
/// ```
// The text, followed by zeros: roles are copied into graphs, and no text of a request may live on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationRole([u8; MAX_LENGTH]);

impl ApplicationRole {
    /// Creates a role. Texts that are not constants are parsed by [`HostRole`].
    ///
    /// # Panics
    /// If the text has another form. In a constant, this is an error of the compiler.
    #[must_use]
    pub const fn new(text: &str) -> Self {
        let role = Self::read(text);
        assert!(
            role.is_some(),
            "a role has `x.` and up to 30 lower-case letters, digits, `_` and `-`: `x.load_balancer`"
        );
        match role {
            Some(role) => role,
            None => Self([0; MAX_LENGTH]),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().take_while(|byte| **byte != 0).count();
        let text = self.0.get(..length).and_then(|text| str::from_utf8(text).ok());
        text.asserted_or_default()
    }

    /// Returns the text without the beginning that all roles of host applications have.
    #[must_use]
    pub fn name(&self) -> &str {
        let text = self.as_str();
        text.strip_prefix(PREFIX).unwrap_or(text)
    }

    /// Reads the text of a role; `None`: it has another form.
    const fn read(text: &str) -> Option<Self> {
        let [b'x', b'.', name @ ..] = text.as_bytes() else { return None };
        let mut rest = name;
        if rest.is_empty() || text.len() > MAX_LENGTH {
            return None;
        }
        while let [first, after @ ..] = rest {
            if !matches!(first, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') {
                return None;
            }
            rest = after;
        }
        let mut role = [0; MAX_LENGTH];
        let (start, _) = role.split_at_mut(text.len());
        start.copy_from_slice(text.as_bytes());
        Some(Self(role))
    }
}

impl fmt::Debug for ApplicationRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ApplicationRole").field(&self.as_str()).finish()
    }
}

impl fmt::Display for ApplicationRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
