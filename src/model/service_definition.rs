use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a service definition: any non-empty string, stored as given.
///
/// The set of names is open, because every client release adds some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ServiceDefinition(String);

/// The error for an empty service definition name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a service definition must not be empty")]
#[non_exhaustive]
pub struct ServiceDefinitionError;

impl ServiceDefinition {
    /// Creates a service definition from its name.
    ///
    /// # Errors
    /// Returns an error when the name is empty.
    pub fn new(name: impl Into<String>) -> Result<Self, ServiceDefinitionError> {
        let name = name.into();
        if name.is_empty() { Err(ServiceDefinitionError) } else { Ok(Self(name)) }
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServiceDefinition {
    type Error = ServiceDefinitionError;

    fn try_from(name: String) -> Result<Self, ServiceDefinitionError> {
        Self::new(name)
    }
}

impl fmt::Display for ServiceDefinition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}
