//! Former states: diffs between two moments, summaries of changes, and the reversion of records.

use serde::Serialize;

use super::call::ClientCall;
use super::collection::item;
use super::query::text_of;
use super::{Client, ClientError, Collection, EntityTag, HttpService, Tagged};
#[cfg(feature = "topology")]
use crate::model::TopologyLink;
use crate::model::{ChangePosition, ChangeSummary, Host, StateDiff, Subnet, Tag};
use crate::wire::{DiffQuery, SummaryQuery};

const CHANGES: &str = "/api/v1/changes";

/// A kind of record that [`Client::revert`] restores to a former state.
pub trait Revertable: Collection {}

impl Revertable for Host {}
impl Revertable for Subnet {}
impl Revertable for Tag {}
#[cfg(feature = "topology")]
impl Revertable for TopologyLink {}

impl<S: HttpService> Client<S> {
    /// Returns the differences between two states.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::inventory::{DiffQuery, Moment};
    /// # async fn example<S: HttpService>(client: Client<S>, yesterday: Moment) -> Result<(), ClientError> {
    /// let diff = client.diff(&DiffQuery::new(yesterday)).await?;
    /// println!("{} hosts are new", diff.hosts.counts.added);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `validation_invalid_format` for a position of another organization, and for a state `to` that is before `from`; `position_gone`
    /// for a state of before the history.
    pub async fn diff(&self, query: &DiffQuery) -> Result<StateDiff, ClientError> {
        let DiffQuery { from, to, network_id } = query;
        let text = text_of(|text| {
            text.value("from", Some(from));
            text.value("to", to.as_ref());
            text.value("network_id", *network_id);
        })?;
        self.value(ClientCall::get(format!("{CHANGES}/diff?{text}"))).await
    }

    /// Counts changes by day, kind of record, action and actor.
    ///
    /// # Errors
    /// `validation_invalid_format` for a position of another organization; `position_gone`.
    pub async fn change_summary(&self, query: &SummaryQuery) -> Result<ChangeSummary, ClientError> {
        let SummaryQuery { since, until, network_id } = query;
        let text = text_of(|text| {
            text.value("since", since.as_ref());
            text.value("until", until.as_ref());
            text.value("network_id", *network_id);
        })?;
        self.value(ClientCall::get(format!("{CHANGES}/summary?{text}"))).await
    }

    /// Restores the state of the record with this id at a position of the history. With a tag, the server refuses the
    /// reversion if the record has changed since, or no longer exists.
    ///
    /// # Errors
    /// The errors of an update, or of a creation if the record no longer exists; `position_gone`.
    pub async fn revert<T: Revertable>(
        &self,
        id: T::Id,
        position: &ChangePosition,
        if_match: Option<&EntityTag>,
    ) -> Result<Tagged<T>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            position: &'a ChangePosition,
        }
        let call = ClientCall::post(format!("{}/revert", item::<T>(id))).json(&Body { position })?;
        self.tagged(call.if_match(if_match)).await
    }
}
