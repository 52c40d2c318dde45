use crate::model::Timestamp;

/// The rule that an invalid value breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The value is missing.
    #[error("is required")]
    Required,
    /// The value is empty.
    #[error("must not be empty")]
    Empty,
    /// The value has more than `max` characters or elements.
    #[error("must have at most {max} characters or elements")]
    MaxLength {
        /// The maximum length.
        max: usize,
    },
    /// The value has fewer than `min` characters.
    #[error("must have at least {min} characters")]
    MinLength {
        /// The minimum length.
        min: usize,
    },
    /// The value has the wrong type or format.
    #[error("has an invalid format")]
    InvalidFormat,
    /// The number is out of range.
    #[error("must be between {min} and {max}")]
    OutOfRange {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
    /// The time is not in the future.
    #[error("must be in the future")]
    NotInFuture {
        /// The current time.
        now: Timestamp,
    },
    /// The inventory does not support the filter.
    #[error("is not supported by this server")]
    Unsupported,
    /// Hosts have no field of this name.
    #[error("is not a field of hosts")]
    UnknownField,
    /// The value occurs twice where it may occur once.
    #[error("must not be repeated")]
    Duplicate,
    /// Several hosts have the address or the name.
    #[error("names several hosts; send the id of one of them")]
    Ambiguous {
        /// The ids of the first of these hosts.
        candidates: Vec<uuid::Uuid>,
    },
    /// The selected part refers to a part that is not selected, or such a part refers to it.
    #[error("and the parts that it refers to, or that refer to it, must all be selected or none of them")]
    Inseparable,
}
