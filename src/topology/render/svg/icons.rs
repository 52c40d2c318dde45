//! The symbols of roles: a badge whose outline differs for each role, and a pictogram on it.

use std::collections::BTreeSet;

use super::super::scene::Scene;
use super::super::words::role_class;
use super::put;
use crate::model::HostRole;
use crate::topology::graph::NodeKind;

/// Writes the symbols that the picture uses.
pub(super) fn define(out: &mut String, scene: &Scene<'_>) {
    let roles = used(scene);
    if roles.is_empty() {
        return;
    }
    out.push_str("<defs>\n");
    for role in roles {
        let (badge, pictogram) = shapes(role);
        put(
            out,
            format_args!(
                "<symbol id=\"topology-{0}\" class=\"{0}\" viewBox=\"0 0 24 24\">{badge}<path class=\"pictogram\" \
                 d=\"{pictogram}\"/></symbol>\n",
                role_class(role)
            ),
        );
    }
    out.push_str("</defs>\n");
}

/// Returns the roles that the picture shows.
pub(super) fn used(scene: &Scene<'_>) -> BTreeSet<HostRole> {
    let nodes = scene.graph.nodes.iter();
    nodes
        .filter(|node| matches!(node.kind, NodeKind::Host | NodeKind::Stub | NodeKind::Group))
        .map(|node| node.role)
        .collect()
}

const fn shapes(role: HostRole) -> (&'static str, &'static str) {
    match role {
        HostRole::Router => (
            "<circle class=\"badge\" cx=\"12\" cy=\"12\" r=\"11.5\"/>",
            "M12 10V4m-2.5 2.5L12 4l2.5 2.5M12 14v6m-2.5-2.5L12 20l2.5-2.5M3.5 12H9M6.8 9.5 9.3 12l-2.5 2.500M20.5 12H15m2.2-2.500L14.7 12l2.5 2.5",
        ),
        HostRole::Switch => (
            "<rect class=\"badge\" x=\".5\" y=\"3.5\" width=\"23\" height=\"17\" rx=\"2\"/>",
            "M5 9h13m-3-3 3 3-3 3M19 15H6m3-3-3 3 3 3",
        ),
        HostRole::AccessPoint => (
            "<path class=\"badge\" d=\"M12 .5 23.5 9.3 19 23H5L.5 9.300z\"/>",
            "M6 12a8.5 8.5 0 0 1 12 0M8.5 15a5 5 0 0 1 7 0M12 18.500v.1",
        ),
        HostRole::Firewall => (
            "<path class=\"badge\" d=\"M1 2h22v20H1z\"/>",
            "M1 8.700h22M1 15.300h22M8 2v6.700M16 2v6.700M4.5 8.700v6.600M12 8.700v6.600M19.5 8.700v6.600M8 15.300V22M16 15.300V22",
        ),
        HostRole::Server => (
            "<rect class=\"badge\" x=\"4.5\" y=\".5\" width=\"15\" height=\"23\" rx=\"1.5\"/>",
            "M8 5h8M8 9h8M8 13h8M8 19h1M14.5 19H16",
        ),
        HostRole::Hypervisor => (
            "<path class=\"badge\" d=\"M12 .5 22.5 6v12L12 23.5 1.5 18V6z\"/>",
            "M1.5 6 12 11.7 22.5 6M12 11.700v11.8",
        ),
        HostRole::Storage => (
            "<path class=\"badge\" d=\"M2.5 5c0-2.5 4.25-4.5 9.5-4.500s9.5 2 9.5 4.500v14c0 2.5-4.25 4.5-9.5 4.500S2.5 21.5 2.5 19z\"/>",
            "M2.5 5.500C2.5 8 6.7 10 12 10s9.5-2 9.5-4.500M2.5 12c0 2.5 4.2 4.5 9.5 4.500s9.5-2 9.5-4.5",
        ),
        HostRole::Printer => (
            "<path class=\"badge\" d=\"M6 1h12v6h5v11h-5v5H6v-5H1V7h5z\"/>",
            "M6 7h12M6 14h12v4M6 14v4M19.5 10.500v.1",
        ),
        HostRole::Phone => (
            "<rect class=\"badge\" x=\"5\" y=\".5\" width=\"14\" height=\"23\" rx=\"3\"/>",
            "M8.5 4.500h7v5h-7zM8.7 13.500v.1M12 13.500v.1M15.3 13.500v.1M8.7 17v.1M12 17v.1M15.3 17v.1",
        ),
        HostRole::Camera => (
            "<path class=\"badge\" d=\"M.5 6h15v3.500l8-4v13l-8-4V18H.5z\"/>",
            "M5 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
        ),
        HostRole::Workstation => {
            ("<path class=\"badge\" d=\"M1 2.500h22v15h-8v2.500h3v2H6v-2h3v-2.500H1z\"/>", "M4 5.500h16v9H4z")
        }
        HostRole::Unknown => (
            "<path class=\"badge\" d=\"M7.3.5h9.400l6.8 6.800v9.400l-6.8 6.800H7.300L.5 16.700V7.300z\"/>",
            "M8.5 9.300a3.5 3.5 0 1 1 5.3 3c-1.2.8-1.8 1.4-1.8 2.700M12 18.200v.1",
        ),
    }
}
