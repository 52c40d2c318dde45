//! Serves the application for one tenant, `acme`, on port 8080.
//!
//! ```text
//! OIDC_ISSUER=https://login.example.net/acme OIDC_CLIENT_ID=… OIDC_CLIENT_SECRET=… cargo run
//! ```
//!
//! The application is registered with the redirect address `http://localhost:8080/login/acme/callback`. Users open
//! <http://localhost:8080/login/acme>.

use std::env;
use std::error::Error;
use std::sync::Arc;

use openidconnect::{ClientId, ClientSecret, IssuerUrl, RedirectUrl};
use tokio::net::TcpListener;
use toposcope::access::{Caller, SystemClock};
use toposcope::inventory::NewOrganization;
use toposcope::model::{Network, NetworkId, OrganizationId, Permission};
use toposcope::{Inventory, MemoryStore};
use toposcope_oidc::{Application, Registration, Rights};

const ACME: OrganizationId = OrganizationId::from_u128(1);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registration = Registration {
        issuer: IssuerUrl::new(env::var("OIDC_ISSUER")?)?,
        client_id: ClientId::new(env::var("OIDC_CLIENT_ID")?),
        client_secret: ClientSecret::new(env::var("OIDC_CLIENT_SECRET")?),
        redirect: RedirectUrl::new("http://localhost:8080/login/acme/callback".to_owned())?,
    };
    let levels = [("network-admins", Permission::Admin), ("staff", Permission::Viewer)];
    let levels = levels.map(|(group, level)| (group.to_owned(), level)).into();
    let rights = Rights { organization: ACME, levels };

    let inventory = Inventory::new(MemoryStore::new());
    inventory.organizations().ensure(NewOrganization::new("Acme").id(ACME)).await?;
    let site = NetworkId::from_u128(1);
    inventory.networks().ensure(&Caller::system(ACME), site, Network::new("Headquarters")).await?;

    let tenants = [("acme".to_owned(), rights, registration)];
    let application = Application::new(inventory, Arc::new(SystemClock), tenants)?;
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    axum::serve(listener, application.router()).await?;
    Ok(())
}
