//! The printed tables.

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

/// Prints the lowest ratios of requests per second over all page sizes and connection counts.
pub(crate) fn print_worst(all: &[Rounds]) {
    println!("\n| server | worst to bare hyper | worst to naive axum |\n|---|---|---|");
    let Some(Rounds(servers)) = all.first() else { return };
    for (place, server) in servers.iter().enumerate() {
        let worst = |to: fn(&[Measured]) -> &Measured| {
            let ratios = all.iter().map(|Rounds(all)| ratio(&all[place].rates, &to(all).rates));
            ratios.fold(f64::MAX, f64::min)
        };
        println!("| {} | {:.2} | {:.1} |", server.name, worst(bare), worst(naive));
    }
}

/// Index of the bare hyper server.
const fn bare(all: &[Measured]) -> &Measured {
    &all[0]
}

/// Index of the naive axum server.
const fn naive(all: &[Measured]) -> &Measured {
    &all[1]
}

/// Returns the median of the per-round ratios.
fn ratio(of: &[f64], to: &[f64]) -> f64 {
    median(of.iter().zip(to).map(|(of, to)| of / to).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
