//! The file in which the instructions are written down that the watched paths may take.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

const HEAD: &str = "\
# Instructions a request, counted by valgrind; made by `cargo bench --bench overhead -- record`.
# They hold for the compiler named here: with another one, differences are told and nothing fails.
";

/// What is written down, and with which compiler it was counted.
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
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("not understood: {line}"))?;
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

/// The compiler that cargo uses here, and the machine that it compiles for.
pub(crate) fn compiler() -> Result<String, Box<dyn Error>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    let told = String::from_utf8(output.stdout)?;
    let field =
        |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).ok_or("rustc does not tell");
    Ok(format!("rustc {} {}", field("release: ")?, field("host: ")?))
}
