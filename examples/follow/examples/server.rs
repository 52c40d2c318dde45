//! A server for the tests, which kill it at any moment.
//!
//! ```text
//! cargo run --example server -- FOLDER ADDRESS
//! ```
//!
//! At its first start it prints an API key. It serves once it prints `serving`.

use std::env;
use std::error::Error;

use axum::Router;
use tokio::net::TcpListener;
use toposcope::inventory::Bootstrap;
use toposcope::{Api, Inventory, SledStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(folder), Some(address)) = (arguments.next(), arguments.next()) else {
        return Err("the arguments are a folder and an address".into());
    };
    let inventory = Inventory::new(SledStore::open(folder).await?);
    let owner = Bootstrap::new("Example", "owner@example.net").password("correct horse battery staple");
    let start = inventory.bootstrap(owner).await?;
    if let Some(key) = start.issued_key {
        println!("{}", key.plaintext());
    }
    let listener = TcpListener::bind(address).await?;
    println!("serving");
    let api = Api::builder(inventory).rate_limit(None).insecure_cookies().build();
    axum::serve(listener, Router::new().fallback_service(api)).await?;
    Ok(())
}
