//! A client may take its time with a body. What counts is what it may do when the body is there.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use toposcope::model::Permission;

use crate::common::{LAB, OFFICE, PASSWORD, World, host, key_for, send_json, with_key, with_session};

/// A body that comes when it is sent.
struct Awaited(Receiver<Bytes>);

impl Body for Awaited {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The request with its body held back, and what sends it.
fn hold_back(request: Request<String>) -> (Request<Awaited>, Bytes, Sender<Bytes>) {
    let (sender, receiver) = channel(1);
    let (parts, body) = request.into_parts();
    (Request::from_parts(parts, Awaited(receiver)), body.into(), sender)
}

/// Sends a request of which the second half of the body comes only after `meanwhile`.
async fn send_around(
    world: &World,
    request: Request<String>,
    meanwhile: impl AsyncFnOnce(),
) -> crate::common::Reply {
    let (request, body, sender) = hold_back(request);
    let half = body.len() / 2;
    let rest = async {
        sender.send(body.slice(..half)).await.unwrap();
        // The channel holds one: when there is room again, the first half has been read.
        let place = sender.reserve().await.unwrap();
        meanwhile().await;
        place.send(body.slice(half..));
        drop(sender);
    };
    tokio::join!(world.server.send(request), rest).0
}

fn daemon_key() -> serde_json::Value {
    json!({"name": "scanner", "network_id": OFFICE, "tags": []})
}

#[tokio::test]
async fn a_body_may_come_in_parts() {
    let world = World::with([host(1, OFFICE)]).await;
    let request = with_key(send_json("POST", "/api/v1/auth/daemon", &daemon_key()), &world.key);
    assert_eq!(send_around(&world, request, async || {}).await.data()["api_key"]["name"], "scanner");
}

#[tokio::test]
async fn a_key_that_is_deleted_while_a_body_comes_does_nothing_any_more() {
    let world = World::new().await;
    let owner = world.user(&world.home, Permission::Owner, &[]).await;
    let key = key_for(&owner, Permission::Owner, &world.home.networks);
    let issued = world.inventory.create_user_api_key(key).await.unwrap();
    let request = with_key(send_json("POST", "/api/v1/auth/daemon", &daemon_key()), issued.plaintext());
    let delete = async || world.inventory.delete_user_api_key(issued.record().id).await.unwrap();
    send_around(&world, request, delete).await.refuses(401, "auth_not_authenticated");
    let keys = world.inventory.daemon_api_keys(world.home.organization.id).await.unwrap();
    assert_eq!(keys, []);
}

#[tokio::test]
async fn rights_that_are_lost_while_a_body_comes_are_lost_for_it() {
    let world = World::new().await;
    for (level, networks, status, code) in [
        (Permission::Viewer, vec![OFFICE], 403, "auth_permission_denied"),
        (Permission::Member, vec![LAB], 403, "entity_access_denied"),
    ] {
        let member = world.user(&world.home, Permission::Member, &[OFFICE]).await;
        let session = world.sign_in(&member).await;
        let request = with_session(send_json("POST", "/api/v1/auth/daemon", &daemon_key()), &session);
        let change = async || {
            world.inventory.set_user_rights(member.id, level, networks.clone()).await.unwrap();
        };
        send_around(&world, request, change).await.refuses(status, code);
    }
}

#[tokio::test]
async fn a_session_that_ends_while_a_body_comes_changes_nothing_any_more() {
    let world = World::new().await;
    let user = world.user(&world.home, Permission::Viewer, &[]).await;
    let session = world.sign_in(&user).await;
    let referral = json!({"referral_source": "reddit"});
    let target = "/api/v1/organizations/referral-source";
    let request = with_session(send_json("POST", target, &referral), &session);
    let password = format!("{PASSWORD}, changed");
    let change = async || world.inventory.set_user_password(user.id, Some(password)).await.unwrap();
    send_around(&world, request, change).await.refuses(401, "auth_not_authenticated");
    assert_eq!(world.inventory.referrals(world.home.organization.id).await.unwrap(), []);
}
