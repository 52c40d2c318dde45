//! Whether the requests that come most often take more instructions than is written down.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use crate::committed::{Committed, compiler, file};
use crate::count::{can_count, instructions};
use crate::paths::paths;

/// How many percent more a path may take than is written down. Runs of one build differ by up to 5, because it depends on
/// where the allocator has room; what is lost for good in a path is mostly more than that.
const TOLERANCE: u64 = 10;

/// Counts and compares. Only figures of the same compiler can fail: another one makes other code of the same source, and
/// whoever has it can neither help that nor write figures down that hold for everybody else.
pub(crate) fn check() -> Result<ExitCode, Box<dyn Error>> {
    if !can_count() {
        println!("skipped: there is no valgrind to count instructions with");
        return Ok(ExitCode::SUCCESS);
    }
    let (committed, compiler, counted) = (Committed::read()?, compiler()?, count()?);
    println!("| request | instructions | written down | difference, % | at most, % |");
    println!("|---|---|---|---|---|");
    let mut complaints = Vec::new();
    for (name, now) in &counted {
        let before = committed.instructions.get(name).copied();
        let difference = before.map(|before| (*now as f64 / before as f64 - 1.0) * 100.0);
        let told = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        println!(
            "| {name} | {now} | {} | {} | {TOLERANCE} |",
            told(before.map(|before| before.to_string())),
            told(difference.map(|difference| format!("{difference:+.1}"))),
        );
        complaints.extend(complaint(name, *now, before));
    }
    for name in committed.instructions.keys().filter(|name| !counted.contains_key(*name)) {
        complaints.push(format!("{name}: is written down, but cannot be asked any more"));
    }
    println!();
    complaints.iter().for_each(|complaint| println!("{complaint}"));
    if complaints.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "If that is meant to be: `cargo bench --bench overhead -- record` writes {} anew.",
        file().display()
    );
    if committed.compiler != compiler {
        println!("Nothing fails: the figures are of {}, and this is {compiler}.", committed.compiler);
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

fn complaint(name: &str, now: u64, before: Option<u64>) -> Option<String> {
    let Some(before) = before else {
        return Some(format!("{name}: {now} instructions, and no figure is written down"));
    };
    let is_more = now * 100 > before * (100 + TOLERANCE);
    is_more.then(|| {
        format!("{name}: {now} instructions, more than {before} written down and {TOLERANCE} % beside")
    })
}

/// Counts, and writes the figures down.
pub(crate) fn record() -> Result<ExitCode, Box<dyn Error>> {
    let committed = Committed { compiler: compiler()?, instructions: count()? };
    committed.write()?;
    println!("{}:\n{}", file().display(), std::fs::read_to_string(file())?);
    Ok(ExitCode::SUCCESS)
}

fn count() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let watched = paths()?.into_iter().filter(|path| path.is_watched);
    watched.map(|path| Ok((path.name.to_owned(), instructions(&path)?))).collect()
}
