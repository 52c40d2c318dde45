//! Enums of which each variant has a text.

/// Defines an enum by its variants and their texts and, where texts are parsed, the error for any other text.
///
/// ```text
/// text_enum! {
///     /// The direction of an ordering.
///     pub enum OrderDirection {
///         /// Smallest first.
///         Ascending = "asc",
///         /// Greatest first.
///         Descending = "desc",
///     }
///
///     /// The error for text other than `asc` and `desc`.
///     #[error("neither asc nor desc")]
///     pub struct OrderDirectionError;
/// }
/// ```
///
/// This makes
/// - the enum, which is `Copy`, with `Debug`, `Eq` and `Hash`; further derives are attributes of the enum;
/// - `Serialize`, `Deserialize`, `Display` and `as_str`, which use the texts;
/// - `ALL`, the variants in their order, and `TEXTS`, their texts;
/// - with an error, its type, of which `#[error]` states the message as in `thiserror`, and `FromStr`, which accepts the
///   texts and nothing else.
///
/// A variant that ends in `if feature "discovery"` only exists with this feature.
macro_rules! text_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident = $text:literal $(if feature $feature:literal)?,
            )+
        }

        $(
            $(#[$error_attribute:meta])*
            pub struct $error:ident;
        )?
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        $(#[$attribute])*
        pub enum $name {
            $(
                $(#[$variant_attribute])*
                $(#[cfg(feature = $feature)])?
                #[serde(rename = $text)]
                $variant,
            )+
        }

        impl $name {
            /// All values, in their order.
            pub const ALL: &[Self] = &[$($(#[cfg(feature = $feature)])? Self::$variant),+];

            /// The texts of all values, in the order of `ALL`.
            #[allow(dead_code, reason = "not every enum is a choice of a request")]
            pub(crate) const TEXTS: &[&str] = &[$($(#[cfg(feature = $feature)])? $text),+];

            /// Returns the text that stands for the value in the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        $(
            #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
            $(#[$error_attribute])*
            #[non_exhaustive]
            pub struct $error;

            impl std::str::FromStr for $name {
                type Err = $error;

                fn from_str(text: &str) -> Result<Self, $error> {
                    Self::ALL.iter().copied().find(|value| value.as_str() == text).ok_or($error)
                }
            }
        )?
    };
}

pub(crate) use text_enum;

/// Returns texts as a list in a sentence: `a, b and c`.
#[cfg(feature = "discovery")]
pub(crate) fn listed(texts: &[&str]) -> String {
    match texts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => texts.concat(),
    }
}
