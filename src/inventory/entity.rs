use std::fmt;

/// A kind of record, as named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entity {
    /// A host.
    Host,
    /// A port of a host.
    Port,
    /// A network.
    Network,
    /// A tag.
    Tag,
    /// A share.
    Share,
    /// A user's API key.
    UserApiKey,
    /// A discovery daemon's API key.
    DaemonApiKey,
    /// An organization.
    Organization,
    /// A user.
    User,
    /// A service of a host.
    Service,
    /// An interface of a host.
    Interface,
    /// A session.
    Session,
}

impl Entity {
    /// Returns the name used in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "Host",
            Self::Port => "Port",
            Self::Network => "Network",
            Self::Tag => "Tag",
            Self::Share => "Share",
            Self::UserApiKey => "User API Key",
            Self::DaemonApiKey => "Daemon API Key",
            Self::Organization => "Organization",
            Self::User => "User",
            Self::Service => "Service",
            Self::Interface => "Interface",
            Self::Session => "Session",
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
