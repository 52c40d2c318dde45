use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;
use serde_json::value::RawValue;

use super::call::decode;
use super::collection::next_of;
use super::query::PageOf;
use super::{Client, ClientError, Collection, HttpService, PagedQuery};
use crate::wire::PageCursor;

/// The number of records on a page, unless the query has a limit.
const PAGE_LIMIT: usize = 200;

/// A list of any length, read page by page: a `Stream` over records.
///
/// Records that do not change meanwhile occur exactly once.
///
/// A record that this version cannot decode is an error of its own, and the list continues after it. Any other error
/// ends the list; [`rest`](Self::rest) then continues it.
pub struct Records<S, T: Collection> {
    client: Client<S>,
    /// The query of the next page; `None` after the last one.
    rest: Option<T::Query>,
    page: vec::IntoIter<Box<RawValue>>,
    state: State<T::Query>,
}

enum State<Q> {
    Idle,
    Loading(Pending<Q>),
    /// A page could not be read.
    Failed,
}

/// A future page, and the query of the one after it.
type Pending<Q> = Pin<Box<dyn Future<Output = Result<Loaded<Q>, ClientError>> + Send>>;
type Loaded<Q> = (Vec<Box<RawValue>>, Option<Q>);

impl<S: HttpService> Client<S> {
    /// Returns all records of a list, read page by page. The query's limit is the size of a page; default: 200.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::inventory::HostQuery;
    /// # use toposcope::model::Host;
    /// # async fn example<S: HttpService>(client: Client<S>) -> Result<(), ClientError> {
    /// let mut hosts = client.records::<Host>(HostQuery::default());
    /// while let Some(host) = hosts.next().await {
    ///     println!("{}", host?.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Request`, as the first item, for a query with an offset, and where [`list`](Self::list) returns it.
    #[must_use]
    pub fn records<T: Collection>(&self, query: T::Query) -> Records<S, T> {
        let mut query = query;
        let page = query.page();
        page.limit.get_or_insert(PAGE_LIMIT);
        Records {
            client: self.clone(),
            rest: Some(query),
            page: vec::IntoIter::default(),
            state: State::Idle,
        }
    }
}

impl<S: HttpService, T: Collection> Records<S, T> {
    /// Returns the next record, or `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        poll_fn(|context| self.poll_record(context)).await
    }

    /// Returns the query for the unread pages; `None` after the last one.
    ///
    /// After an error, it continues the list.
    #[must_use]
    pub fn rest(&self) -> Option<T::Query> {
        self.rest.clone()
    }

    fn poll_record(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, ClientError>>> {
        loop {
            if let Some(document) = self.page.next() {
                return Poll::Ready(Some(decode(document.get().as_bytes())));
            }
            match &mut self.state {
                State::Failed => return Poll::Ready(None),
                State::Idle => {
                    let Some(query) = self.rest.clone() else { return Poll::Ready(None) };
                    self.state = State::Loading(Box::pin(load::<S, T>(self.client.clone(), query)));
                }
                State::Loading(page) => match ready!(page.as_mut().poll(context)) {
                    Ok((documents, rest)) => {
                        (self.page, self.rest, self.state) = (documents.into_iter(), rest, State::Idle);
                    }
                    Err(error) => {
                        self.state = State::Failed;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
            }
        }
    }
}

async fn load<S: HttpService, T: Collection>(
    client: Client<S>,
    mut query: T::Query,
) -> Result<Loaded<T::Query>, ClientError> {
    let PageOf { offset, cursor, .. } = query.page();
    if *offset > 0 && cursor.is_none() {
        return Err(ClientError::request("`offset` must be 0: the list is read by cursor."));
    }
    let (documents, pagination) = client.raw_page::<T>(&query).await?;
    if pagination.next_cursor.is_none() {
        return Err(ClientError::unexpected("The list cannot be read by cursor."));
    }
    let next: Option<PageCursor> = next_of(&pagination)?;
    let rest = next.map(|next| {
        *query.page().cursor = Some(next);
        query
    });
    Ok((documents, rest))
}

impl<S: HttpService, T: Collection> Stream for Records<S, T> {
    type Item = Result<T, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T, ClientError>>> {
        self.get_mut().poll_record(context)
    }
}

// No field is pinned through a pinned `Records`.
impl<S, T: Collection> Unpin for Records<S, T> {}

impl<S, T: Collection> fmt::Debug for Records<S, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Records").field("path", &T::PATH).finish_non_exhaustive()
    }
}
