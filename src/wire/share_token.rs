use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// A token that opens a share in place of its password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShareToken {
    /// The token, in base64url.
    pub token: String,
    /// When the token expires: 12 hours after it was issued.
    pub expires_at: Timestamp,
}

/// Omits the token.
impl fmt::Debug for ShareToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShareToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
