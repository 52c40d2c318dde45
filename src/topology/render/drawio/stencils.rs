//! The stencils of devices in draw.io, and the icons of a theme that replace them.

use std::fmt::Write;

use base64ct::{Base64, Encoding};

use crate::model::HostRole;
use crate::topology::graph::ICON;
use crate::topology::render::svg::draw_icon;
use crate::topology::render::theme::Look;
use crate::topology::render::words::number;

/// A stencil: its part of the style, and its extent.
pub(super) struct Stencil {
    pub(super) style: String,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Returns the stencil of a role; `None` where there is none for it.
pub(super) fn of(role: HostRole, look: &Look) -> Option<Stencil> {
    if look.icon(role).is_some() {
        return Some(Stencil { style: image(role, look), width: ICON, height: ICON });
    }
    let (name, width, height) = network_stencil(role)?;
    let scale = ICON / f64::max(width, height);
    let color = look.role(role);
    let style = format!(
        "shape=mxgraph.networks.{name};fillColor={color};strokeColor={};strokeWidth=1;",
        look.pictogram(role)
    );
    Some(Stencil { style, width: width * scale, height: height * scale })
}

/// Returns the stencil of draw.io's library of networks that engineers know for a role, with its proportions.
const fn network_stencil(role: HostRole) -> Option<(&'static str, f64, f64)> {
    Some(match role {
        HostRole::Router => ("router", 100.0, 30.0),
        HostRole::Switch => ("switch", 100.0, 30.0),
        HostRole::AccessPoint => ("wireless_hub", 100.0, 85.0),
        HostRole::WirelessController => ("wireless_modem", 100.0, 85.0),
        HostRole::Firewall => ("firewall", 100.0, 100.0),
        HostRole::Server => ("server", 90.0, 100.0),
        HostRole::Hypervisor => ("virtual_server", 110.0, 120.0),
        HostRole::Guest => ("virtual_pc", 115.0, 85.0),
        HostRole::Storage => ("storage", 100.0, 100.0),
        HostRole::Printer => ("printer", 100.0, 100.0),
        HostRole::Phone => ("phone_2", 100.0, 90.0),
        HostRole::Camera => ("security_camera", 100.0, 75.0),
        HostRole::Workstation => ("pc", 100.0, 70.0),
        HostRole::Internet => ("cloud", 90.0, 50.0),
        HostRole::Ups => ("ups_small", 70.0, 100.0),
        HostRole::IndustrialController => ("terminal", 80.0, 65.0),
        HostRole::Media => ("monitor", 80.0, 65.0),
        HostRole::Iot => ("radio_tower", 55.0, 100.0),
        HostRole::Unknown | HostRole::Other(_) => return None,
    })
}

/// Returns the style for the icon that a theme gives to a role.
fn image(role: HostRole, look: &Look) -> String {
    let side = number(ICON);
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{side}\" height=\"{side}\" viewBox=\"0 0 {side} {side}\"><style>.badge{{fill:{}}}\
         .pictogram{{fill:none;stroke:{};stroke-width:1.75px;stroke-linecap:round;stroke-linejoin:round}}</style>",
        look.role(role),
        look.pictogram(role),
    );
    draw_icon(&mut drawn, look, role, 0.0, 0.0);
    drawn.push_str("</svg>");
    let mut style = String::from("shape=image;imageAspect=0;");
    // A semicolon would end the style: draw.io adds `;base64` itself.
    let _ = write!(style, "image=data:image/svg+xml,{};", Base64::encode_string(drawn.as_bytes()));
    style
}
