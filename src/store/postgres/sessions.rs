//! Finding out whether connections keep their session.
//!
//! A pooler that assigns a server connection to each transaction mixes up the prepared statements of its clients: a
//! statement may be missing, or be that of another instance.

use super::connection::Purpose;
use super::connector::Connector;
use super::error::{Fault, replaced};
use super::sql;
use crate::store::StoreError;

/// Checks that the connections of a store keep their sessions, unless the store does not rely on it.
///
/// # Errors
/// `Invalid` if two connections have the same session, or one has several.
pub(super) async fn require_sessions(connector: &Connector) -> Result<(), Fault> {
    if connector.options.transaction_pooling {
        return Ok(());
    }
    let one = connector.connect(Purpose::Work).await?;
    let other = connector.connect(Purpose::Work).await?;
    // The second question tells a pooler apart that uses its connections in turn.
    let [first, second] = [one.session().await?, one.session().await?];
    // The transaction occupies the session that a pooler has just assigned to the first connection.
    other.execute(sql::BEGIN).await?.map_err(|error| Fault::of(&error))?;
    let occupied = other.session().await?;
    if !one.is_current() || !other.is_current() {
        return Err(replaced().into());
    }
    if first.is_none() {
        return Ok(());
    }
    if first != second || first == occupied || one.session().await? != first {
        return Err(StoreError::invalid(
            "the connections lead to a pooler that assigns a server connection to each transaction: call \
             `transaction_pooling(true)` on the builder, or let the pooler assign sessions",
        )
        .into());
    }
    Ok(())
}
