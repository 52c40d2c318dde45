use std::borrow::Cow;

use crate::model::Timestamp;

/// The rule that an invalid value breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The value is missing.
    #[error("is required")]
    Required,
    /// One of several values is required, and all are missing.
    #[error("is required, unless {others} is given")]
    RequiredUnless {
        /// The names of the other values, as a sentence lists them.
        others: &'static str,
    },
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
    /// The value does not have the form of its field.
    #[error("must be {form}")]
    NotOfForm {
        /// The form, such as "a UUID".
        form: Cow<'static, str>,
    },
    /// The field cannot be set by this request.
    #[error("cannot be set here; {way}")]
    SetElsewhere {
        /// The way to set it, as a sentence.
        way: &'static str,
    },
    /// The value has an integer that does not fit into 64 bits.
    #[error("must have no integer of more than 64 bits, which would lose digits; send it as text")]
    LongInteger,
    /// The value is none of those that are possible.
    #[error("{}", one_of(values))]
    NotAmong {
        /// The possible values.
        values: Vec<String>,
    },
    /// The cursor is none of this list, with its filters and its order.
    #[error("is no cursor of this list with these filters and this order; begin again with an empty one")]
    OfOtherList,
    /// The value comes before another one that is given, too.
    #[error("must not be before `{other}`")]
    Before {
        /// The name of the other value.
        other: &'static str,
    },
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
    /// Lists are not filtered or ordered by the custom field: see
    /// [`Inventory::with_custom_index`](crate::inventory::Inventory::with_custom_index).
    #[error("refers to a custom field that is not indexed; ask the operator of this server to index it")]
    NotIndexed,
    /// A custom field is named in a form that the parameter does not take.
    #[error("cannot name a custom field like this; write it in lower case, as in `{example}`")]
    CustomForm {
        /// A parameter in the right form.
        example: &'static str,
    },
    /// The value excludes another one that is given, too.
    #[error("cannot be combined with `{other}`; send one of them")]
    Exclusive {
        /// The name of the other value.
        other: &'static str,
    },
    /// Hosts have no field of this name.
    #[error("is not a field of hosts; the name of a custom field begins with `custom.`")]
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

/// The number of characters of values that a sentence lists.
const MAX_LISTED: usize = 120;

/// Lists the possible values, unless a sentence with them would be too long to read.
fn one_of(values: &[String]) -> String {
    let listed = values.join(", ");
    if listed.len() <= MAX_LISTED {
        return format!("must be one of these values: {listed}");
    }
    format!("must be one of the {} values in the description of the API", values.len())
}
