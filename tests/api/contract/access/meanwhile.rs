//! Permissions are checked when the body has arrived, which may be long after the headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use serde_json::json;
use tokio::sync::oneshot;
use toposcope::model::Permission;

use crate::common::Reply;
use crate::contract::scene::{PORT, Scene, daemon_body, port_body};

/// A body that arrives when the test releases it.
struct Held {
    released: oneshot::Receiver<()>,
    body: Option<Bytes>,
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.body.is_some() && Pin::new(&mut self.released).poll(context).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(body))))
    }
}

/// Sends a request and runs `meanwhile` before its body arrives.
async fn send(scene: &Scene, request: Request<String>, meanwhile: impl Future<Output = ()>) -> Reply {
    let (release, released) = oneshot::channel();
    let request = request.map(|body| Held { released, body: Some(body.into()) });
    let happens = async {
        tokio::task::yield_now().await;
        meanwhile.await;
        release.send(()).expect("the body is waited for");
    };
    tokio::join!(scene.server().send(request), happens).0
}

/// A request to each endpoint that takes a body from an authenticated caller.
fn requests(scene: &Scene) -> [Request<String>; 4] {
    [
        scene.create_daemon_key(&daemon_body()),
        scene.put_port(PORT, &port_body()),
        scene.put_key(scene.key_id, &scene.key_body()),
        scene.submit_referral(&json!({"referral_source": "reddit"})),
    ]
}

#[tokio::test]
async fn a_credential_that_ends_during_the_body_does_nothing_any_more() {
    for number in 0..4 {
        let scene = Scene::new().await;
        let request = requests(&scene)[number].clone();
        let is_by_key = number < 2;
        let before = scene.stored().await;
        let end = async {
            if is_by_key {
                scene.world.inventory.disable_user_api_key(scene.key_id).await.unwrap();
            } else {
                scene.world.inventory.log_out(&scene.session).await.unwrap();
            }
        };
        let reply = send(&scene, request, end).await;
        if is_by_key {
            assert_eq!(reply.refuses(401, "entity_disabled"), &json!({"entity": "User API Key"}));
            scene.world.inventory.enable_user_api_key(scene.key_id).await.unwrap();
        } else {
            assert_eq!(reply.refuses(401, "auth_not_authenticated"), &json!({}));
        }
        assert_eq!(scene.stored().await, before);
    }
}

#[tokio::test]
async fn a_user_who_has_less_after_the_body_may_do_less() {
    let scene = Scene::new().await;
    for request in requests(&scene).into_iter().take(2) {
        let networks = || scene.member.network_ids.clone();
        let set = async |level| {
            scene.world.inventory.set_user_rights(scene.member.id, level, networks()).await.unwrap();
        };
        let reply = send(&scene, request, set(Permission::Viewer)).await;
        assert_eq!(reply.refuses(403, "auth_permission_denied"), &json!({}));
        set(Permission::Member).await;
    }
}

#[tokio::test]
async fn a_body_that_takes_its_time_is_taken() {
    let scene = Scene::new().await;
    for request in requests(&scene) {
        assert_eq!(send(&scene, request, async {}).await.status, 200);
    }
}
