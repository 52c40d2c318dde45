//! The example that makes an inventory of a folder of scans.

use std::fs;

use tempfile::TempDir;

use crate::discover;

/// Runs the example `discover`, and returns its output.
async fn run(arguments: &[&str]) -> Result<String, String> {
    let mut output = Vec::new();
    let outcome = discover::run(arguments.iter().map(Into::into), &mut output).await;
    outcome.map(|()| String::from_utf8(output).unwrap()).map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn help_lists_the_flags() {
    let help = run(&["--help"]).await.unwrap();
    assert!(help.starts_with("Usage: ") && help.contains("--complete"), "{help}");
    assert_eq!(run(&["walks", "-h"]).await.unwrap(), help);
}

#[tokio::test]
async fn invalid_arguments_are_explained() {
    for (arguments, reason) in [
        (&[][..], "A FOLDER is required"),
        (&["--complete"], "A FOLDER is required"),
        (&["one", "two"], "Only one FOLDER is allowed"),
        (&["--compleat", "walks"], "Unknown flag --compleat"),
        (&["walks", "--reporter"], "--reporter requires a NAME"),
    ] {
        let refused = run(arguments).await.unwrap_err();
        assert_eq!(refused, format!("{reason} (--help lists the flags)."), "{arguments:?}");
    }
}

#[tokio::test]
async fn devices_of_a_folder_become_hosts() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("sw-1.walk"), ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\n").unwrap();
    let printed = run(&["--complete", folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("new       sw-1") && printed.ends_with("Hosts: 1\n"), "{printed}");
}

#[tokio::test]
async fn files_are_recognized_by_their_content_and_the_others_are_named_with_a_reason() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
    // In the order of the names, the cache comes before the addresses of its own device.
    write("a.txt", b"192.0.2.9 dev eth0 lladdr 00:1b:21:00:00:09 REACHABLE\nnothing\n");
    write("srv-1.arp.txt", b"192.0.2.9 dev eth0 lladdr 00:1b:21:00:00:09 REACHABLE\nnothing\n");
    let addresses = br#"[{"ifindex":2,"ifname":"eth0","link_type":"ether","address":"00:1b:21:00:00:01",
        "addr_info":[{"local":"192.0.2.1","prefixlen":24}]}]"#;
    write("srv-1.json", addresses);
    write("notes", b"Dear reader,\n");
    write("packed.gz", b"no archive");
    let utf_16: Vec<u8> =
        ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-1\"\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    write("sw.log", &utf_16);

    let printed = run(&[folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("new       srv-1") && printed.contains("new       sw-1"), "{printed}");
    assert!(printed.contains("updated   srv-1") || printed.contains("unchanged srv-1"), "{printed}");
    assert!(printed.contains("ignored   a: There is no host named \"a\""), "{printed}");
    assert!(printed.contains("warning: row malformed, once, first in line 2: nothing"), "{printed}");
    let refused = printed.split_once("Not read:").unwrap().1;
    assert!(
        refused.contains("notes is not read: the format is not recognized; the formats are nmap"),
        "{printed}"
    );
    assert!(refused.contains("packed.gz"), "{printed}");
    assert!(printed.ends_with("Hosts: 2\n"), "{printed}");
}

#[tokio::test]
async fn reporter_is_named_by_a_flag_or_else_by_the_name_of_the_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sw-8.walk.txt");
    fs::write(&path, ".1.3.6.1.2.1.2.2.1.2.7 = STRING: \"Port 7\"\n").unwrap();
    let path = path.to_str().unwrap();
    let printed = run(&[path, "--reporter", "sw-7"]).await.unwrap();
    assert!(printed.contains("new       sw-7"), "{printed}");
    let printed = run(&[path]).await.unwrap();
    assert!(printed.contains("new       sw-8"), "{printed}");

    // Two parts of a walk, or walks of two devices.
    let copy = folder.path().join("sw-8.rest.txt");
    fs::write(&copy, ".1.3.6.1.2.1.2.2.1.2.8 = STRING: \"Port 8\"\n").unwrap();
    let printed = run(&[folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("begin alike") && printed.ends_with("Hosts: 0\n"), "{printed}");
    // Content that names its device needs no name of a file.
    fs::write(&copy, ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-9\"\n").unwrap();
    let printed = run(&[folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("new       sw-9") && printed.ends_with("Hosts: 1\n"), "{printed}");
}

#[tokio::test]
async fn files_whose_names_begin_alike_are_not_taken_for_one_device() {
    let folder = TempDir::new().unwrap();
    for number in 1..=2 {
        let addresses = format!(
            "[{{\"ifindex\":2,\"ifname\":\"eth0\",\"addr_info\":[{{\"local\":\"192.0.2.{number}\",\"prefixlen\":24}}]}}]"
        );
        fs::write(folder.path().join(format!("addr.srv-{number}.json")), addresses).unwrap();
    }
    let printed = run(&[folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("begin alike") && printed.ends_with("Hosts: 0\n"), "{printed}");
    let path = folder.path().join("addr.srv-1.json");
    let printed = run(&["--reporter", "srv-1", path.to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("new       srv-1"), "{printed}");
}
