//! Tags, networks, subnets and organizations, as callers list, read, change and delete them.

mod deletion;
mod lists;
mod races;
mod records;

use toposcope::access::{Caller, Scope};
use toposcope::model::{NetworkId, Permission, Subnet, UserId};

use crate::support::Fixture;

impl Fixture {
    /// Returns a caller with a session and this level, to whom these networks are granted.
    fn caller(&self, level: Permission, networks: &[NetworkId]) -> Caller {
        let scope = Scope::granted(level, networks.iter().copied());
        Caller::new(self.organization, UserId::from_u128(0xca11), level, scope).through_session()
    }

    fn admin(&self) -> Caller {
        self.caller(Permission::Admin, &[])
    }

    /// Creates a subnet of the first network.
    async fn subnet(&self, cidr: &str) -> Subnet {
        let subnet = Subnet::new(self.network, cidr, cidr.parse().unwrap());
        self.inventory.records().create(&self.admin(), subnet).await.unwrap()
    }
}
