use crate::text_enum::text_enum;

text_enum! {
    /// A field by which host lists can be ordered. Strings are ordered by Unicode code point, unless the field says
    /// otherwise.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum HostOrderField {
        /// When the host was first recorded.
        #[default]
        CreatedAt = "created_at",
        /// When the host last changed.
        UpdatedAt = "updated_at",
        /// The host's name.
        Name = "name",
        /// The hostname; a missing hostname sorts as the empty string.
        Hostname = "hostname",
        /// The host's name in natural order: `sw2` before `sw10`, regardless of case.
        NameNatural = "name_natural",
        /// The hostname in natural order, like the name.
        HostnameNatural = "hostname_natural",
        /// The id of the host's network.
        NetworkId = "network_id",
        /// The name of the hypervisor service; empty for hosts that are not virtual.
        VirtualizedBy = "virtualized_by",
        /// The address of the first interface: IPv4 before IPv6, hosts without interfaces last.
        InterfaceIp = "interface_ip",
    }

    /// The error for text that names no order field.
    #[error("not a field that hosts can be ordered by")]
    pub struct HostOrderFieldError;
}

text_enum! {
    /// The direction of an ordering.
    #[derive(Default)]
    pub enum OrderDirection {
        /// Smallest first.
        #[default]
        Ascending = "asc",
        /// Greatest first.
        Descending = "desc",
    }

    /// The error for text other than `asc` and `desc`.
    #[error("neither asc nor desc")]
    pub struct OrderDirectionError;
}
