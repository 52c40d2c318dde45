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
