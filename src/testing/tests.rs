use super::cases;

/// Returns the documentation of the store's contract, with single spaces between words.
fn documentation() -> String {
    let files = [
        include_str!("../store/mod.rs"),
        include_str!("../store/batch.rs"),
        include_str!("../store/query.rs"),
        include_str!("../store/record.rs"),
        include_str!("../store/snapshot.rs"),
        include_str!("../store/error.rs"),
    ];
    let lines = files.iter().flat_map(|file| file.lines());
    let comments =
        lines.map(str::trim).filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    comments.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Returns the items of the contract's lists, each with its method.
fn points() -> Vec<(String, String)> {
    let mut points: Vec<(String, String)> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let files = [include_str!("../store/mod.rs"), include_str!("../store/snapshot.rs")];
    let lines = files.into_iter().flat_map(|file| file.lines().take_while(|line| !line.starts_with("impl")));
    for line in lines.map(str::trim) {
        if let Some(point) = line.strip_prefix("/// * ") {
            open.push(point.to_owned());
        } else if let (Some(more), Some(point)) = (line.strip_prefix("///   "), open.last_mut()) {
            point.push(' ');
            point.push_str(more);
        } else if line.starts_with("pub trait ") {
            points.extend(open.drain(..).map(|point| ("store".to_owned(), point)));
        } else if let Some((name, _)) = line.strip_prefix("async fn ").and_then(|rest| rest.split_once('(')) {
            points.extend(open.drain(..).map(|point| (name.to_owned(), point)));
        }
    }
    points
}

fn cited() -> Vec<(&'static str, &'static str)> {
    cases().filter_map(|case| case.contract().split_once(": ")).collect()
}

#[test]
fn every_point_of_the_contract_has_a_case() {
    let beyond_a_process = "Once `commit` has returned `Ok`, the batch survives a crash";
    let points = points();
    assert!(points.len() > 20, "only {} points were found", points.len());
    for (method, point) in points.into_iter().filter(|(_, point)| !point.starts_with(beyond_a_process)) {
        let proven = cited().iter().any(|(of, words)| *of == method && point.contains(words));
        assert!(proven, "{method}: {point}");
    }
}

#[test]
fn every_case_cites_the_documentation() {
    let documentation = documentation();
    for (method, words) in cited() {
        assert!(documentation.contains(words), "{method}: {words}");
    }
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let mut names: Vec<_> = cases().map(super::Case::name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
