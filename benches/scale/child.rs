//! A process of its own for each inventory, so that its memory is that of this inventory alone.

use std::error::Error;
use std::fmt;
use std::process::{Command, Stdio};

use crate::family::Family;
use crate::ground::{Ground, Spread};
use crate::passes::in_passes;
use crate::{filters, lists, ports, whole};

/// The argument that a child is begun with, before the size and the spread.
pub(crate) const CHILD: &str = "child";

/// What a child tells, a line each.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    /// A page, and what a plain copy of its documents takes, in microseconds.
    Page { family: Family, name: String, copy: f64, ratios: Ratios },
    /// Any other figure.
    Figure { name: String, value: f64 },
}

/// What times a plain copy a page takes: when its frames are handed out to the very first who asks and to the others, and
/// when they are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratios {
    /// `None` where others have asked for the list before.
    pub(crate) first: Option<f64>,
    pub(crate) handed_out: f64,
    pub(crate) read: f64,
}

impl Finding {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Page { name, .. } | Self::Figure { name, .. } => name,
        }
    }

    fn read(line: &str) -> Result<Self, Box<dyn Error>> {
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
            Self::Figure { name, value } => write!(formatter, "figure\t{name}\t{value}"),
        }
    }
}

/// Has a child measure an inventory.
pub(crate) fn ask(size: usize, spread: Spread) -> Result<Vec<Finding>, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args([CHILD, &size.to_string(), spread.name()])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("measuring {size} hosts on {} networks failed", spread.name()).into());
    }
    String::from_utf8(output.stdout)?.lines().map(Finding::read).collect()
}

/// What the child does. Memory comes first: later there is memory that was given back, which would hide what is taken.
pub(crate) fn run(size: usize, spread: Spread) -> Result<(), Box<dyn Error>> {
    let say = |what: &str| eprintln!("{size} hosts on {} networks: {what}", spread.name());
    say("loading, and the whole list");
    let (mut ground, mut findings) = whole::load(size, spread)?;
    ground.gather()?;
    say("pages");
    findings.extend(in_passes(|| lists::measure(&ground))?);
    if spread == Spread::Ten {
        say("filters and groups");
        findings.extend(in_passes(|| filters::measure(&ground))?);
        say("updates of ports");
        findings.extend(ports::measure(&ground)?);
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    leave(ground);
    Ok(())
}

/// Giving back millions of records one by one takes longer than ending.
fn leave(ground: Ground) {
    std::mem::forget(ground);
}
