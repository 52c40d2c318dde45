//! Arrangements by Graphviz, to compare with.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use toposcope::topology::layout::{Point, Rect};

use crate::graphs::Graph;
use crate::metrics::Drawing;

const PIXELS_AN_INCH: f64 = 72.0;
const PIECES_OF_A_CURVE: usize = 10;

/// Returns whether Graphviz is installed.
pub(crate) fn is_installed() -> bool {
    Command::new("dot").arg("-V").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Arranges a graph with a Graphviz program. Returns `None` if the program fails or takes longer than the limit.
pub(crate) fn arrange(program: &str, graph: &Graph, limit: Duration) -> Option<(Drawing, Duration)> {
    let folder = tempfile::tempdir().ok()?;
    let (input, output) = (folder.path().join("in.gv"), folder.path().join("out.txt"));
    std::fs::write(&input, source(graph)).ok()?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .arg("-Tplain")
        // Otherwise `sfdp` and `neato` draw nodes on top of each other, which hides crossings.
        .arg("-Goverlap=scale")
        .arg("-o")
        .arg(&output)
        .arg(&input)
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill().ok()?;
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let time = start.elapsed();
    let text = status.success().then(|| std::fs::read_to_string(&output).ok())??;
    Some((drawing(graph, &text)?, time))
}

/// Returns the graph in Graphviz's language. Nodes keep their sizes, and edges lead from higher ranks to lower ones.
fn source(graph: &Graph) -> String {
    let mut text = String::from("graph {\nnode [shape=box, fixedsize=true, label=\"\"];\n");
    for (index, shape) in graph.diagram.shapes.iter().enumerate() {
        let (width, height) = (shape.size.width / PIXELS_AN_INCH, shape.size.height / PIXELS_AN_INCH);
        let _ = writeln!(text, "{index} [width={width:.4}, height={height:.4}];");
    }
    for connection in &graph.diagram.connections {
        let rank = |node: usize| graph.diagram.shapes[node].rank;
        let (mut upper, mut lower) = (connection.source, connection.target);
        if rank(upper) > rank(lower) {
            std::mem::swap(&mut upper, &mut lower);
        }
        let _ = writeln!(text, "{upper} -- {lower};");
    }
    text.push_str("}\n");
    text
}

fn drawing(graph: &Graph, text: &str) -> Option<Drawing> {
    let mut shapes = vec![Rect::default(); graph.diagram.shapes.len()];
    let mut lines: Vec<(usize, usize, Vec<Point>)> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok());
        // Graphviz counts upward.
        let point = |place: usize| {
            Some(Point::new(number(place)? * PIXELS_AN_INCH, -number(place + 1)? * PIXELS_AN_INCH))
        };
        match fields[0] {
            "node" => {
                let (node, center) = (number(1)? as usize, point(2)?);
                let size = graph.diagram.shapes[node].size;
                let corner = Point::new(center.x - size.width / 2.0, center.y - size.height / 2.0);
                shapes[node] = Rect::new(corner, size);
            }
            "edge" => {
                let controls: Vec<Point> =
                    (0..number(3)? as usize).filter_map(|at| point(4 + 2 * at)).collect();
                lines.push((number(1)? as usize, number(2)? as usize, flattened(&controls)));
            }
            _ => {}
        }
    }
    Some(Drawing { shapes, lines })
}

/// Replaces Bézier curves by short lines.
fn flattened(controls: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = controls.first().copied().into_iter().collect();
    for curve in controls.windows(4).step_by(3) {
        for piece in 1..=PIECES_OF_A_CURVE {
            let t = piece as f64 / PIECES_OF_A_CURVE as f64;
            let s = 1.0 - t;
            let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
            let sum =
                |of: fn(&Point) -> f64| -> f64 { curve.iter().zip(weights).map(|(p, w)| of(p) * w).sum() };
            points.push(Point::new(sum(|point| point.x), sum(|point| point.y)));
        }
    }
    points
}
