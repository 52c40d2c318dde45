use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The maximum number of overrides for single addresses.
const MAX_OVERRIDES: usize = 1_000;

/// The maximum size of all credentials of a discovery, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// The versions of SNMP that daemons know.
const VERSIONS: [&str; 3] = ["V1", "V2c", "V3"];

/// The credentials for SNMP that a discovery passes on to its daemon.
///
/// They are held in memory until the discovery ends, and are never stored, shown or logged: `Debug` shows their number
/// only.
///
/// ```
/// use serde_json::json;
/// use toposcope::model::SnmpCredentials;
///
/// let given = json!({
///     "default_credential": {"version": "V2c", "community": "a secret"},
///     "ip_overrides": [{"ip": "192.0.2.1", "credential": {"version": "V2c", "community": "another"}}],
/// });
/// let credentials = SnmpCredentials::from_json(given)?;
/// assert_eq!(credentials.ip_overrides.len(), 1);
/// assert!(!format!("{credentials:?}").contains("secret"));
/// # Ok::<(), toposcope::model::SnmpCredentialsError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SnmpCredentials {
    /// The credential for all addresses without one of their own; `None`: there is none.
    #[serde(default)]
    pub default_credential: Option<Secret>,
    /// The credentials of single addresses, each with `ip` and `credential`.
    #[serde(default)]
    pub ip_overrides: Vec<Secret>,
}

/// A JSON object whose values are secret. `Debug` does not show them.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(
    #[cfg_attr(feature = "openapi", schemars(with = "super::json_schema::Details"))] Map<String, Value>,
);

impl Secret {
    /// Returns the object itself, to be sent to a daemon.
    #[must_use]
    pub const fn expose(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl From<Map<String, Value>> for Secret {
    fn from(members: Map<String, Value>) -> Self {
        Self(members)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

impl fmt::Debug for SnmpCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("SnmpCredentials");
        debug.field("has_default", &self.default_credential.is_some());
        debug.field("ip_overrides", &self.ip_overrides.len()).finish()
    }
}

/// The error for credentials that daemons could not use. It names the place of the fault, and no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is not as daemons expect it")]
#[non_exhaustive]
pub struct SnmpCredentialsError {
    /// The path of the faulty value, such as `ip_overrides.3.ip`; empty: the whole.
    pub path: String,
}

impl SnmpCredentials {
    /// Reads credentials in the form in which daemons get them.
    ///
    /// A credential has a `version`, one of `V1`, `V2c` (the default) and `V3`; the first two a `community`, and the
    /// last an object `v3`. Further members are passed on. At most 1,000 addresses, and 64 KiB in all.
    ///
    /// # Errors
    /// If a value is not of this form, or there is too much.
    pub fn from_json(given: Value) -> Result<Self, SnmpCredentialsError> {
        let at = |path: &str| SnmpCredentialsError { path: path.to_owned() };
        let is_small = serde_json::to_vec(&given).is_ok_and(|text| text.len() <= MAX_BYTES);
        let Value::Object(mut members) = given else { return Err(at("")) };
        if !is_small {
            return Err(at(""));
        }
        let default_credential = match members.remove("default_credential") {
            None | Some(Value::Null) => None,
            Some(credential) => Some(read_credential(credential, "default_credential")?),
        };
        let ip_overrides = match members.remove("ip_overrides") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(overrides)) if overrides.len() <= MAX_OVERRIDES => overrides,
            Some(_) => return Err(at("ip_overrides")),
        };
        let numbered = ip_overrides.into_iter().enumerate();
        let ip_overrides =
            numbered.map(|(index, given)| read_override(given, &format!("ip_overrides.{index}")));
        Ok(Self { default_credential, ip_overrides: ip_overrides.collect::<Result<_, _>>()? })
    }

    /// Returns whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.default_credential.is_none() && self.ip_overrides.is_empty()
    }
}

fn read_override(given: Value, path: &str) -> Result<Secret, SnmpCredentialsError> {
    let at = |member: &str| SnmpCredentialsError { path: format!("{path}{member}") };
    let Value::Object(members) = given else { return Err(at("")) };
    let is_address = |ip: &Value| ip.as_str().is_some_and(|ip| ip.parse::<IpAddr>().is_ok());
    if !members.get("ip").is_some_and(is_address) {
        return Err(at(".ip"));
    }
    let credential = members.get("credential").cloned().unwrap_or_default();
    read_credential(credential, &format!("{path}.credential"))?;
    Ok(Secret(members))
}

fn read_credential(given: Value, path: &str) -> Result<Secret, SnmpCredentialsError> {
    let at = |member: &str| SnmpCredentialsError { path: format!("{path}{member}") };
    let Value::Object(members) = given else { return Err(at("")) };
    let version = match members.get("version") {
        None | Some(Value::Null) => "V2c",
        Some(Value::String(version)) if VERSIONS.contains(&version.as_str()) => version,
        Some(_) => return Err(at(".version")),
    };
    let is_secret = |secret: &Value| match secret {
        Value::String(secret) => !secret.is_empty(),
        // A secret may also name a file on the host of the daemon.
        other => other.is_object(),
    };
    let (needed, is_given) = if version == "V3" {
        (".v3", members.get("v3").is_some_and(Value::is_object))
    } else {
        (".community", members.get("community").is_some_and(is_secret))
    };
    if is_given { Ok(Secret(members)) } else { Err(at(needed)) }
}
