//! The families of pages, and the limit for the worst page of each.

/// Pages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Lists,
    ManyNetworks,
    TenthTag,
    OtherTags,
    Ids,
    Groups,
}

impl Family {
    pub(crate) const ALL: [Self; 6] =
        [Self::Lists, Self::ManyNetworks, Self::TenthTag, Self::OtherTags, Self::Ids, Self::Groups];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lists => "orders, directions, offsets, up to 10 networks",
            Self::ManyNetworks => "1,000 networks",
            Self::TenthTag => "a tag on a tenth of the hosts",
            Self::OtherTags => "other tags",
            Self::Ids => "ids",
            Self::Groups => "group_by with order_by",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| format!("there is no family {name}"))
    }

    /// Maximum time of a page as a multiple of a plain copy; `None` if it grows with the number of matches.
    pub(crate) const fn bar(self) -> Option<f64> {
        match self {
            Self::Lists => Some(2.0),
            Self::ManyNetworks | Self::TenthTag | Self::Groups => Some(4.0),
            Self::OtherTags | Self::Ids => None,
        }
    }
}
