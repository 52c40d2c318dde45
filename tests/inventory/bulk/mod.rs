//! Creation and replacement of many hosts in one request.

mod ids;
mod refusals;
mod stores;
mod times;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Atomicity, BulkChange, BulkHost, BulkResult, Error, ErrorKind};
use toposcope::model::{HostId, Permission, UserId};

use crate::support::{Document, Fixture};

const MODES: [Atomicity; 2] = [Atomicity::AllOrNothing, Atomicity::PerHost];

impl Fixture {
    /// Returns a Member of the first network only.
    pub(crate) fn member(&self) -> Caller {
        Caller::new(self.organization, UserId::nil(), Permission::Member, Scope::only([self.network]))
    }

    async fn try_bulk(
        &self,
        hosts: impl IntoIterator<Item = impl Into<BulkHost>>,
        atomicity: Atomicity,
    ) -> Result<Vec<BulkResult>, Error> {
        let hosts = hosts.into_iter().map(Into::into).collect();
        self.inventory.hosts().bulk_put(&self.member(), hosts, atomicity).await
    }

    /// Returns the ids and changes of a request whose hosts are all accepted.
    async fn bulk(
        &self,
        hosts: impl IntoIterator<Item = impl Into<BulkHost>>,
        atomicity: Atomicity,
    ) -> Vec<(HostId, BulkChange)> {
        let results = self.try_bulk(hosts, atomicity).await.unwrap();
        assert!(results.iter().enumerate().all(|(place, result)| result.index == place));
        results.into_iter().map(|result| (result.id.unwrap(), result.outcome.unwrap())).collect()
    }
}

impl From<Document> for BulkHost {
    fn from(document: Document) -> Self {
        Self::from_json(document.line())
    }
}

/// Returns the outcome of each host: its change, or why it failed.
fn outcomes(results: Vec<BulkResult>) -> Vec<Result<BulkChange, ErrorKind>> {
    let outcomes = results.into_iter().map(|result| result.outcome);
    outcomes.map(|outcome| outcome.map_err(|error| error.kind().clone())).collect()
}
