//! Measures each inventory in a child process.
//!
//! The memory of the child is then only the memory of this inventory.

use std::error::Error;
use std::process::{Command, Stdio};

use crate::finding::Finding;
use crate::loaded::{LoadedInventory, Spread};
use crate::passes::in_passes;
use crate::{filters, lists, terms, updates, whole};

/// First argument of a child process; the size and the spread follow.
pub(crate) const CHILD: &str = "child";

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

/// Runs in the child. Memory is measured first, because freed memory would later hide new allocations.
pub(crate) fn run(size: usize, spread: Spread) -> Result<(), Box<dyn Error>> {
    let say = |what: &str| eprintln!("{size} hosts on {} networks: {what}", spread.name());
    say("loading, and the whole list");
    let (mut loaded, mut findings) = whole::load(size, spread)?;
    if spread != Spread::TenWithoutTerms {
        loaded.gather()?;
        say("pages");
        findings.extend(in_passes(|| lists::measure(&loaded))?);
    }
    if spread == Spread::Ten {
        say("filters and groups");
        findings.extend(in_passes(|| filters::measure(&loaded))?);
        say("addresses, ports, service definitions and words");
        findings.extend(terms::measure(&loaded)?);
        say("updates of ports and interfaces");
        findings.extend(updates::measure(&loaded)?);
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    leave(loaded);
    Ok(())
}

/// Exits the process: freeing millions of records one by one takes longer.
fn leave(loaded: LoadedInventory) {
    std::mem::forget(loaded);
}
