use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::Exact;
use crate::text_enum::text_enum;

/// The origin of a host or service record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// Entered by a user.
    Manual,
    /// Created by the system.
    System,
    /// Discovered by a daemon.
    Discovery {
        /// The daemon's metadata, one object per discovery.
        #[cfg_attr(feature = "openapi", schemars(with = "Vec<super::json_schema::Details>"))]
        metadata: Vec<Map<String, Value>>,
    },
    /// Discovered by a daemon and matched to a service definition.
    DiscoveryWithMatch {
        /// The daemon's metadata, one object per discovery.
        #[cfg_attr(feature = "openapi", schemars(with = "Vec<super::json_schema::Details>"))]
        metadata: Vec<Map<String, Value>>,
        /// The evidence for the match, and its confidence.
        #[cfg_attr(feature = "openapi", schemars(with = "super::json_schema::Details"))]
        details: Map<String, Value>,
    },
    /// Unknown. The value of records sent without a source.
    #[default]
    Unknown,
}

impl Source {
    /// Returns the type of the source.
    #[must_use]
    pub const fn source_type(&self) -> SourceType {
        match self {
            Self::Manual => SourceType::Manual,
            Self::System => SourceType::System,
            Self::Discovery { .. } => SourceType::Discovery,
            Self::DiscoveryWithMatch { .. } => SourceType::DiscoveryWithMatch,
            Self::Unknown => SourceType::Unknown,
        }
    }
}

/// Reads a source member by member. A derived implementation would read it from an array, too.
impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SourceDocument::<Value>::deserialize(deserializer)?.into_source()
    }
}

/// Reads the source of a request, in which no integer loses digits. Null counts as none.
pub(crate) fn read_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Source>, D::Error> {
    let document: Option<SourceDocument<Exact>> = Option::deserialize(deserializer)?;
    document.map(SourceDocument::into_source).transpose()
}

/// The members of all types. Those that a type does not have are ignored, whatever values they are.
#[derive(Deserialize)]
struct SourceDocument<V> {
    r#type: SourceType,
    metadata: Option<V>,
    details: Option<V>,
}

impl<V: Into<Value>> SourceDocument<V> {
    fn into_source<E: de::Error>(self) -> Result<Source, E> {
        let Self { r#type, metadata, details } = self;
        Ok(match r#type {
            SourceType::Manual => Source::Manual,
            SourceType::System => Source::System,
            SourceType::Discovery => Source::Discovery { metadata: member("metadata", metadata)? },
            SourceType::DiscoveryWithMatch => Source::DiscoveryWithMatch {
                metadata: member("metadata", metadata)?,
                details: member("details", details)?,
            },
            SourceType::Unknown => Source::Unknown,
        })
    }
}

fn member<T: de::DeserializeOwned, E: de::Error>(
    name: &'static str,
    value: Option<impl Into<Value>>,
) -> Result<T, E> {
    let value = value.ok_or_else(|| E::missing_field(name))?;
    T::deserialize(value.into()).map_err(E::custom)
}

text_enum! {
    /// The type of a [`Source`], without its metadata.
    #[non_exhaustive]
    pub enum SourceType {
        /// Entered by a user.
        Manual = "Manual",
        /// Created by the system.
        System = "System",
        /// Discovered by a daemon.
        Discovery = "Discovery",
        /// Discovered by a daemon and matched to a service definition.
        DiscoveryWithMatch = "DiscoveryWithMatch",
        /// Unknown.
        Unknown = "Unknown",
    }

    /// The error for text that names no type of source.
    #[error("not a type of source")]
    pub struct SourceTypeError;
}
