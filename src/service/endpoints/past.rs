//! The endpoints that compare two moments: diffs and summaries of changes.

use crate::service::input::{read_diff_query, read_summary_query};
use crate::service::routes::route::{Call, Pending};

/// Maximum number of lists, diffs and summaries of the past at the same time, per user and in total. The work of each
/// grows with the number of changes since the moment.
pub(in crate::service) const MAX_PAST_READINGS: (usize, usize) = (1, 4);

/// `GET /api/v1/changes/diff`.
pub(in crate::service) fn get_diff(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let query = read_diff_query(call.input.query(), &call.route.query)?;
        let (state, answer) = (call.state, call.input.room.answer().clone());
        let caller = call.into_caller()?;
        let _slot = state.past_slots.reserve((&caller).into(), 1)?;
        let diff = state.inventory.diff(&caller, &query).await?;
        answer.reserve_record(&diff)?;
        state.responder.value(&diff)
    })
}

/// `GET /api/v1/changes/summary`.
pub(in crate::service) fn get_change_summary(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let query = read_summary_query(call.input.query(), &call.route.query)?;
        let (state, answer) = (call.state, call.input.room.answer().clone());
        let caller = call.into_caller()?;
        let _slot = state.past_slots.reserve((&caller).into(), 1)?;
        let summary = state.inventory.change_summary(&caller, &query).await?;
        answer.reserve_record(&summary)?;
        state.responder.value(&summary)
    })
}
