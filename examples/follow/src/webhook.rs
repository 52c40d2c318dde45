//! Posts changes to a receiver.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Uri};
use toposcope::client::RequestBody;
use tower::ServiceExt;

use crate::database::{Database, Message};
use crate::signature::{self, Secret};
use crate::{Backoff, Error, HttpClient, note};

/// The header with the kind of a message: `change` or `renewed`.
const EVENT: &str = "toposcope-event";

/// A receiver of changes.
///
/// A message is posted until the receiver accepts it, and only then the next one: each arrives at least once, and in
/// the order of the history. A receiver ignores a message whose `webhook-id` it has already received.
pub struct Webhook {
    client: HttpClient,
    url: Uri,
    secret: Secret,
    delays: Backoff,
}

impl Webhook {
    /// Posts to a URL. Attempts are repeated after a second, and after five minutes at most.
    #[must_use]
    pub fn new(client: HttpClient, url: Uri, secret: Secret) -> Self {
        let delays = Backoff::new(Duration::from_secs(1), Duration::from_secs(5 * 60));
        Self { client, url, secret, delays }
    }

    /// Sets the delays between attempts.
    #[must_use]
    pub fn with_delays(self, delays: Backoff) -> Self {
        Self { delays, ..self }
    }

    /// Posts the messages of the outbox, for as long as it is polled. Dropping it loses nothing.
    ///
    /// # Errors
    /// If the database cannot be used.
    pub async fn deliver(&self, database: &Database) -> Result<Infallible, Error> {
        loop {
            match database.first_message()? {
                Some(message) => {
                    self.post_until_accepted(&message).await;
                    // If the process dies before, the message is posted again.
                    database.remove_message(message.number)?;
                }
                None => database.added.notified().await,
            }
        }
    }

    async fn post_until_accepted(&self, message: &Message) {
        let mut delays = self.delays;
        while let Err(Refusal { reason, retry_after }) = self.post(message).await {
            let delay = delays.delay(retry_after);
            note(format_args!("The webhook failed: {reason}. The next attempt is in {delay:?}."));
            tokio::time::sleep(delay).await;
        }
    }

    async fn post(&self, message: &Message) -> Result<(), Refusal> {
        let failed = |reason: String| Refusal { reason, retry_after: None };
        let request = self.request(message).map_err(|error| failed(error.to_string()))?;
        let response = self.client.clone().oneshot(request).await.map_err(|error| failed(causes(&*error)))?;
        if response.status().is_success() {
            return Ok(());
        }
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        Err(Refusal { reason: format!("the receiver answered {}", response.status()), retry_after })
    }

    /// Returns the request of one attempt, which is signed with its own time.
    fn request(&self, message: &Message) -> Result<Request<RequestBody>, http::Error> {
        let signed = self.secret.sign(&message.id, SystemTime::now(), message.body.as_bytes());
        Request::builder()
            .method(Method::POST)
            .uri(&self.url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(EVENT, &message.event)
            .header(signature::ID, &message.id)
            .header(signature::TIMESTAMP, signed.timestamp)
            .header(signature::SIGNATURE, signed.signature)
            .body(RequestBody::new(message.body.clone()))
    }
}

/// The reason why a receiver has not accepted a message.
struct Refusal {
    reason: String,
    retry_after: Option<Duration>,
}

/// Returns an error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
