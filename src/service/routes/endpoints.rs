use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// Groups of endpoints that a host application can leave out of its [`Api`](crate::service::Api).
///
/// Endpoints of hosts with their parts, networks, subnets, tags, the history, versions and health always exist, and so do those of
/// groups whose feature is enabled, unless [`ApiBuilder::without`](crate::service::ApiBuilder::without) names them.
///
/// ```
/// use toposcope::service::Endpoints;
///
/// let own_accounts = Endpoints::LOGIN | Endpoints::USERS;
/// assert!(own_accounts.contains(Endpoints::USERS) && !own_accounts.contains(Endpoints::SHARES));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Endpoints(u16);

impl Endpoints {
    /// Login, logout and change of one's password: `/api/auth/login`, `/api/auth/logout`, `/api/auth/password`.
    pub const LOGIN: Self = Self(1 << 0);
    /// Users, and the caller's own user: `/api/v1/users…`, `/api/auth/me`.
    pub const USERS: Self = Self(1 << 1);
    /// API keys of users: `/api/v1/auth/keys…`. Keys that exist are still accepted.
    pub const USER_API_KEYS: Self = Self(1 << 2);
    /// Organizations and referrals: `/api/v1/organizations…`.
    pub const ORGANIZATIONS: Self = Self(1 << 3);
    /// Shares, with their pages and pictures for everybody: `/api/v1/shares…`, `/share/{id}`.
    pub const SHARES: Self = Self(1 << 4);
    /// Discovery daemons, their API keys and their work: `/api/v1/daemons…`, `/api/v1/auth/daemon…`, `/api/v1/discoveries…`
    /// and the endpoints for daemons alone. Daemon keys that exist are still accepted for subnets and for imports of reports.
    pub const DAEMONS: Self = Self(1 << 5);
    /// Topologies: `/api/v1/topology/…`, and the page that shows them.
    pub const TOPOLOGY: Self = Self(1 << 6);
    /// The OpenAPI document: `/openapi.json`, `/api/openapi.json`.
    pub const OPENAPI: Self = Self(1 << 7);
    /// The page for people who work with a network: `/topology/{network_id}`.
    pub const TOPOLOGY_PAGE: Self = Self(1 << 8);

    /// The groups with their names.
    const NAMED: [(Self, &'static str); 9] = [
        (Self::LOGIN, "LOGIN"),
        (Self::USERS, "USERS"),
        (Self::USER_API_KEYS, "USER_API_KEYS"),
        (Self::ORGANIZATIONS, "ORGANIZATIONS"),
        (Self::SHARES, "SHARES"),
        (Self::DAEMONS, "DAEMONS"),
        (Self::TOPOLOGY, "TOPOLOGY"),
        (Self::OPENAPI, "OPENAPI"),
        (Self::TOPOLOGY_PAGE, "TOPOLOGY_PAGE"),
    ];

    /// Returns whether all of these groups are among them.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether any of these groups is among them.
    pub(in crate::service) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the groups of a path; none for a path that always exists. Without any of them, the path does not exist.
    pub(super) fn of_path(path: &str) -> Self {
        let beginnings = [
            ("/api/auth/me", Self::USERS),
            ("/api/auth/", Self::LOGIN),
            ("/api/v1/users", Self::USERS),
            ("/api/v1/auth/keys", Self::USER_API_KEYS),
            ("/api/v1/organizations", Self::ORGANIZATIONS),
            ("/api/v1/shares", Self::SHARES),
            ("/share/", Self::SHARES),
            ("/api/daemons/", Self::DAEMONS),
            ("/api/v1/auth/daemon", Self::DAEMONS),
            ("/api/v1/daemons", Self::DAEMONS),
            ("/api/v1/discoveries", Self::DAEMONS),
            ("/api/v1/discovery/{id}", Self::DAEMONS),
            ("/api/v1/hosts/discovery", Self::DAEMONS),
            ("/api/v1/vlans/discovery", Self::DAEMONS),
            ("/api/v1/topology/", Self::TOPOLOGY),
            // The page asks the endpoints of topologies.
            ("/topology/", Self::TOPOLOGY | Self::TOPOLOGY_PAGE),
            ("/openapi.json", Self::OPENAPI),
            ("/api/openapi.json", Self::OPENAPI),
        ];
        let found = beginnings.into_iter().find(|(beginning, _)| path.starts_with(beginning));
        found.map_or(Self::default(), |(_, group)| group)
    }
}

impl BitOr for Endpoints {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Endpoints {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Shows the names of the groups.
impl fmt::Debug for Endpoints {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Endpoints(")?;
        let names = Self::NAMED.iter().filter(|(group, _)| self.contains(*group));
        for (index, (_, name)) in names.enumerate() {
            formatter.write_str(if index == 0 { "" } else { " | " })?;
            formatter.write_str(name)?;
        }
        formatter.write_str(")")
    }
}
