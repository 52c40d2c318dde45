//! The roles that services give to their hosts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Host, HostRole, ServiceDefinition};

/// Roles that service definitions give to the hosts that run them.
///
/// A host with a service of a definition has its role in topologies, and so the color and the icon that a theme has for the
/// role. Of several definitions, the one that was added first decides. It precedes everything else that reveals a role, but not
/// a role that a user has set, and not that of a hypervisor whose guests are known. Services in containers do not count.
///
/// ```
/// use toposcope::model::{ApplicationRole, Host, HostRole, NetworkId, Service, ServiceDefinition, ServiceRoles};
///
/// const TILL: HostRole = HostRole::Other(ApplicationRole::new("x.till"));
///
/// let definition = ServiceDefinition::new("Example Till")?;
/// let roles = ServiceRoles::new().with_role(definition.clone(), TILL);
/// let mut host = Host::new(NetworkId::nil(), "till-1");
/// host.services.push(Service::new(&host, "", definition.clone()));
/// assert_eq!(roles.of_host(&host), Some((&definition, TILL)));
/// # Ok::<(), toposcope::model::ServiceDefinitionError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServiceRoles(Arc<BTreeMap<ServiceDefinition, OrderedRole>>);

/// A role, and how many definitions were added before its own.
#[derive(Clone, Copy, Debug)]
struct OrderedRole {
    place: usize,
    role: HostRole,
}

impl ServiceRoles {
    /// Returns no roles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a definition with its role, or gives a definition another role. The whole name counts, with its case.
    #[must_use]
    pub fn with_role(self, definition: ServiceDefinition, role: HostRole) -> Self {
        let mut roles = self.0;
        let place = roles.len();
        Arc::make_mut(&mut roles)
            .entry(definition)
            .and_modify(|known| known.role = role)
            .or_insert(OrderedRole { place, role });
        Self(roles)
    }

    /// Returns the role of a host by its services, and the definition that decides.
    #[must_use]
    pub fn of_host(&self, host: &Host) -> Option<(&ServiceDefinition, HostRole)> {
        if self.0.is_empty() {
            return None;
        }
        let own = host.services.iter().filter(|service| service.virtualization.is_none());
        let found = own.filter_map(|service| self.0.get_key_value(&service.service_definition));
        let (definition, ordered) = found.min_by_key(|(_, ordered)| ordered.place)?;
        Some((definition, ordered.role))
    }

    /// Returns a number that differs for different roles; 0 for none.
    #[cfg(all(feature = "service", feature = "topology"))]
    pub(crate) fn digest(&self) -> u128 {
        if self.0.is_empty() {
            return 0;
        }
        let mut table = Vec::new();
        for (definition, OrderedRole { place, role }) in &*self.0 {
            let (definition, role) = (definition.as_str(), role.as_str());
            table.extend(format!("{place} {role} {} {definition}", definition.len()).into_bytes());
        }
        let digest = crate::sha256::sha256(&table);
        digest.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes))
    }
}
