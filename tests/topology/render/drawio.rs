//! Diagrams of draw.io, read as draw.io reads them.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use toposcope::model::TopologyView;
use toposcope::topology::graph::{Graph, Positions, lay_out};
use toposcope::topology::render::{Format, Picture};

use crate::graph::scenes::read::Roles;
use crate::graph::scenes::{drawn, generated};
use crate::graph::support::Fixture;

/// A number of computers that do not fit on a sheet.
const CROWD: usize = 700;

/// A cell with its geometry.
#[derive(Clone, Debug, Default)]
struct Cell {
    attributes: BTreeMap<String, String>,
    geometry: BTreeMap<String, f64>,
    alternate: Option<[f64; 2]>,
    offset: [f64; 2],
    points: Vec<[f64; 2]>,
}

impl Cell {
    fn text(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> f64 {
        self.geometry.get(name).copied().unwrap_or(0.0)
    }

    fn style(&self, name: &str) -> Option<&str> {
        self.text("style").split(';').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
    }

    fn share(&self, name: &str) -> f64 {
        self.style(name).unwrap().parse().unwrap()
    }
}

fn attributes(start: &BytesStart<'_>) -> BTreeMap<String, String> {
    let attributes = start.attributes().map(|attribute| {
        let attribute = attribute.unwrap();
        let key: &str = attribute.key.as_ref();
        (key.to_owned(), attribute.value.to_string())
    });
    attributes.collect()
}

fn cells(graph: &Graph) -> BTreeMap<String, Cell> {
    let file = Picture::new(graph, "Network").render(Format::DrawIo).unwrap();
    let mut reader = Reader::from_str(&file);
    let mut cells: BTreeMap<String, Cell> = BTreeMap::new();
    let mut current = String::new();
    loop {
        let start = match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => start,
            Event::Eof => return cells,
            _ => continue,
        };
        let attributes = attributes(&start);
        let number = |name: &str| attributes.get(name).map_or(0.0, |text| text.parse().unwrap());
        let name = start.name();
        let name: &str = name.as_ref();
        match name {
            "mxCell" => {
                current = attributes["id"].clone();
                let cell = Cell { attributes, ..Cell::default() };
                assert!(cells.insert(current.clone(), cell).is_none(), "two cells {current}");
            }
            "mxGeometry" => {
                let numbers =
                    attributes.iter().filter_map(|(name, text)| Some((name.clone(), text.parse().ok()?)));
                cells.get_mut(&current).unwrap().geometry = numbers.collect();
            }
            "mxRectangle" => {
                cells.get_mut(&current).unwrap().alternate = Some([number("width"), number("height")]);
            }
            "mxPoint" => {
                let point = [number("x"), number("y")];
                let cell = cells.get_mut(&current).unwrap();
                match attributes.get("as").map(String::as_str) {
                    Some("offset") => cell.offset = point,
                    _ => cell.points.push(point),
                }
            }
            _ => {}
        }
    }
}

/// Returns left, upper edge, width and height of a cell, in coordinates of the diagram.
fn place(cells: &BTreeMap<String, Cell>, id: &str) -> [f64; 4] {
    let cell = &cells[id];
    let [left, top] = match cell.text("parent") {
        "0" | "1" => [0.0, 0.0],
        parent => {
            let [left, top, ..] = place(cells, parent);
            [left, top]
        }
    };
    [left + cell.number("x"), top + cell.number("y"), cell.number("width"), cell.number("height")]
}

/// Returns the middle of a label as mxGraph computes it: by a distance along the line in whole pixels, and an offset.
fn middle(cells: &BTreeMap<String, Cell>, label: &Cell) -> [f64; 2] {
    let edge = &cells[label.text("parent")];
    let end = |name: &str, side: &str| {
        let [x, y, width, height] = place(cells, edge.text(name));
        [x + width * edge.share(&format!("{side}X")), y + height * edge.share(&format!("{side}Y"))]
    };
    let mut points = vec![end("source", "exit")];
    points.extend(&edge.points);
    points.push(end("target", "entry"));
    let lengths: Vec<f64> =
        points.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).collect();
    let distance = ((label.number("x") / 2.0 + 0.5) * lengths.iter().sum::<f64>()).round();
    let (mut index, mut passed) = (0, 0.0);
    while distance >= (passed + lengths[index]).round() && index + 1 < lengths.len() {
        passed += lengths[index];
        index += 1;
    }
    let share = if lengths[index] == 0.0 { 0.0 } else { (distance - passed) / lengths[index] };
    [0, 1].map(|axis| {
        points[index][axis] + (points[index + 1][axis] - points[index][axis]) * share + label.offset[axis]
    })
}

fn labels(cells: &BTreeMap<String, Cell>) -> Vec<(String, [f64; 2], [f64; 2])> {
    let labels = cells.values().filter(|cell| cell.text("style").starts_with("edgeLabel;"));
    labels
        .map(|label| {
            let (text, long) = (label.text("value"), 5.5 * label.text("value").chars().count() as f64);
            let extent = if label.style("horizontal") == Some("0") { [10.0, long] } else { [long, 10.0] };
            (text.to_owned(), middle(cells, label), extent)
        })
        .collect()
}

#[test]
fn labels_are_apart_and_beside_nodes() {
    for scene in generated::small() {
        for roles in [Roles::All, Roles::None] {
            let graph = drawn(&scene.hosts(roles, false));
            let cells = cells(&graph);
            let labels = labels(&cells);
            assert!(!labels.is_empty(), "{}", scene.name);
            for (index, (text, at, extent)) in labels.iter().enumerate() {
                for (other_text, other, other_extent) in &labels[..index] {
                    let away = (at[0] - other[0]).hypot(at[1] - other[1]);
                    assert!(away >= 12.0, "{}: {text} and {other_text} are {away} px apart", scene.name);
                    let overlap = |axis: usize| {
                        (at[axis] - other[axis]).abs() < (extent[axis] + other_extent[axis]) / 2.0 - 1.0
                    };
                    assert!(!overlap(0) || !overlap(1), "{}: {text} on {other_text}", scene.name);
                }
                for node in &graph.nodes {
                    let is_inside = (node.x..node.x + node.width).contains(&at[0])
                        && (node.y..node.y + node.height).contains(&at[1]);
                    assert!(!is_inside, "{}: {text} is on {}", scene.name, node.label);
                }
            }
        }
    }
}

#[test]
fn nearly_all_ports_are_named() {
    for scene in generated::small() {
        let graph = drawn(&scene.hosts(Roles::All, false));
        let cells = cells(&graph);
        let in_picture =
            Picture::new(&graph, "Network").render(Format::Svg).unwrap().matches("class=\"port\"").count();
        let ports = cells
            .values()
            .filter(|cell| cell.text("style").starts_with("edgeLabel;") && cell.style("fontStyle").is_none());
        let ports = ports.count();
        assert!(ports * 100 >= in_picture * 97, "{}: {ports} of {in_picture}", scene.name);
    }
}

fn office(computers: usize) -> Graph {
    let mut network = Fixture::default();
    let router = network.host("router", "router", &[]);
    let switch = network.host("access", "switch", &[]);
    network.link((router, "1"), (switch, "48"), "Confirmed");
    for number in 1..=computers {
        let pc = network.host(&format!("pc-{number}"), "Linux", &[]);
        network.link((switch, &format!("{number}")), (pc, "eth0"), "Reported");
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    graph
}

#[test]
fn fold_is_a_closed_container_with_its_devices() {
    let graph = office(CROWD);
    let fold = graph.nodes.iter().find(|node| node.collapsed > 0).unwrap();
    let cells = cells(&graph);
    let cell = &cells[&fold.id.to_string()];
    assert_eq!((cell.text("collapsed"), cell.style("collapsible")), ("1", Some("1")));
    assert!(cell.text("style").contains("swimlane;"));
    let [width, height] = cell.alternate.unwrap();
    let parent = fold.id.to_string();
    let devices: Vec<&Cell> = cells.values().filter(|cell| cell.text("parent") == parent).collect();
    assert_eq!(devices.len(), fold.collapsed as usize);
    let names: BTreeSet<&str> = devices.iter().map(|device| device.text("value")).collect();
    assert_eq!(names.len(), devices.len());
    assert!(names.iter().all(|name| name.starts_with("pc-")), "{names:?}");
    let places: Vec<[f64; 4]> = devices.iter().map(|device| edges(device)).collect();
    for (index, place) in places.iter().enumerate() {
        let [left, top, right, bottom] = *place;
        assert!(left > 0.0 && top >= cell.number("height") && right < width && bottom < height, "{place:?}");
        for [other_left, other_top, other_right, other_bottom] in places[..index].iter().copied() {
            assert!(right <= other_left || other_right <= left || bottom <= other_top || other_bottom <= top);
        }
    }
}

fn edges(cell: &Cell) -> [f64; 4] {
    let (x, y) = (cell.number("x"), cell.number("y"));
    [x, y, x + cell.number("width"), y + cell.number("height")]
}

#[test]
fn devices_have_stencils_within_their_cards() {
    let graph = office(20);
    let cells = cells(&graph);
    for node in graph.nodes.iter().filter(|node| ["router", "access"].contains(&node.label.as_str())) {
        let card = &cells[&node.id.to_string()];
        let icon = &cells[&format!("{}-icon", node.id)];
        assert_eq!(icon.text("parent"), node.id.to_string());
        assert_eq!(icon.style("shape"), Some(format!("mxgraph.networks.{}", node.role).as_str()));
        let [left, top, right, bottom] = edges(icon);
        assert!(left >= 0.0 && top >= 0.0 && right < card.number("width") && bottom <= card.number("height"));
        assert_eq!(card.style("collapsible"), Some("0"), "a card with an icon is no container");
    }
}

#[test]
fn diagram_has_a_title_above_and_a_legend_below() {
    let graph = office(20);
    let cells = cells(&graph);
    let bounds = graph.bounds;
    assert_eq!(cells["title"].text("value"), "Network");
    assert!(cells["title"].number("y") + cells["title"].number("height") <= bounds.y);
    assert!(cells["subtitle"].text("value").contains("Layer 2"));
    let entries: Vec<&Cell> = cells
        .iter()
        .filter(|(id, _)| id.starts_with("legend-") && id.ends_with("-text"))
        .map(|(_, cell)| cell)
        .collect();
    let texts: BTreeSet<&str> = entries.iter().map(|cell| cell.text("value")).collect();
    for text in ["Router", "Switch", "Both ends agree", "Reported by one end"] {
        assert!(texts.contains(text), "{texts:?}");
    }
    assert!(entries.iter().all(|cell| cell.number("y") >= bounds.y + bounds.height));
}

#[test]
fn cells_refer_to_cells_that_exist() {
    for scene in generated::small() {
        let cells = cells(&drawn(&scene.hosts(Roles::All, false)));
        for cell in cells.values() {
            for name in ["parent", "source", "target"] {
                let other = cell.text(name);
                assert!(other.is_empty() || cells.contains_key(other), "{name} {other}");
            }
        }
    }
}
