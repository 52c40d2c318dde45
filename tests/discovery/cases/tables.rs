//! Interfaces, addresses, VLANs, forwarding databases and components.
