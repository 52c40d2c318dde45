//! The measured figures: pages of several families, each with a limit, and single figures.

use std::error::Error;
use std::fmt;

/// Pages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Lists,
    ManyNetworks,
    TenthTag,
    OtherTags,
    Ids,
    Groups,
    Terms,
    FewTerms,
}

impl Family {
    pub(crate) const ALL: [Self; 8] = [
        Self::Lists,
        Self::ManyNetworks,
        Self::TenthTag,
        Self::OtherTags,
        Self::Ids,
        Self::Groups,
        Self::Terms,
        Self::FewTerms,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lists => "orders, directions, offsets, up to 10 networks",
            Self::ManyNetworks => "1,000 networks",
            Self::TenthTag => "a tag on a tenth of the hosts",
            Self::OtherTags => "other tags",
            Self::Ids => "ids",
            Self::Groups => "group_by with order_by",
            Self::Terms => "ip, mac, port, service_definition, search",
            Self::FewTerms => "the same, fewer than 50 hosts",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| format!("there is no family {name}"))
    }

    /// Returns the maximum time of a page as a multiple of a plain copy. `None`: not limited, because the time grows
    /// with the number of matches.
    pub(crate) const fn bar(self) -> Option<f64> {
        match self {
            Self::Lists => Some(2.0),
            Self::ManyNetworks | Self::TenthTag | Self::Groups | Self::Terms => Some(4.0),
            Self::OtherTags | Self::Ids | Self::FewTerms => None,
        }
    }
}

/// One line of a child's output.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    /// A page, and the time that a plain copy of its documents takes, in microseconds.
    Page { family: Family, name: String, copy: f64, ratios: Ratios },
    /// The first request for a list that is found through posting lists, in milliseconds.
    First { name: String, postings: u64, time: f64, most: f64 },
    /// Any other figure.
    Figure { name: String, value: f64 },
}

/// Times of a page as multiples of a plain copy. The page is handed out on the first request for the list, handed out
/// on later requests, and read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratios {
    /// `None` if the list was requested before.
    pub(crate) first: Option<f64>,
    pub(crate) handed_out: f64,
    pub(crate) read: f64,
}

impl Finding {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Page { name, .. } | Self::First { name, .. } | Self::Figure { name, .. } => name,
        }
    }

    pub(crate) fn read(line: &str) -> Result<Self, Box<dyn Error>> {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["page", family, name, copy, first, handed_out, read] => Ok(Self::Page {
                family: Family::named(family)?,
                name: name.to_owned(),
                copy: copy.parse()?,
                ratios: Ratios {
                    first: first.parse().ok(),
                    handed_out: handed_out.parse()?,
                    read: read.parse()?,
                },
            }),
            ["first", name, postings, time, most] => Ok(Self::First {
                name: name.to_owned(),
                postings: postings.parse()?,
                time: time.parse()?,
                most: most.parse()?,
            }),
            ["figure", name, value] => Ok(Self::Figure { name: name.to_owned(), value: value.parse()? }),
            _ => Err(format!("the child said: {line}").into()),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page { family, name, copy, ratios: Ratios { first, handed_out, read } } => {
                let first = first.map_or_else(|| "-".to_owned(), |first| first.to_string());
                write!(formatter, "page\t{}\t{name}\t{copy}\t{first}\t{handed_out}\t{read}", family.name())
            }
            Self::First { name, postings, time, most } => {
                write!(formatter, "first\t{name}\t{postings}\t{time}\t{most}")
            }
            Self::Figure { name, value } => write!(formatter, "figure\t{name}\t{value}"),
        }
    }
}
