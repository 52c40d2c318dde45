//! Labels near the ends of lines.

use toposcope::topology::layout::{Label, LineEnd, Rect, Size, arrange, place_labels};

use super::fixture::{Fixture, overlap};

fn labels(fixture: &Fixture, size: Size) -> Vec<Label> {
    (0..fixture.diagram.connections.len())
        .flat_map(|connection| [LineEnd::Source, LineEnd::Target].map(|end| Label { connection, end, size }))
        .collect()
}

#[test]
fn labels_overlap_neither_shapes_nor_each_other() {
    for fixture in Fixture::all() {
        let arrangement = arrange(&fixture.diagram);
        let placed = place_labels(&fixture.diagram, &arrangement, &labels(&fixture, Size::new(40.0, 12.0)));
        let placed: Vec<Rect> = placed.into_iter().flatten().collect();
        assert!(!placed.is_empty());
        for (index, label) in placed.iter().enumerate() {
            assert!(placed[index + 1..].iter().all(|other| !overlap(label, other)));
            for (shape, rect) in arrangement.shapes.iter().enumerate() {
                let contains_others = fixture.diagram.shapes.iter().any(|inner| inner.parent == Some(shape));
                assert!(contains_others || !overlap(label, rect));
            }
        }
    }
}

#[test]
fn labels_avoid_titles_of_containers() {
    let fixture = Fixture::nested(7);
    let arrangement = arrange(&fixture.diagram);
    let placed = place_labels(&fixture.diagram, &arrangement, &labels(&fixture, Size::new(40.0, 12.0)));
    for (shape, rect) in fixture.diagram.shapes.iter().zip(&arrangement.shapes) {
        let title = Rect { height: shape.header, ..*rect };
        assert!(placed.iter().flatten().all(|label| shape.header == 0.0 || !overlap(label, &title)));
    }
}

#[test]
fn most_labels_find_room_between_two_shapes() {
    let mut fixture = Fixture::default();
    let (one, other) = (fixture.shape(None), fixture.shape(None));
    fixture.connect(one, other);
    let arrangement = arrange(&fixture.diagram);
    let placed = place_labels(&fixture.diagram, &arrangement, &labels(&fixture, Size::new(30.0, 12.0)));
    assert!(placed.iter().all(Option::is_some));
}

#[test]
fn labels_without_room_are_left_out() {
    let fixture = Fixture::campus(3, 3);
    let arrangement = arrange(&fixture.diagram);
    for size in [Size::new(9_000.0, 9_000.0), Size::new(f64::NAN, 10.0), Size::new(10.0, -1.0)] {
        let placed = place_labels(&fixture.diagram, &arrangement, &labels(&fixture, size));
        assert!(placed.iter().all(Option::is_none));
    }
}

#[test]
fn labels_of_unknown_connections_are_left_out() {
    let fixture = Fixture::campus(1, 1);
    let arrangement = arrange(&fixture.diagram);
    let label = Label { connection: 999, end: LineEnd::Source, size: Size::new(10.0, 10.0) };
    assert!(place_labels(&fixture.diagram, &arrangement, &[label]).iter().all(Option::is_none));
}
