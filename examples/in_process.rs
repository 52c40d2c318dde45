//! The API without a network: a request goes in, a response comes out. This is also how to test what embeds it.
//!
//! ```text
//! cargo run --example in_process
//! ```

use std::error::Error;
use std::io::{self, Write};

use http::{Request, header};
use http_body_util::{BodyExt, Empty};
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{Host, Permission, Source, Timestamp};
use toposcope::service::Api;
use toposcope::store::MemoryStore;
use tower::ServiceExt;
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Inside the program nobody needs a key: the inventory does what it is told.
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.create_organization("Example", true).await?;
    let network = inventory.create_network(organization.id, "Office").await?;
    inventory.put_host(organization.id, printer(network.id)).await?;

    // Who comes over HTTP needs one, also where HTTP is only a way to write things down.
    let owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
    let owner = inventory.create_user(owner).await?;
    let mut key = NewUserApiKey::new(owner.id, "in process", Permission::Viewer);
    key.network_ids = vec![network.id];
    let key = inventory.create_user_api_key(key).await?;

    // Any body will do. Clones of an `Api` are the same one, so that each request can have its own.
    let api = Api::builder(inventory).build();
    let request = Request::get("/api/v1/hosts?order_by=name")
        .header(header::AUTHORIZATION, format!("Bearer {}", key.plaintext()))
        .body(Empty::<&[u8]>::new())?;
    let response = api.clone().oneshot(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();

    let mut output = io::stdout().lock();
    writeln!(output, "{status}")?;
    output.write_all(&body)?;
    writeln!(output)?;
    Ok(())
}

fn printer(network: Uuid) -> Host {
    let now = Timestamp::now();
    Host {
        id: Uuid::from_u128(0x133e_671d_8ee1_41bd_903c_3265_7d3d_8ef1),
        network_id: network,
        name: "printer".to_owned(),
        hostname: Some("printer.example.net".to_owned()),
        description: None,
        hidden: false,
        created_at: now,
        updated_at: now,
        tags: Vec::new(),
        source: Source::Manual,
        virtualization: None,
        credential_assignments: Vec::new(),
        interfaces: Vec::new(),
        ports: Vec::new(),
        services: Vec::new(),
        if_entries: Vec::new(),
    }
}
