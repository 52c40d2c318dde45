//! Several passes over the same pages.
//!
//! A disturbance that is longer than one measurement then does not decide the result.

use std::error::Error;

use crate::finding::{Finding, Ratios};

const PASSES: usize = 5;

/// Returns the medians of all passes, except for first requests, which occur only once.
pub(crate) fn in_passes(
    measure: impl Fn() -> Result<Vec<Finding>, Box<dyn Error>>,
) -> Result<Vec<Finding>, Box<dyn Error>> {
    let passes = (0..PASSES).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
    Ok((0..passes[0].len())
        .map(|place| {
            let findings: Vec<&Finding> = passes.iter().map(|pass| &pass[place]).collect();
            combined(&findings)
        })
        .collect())
}

fn combined(findings: &[&Finding]) -> Finding {
    let mut all = Vec::new();
    for finding in findings {
        if let Finding::Page { copy, ratios, .. } = finding {
            all.push((*copy, *ratios));
        }
    }
    let mut combined = findings[0].clone();
    if let Finding::Page { copy, ratios, .. } = &mut combined {
        *copy = median(all.iter().map(|(copy, _)| *copy));
        *ratios = Ratios {
            first: ratios.first,
            handed_out: median(all.iter().map(|(_, ratios)| ratios.handed_out)),
            read: median(all.iter().map(|(_, ratios)| ratios.read)),
        };
    }
    combined
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
