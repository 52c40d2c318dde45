use serde::{Deserialize, Serialize};

use crate::printable::printable;

/// Something in the input that the parser could not use, counted over the whole input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Warning {
    /// The kind of fault.
    pub code: WarningCode,
    /// The number of occurrences.
    pub count: u64,
    /// The line of the first occurrence, counted from 1; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The first occurrence: what could not be used, as text of at most 161 characters; `None`: not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Maximum number of characters of an example.
const MAX_EXAMPLE: usize = 160;

impl Warning {
    /// Creates a warning; `line` is that of the first occurrence.
    #[must_use]
    pub const fn new(code: WarningCode, count: u64, line: Option<u64>) -> Self {
        Self { code, count, line, example: None }
    }

    /// Shows the first occurrence. Overlong text is cut, and control characters are escaped.
    #[must_use]
    pub fn with_example(self, example: &str) -> Self {
        Self { example: Some(printable(example, MAX_EXAMPLE)), ..self }
    }
}

/// The kind of a [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningCode {
    /// A line or element that the format does not define was skipped.
    RowMalformed,
    /// A row without its key, or without a value that it must have, was skipped.
    RowIncomplete,
    /// Rows beyond the limit were skipped.
    RowLimitReached,
    /// A value of the wrong type or out of range was ignored.
    ValueInvalid,
    /// The end of an overlong value was cut off.
    ValueTruncated,
    /// The input ends early, so that no table is complete.
    InputTruncated,
    /// A neighbor was seen on a local port that is none of the device's interfaces.
    LocalPortUnknown,
    /// Subnets of the devices' own addresses were not created, because the report or the network has too many.
    SubnetLimitReached,
    /// Two hosts of the network have the same IP address. One occurrence for each address.
    AddressOnTwoHosts,
    /// Two hosts of the network have the same MAC address. One occurrence for each address.
    MacOnTwoHosts,
    /// Two hosts of the network have the same name. One occurrence for each name.
    NameOnTwoHosts,
}
