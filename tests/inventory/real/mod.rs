//! A real inventory: the data of 1,953 devices. It is not part of the sources; without it there is nothing to
//! test here.

mod file;
mod finding;
mod imported;
mod pages;
mod replay;

use std::sync::LazyLock;
use std::thread;
use toposcope::access::Caller;

use toposcope::inventory::{Import, ImportReport, Inventory};
use toposcope::model::OrganizationId;
use toposcope::store::MemoryStore;

use self::file::unpacked;

/// The inventory, imported once for all tests.
struct Real {
    input: Vec<u8>,
    inventory: Inventory,
    organization: OrganizationId,
    report: ImportReport,
}

impl Real {
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }
}

static REAL: LazyLock<Option<Real>> = LazyLock::new(|| {
    let input = unpacked()?;
    // On a thread of its own, because the first test to come here has a runtime already.
    let import = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(import(input))
    });
    Some(import.join().expect("the import went well"))
});

fn real() -> Option<&'static Real> {
    REAL.as_ref()
}

async fn import(input: Vec<u8>) -> Real {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Real").await.unwrap().id;
    let options = Import::new().create_missing_networks();
    let report = inventory.hosts().import(&Caller::system(organization), &input[..], options).await.unwrap();
    Real { input, inventory, organization, report }
}
