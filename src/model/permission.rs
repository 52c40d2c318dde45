use std::fmt;

use serde::{Deserialize, Serialize};

/// What a user, or a key of a user's, may do. Each level may do what the ones below it may; the least is
/// [`Viewer`](Self::Viewer), the greatest [`Owner`](Self::Owner).
///
/// ```
/// use toposcope::model::Permission;
///
/// assert!(Permission::Owner > Permission::Admin);
/// assert_eq!(Permission::Member.min(Permission::Admin), Permission::Member);
/// assert!(!Permission::Member.sees_every_network());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// May look at the networks granted.
    Viewer,
    /// May also change what is in them.
    Member,
    /// The same in every network of the organization.
    Admin,
    /// Whose organization it is.
    Owner,
}

impl Permission {
    /// Whether it reaches every network of the organization, rather than those granted one by one.
    #[must_use]
    pub const fn sees_every_network(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Viewer => "Viewer",
            Self::Member => "Member",
            Self::Admin => "Admin",
            Self::Owner => "Owner",
        })
    }
}
