//! Creation of inventories, and their options.

use std::sync::Arc;
use std::time::Duration;

use super::Inventory;
use super::custom::CustomIndex;
use super::effects::HOST_EFFECTS;
use super::existing_organizations::ExistingOrganizations;
use super::history::{HistoryLimits, Recording};
use super::hosts::HostTerms;
use super::measured_store::MeasuredStore;
use super::quotas::Quotas;
use crate::access::{
    Clock, LoginAttempts, LoginLimits, PasswordHasher, RandomSource, SystemClock, SystemRandom,
};
#[cfg(feature = "discovery")]
use crate::discovery::reconcile::PortNames;
#[cfg(feature = "topology")]
use crate::model::ServiceRoles;
use crate::store::{Name, Store};

const DEFAULT_SESSION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MIN_SESSION_LIFETIME: Duration = Duration::from_secs(1);
const MAX_SESSION_LIFETIME: Duration = Duration::from_secs(400 * 24 * 60 * 60);

impl Inventory {
    /// Creates an inventory in `store`, with the system's clock and randomness.
    ///
    /// A store that the application keeps using itself, for example to export or close it, is passed as an `Arc`:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use toposcope::{Inventory, MemoryStore, Store};
    ///
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let inventory = Inventory::new(Arc::clone(&store));
    /// ```
    #[must_use]
    pub fn new(store: impl Store) -> Self {
        let (store, store_counters) = MeasuredStore::new(Arc::new(store));
        Self {
            store: Arc::new(ExistingOrganizations::new(store)),
            store_counters,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            passwords: PasswordHasher::new(),
            quotas: Quotas::default(),
            host_terms: HostTerms::All,
            host_effects: HOST_EFFECTS,
            session_lifetime: DEFAULT_SESSION_LIFETIME,
            shares_emails: false,
            attempts: Arc::new(LoginAttempts::new(LoginLimits::default())),
            share_attempts: Arc::new(LoginAttempts::new(LoginLimits::default())),
            pending_answer: None,
            policy: None,
            custom_index: CustomIndex::default(),
            recording: Recording::On,
            wrapper_kinds: Arc::default(),
            history_limits: HistoryLimits::default(),
            #[cfg(feature = "discovery")]
            port_names: PortNames::new(),
            #[cfg(feature = "topology")]
            service_roles: Default::default(),
            state: Arc::default(),
        }
    }

    /// Replaces the clock, for tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Replaces the source of ids and secrets, for tests.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random, ..self }
    }

    /// Sets the password hasher, including its cost and concurrency.
    ///
    /// Passwords hashed at another cost are hashed again at the next successful login.
    #[must_use]
    pub fn with_passwords(self, passwords: PasswordHasher) -> Self {
        Self { passwords, ..self }
    }

    /// Sets limits on how much an organization may store. Default: [`Quotas::default`].
    #[must_use]
    pub fn with_quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    /// Sets the rules by which discovery and topologies match names of ports. Default: [`PortNames::new`].
    ///
    /// Stored neighbors of ports were resolved by the former rules. After a change of the rules,
    /// [`upgrade`](Self::upgrade) resolves them again. All instances with one store need the same rules.
    ///
    /// ```
    /// use toposcope::discovery::reconcile::PortNames;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// let names = PortNames::new().with_kind("10GE", "xge")?.with_kind("XGigabitEthernet", "xge")?;
    /// let inventory = Inventory::new(MemoryStore::new()).with_port_names(names);
    /// # Ok::<(), toposcope::discovery::reconcile::PortNamesError>(())
    /// ```
    #[cfg(feature = "discovery")]
    #[must_use]
    pub fn with_port_names(self, port_names: PortNames) -> Self {
        Self { port_names, ..self }
    }

    /// Sets the roles that topologies give to hosts by the definitions of their services. Default: none.
    ///
    /// Roles are not stored: a change applies to the next picture, also to pictures of the past.
    ///
    /// ```
    /// use toposcope::model::{ApplicationRole, HostRole, ServiceDefinition, ServiceRoles};
    /// use toposcope::topology::render::{Icon, Theme};
    /// use toposcope::{Api, Inventory, MemoryStore};
    ///
    /// const TILL: HostRole = HostRole::Other(ApplicationRole::new("x.till"));
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let roles = ServiceRoles::new().with_role(ServiceDefinition::new("Example Till")?, TILL);
    /// let inventory = Inventory::new(MemoryStore::new()).with_service_roles(roles);
    /// let theme = Theme::builder().icon(TILL, Icon::new("M2 6H22V22H2Z")).build()?;
    /// let api = Api::builder(inventory).theme(theme).build();
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "topology")]
    #[must_use]
    pub fn with_service_roles(self, roles: ServiceRoles) -> Self {
        let digest = roles.digest();
        Self { service_roles: (roles, digest), ..self }
    }

    /// Stores hosts without terms, which take about 330 bytes of memory for each host.
    ///
    /// The filters of [`HostQuery`](crate::inventory::HostQuery) by address, port, service definition, source, visibility and text are then refused,
    /// and so is discovery, which looks hosts up by their identities. Hosts stored before keep their terms until they
    /// are stored again. Conversely, an inventory with terms does not find hosts stored without terms until they are
    /// stored again, or until an [`upgrade`](Self::upgrade).
    #[must_use]
    pub fn without_host_terms(self) -> Self {
        Self { host_terms: HostTerms::None, ..self }
    }

    /// Sets how much of the history of each organization is kept. Default: [`HistoryLimits::default`].
    #[must_use]
    pub fn with_history_limits(self, history_limits: HistoryLimits) -> Self {
        Self { history_limits, ..self }
    }

    /// Does not record changes. The methods and endpoints of the history then have nothing to show.
    #[must_use]
    pub fn without_history(self) -> Self {
        Self { recording: Recording::Off, ..self }
    }

    /// Declares kinds of records that a [`Wrapper`](crate::store::Wrapper) of the store adds by itself. Default: none.
    ///
    /// Their records are then deleted with the organization that their facets name, and before it with the network if they name one,
    /// too. Records of other kinds outlive their organization, and keep their network from being deleted. Their changes are not in the
    /// history, so that kinds of [application records](crate::inventory::ApplicationRecord) must not be among them. Names that
    /// do not begin with `x.` have no effect.
    ///
    /// ```
    /// use toposcope::store::Name;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// const EVENT: Name = Name::new("x.event");
    ///
    /// let inventory = Inventory::new(MemoryStore::new()).with_wrapper_kinds([EVENT]);
    /// ```
    #[must_use]
    pub fn with_wrapper_kinds(self, kinds: impl IntoIterator<Item = Name>) -> Self {
        let kinds = kinds.into_iter().filter(Name::is_of_application).collect();
        Self { wrapper_kinds: Arc::new(kinds), ..self }
    }

    /// Sets the time after which a session expires, however often it is used. Default: 7 days.
    ///
    /// Applies to further logins, and is the `Max-Age` of their cookies. Clamped to 1 second to 400 days, the longest
    /// time for which browsers keep a cookie.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// let twelve_hours = Duration::from_secs(12 * 60 * 60);
    /// let inventory = Inventory::new(MemoryStore::new()).with_session_lifetime(twelve_hours);
    /// ```
    #[must_use]
    pub fn with_session_lifetime(self, lifetime: Duration) -> Self {
        let session_lifetime = lifetime.clamp(MIN_SESSION_LIFETIME, MAX_SESSION_LIFETIME);
        Self { session_lifetime, ..self }
    }

    /// Sets the limits on failed and concurrent logins. Default: [`LoginLimits::default`].
    ///
    /// The passwords of shares have the same limits, counted by share in place of the address. Attempts through earlier clones are
    /// counted separately.
    #[must_use]
    pub fn with_login_limits(self, limits: LoginLimits) -> Self {
        let [attempts, share_attempts] = [(); 2].map(|()| Arc::new(LoginAttempts::new(limits)));
        Self { attempts, share_attempts, ..self }
    }
}
