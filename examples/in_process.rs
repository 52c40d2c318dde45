//! The API without a network: each request is a call in this process. Tests of a host application can do the same.
//!
//! ```text
//! cargo run --example in_process
//! ```

use std::error::Error;
use std::io::{self, Write};

use http::header::{CONTENT_TYPE, COOKIE, ETAG, IF_MATCH, SET_COOKIE};
use http::request::Builder;
use http::{HeaderMap, HeaderName, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Bootstrap, NewUser};
use toposcope::model::{NetworkId, Permission, User};
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Methods of the inventory without a caller are for the host application and check no permissions.
    let inventory = Inventory::new(MemoryStore::new());
    let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net").network("Office")).await?;
    let mut member = NewUser::new("member@example.net", Permission::Member);
    member.password = Some("correct horse battery".to_owned());
    member.network_ids = vec![start.network.id];
    let member = inventory.users().create(&Caller::system(start.organization.id), member).await?;

    // Clones of an inventory share all state: changes through the API are visible here, and the other way round.
    let api = Api::builder(inventory.clone()).build();
    manage_host(&api, &member, start.network.id).await?;
    create_daemon_key(&api, &inventory, start.network.id).await
}

/// Creates, finds, changes and deletes a host.
async fn manage_host(api: &Api, member: &User, network: NetworkId) -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    // An application with its own users sets a `Caller` on each request, which then needs neither a key nor a session.
    let scope = Scope::granted(member.permissions, member.network_ids.clone());
    let caller = Caller::new(member.organization_id, member.id, member.permissions, scope);

    // The server chooses the ids of the host and of its parts.
    let draft =
        json!({"network_id": network, "name": "printer", "interfaces": [{"ip_address": "192.0.2.7"}]});
    let created =
        send(api, Request::post("/api/v1/hosts").extension(caller.clone()), &draft).await?.success()?;
    let (host, interface) = (created.text("/data/id")?, created.text("/data/interfaces/0/id")?);

    for filter in ["search=print", "ip=192.0.2.0/24", "port=443"] {
        let list = Request::get(format!("/api/v1/hosts?{filter}")).extension(caller.clone());
        let found = send(api, list, &Value::Null).await?.success()?;
        let total = found.body.pointer("/meta/pagination/total_count").unwrap_or(&Value::Null);
        writeln!(output, "hosts with {filter}: {total}")?;
    }

    // A change of one interface also moves the entity tag of its host.
    let fields = json!({"host_id": host, "network_id": network, "ip_address": "192.0.2.8", "name": "eth0"});
    let update = Request::put(format!("/api/v1/interfaces/{interface}")).extension(caller.clone());
    let updated = send(api, update, &fields).await?.success()?;
    writeln!(output, "its address is now {}", updated.text("/data/ip_address")?)?;

    // With `If-Match`, a request applies only to the state that the client has seen. This one is refused, because its
    // state is outdated.
    let path = format!("/api/v1/hosts/{host}");
    let delete = |tag: &str| Request::delete(&path).extension(caller.clone()).header(IF_MATCH, tag);
    let refused = send(api, delete(created.header(&ETAG)?), &Value::Null).await?;
    writeln!(output, "{}: {}", refused.status, refused.text("/error")?)?;

    let current = send(api, Request::get(&path).extension(caller.clone()), &Value::Null).await?.success()?;
    send(api, delete(current.header(&ETAG)?), &Value::Null).await?.success()?;
    writeln!(output, "deleted")?;
    Ok(())
}

/// Creates a key for a discovery daemon in the session of a user.
async fn create_daemon_key(
    api: &Api,
    inventory: &Inventory,
    network: NetworkId,
) -> Result<(), Box<dyn Error>> {
    let credentials = json!({"email": "member@example.net", "password": "correct horse battery"});
    let session = send(api, Request::post("/api/auth/login"), &credentials).await?.success()?;
    let cookie = session.header(&SET_COOKIE)?.split(';').next().unwrap_or_default();

    // No later response contains the plaintext of the key.
    let key = json!({"name": "scanner", "network_id": network, "tags": []});
    let create = Request::post("/api/v1/auth/daemon").header(COOKIE, cookie);
    let created = send(api, create, &key).await?.success()?;

    // The endpoints for daemons are built in (feature `discovery`). A host application that adds endpoints of its own for
    // daemons verifies their keys like this:
    let daemon = inventory.authenticate_daemon_key(created.text("/data/key")?).await?;
    writeln!(io::stdout(), "daemon {} of network {}", daemon.key_id, daemon.network_id)?;
    Ok(())
}

/// A response: its status, its headers and its JSON.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

/// Sends a request with a JSON body. Clones of an `Api` share all state as well.
async fn send(api: &Api, request: Builder, body: &Value) -> Result<Answer, Box<dyn Error>> {
    let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string())?;
    let (head, body) = api.clone().oneshot(request).await?.into_parts();
    let body = serde_json::from_slice(&body.collect().await?.to_bytes())?;
    Ok(Answer { status: head.status, headers: head.headers, body })
}

impl Answer {
    fn success(self) -> Result<Self, Box<dyn Error>> {
        if self.status.is_success() { Ok(self) } else { Err(self.text("/error")?.into()) }
    }

    /// Returns the text at a JSON pointer.
    fn text(&self, pointer: &str) -> Result<&str, Box<dyn Error>> {
        let text = self.body.pointer(pointer).and_then(Value::as_str);
        text.ok_or_else(|| format!("the answer has no {pointer}").into())
    }

    fn header(&self, name: &HeaderName) -> Result<&str, Box<dyn Error>> {
        Ok(self.headers.get(name).ok_or_else(|| format!("the answer has no {name}"))?.to_str()?)
    }
}
