//! Classes of entries: changes of records, and security events.

use crate::inventory::schema::CHANGED_FOR;
use crate::model::ChangeAction;
use crate::store::{TermFilter, TermRange};

/// A class of entries. Each is kept by its own limits, so that many changes never push security events out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::inventory::history) enum Class {
    /// Changes of records.
    Records,
    /// Logins, and other uses and changes of credentials.
    Security,
}

impl Class {
    pub(in crate::inventory::history) const ALL: [Self; 2] = [Self::Records, Self::Security];

    /// Returns the class of the entries of an action.
    pub(in crate::inventory::history) const fn of(action: ChangeAction) -> Self {
        match action {
            ChangeAction::Created
            | ChangeAction::Updated
            | ChangeAction::Deleted
            | ChangeAction::RulesChanged => Self::Records,
            ChangeAction::Login
            | ChangeAction::Logout
            | ChangeAction::LoginFailed
            | ChangeAction::PasswordChanged
            | ChangeAction::Rotated
            | ChangeAction::PasswordChecked => Self::Security,
        }
    }

    /// Returns the filter of its entries, for all audiences.
    pub(in crate::inventory::history) fn filter(self) -> TermFilter {
        TermFilter::new(CHANGED_FOR, [TermRange::prefix(self.prefix())])
    }

    /// Returns the beginning of the terms of its records.
    pub(super) const fn prefix(self) -> [u8; 1] {
        match self {
            Self::Records => [0],
            Self::Security => [1],
        }
    }
}
