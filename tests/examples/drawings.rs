//! The example that draws networks.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::demo_hosts::demo_hosts;
use crate::topology;

/// Runs the example `topology`, and returns its output.
async fn draw(arguments: &[&str]) -> Result<String, String> {
    let mut output = Vec::new();
    let arguments = arguments.iter().map(Into::into);
    let outcome = topology::run(arguments, &mut output).await;
    outcome.map(|()| String::from_utf8(output).unwrap()).map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn every_view_of_demo_hosts_is_drawn_as_picture_and_page() {
    let folder = TempDir::new().unwrap();
    for (view, expected) in [("l2", "core-a-hq-01"), ("l3", "10.0.0.0/27"), ("workloads", "pve-hq-01")] {
        let output = folder.path().join(view);
        let arguments = [
            "--demo",
            "200",
            "--network",
            "head office",
            "--view",
            view,
            "--output",
            output.to_str().unwrap(),
        ];
        let printed = draw(&arguments).await.unwrap();
        assert!(printed.contains("network.svg") && printed.contains("network.html"), "{printed}");
        let [svg, html] =
            ["network.svg", "network.html"].map(|name| fs::read_to_string(output.join(name)).unwrap());
        for name in [expected, "Head office"] {
            assert!(svg.contains(name), "{view}: the picture has no {name}");
            assert!(html.contains(name), "{view}: the page has no {name}");
        }
        assert!(html.starts_with("<!DOCTYPE html>") || html.starts_with("<!doctype html>"), "{view}");
    }
}

#[tokio::test]
async fn demo_network_has_certain_uncertain_and_aggregated_links() {
    let folder = TempDir::new().unwrap();
    let printed = draw(&["--demo", "200", "--output", folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains(" confirmed, ") && printed.contains(" reported by one end"), "{printed}");
    assert!(printed.contains("pe-1.carrier.example: neighbors name it"), "{printed}");
    let svg = fs::read_to_string(folder.path().join("network.svg")).unwrap();
    assert!(svg.contains("Link aggregation"));
}

#[tokio::test]
async fn grouping_by_what_no_host_has_is_printed() {
    for (source, by, is_grouped) in
        [("campus", "location", false), ("campus", "tag", false), ("200", "subnet", true)]
    {
        let folder = TempDir::new().unwrap();
        let output = folder.path().to_str().unwrap();
        let printed = draw(&["--demo", source, "--group-by", by, "--output", output]).await.unwrap();
        let is_said = printed.contains(&format!("nothing is grouped, because no host has a {by}"));
        assert_eq!(is_said, !is_grouped, "{printed}");
    }
}

#[tokio::test]
async fn pictures_in_the_readme_are_current() {
    let data_center = ["200", "--network", "Data centre"];
    for (name, demo) in [
        ("topology", &data_center[..]),
        ("fabric", &["fabric"]),
        ("campus", &["campus"]),
        ("home-lab", &["home-lab"]),
    ] {
        let folder = TempDir::new().unwrap();
        let output = folder.path().to_str().unwrap();
        draw(&[&["--demo"], demo, &["--output", output]].concat()).await.unwrap();
        let drawn = fs::read(folder.path().join("network.svg")).unwrap();
        let kept = fs::read(format!(".github/{name}.svg")).unwrap();
        assert!(
            drawn == kept,
            "Run `cargo run --example topology -- --demo {demo:?}`, and move network.svg to .github/{name}.svg."
        );
    }
}

#[tokio::test]
async fn folder_of_scans_is_drawn_as_a_network_of_its_name() {
    let folder = TempDir::new().unwrap();
    let walks = folder.path().join("Branch");
    fs::create_dir(&walks).unwrap();
    fs::write(walks.join("sw-1.walk"), walk(1, 3, 2)).unwrap();
    fs::write(walks.join("sw-2.walk"), walk(2, 5, 1)).unwrap();
    fs::write(walks.join("broken.xml"), "<nmaprun").unwrap();
    let output = folder.path().join("output");
    let printed = draw(&[walks.to_str().unwrap(), "--output", output.to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("2 of 3 files read") && printed.contains("broken.xml"), "{printed}");
    assert!(printed.contains("nodes: 2, edges: 1"), "{printed}");
    let svg = fs::read_to_string(output.join("network.svg")).unwrap();
    assert!(["Branch", "sw-1", "sw-2"].iter().all(|name| svg.contains(name)), "{svg}");
}

/// Returns a walk of a switch that names another one at a port.
fn walk(own: u8, port: u32, other: u8) -> String {
    format!(
        ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-{own}\"
.1.3.6.1.2.1.2.2.1.2.{port} = STRING: \"Port {port}\"
.1.3.6.1.2.1.2.2.1.3.{port} = INTEGER: 6
.1.0.8802.1.1.2.1.3.1.0 = INTEGER: 4
.1.0.8802.1.1.2.1.3.2.0 = Hex-STRING: 00 1B 21 00 00 0{own}
.1.0.8802.1.1.2.1.4.1.1.4.0.{port}.1 = INTEGER: 4
.1.0.8802.1.1.2.1.4.1.1.5.0.{port}.1 = Hex-STRING: 00 1B 21 00 00 0{other}
.1.0.8802.1.1.2.1.4.1.1.6.0.{port}.1 = INTEGER: 5
.1.0.8802.1.1.2.1.4.1.1.7.0.{port}.1 = STRING: \"Port\"
.1.0.8802.1.1.2.1.4.1.1.9.0.{port}.1 = STRING: \"sw-{other}\"
"
    )
}

fn compress(path: &Path) {
    let status = Command::new("gzip").arg(path).status().unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn scans_in_text_files_and_compressed_ones_are_read() {
    let folder = TempDir::new().unwrap();
    let walks = folder.path().join("Branch");
    fs::create_dir(&walks).unwrap();
    fs::write(walks.join("sw-1.txt"), walk(1, 3, 2)).unwrap();
    fs::write(walks.join("sw-2.txt"), walk(2, 5, 1)).unwrap();
    fs::write(walks.join("notes.txt"), "Dear reader,\n").unwrap();
    compress(&walks.join("sw-2.txt"));
    let output = folder.path().join("output");
    let output = output.to_str().unwrap();
    let printed = draw(&[walks.to_str().unwrap(), "--output", output]).await.unwrap();
    assert!(printed.contains("2 of 3 files read") && printed.contains("nodes: 2, edges: 1"), "{printed}");
    assert!(printed.contains("notes.txt is not read"), "{printed}");
    // A single file, compressed or not.
    for name in ["sw-1.txt", "sw-2.txt.gz"] {
        let path = walks.join(name);
        let printed = draw(&[path.to_str().unwrap(), "--output", output]).await.unwrap();
        assert!(printed.contains("1 of 1 files read") && printed.contains("nodes: 2, edges: 1"), "{printed}");
    }
}

#[tokio::test]
async fn compressed_inventory_is_read_and_its_bad_lines_are_printed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("hosts.jsonl");
    let mut lines: String =
        demo_hosts(40).iter().map(|host| serde_json::to_string(host).unwrap() + "\n").collect();
    lines += "{\"name\": 7}\nno host\n";
    fs::write(&path, lines).unwrap();
    compress(&path);
    let output = folder.path().join("output");
    let arguments = [&*format!("{}.gz", path.display()), "--output", output.to_str().unwrap()];
    let printed = draw(&arguments).await.unwrap();
    assert!(printed.contains("40 hosts read; 2 lines refused."), "{printed}");
    assert!(printed.contains("line 41: ") && printed.contains("line 42: "), "{printed}");
}

#[tokio::test]
async fn every_format_is_written_in_a_theme() {
    let folder = TempDir::new().unwrap();
    let theme = folder.path().join("theme.json");
    fs::write(
        &theme,
        r##"{"fonts": ["Inter"], "roles": {"switch": "#8a1c5b"}, "icons": {"router": {"badge": "M0 0H24V24H0Z"}}}"##,
    )
    .unwrap();
    let output = folder.path().join("output");
    let arguments = [
        "--demo",
        "60",
        "--format",
        "all",
        "--theme",
        theme.to_str().unwrap(),
        "--output",
        output.to_str().unwrap(),
    ];
    let printed = draw(&arguments).await.unwrap();
    for (extension, mark) in [
        ("svg", "'Inter'"),
        ("html", "body{font-family:'Inter'}"),
        ("dot", "#8a1c5b"),
        ("mmd", "#8a1c5b"),
        ("graphml", "fontFamily=\"Inter\""),
        ("drawio", "#8a1c5b"),
        ("json", "\"nodes\""),
    ] {
        let name = format!("network.{extension}");
        assert!(printed.contains(&name), "{printed}");
        let text = fs::read_to_string(output.join(&name)).unwrap();
        assert!(text.contains(mark), "{name} has no {mark}");
    }
    // A single format writes no other file.
    let output = folder.path().join("single");
    draw(&["--demo", "60", "--format", "dot", "--output", output.to_str().unwrap()]).await.unwrap();
    assert_eq!(fs::read_dir(&output).unwrap().count(), 1);
}

#[tokio::test]
async fn arguments_that_give_no_picture_are_explained() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let host = serde_json::to_string(&demo_hosts(1)[0]).unwrap();
    for (arguments, reason) in [
        (vec![], "A SOURCE or --demo is required"),
        (vec!["--veiw", "l2"], "Unknown flag --veiw"),
        (vec!["--view", "l4", "x"], "--view requires l2, l3 or workloads, not \"l4\""),
        (
            vec!["--demo", "many"],
            "--demo requires a number of hosts, fabric, campus or home-lab, not \"many\"",
        ),
        (vec!["--demo", "1", "x"], "Only one SOURCE or --demo is allowed"),
        (vec!["--demo", "0"], "there is no host"),
        (vec!["--demo", "20", "--network", "Moon"], "--network takes one of: Head office."),
        (vec![empty.to_str().unwrap()], "has no files"),
        (vec![&file("hosts.jsonl.gz", "{")], "gzip has failed"),
        (
            vec!["--format", "png", "x"],
            "--format requires html, svg, mermaid, dot, graphml, drawio, json or all, not \"png\"",
        ),
        (
            vec!["--theme", &file("none.json", "{\"light\": {\"text\": \"#777\"}}"), "x"],
            "#777777 of `light.text`",
        ),
        (vec!["--theme", "missing.json", "x"], "missing.json cannot be read"),
        (vec![&file("hosts.txt", "no host\n")], "such as line 1"),
        (vec!["--view", "workloads", &file("one.jsonl", &host)], "has no virtual machines or containers"),
    ] {
        let refused = draw(&arguments).await.unwrap_err();
        assert!(refused.contains(reason), "{arguments:?}: {refused}");
    }
    assert!(draw(&["--help"]).await.unwrap().starts_with("Usage: "));
}
