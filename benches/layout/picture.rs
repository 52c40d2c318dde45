//! Plain pictures of arrangements, to look at.

use std::fmt::Write;

use toposcope::topology::layout::{Arrangement, Rect};

use crate::graphs::Graph;

/// Writes an arrangement as an SVG file named after its graph.
pub(crate) fn write(folder: &str, graph: &Graph, arrangement: &Arrangement, labels: &[Option<Rect>]) {
    let Rect { x, y, width, height, .. } = arrangement.bounds;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{} {} {} {}\">\n<style>\
         rect {{ fill: #dbe9f6; stroke: #456; }} .r0 {{ fill: #e69f00; }} .r1 {{ fill: #56b4e9; }} .r2 {{ fill: #9fd8c5; }} \
         .c {{ fill: #f4f4f4; }} .l {{ fill: #fd9; stroke: none; }} polyline {{ fill: none; stroke: #333; stroke-width: 1.5; }}\
         </style>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" style=\"fill:white;stroke:none\"/>\n",
        x - 20.0,
        y - 20.0,
        width + 40.0,
        height + 40.0,
        x - 20.0,
        y - 20.0,
        width + 40.0,
        height + 40.0,
    );
    let mut rect = |rect: &Rect, class: &str| {
        let Rect { x, y, width, height, .. } = rect;
        let _ = writeln!(
            text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
        );
    };
    let shapes = || graph.diagram.shapes.iter().zip(&arrangement.shapes);
    // Containers have titles, and their parents come first.
    for (_, place) in shapes().filter(|(shape, _)| shape.header > 0.0) {
        rect(place, "c");
    }
    for (shape, place) in shapes().filter(|(shape, _)| shape.header == 0.0) {
        rect(place, &shape.rank.map_or(String::new(), |rank| format!("r{rank}")));
    }
    for place in labels.iter().flatten() {
        rect(place, "l");
    }
    for route in &arrangement.routes {
        let points: Vec<String> = route.iter().map(|point| format!("{},{}", point.x, point.y)).collect();
        let _ = writeln!(text, "<polyline points=\"{}\"/>", points.join(" "));
    }
    text.push_str("</svg>\n");
    let name = graph.name.replace([' ', ','], "_");
    let _ = std::fs::create_dir_all(folder);
    if let Err(error) = std::fs::write(format!("{folder}/{name}.svg"), text) {
        println!("The picture of {name} is not written: {error}");
    }
}
