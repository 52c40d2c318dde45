//! The committed baseline file with the instruction counts of the checked paths.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

const HEAD: &str = "\
# Instructions a request, counted by valgrind; made by `cargo bench --bench overhead -- record`.
# The counts apply to the compiler named here. With another one, differences are printed, but nothing fails.
";

/// The baseline, and the compiler with which it was counted.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    pub(crate) compiler: String,
    pub(crate) instructions: BTreeMap<String, u64>,
}

impl Committed {
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(file())?;
        let mut committed = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("invalid line: {line}"))?;
            if name == "compiler" {
                value.clone_into(&mut committed.compiler);
            } else {
                committed.instructions.insert(name.to_owned(), value.parse()?);
            }
        }
        Ok(committed)
    }

    pub(crate) fn write(&self) -> Result<(), Box<dyn Error>> {
        let figures =
            self.instructions.iter().map(|(name, instructions)| format!("{name}: {instructions}\n"));
        let text = format!("{HEAD}compiler: {}\n{}", self.compiler, figures.collect::<String>());
        Ok(std::fs::write(file(), text)?)
    }
}

pub(crate) fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/overhead/instructions.txt")
}

/// Returns the version of the compiler that cargo uses, and its host target.
pub(crate) fn compiler() -> Result<String, Box<dyn Error>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    let text = String::from_utf8(output.stdout)?;
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).ok_or("the output of rustc -vV is incomplete")
    };
    Ok(format!("rustc {} {}", field("release: ")?, field("host: ")?))
}
