use crate::text_enum::text_enum;

text_enum! {
    /// A kind of record, as named in errors.
    #[non_exhaustive]
    pub enum Entity {
        /// A host.
        Host = "Host",
        /// A port of a host.
        Port = "Port",
        /// A network.
        Network = "Network",
        /// A subnet of a network.
        Subnet = "Subnet",
        /// The reservation of an address.
        AddressReservation = "Address Reservation",
        /// A tag.
        Tag = "Tag",
        /// A share.
        Share = "Share",
        /// A user's API key.
        UserApiKey = "User API Key",
        /// A discovery daemon's API key.
        DaemonApiKey = "Daemon API Key",
        /// An organization.
        Organization = "Organization",
        /// A user.
        User = "User",
        /// A record of the host application.
        ApplicationRecord = "Application Record",
        /// A service of a host.
        Service = "Service",
        /// An interface of a host.
        Interface = "Interface",
        /// A row of a host's SNMP interface table.
        IfEntry = "If Entry",
        /// A place that hosts report as theirs.
        Location = "Location" if feature "topology",
        /// A session.
        Session = "Session",
        /// A discovery daemon.
        Daemon = "Daemon" if feature "discovery",
        /// A discovery: work for a daemon.
        Discovery = "Discovery" if feature "discovery",
        /// A link that a user has entered.
        TopologyLink = "Topology Link" if feature "topology",
        /// The positions of nodes in a view of a network.
        TopologyLayout = "Topology Layout" if feature "topology",
    }
}
