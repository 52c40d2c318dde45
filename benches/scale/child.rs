//! Measures each inventory in a child process, so that its memory is that of this inventory alone.

use std::error::Error;
use std::fmt;
use std::process::{Command, Stdio};

use crate::family::Family;
use crate::ground::{Ground, Spread};
use crate::passes::in_passes;
use crate::{filters, lists, ports, whole};

/// First argument of a child process; the size and the spread follow.
pub(crate) const CHILD: &str = "child";

/// One line of a child's output.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    /// A page, and the time that a plain copy of its documents takes, in microseconds.
    Page { family: Family, name: String, copy: f64, ratios: Ratios },
    /// Any other figure.
    Figure { name: String, value: f64 },
}

/// Times of a page as multiples of a plain copy: handed out on the first request for the list, handed out on
/// later requests, and read.
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

/// Starts a child that measures an inventory, and returns its findings.
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

/// Runs in the child. Memory is measured first: later, memory that was freed would hide what is allocated.
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

/// Exits the process: freeing millions of records one by one takes longer.
fn leave(ground: Ground) {
    std::mem::forget(ground);
}
