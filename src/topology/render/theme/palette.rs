//! The colors of a picture by their purposes.

use std::collections::BTreeMap;

use super::rgb::Rgb;
use crate::model::HostRole;
use crate::text_enum::{listed, text_enum};

text_enum! {
    /// An element that a theme gives a color to, beside the roles of devices.
    ///
    /// The colors of states are those of lines and marks.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum ThemeColor {
        /// The ground of pictures and pages.
        Ground = "ground",
        /// Names, titles and other text.
        Text = "text",
        /// Text of less weight, such as addresses, ports and speeds.
        Muted = "muted",
        /// The card of a device, and the surface of panels and buttons.
        Card = "card",
        /// The border of a card.
        CardBorder = "card_border",
        /// The ground of a container, such as a subnet.
        Frame = "frame",
        /// The border of a container.
        FrameBorder = "frame_border",
        /// The ground of a segment that several devices share.
        Segment = "segment",
        /// Links and selections on pages.
        Accent = "accent",
        /// The line of a link.
        Line = "line",
        /// The line from a subnet to a device in it.
        Member = "member",
        /// A link whose reports contradict each other.
        Conflicting = "conflicting",
        /// A dormant link.
        Dormant = "dormant",
        /// A link in test mode.
        Testing = "testing",
        /// Links and devices that are partly down.
        Degraded = "degraded",
        /// Links and devices that are down, and problems on pages.
        Down = "down",
        /// Links and devices that are disabled.
        Disabled = "disabled",
        /// Nodes and links that were added since an earlier state.
        Added = "added",
        /// Nodes and links that were removed since an earlier state.
        Removed = "removed",
        /// Nodes and links that have moved since an earlier state.
        Moved = "moved",
    }

    /// The error for text that names no color of a theme.
    #[error("not one of {}", listed(ThemeColor::TEXTS))]
    pub struct ThemeColorError;
}

/// The pairs of a text and its background. The accent and the color of the state down are also colors of text on
/// pages.
pub(super) const TEXT_PAIRS: [(ThemeColor, ThemeColor); 12] = [
    (ThemeColor::Text, ThemeColor::Ground),
    (ThemeColor::Text, ThemeColor::Card),
    (ThemeColor::Text, ThemeColor::Frame),
    (ThemeColor::Text, ThemeColor::Segment),
    (ThemeColor::Muted, ThemeColor::Ground),
    (ThemeColor::Muted, ThemeColor::Card),
    (ThemeColor::Muted, ThemeColor::Frame),
    (ThemeColor::Muted, ThemeColor::Segment),
    (ThemeColor::Accent, ThemeColor::Ground),
    (ThemeColor::Accent, ThemeColor::Card),
    (ThemeColor::Down, ThemeColor::Ground),
    (ThemeColor::Down, ThemeColor::Card),
];

/// The colors of one scheme: those of the crate, except for those that a theme replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::topology::render) struct Palette {
    pub(super) is_dark: bool,
    pub(super) own: BTreeMap<ThemeColor, Rgb>,
}

impl Palette {
    pub(in crate::topology::render) fn color(&self, of: ThemeColor) -> Rgb {
        self.own.get(&of).copied().unwrap_or_else(|| built_in(of, self.is_dark))
    }
}

const fn built_in(color: ThemeColor, is_dark: bool) -> Rgb {
    let (light, dark) = match color {
        ThemeColor::Ground => (0xff_ffff, 0x12_171d),
        ThemeColor::Text => (0x16_202b, 0xe6_ebf0),
        ThemeColor::Muted => (0x46_535f, 0xb3_bec9),
        ThemeColor::Card => (0xff_ffff, 0x1d_252d),
        ThemeColor::CardBorder => (0x8a_96a3, 0x6b_7885),
        ThemeColor::Frame => (0xf3_f6f9, 0x17_1e25),
        ThemeColor::FrameBorder => (0xaa_b4bf, 0x4d_5965),
        ThemeColor::Segment => (0xe3_e8ed, 0x2a_343e),
        ThemeColor::Accent => (0x0b_62b8, 0x6c_b6ff),
        ThemeColor::Line => (0x5a_6774, 0x93_a0ad),
        ThemeColor::Member => (0x84_909b, 0x74_818e),
        ThemeColor::Conflicting => (0xd5_5e00, 0xff_8a3d),
        ThemeColor::Dormant => (0x00_72b2, 0x56_b4e9),
        ThemeColor::Testing => (0x8a_3ea8, 0xd6_9be8),
        ThemeColor::Degraded => (0xa8_6200, 0xf0_b429),
        ThemeColor::Down => (0xc1_121f, 0xff_6b6b),
        ThemeColor::Disabled => (0x6b_7785, 0x87_93a0),
        ThemeColor::Added => (0x13_6c2e, 0x3f_b950),
        ThemeColor::Removed => (0xc1_121f, 0xff_6b6b),
        ThemeColor::Moved => (0x6f_42c1, 0xb8_9cff),
    };
    Rgb(if is_dark { dark } else { light })
}

/// Returns the color of a role. The colors can be told apart with the usual color blindnesses.
pub(in crate::topology::render) const fn built_in_role(role: HostRole) -> Rgb {
    Rgb(match role {
        HostRole::Router | HostRole::Internet => 0x00_72b2,
        HostRole::Switch => 0x00_9e73,
        HostRole::Firewall => 0xd5_5e00,
        HostRole::AccessPoint | HostRole::WirelessController => 0x56_b4e9,
        HostRole::Server | HostRole::Guest => 0xcc_79a7,
        HostRole::Hypervisor => 0xe6_9f00,
        HostRole::Storage => 0xf0_e442,
        HostRole::Printer
        | HostRole::Phone
        | HostRole::Camera
        | HostRole::Workstation
        | HostRole::Ups
        | HostRole::IndustrialController
        | HostRole::Media
        | HostRole::Iot
        | HostRole::Unknown
        | HostRole::Other(_) => 0x6b_7785,
    })
}
