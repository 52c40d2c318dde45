//! Import of hosts as JSON lines: refusals, corrections, and the report.

mod callers;
mod drafts;
mod dry_run;
mod existing;
mod input;
mod invalid;
mod report;

use toposcope::access::Caller;
use toposcope::inventory::{Import, ImportReport};

use crate::support::Fixture;

impl Fixture {
    pub(crate) async fn import(&self, lines: impl AsRef<[u8]>) -> ImportReport {
        self.import_with(lines, Import::new()).await
    }

    async fn import_with(&self, lines: impl AsRef<[u8]>, import: Import<'_>) -> ImportReport {
        let report = self
            .inventory
            .hosts()
            .import(&Caller::system(self.organization), lines.as_ref(), import)
            .await
            .unwrap();
        assert!(report.replaced <= report.imported && report.imported + report.refused <= report.lines);
        assert_eq!(report.bytes, lines.as_ref().len() as u64);
        report
    }
}
