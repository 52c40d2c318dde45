//! The symbols of roles. A symbol is a badge whose outline differs for each role, with a pictogram on it.

use std::fmt::Write;

use super::super::theme::Look;
use super::super::words::number;
use super::put;
use crate::model::HostRole;

/// Draws the symbol of a role with its upper left corner at this place.
///
/// Each symbol is drawn anew: browsers take several times as long for a picture with thousands of references to shared
/// symbols.
pub(in crate::topology::render) fn draw(out: &mut impl Write, look: &Look, role: HostRole, x: f64, y: f64) {
    let (badge, pictogram) = paths(look, role);
    let (x, y) = (number(x), number(y));
    put(out, format_args!("<path class=\"badge\" d=\"M{x} {y}{badge}\"/>"));
    if let Some(pictogram) = pictogram {
        put(out, format_args!("<path class=\"pictogram\" d=\"M{x} {y}{pictogram}\"/>"));
    }
}

/// Returns the paths of the badge and, if there is one, of the pictogram.
fn paths(look: &Look, role: HostRole) -> (&str, Option<&str>) {
    match look.icon(role) {
        Some(icon) => (&icon.badge, icon.pictogram.as_deref()),
        None => {
            let (badge, pictogram) = shapes(role);
            (badge, Some(pictogram))
        }
    }
}

/// Returns the outlines of the badge and the pictogram. They are in a square of [`ICON`](crate::topology::graph::ICON),
/// relative to its corner.
const fn shapes(role: HostRole) -> (&'static str, &'static str) {
    match role {
        HostRole::Router => (
            "m.58 14a13.42 13.42 0 1 0 26.83 0 13.42 13.42 0 1 0 -26.83 0z",
            "m14 11.67v-7m-2.92 2.92l2.92-2.92l2.92 2.92m-2.92 8.75v7m-2.92-2.92l2.92 2.92l2.92-2.92m-12.83-6.42h6.42m-2.57-2.92l2.92 2.92l-2.92 2.92m15.98-2.92h-6.42m2.57-2.92l-2.92 2.92l2.92 2.92",
        ),
        HostRole::Switch => (
            "m2.92 4.08h22.17a2.33 2.33 0 0 1 2.33 2.33v15.17a2.33 2.33 0 0 1 -2.33 2.33h-22.17a2.33 2.33 0 0 1 -2.33 -2.33v-15.17a2.33 2.33 0 0 1 2.33 -2.33z",
            "m5.83 10.5h15.17m-3.5-3.5l3.5 3.5l-3.5 3.5m4.67 3.5h-15.17m3.5-3.5l-3.5 3.5l3.5 3.5",
        ),
        HostRole::AccessPoint => (
            "m14 .58l13.42 10.27l-5.25 15.98h-16.33l-5.25-15.98z",
            "m7 14a9.92 9.92 0 0 1 14 0m-11.08 3.5a5.83 5.83 0 0 1 8.17 0m-4.08 4.08v.12",
        ),
        HostRole::Firewall => (
            "m1.17 2.33h25.67v23.33h-25.67z",
            "m1.17 10.15h25.67m-25.67 7.7h25.67m-17.5-15.52v7.82m9.33-7.82v7.82m-13.42 0v7.7m8.75-7.7v7.7m8.75-7.7v7.7m-13.42 0v7.82m9.33-7.82v7.82",
        ),
        HostRole::Server => (
            "m7 .58h14a1.75 1.75 0 0 1 1.75 1.75v23.33a1.75 1.75 0 0 1 -1.75 1.75h-14a1.75 1.75 0 0 1 -1.75 -1.75v-23.33a1.75 1.75 0 0 1 1.75 -1.75z",
            "m9.33 5.83h9.33m-9.33 4.67h9.33m-9.33 4.67h9.33m-9.33 7h1.17m6.42 0h1.75",
        ),
        HostRole::Hypervisor => (
            "m14 .58l12.25 6.42v14l-12.25 6.42l-12.25-6.42v-14z",
            "m1.75 7l12.25 6.65l12.25-6.65m-12.25 6.65v13.77",
        ),
        HostRole::Storage => (
            "m2.92 5.83c0-2.92 4.96-5.25 11.08-5.25s11.08 2.33 11.08 5.25v16.33c0 2.92-4.96 5.25-11.08 5.25s-11.08-2.33-11.08-5.25z",
            "m2.92 6.42c0 2.92 4.9 5.25 11.08 5.25s11.08-2.33 11.08-5.25m-22.17 7.58c0 2.92 4.9 5.25 11.08 5.25s11.08-2.33 11.08-5.25",
        ),
        HostRole::Printer => (
            "m7 1.17h14v7h5.83v12.83h-5.83v5.83h-14v-5.83h-5.83v-12.83h5.83z",
            "m7 8.17h14m-14 8.17h14v4.67m-14-4.67v4.67m15.75-8.75v.12",
        ),
        HostRole::Phone => (
            "m9.33 .58h9.33a3.5 3.5 0 0 1 3.5 3.5v19.83a3.5 3.5 0 0 1 -3.5 3.5h-9.33a3.5 3.5 0 0 1 -3.5 -3.5v-19.83a3.5 3.5 0 0 1 3.5 -3.5z",
            "m9.92 5.25h8.17v5.83h-8.17zm.23 10.5v.12m3.85-.12v.12m3.85-.12v.12m-7.7 3.97v.12m3.85-.12v.12m3.85-.12v.12",
        ),
        HostRole::Camera => (
            "m.58 7h17.5v4.08l9.33-4.67v15.17l-9.33-4.67v4.08h-17.5z",
            "m5.83 14a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        ),
        HostRole::Workstation => (
            "m1.17 2.92h25.67v17.5h-9.33v2.92h3.5v2.33h-14v-2.33h3.5v-2.92h-9.33z",
            "m4.67 6.42h18.67v10.5h-18.67z",
        ),
        HostRole::Internet => (
            "m7 22.75a6.42 6.42 0 0 1 -.7 -12.8a7.7 7.7 0 0 1 14.9 -2.1a7.45 7.45 0 0 1 -.2 14.9z",
            "m9.3 15.2a4.7 4.7 0 1 0 9.4 0a4.7 4.7 0 1 0-9.4 0h9.4m-4.7-4.7c-2.6 2.8-2.6 6.6 0 9.4c2.6-2.8 2.6-6.6 0-9.4",
        ),
        HostRole::Guest => (
            "m4 .58h20a3.42 3.42 0 0 1 3.42 3.42v20a3.42 3.42 0 0 1 -3.42 3.42h-20a3.42 3.42 0 0 1 -3.42 -3.42v-20a3.42 3.42 0 0 1 3.42 -3.42z",
            "m14 6.5l6.5 3.5v8l-6.5 3.5l-6.5-3.5v-8zm-6.5 3.5l6.5 3.5l6.5-3.5m-6.5 3.5v8",
        ),
        HostRole::WirelessController => (
            "m7 2.33h14l6.42 11.67l-6.42 11.67h-14l-6.42-11.67z",
            "m8.2 12.2a8.2 8.2 0 0 1 11.6 0m-8.7 3.2a4.1 4.1 0 0 1 5.8 0m-2.9 3.2v.12m-5 3.3h10",
        ),
        HostRole::Ups => ("m4.67 3.5h18.67v5.25h3.5v10.5h-3.5v5.25h-18.67z", "m15.2 6.4l-6 8.4h6l-2.4 6.8"),
        HostRole::IndustrialController => (
            "m.58 8.17h6.42v-5.25h14v5.25h6.42v11.67h-6.42v5.25h-14v-5.25h-6.42z",
            "m9 10h10v8h-10zm-5 1.5v5m20-5v5",
        ),
        HostRole::Media => (
            "m2.92 2.92h22.17a2.33 2.33 0 0 1 2.33 2.33v17.5a2.33 2.33 0 0 1 -2.33 2.33h-22.17a2.33 2.33 0 0 1 -2.33 -2.33v-17.5a2.33 2.33 0 0 1 2.33 -2.33z",
            "m11 9v10l8-5z",
        ),
        HostRole::Iot => (
            "m14 .9c5.8 6.4 9.3 10.7 9.3 15.9a9.3 9.3 0 0 1 -18.6 0c0-5.2 3.5-9.5 9.3-15.9z",
            "m9.5 17a4.5 4.5 0 0 0 4.5 4.5m0-9.3v.12",
        ),
        HostRole::Unknown => (
            "m8.52 .58h10.97l7.93 7.93v10.97l-7.93 7.93h-10.97l-7.93-7.93v-10.97z",
            "m9.92 10.85a4.08 4.08 0 1 1 6.18 3.5c-1.4 .93-2.1 1.63-2.1 3.15m0 3.73v.12",
        ),
        HostRole::Other(_) => {
            ("m14 .58l13.42 13.42l-13.42 13.42l-13.42 -13.42z", "m8.75 14v.12m5.25-.12v.12m5.25-.12v.12")
        }
    }
}
