//! Comparison of the most frequent requests' instruction counts with the baseline.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use crate::committed::{Committed, compiler, file};
use crate::count::{can_count, instructions};
use crate::paths::paths;

/// Maximum increase over the baseline, in percent. Runs of one build differ by up to 5 %, depending on the allocator's
/// state; real regressions are usually larger.
const TOLERANCE: u64 = 10;

/// Counts and compares. Fails only with the baseline's compiler, because another one generates different code.
pub(crate) fn check() -> Result<ExitCode, Box<dyn Error>> {
    if !can_count() {
        println!("skipped: valgrind is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let (committed, compiler, counted) = (Committed::read()?, compiler()?, count()?);
    println!("| request | instructions | baseline | difference, % | at most, % |");
    println!("|---|---|---|---|---|");
    let mut regressions = Vec::new();
    for (name, now) in &counted {
        let before = committed.instructions.get(name).copied();
        let difference = before.map(|before| (*now as f64 / before as f64 - 1.0) * 100.0);
        let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        println!(
            "| {name} | {now} | {} | {} | {TOLERANCE} |",
            shown(before.map(|before| before.to_string())),
            shown(difference.map(|difference| format!("{difference:+.1}"))),
        );
        regressions.extend(regression(name, *now, before));
    }
    for name in committed.instructions.keys().filter(|name| !counted.contains_key(*name)) {
        regressions.push(format!("{name}: in the baseline, but no longer measured"));
    }
    println!();
    regressions.iter().for_each(|regression| println!("{regression}"));
    if regressions.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "If this is intended, update {} with `cargo bench --bench overhead -- record`.",
        file().display()
    );
    if committed.compiler != compiler {
        println!("Not a failure: the baseline is from {}, and this is {compiler}.", committed.compiler);
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

fn regression(name: &str, now: u64, before: Option<u64>) -> Option<String> {
    let Some(before) = before else {
        return Some(format!("{name}: {now} instructions, but no baseline"));
    };
    let is_more = now * 100 > before * (100 + TOLERANCE);
    is_more.then(|| {
        format!("{name}: {now} instructions, more than {TOLERANCE} % above the baseline of {before}")
    })
}

/// Counts the instructions and writes the baseline.
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
