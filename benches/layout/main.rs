//! Quality and time of arrangements.
//!
//! `cargo bench --bench layout` prints figures for each graph. Where Graphviz is installed, it also prints them for the
//! arrangements of the same graphs by `dot`, `sfdp` and `neato`.
//!
//! The graphs are those of the Internet Topology Zoo and the labs beside the repository (or in the folder that
//! `TOPOSCOPE_DATA` names), and generated ones. `cargo bench --bench layout -- Colt` arranges only graphs whose names
//! contain "Colt"; `--svg FOLDER` writes pictures.
//!
//! Overlaps count pairs of shapes, containers included. Crossings count points where lines cross, but not where they
//! touch or run together. Stress is normalized: it is the mean squared difference between drawn distances, at the best
//! scale, and distances in the network, relative to the distances in the network. Passages count lines that run through
//! foreign shapes.
//!
//! `-- --scenes` prints only the last table: the measures of drawings whose tiers are known, each with its bar. With `--further`, it has
//! networks of further sizes and kinds, and with `--missed` only drawings that miss a bar; `--name TEXT` chooses those whose names contain the text.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::indexing_slicing, reason = "of lists as long as the graph")]

mod graphs;
mod graphviz;
mod metrics;
mod picture;
mod scenes;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toposcope::topology::layout::{Arrangement, Label, LineEnd, Point, Rect, Size, arrange, place_labels};

use self::graphs::Graph;
use self::metrics::{Drawing, Figures, escapes};
use self::scenes::Choice;

const PROGRAMS: [&str; 3] = ["dot", "sfdp", "neato"];
const LIMIT: Duration = Duration::from_secs(20);
const RUNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let folder =
        arguments.iter().position(|argument| argument == "--svg").and_then(|at| arguments.get(at + 1));
    let filter = arguments.first().filter(|argument| !argument.starts_with("--"));
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let choice = Choice { has_further: has("--further"), only_missed: has("--missed") };
    if has("--scenes") {
        let filter = arguments.iter().position(|argument| argument == "--name");
        let filter = filter.and_then(|at| arguments.get(at + 1));
        print_scenes(filter.map(String::as_str), folder.map(String::as_str), choice);
        return;
    }
    let installed = graphviz::is_installed() && !has("--alone");
    if !installed {
        println!("Graphviz is not compared with; it may not be installed.\n");
    }
    println!(
        "| graph | by | shapes | lines | overlaps | outside | crossings | stress | passages | aspect | labels | ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut sums = Sums::default();
    for graph in all() {
        if filter.is_some_and(|filter| !graph.name.contains(filter.as_str())) {
            continue;
        }
        measure(&graph, installed, folder.map(String::as_str), &mut sums);
    }
    sums.print();
    println!();
    for graph in dense() {
        if filter.is_none_or(|filter| graph.name.contains(filter.as_str())) {
            time(&graph);
        }
    }
    if filter.is_none() {
        println!();
        for nodes in [100, 1_000, 10_000] {
            add_one(graphs::campus(nodes, false));
            add_one(graphs::mesh(nodes));
            add_one(graphs::subnets(nodes));
        }
    }
    print_scenes(filter.map(String::as_str), folder.map(String::as_str), choice);
}

/// Prints the measures of generated scenes, and of those beside the repository.
fn print_scenes(filter: Option<&str>, folder: Option<&str>, choice: Choice) {
    let data = graphs::data();
    if data.is_none() {
        println!("\nThe scenes beside the repository are missing; only generated ones are drawn.");
    }
    scenes::print(data.as_deref(), filter, folder, choice);
}

/// Returns graphs that are hard to arrange in a short time.
fn dense() -> Vec<Graph> {
    let of = |nodes| {
        vec![
            graphs::random(nodes),
            graphs::shared_leaves(nodes, 2),
            graphs::shared_leaves(nodes, 6),
            graphs::shared_branches(nodes, 2),
            graphs::islands(nodes, nodes),
            graphs::star(nodes),
        ]
    };
    [1_000, 10_000].into_iter().flat_map(of).collect()
}

/// Prints how long it takes to arrange a graph.
fn time(graph: &Graph) {
    let start = Instant::now();
    let arrangement = arrange(&graph.diagram);
    let time = start.elapsed();
    let drawing = Drawing { shapes: arrangement.shapes, lines: Vec::new() };
    let Figures { overlaps, aspect, .. } = Figures::of(graph, &drawing);
    println!("{}: {:.1} ms, {overlaps} overlaps, aspect {aspect:.2}", graph.name, time.as_secs_f64() * 1e3);
}

/// Adds a shape to an arranged graph, and prints by how much the others move.
fn add_one(mut graph: Graph) {
    let before = arrange(&graph.diagram);
    for (shape, rect) in graph.diagram.shapes.iter_mut().zip(&before.shapes) {
        shape.former = Some(Point::new(rect.x, rect.y));
    }
    graph.add_leaf();
    let start = Instant::now();
    let after = arrange(&graph.diagram);
    let time = start.elapsed();
    let mut moves: Vec<f64> = before
        .shapes
        .iter()
        .zip(&after.shapes)
        .map(|(before, after)| ((before.x - after.x).powi(2) + (before.y - after.y).powi(2)).sqrt())
        .collect();
    moves.sort_by(f64::total_cmp);
    println!(
        "One shape more in {}: the others move by {:.1} pixels in the median, {:.1} at most; {:.1} ms",
        graph.name,
        moves[moves.len() / 2],
        moves[moves.len() - 1],
        time.as_secs_f64() * 1e3
    );
}

fn all() -> Vec<Graph> {
    let mut graphs = Vec::new();
    match graphs::data() {
        Some(data) => {
            graphs.extend(graphs::zoo(&data));
            graphs.extend(graphs::labs(&data));
        }
        None => {
            println!("The networks beside the repository are missing; only generated ones are arranged.\n");
        }
    }
    graphs.extend([100, 1_000, 10_000].map(|nodes| graphs::campus(nodes, false)));
    graphs.push(graphs::campus(1_000, true));
    graphs.extend([300, 1_000].map(graphs::subnets));
    graphs.extend([100, 1_000, 10_000].map(graphs::mesh));
    graphs
        .extend([(1_000, 50), (1_000, 250), (10_000, 250)].map(|(nodes, each)| graphs::islands(nodes, each)));
    graphs
}

fn measure(graph: &Graph, compare: bool, folder: Option<&str>, sums: &mut Sums) {
    let mut times = Vec::new();
    let mut arrangement = Arrangement::default();
    for _ in 0..RUNS {
        let start = Instant::now();
        arrangement = arrange(&graph.diagram);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let (labels, faults) = labels(graph, &arrangement);
    let lines = graph.diagram.connections.iter().zip(&arrangement.routes);
    let drawing = Drawing {
        shapes: arrangement.shapes.clone(),
        lines: lines.map(|(line, route)| (line.source, line.target, route.clone())).collect(),
    };
    let mut figures = Figures::of(graph, &drawing);
    figures.overlaps += faults;
    let outside = escapes(graph, &arrangement.shapes);
    let placed = labels.iter().flatten().count() * 100 / labels.len().max(1);
    row(graph, "toposcope", &figures, &format!("{outside}"), &format!("{placed} %"), times[RUNS / 2]);
    if let Some(folder) = folder {
        picture::write(folder, graph, &arrangement, &labels);
    }
    let flat = graph.diagram.shapes.iter().all(|shape| shape.parent.is_none());
    let mut others = BTreeMap::new();
    for program in PROGRAMS.into_iter().filter(|_| compare && flat) {
        if let Some((drawing, time)) = graphviz::arrange(program, graph, LIMIT) {
            let figures = Figures::of(graph, &drawing);
            row(graph, program, &figures, "", "", time);
            others.insert(program, figures);
        } else {
            println!("| {} | {program} | takes longer than {} s, or fails |", graph.name, LIMIT.as_secs());
        }
    }
    sums.add(graph, &figures, outside, &others);
}

fn row(graph: &Graph, by: &str, figures: &Figures, outside: &str, labels: &str, time: Duration) {
    let Figures { overlaps, crossings, stress, passages, aspect } = figures;
    println!(
        "| {} | {by} | {} | {} | {overlaps} | {outside} | {crossings} | {stress:.4} | {passages} | {aspect:.2} | {labels} | {:.1} |",
        graph.name,
        graph.diagram.shapes.len(),
        graph.diagram.connections.len(),
        time.as_secs_f64() * 1e3,
    );
}

/// Places a label at each end of each line. Returns the labels, and how many pairs of labels, or of a label and a
/// shape, overlap.
fn labels(graph: &Graph, arrangement: &Arrangement) -> (Vec<Option<Rect>>, usize) {
    let count = graph.diagram.connections.len();
    let labels: Vec<Label> = (0..count)
        .flat_map(|connection| {
            [LineEnd::Source, LineEnd::Target].map(|end| Label {
                connection,
                end,
                size: Size::new(44.0, 12.0),
            })
        })
        .collect();
    let placed = place_labels(&graph.diagram, arrangement, &labels);
    let containers: Vec<Option<usize>> = graph.diagram.shapes.iter().map(|shape| shape.parent).collect();
    let simple = |index: &usize| !containers.contains(&Some(*index));
    let shapes = (0..arrangement.shapes.len()).filter(simple).map(|index| arrangement.shapes[index]);
    let count_labels = placed.iter().flatten().count();
    let rects: Vec<Rect> = placed.iter().flatten().copied().chain(shapes).collect();
    let faults = metrics::overlaps_of_first(&rects, count_labels);
    (placed, faults)
}

/// Sums over all graphs, for the comparison with Graphviz.
#[derive(Debug, Default)]
struct Sums {
    rows: BTreeMap<(&'static str, &'static str), (usize, Figures, Figures)>,
    all: Figures,
    outside: usize,
    proportions: Vec<String>,
}

impl Sums {
    fn add(
        &mut self,
        graph: &Graph,
        own: &Figures,
        outside: usize,
        others: &BTreeMap<&'static str, Figures>,
    ) {
        let kind = if graph.is_tree_like() { "tree-like" } else { "meshes" };
        self.all.add(own);
        self.outside += outside;
        if graph.diagram.shapes.len() > 2 && !(0.5..=2.5).contains(&own.aspect) {
            self.proportions.push(format!("{} {:.2}", graph.name, own.aspect));
        }
        if kind == "tree-like" && own.passages > 0 {
            println!("Lines run through shapes in {}.", graph.name);
        }
        for (program, figures) in others {
            let row = self.rows.entry((kind, program)).or_default();
            row.0 += 1;
            row.1.add(own);
            row.2.add(figures);
        }
    }

    fn print(&self) {
        println!(
            "\n| graphs | | crossings | stress | passages | crossings of it | stress of it | passages of it |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for ((kind, program), (count, own, other)) in &self.rows {
            println!(
                "| {count} {kind} | {program} | {} | {:.3} | {} | {} | {:.3} | {} |",
                own.crossings, own.stress, own.passages, other.crossings, other.stress, other.passages
            );
        }
        println!(
            "\nOverlaps: {}. Shapes outside of their containers: {}. Passages: {}.",
            self.all.overlaps, self.outside, self.all.passages
        );
        println!("Proportions out of range: {}", self.proportions.join(", "));
    }
}
