//! Prints the findings as tables, and the worst ones beside their limits.

use crate::finding::{Family, Finding, Ratios};
use crate::updates::{DISTURBED, INTERFACE, UPDATE};
use crate::whole::{TEN, THOUSAND, WITHOUT_TERMS};

/// A number of hosts and all findings about it.
type Found = (usize, Vec<Finding>);

/// Limit of a figure of the largest inventory.
#[derive(Clone, Copy, Debug)]
enum Bar {
    AtMost(f64),
    /// At most this multiple of the figure of the smallest inventory.
    Growth(f64),
}

const BARS: [(&str, Bar); 8] = [
    (UPDATE, Bar::Growth(2.0)),
    (INTERFACE, Bar::AtMost(2.0)),
    (DISTURBED, Bar::AtMost(2.0)),
    (TEN.beside, Bar::AtMost(1_000.0)),
    (THOUSAND.beside, Bar::AtMost(1_000.0)),
    (WITHOUT_TERMS.beside, Bar::AtMost(600.0)),
    (TEN.whole, Bar::AtMost(64.0)),
    (THOUSAND.whole, Bar::AtMost(64.0)),
];

pub(crate) fn print(found: &[Found]) {
    let Some((_, first)) = found.first() else { return };
    println!(
        "A page of 50: microseconds of a plain copy of its documents / handed out on the first request / on later requests / read, \
         as ratios to that.\n"
    );
    print_head(found, "read took, last to first");
    first
        .iter()
        .filter(|finding| matches!(finding, Finding::Page { .. }))
        .for_each(|row| print_row(found, row));
    println!();
    print_head(found, "last to first");
    first
        .iter()
        .filter(|finding| matches!(finding, Finding::Figure { .. }))
        .for_each(|row| print_row(found, row));
    print_first(found);
    println!(
        "\nThe median and the worst of each family.\n\n\
         | | first | handed out | read | read may be | | worst |\n|---|---|---|---|---|---|---|"
    );
    Family::ALL.into_iter().for_each(|family| print_family(found, family));
    println!("\n| at {} hosts | | may be | |\n|---|---|---|---|", found[found.len() - 1].0);
    BARS.into_iter().for_each(|(name, bar)| print_bar(found, name, bar));
}

fn print_head(found: &[Found], growth: &str) {
    let sizes: Vec<String> = found.iter().map(|(size, _)| format!("{size} hosts |")).collect();
    println!("| | {} {growth} |\n|---{}|---|", sizes.join(" "), "|---".repeat(found.len()));
}

fn print_row(found: &[Found], row: &Finding) {
    let cells: Vec<String> = found
        .iter()
        .map(|(_, findings)| named(findings, row.name()).map_or_else(|| "- |".to_owned(), cell))
        .collect();
    let growth = growth(found, row.name()).map_or_else(|| "-".to_owned(), |growth| format!("{growth:.2}"));
    println!("| {} | {} {growth} |", row.name(), cells.join(" "));
}

fn cell(finding: &Finding) -> String {
    match finding {
        Finding::Page { copy, ratios: Ratios { first, handed_out, read }, .. } => {
            let first = first.map_or_else(|| "-".to_owned(), |first| format!("{first:.2}"));
            format!("{copy:.1} / {first} / {handed_out:.2} / {read:.2} |")
        }
        Finding::First { time: value, .. } | Finding::Figure { value, .. } => format!("{value:.2} |"),
    }
}

/// Prints the first requests for lists that are found through posting lists.
fn print_first(found: &[Found]) {
    println!("\n| first request | hosts | postings | ms | may be | |\n|---|---|---|---|---|---|");
    for (size, findings) in found {
        for finding in findings {
            if let Finding::First { name, postings, time, most } = finding {
                let verdict = verdict(*time, *most);
                println!("| {name} | {size} | {postings} | {time:.2} | {most:.2} | {verdict} |");
            }
        }
    }
}

fn print_family(found: &[Found], family: Family) {
    let mut pages = Vec::new();
    for (size, findings) in found {
        pages.extend(findings.iter().filter_map(|finding| match finding {
            Finding::Page { family: other, name, ratios, .. } if *other == family => {
                Some((*size, name, *ratios))
            }
            _ => None,
        }));
    }
    let worst = pages.iter().max_by(|(.., left), (.., right)| left.read.total_cmp(&right.read));
    let Some((size, name, worst)) = worst else { return };
    let summary = |ratio_of: fn(&Ratios) -> Option<f64>| {
        let mut ratios: Vec<f64> = pages.iter().filter_map(|(.., ratios)| ratio_of(ratios)).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        format!("{:.2}, {:.2}", ratios[ratios.len() / 2], ratios[ratios.len() - 1])
    };
    let (first, handed_out) = (summary(|ratios| ratios.first), summary(|ratios| Some(ratios.handed_out)));
    let read = summary(|ratios| Some(ratios.read));
    let bar = family.bar().map_or_else(|| "-".to_owned(), |bar| bar.to_string());
    let verdict = family.bar().map_or("", |bar| verdict(worst.read, bar));
    println!(
        "| {} | {first} | {handed_out} | {read} | {bar} | {verdict} | {name}, {size} hosts |",
        family.name()
    );
}

fn print_bar(found: &[Found], name: &str, bar: Bar) {
    let last = found.last().and_then(|(_, findings)| named(findings, name)).map(value);
    let (told, most, value) = match bar {
        Bar::AtMost(most) => (name.to_owned(), most, last),
        Bar::Growth(most) => (format!("{name}: last to first"), most, growth(found, name)),
    };
    if let Some(value) = value {
        println!("| {told} | {value:.2} | {most} | {} |", verdict(value, most));
    }
}

fn verdict(value: f64, most: f64) -> &'static str {
    if value <= most { "met" } else { "missed" }
}

fn named<'f>(findings: &'f [Finding], name: &str) -> Option<&'f Finding> {
    findings.iter().find(|finding| finding.name() == name)
}

fn growth(found: &[Found], name: &str) -> Option<f64> {
    let of = |(_, findings): &Found| named(findings, name).map(value);
    Some(of(found.last()?)? / of(found.first()?)?)
}

/// Value that is compared between sizes: for a page, the microseconds that reading it takes.
const fn value(finding: &Finding) -> f64 {
    match finding {
        Finding::Page { copy, ratios, .. } => *copy * ratios.read,
        Finding::First { time: value, .. } | Finding::Figure { value, .. } => *value,
    }
}
