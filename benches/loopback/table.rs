//! What is printed.

use crate::round::{Measured, Rounds};

pub(crate) fn print_head() {
    println!(
        "| hosts | connections | server | requests a second | to bare hyper | to naive axum | median, µs | p99, µs \
         | processor a request, µs | to bare hyper | to naive axum |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
}

pub(crate) fn print_rows(page: usize, connections: usize, rounds: &Rounds) {
    let Rounds(all) = rounds;
    for server in all {
        println!(
            "| {page} | {connections} | {} | {:.0} | {:.2} | {:.1} | {:.0} | {:.0} | {:.1} | {:.2} | {:.2} |",
            server.name,
            median(server.rates.clone()),
            ratio(&server.rates, &bare(all).rates),
            ratio(&server.rates, &naive(all).rates),
            server.latencies[server.latencies.len() / 2],
            server.latencies[server.latencies.len() * 99 / 100],
            median(server.processor.clone()),
            ratio(&server.processor, &bare(all).processor),
            ratio(&server.processor, &naive(all).processor),
        );
    }
}

/// The lowest ratios of requests a second, over all pages and connections.
pub(crate) fn print_worst(all: &[Rounds]) {
    let worst = |of: fn(&[Measured]) -> f64| all.iter().map(|rounds| of(&rounds.0)).fold(f64::MAX, f64::min);
    println!(
        "\nWorst ratios of requests a second: memory to bare hyper {:.2}, folder to bare hyper {:.2}, memory to naive axum \
         {:.1}.",
        worst(|all| ratio(&all[1].rates, &bare(all).rates)),
        worst(|all| ratio(&all[2].rates, &bare(all).rates)),
        worst(|all| ratio(&all[1].rates, &naive(all).rates)),
    );
}

const fn bare(all: &[Measured]) -> &Measured {
    &all[0]
}

const fn naive(all: &[Measured]) -> &Measured {
    &all[3]
}

/// The median ratio of what was measured in the same round.
fn ratio(of: &[f64], to: &[f64]) -> f64 {
    median(of.iter().zip(to).map(|(of, to)| of / to).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
