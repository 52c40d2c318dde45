//! The file that a daemon keeps: its id, and what the next work needs.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toposcope::collect::crawl::CrawlMemory;
use toposcope::model::DaemonId;

use super::failure::Failure;

/// The state of a daemon.
#[derive(Serialize, Deserialize)]
pub(crate) struct DaemonState {
    pub(crate) id: DaemonId,
    pub(crate) memory: CrawlMemory,
}

impl DaemonState {
    /// Reads the file, or begins with a random id.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        match fs::read(path) {
            Ok(json) => serde_json::from_slice(&json).map_err(|error| {
                let advice = "Delete it, and the daemon registers as a new one";
                Failure::because(format_args!("{name} cannot be read. {advice}"), &error)
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let id = DaemonId::from_u128(fastrand::u128(1..));
                Ok(Self { id, memory: CrawlMemory::default() })
            }
            Err(error) => Err(Failure::because(format_args!("{name} cannot be read"), &error)),
        }
    }

    /// Replaces the file as a whole.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let failed =
            |error: io::Error| Failure::because(format_args!("{} cannot be written", path.display()), &error);
        let json = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("new");
        fs::write(&draft, json).and_then(|()| fs::rename(&draft, path)).map_err(failed)
    }
}
