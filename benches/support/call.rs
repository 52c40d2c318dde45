//! Calls the API in process, without a runtime.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use http::{Request, Response};
use http_body::Body;
use toposcope::service::{Api, ResponseBody};
use tower::Service;

/// Sends a request. A memory store never waits here, so one poll returns the response.
pub(crate) fn call(api: &Api, request: Request<String>) -> Response<ResponseBody> {
    let mut api = api.clone();
    let mut future = api.call(request);
    match Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => response,
        Poll::Pending => panic!("the store waits"),
    }
}

pub(crate) fn each_frame(mut body: ResponseBody, mut visit: impl FnMut(&[u8])) {
    loop {
        match Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(Ok(frame))) => visit(frame.data_ref().map_or(&[], |data| &data[..])),
            Poll::Ready(Some(Err(error))) => panic!("{error}"),
            Poll::Ready(None) => return,
            Poll::Pending => panic!("the body waits"),
        }
    }
}
