//! A receiver of webhooks, as an application has one.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use toposcope_follow::signature::{ID, SIGNATURE, Secret, Signed, TIMESTAMP};

use super::SECRET;

/// A message that was accepted.
#[derive(Clone, Debug)]
pub struct Received {
    pub id: String,
    pub event: String,
    pub body: Value,
}

#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    received: watch::Sender<Vec<Received>>,
    /// The answers to the next requests, the last one first; after them, all are accepted.
    refusals: Mutex<Vec<Answer>>,
}

#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Refuse,
    /// The message was received, but the sender does not learn it.
    AcceptAndFail,
}

impl Receiver {
    pub async fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/changes", listener.local_addr().unwrap());
        let shared =
            Arc::new(Shared { received: watch::Sender::new(Vec::new()), refusals: Mutex::default() });
        let app = Router::new().route("/changes", post(receive)).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, shared }
    }

    /// Sets the answers to the next requests.
    pub fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        *self.shared.refusals.lock().unwrap() = answers.into_iter().collect();
    }

    /// Returns the number of messages so far.
    pub fn count(&self) -> usize {
        self.shared.received.borrow().len()
    }

    /// Waits until the messages are what is waited for, and returns all.
    pub async fn until(&self, condition: impl FnMut(&Vec<Received>) -> bool) -> Vec<Received> {
        self.shared.received.subscribe().wait_for(condition).await.unwrap().clone()
    }
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = |name| {
        headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok()).unwrap_or_default()
    };
    let secret: Secret = SECRET.parse().unwrap();
    let signed = Signed { id: header(ID), timestamp: header(TIMESTAMP), signature: header(SIGNATURE) };
    if secret.verify(&signed, &body, SystemTime::now()).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    let answer = shared.refusals.lock().unwrap().pop();
    if matches!(answer, Some(Answer::Refuse)) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let (id, event) = (header(ID).to_owned(), header("toposcope-event").to_owned());
    let received = Received { id, event, body: serde_json::from_slice(&body).unwrap() };
    shared.received.send_modify(|all| all.push(received));
    match answer {
        Some(_) => StatusCode::INTERNAL_SERVER_ERROR,
        None => StatusCode::NO_CONTENT,
    }
}
