use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of the definition that a service is an instance of: any text but the empty one, kept as given, because every
/// release of a client knows more of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ServiceDefinition(String);

/// The text is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a service definition is not empty")]
#[non_exhaustive]
pub struct ServiceDefinitionError;

impl ServiceDefinition {
    /// A definition by its name.
    ///
    /// # Errors
    /// When the name is empty.
    pub fn new(name: impl Into<String>) -> Result<Self, ServiceDefinitionError> {
        let name = name.into();
        if name.is_empty() { Err(ServiceDefinitionError) } else { Ok(Self(name)) }
    }

    /// The name.
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
