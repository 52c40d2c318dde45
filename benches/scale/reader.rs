//! The users that send the requests.

use std::error::Error;

use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use http::request::Builder;
use http::{Request, Uri};
use toposcope::access::Caller;
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{NetworkId, OrganizationId, Permission};

const PASSWORD: &str = "correct horse battery";

/// A user with a credential.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// The part of the inventory that this user sees, in words.
    pub(crate) sees: String,
    pub(crate) caller: Caller,
    credential: (HeaderName, String),
}

impl Reader {
    /// An Owner with a session, who sees the whole organization.
    pub(crate) async fn owner(
        inventory: &Inventory,
        organization: OrganizationId,
        networks: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let mut owner = NewUser::new("owner@example.net", Permission::Owner);
        owner.password = Some(PASSWORD.to_owned());
        inventory.users().create(&Caller::system(organization), owner).await?;
        let session = inventory.log_in("owner@example.net", PASSWORD.to_owned()).await?;
        Ok(Self {
            sees: format!("all of {networks} networks"),
            caller: inventory.authenticate_session(session.plaintext()).await?,
            credential: (COOKIE, format!("session_id={}", session.plaintext())),
        })
    }

    /// A Member with an API key, both limited to these networks.
    pub(crate) async fn member(
        inventory: &Inventory,
        organization: OrganizationId,
        networks: &[NetworkId],
        all: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let count = networks.len();
        let address = format!("member-{count}@example.net");
        let mut member = NewUser::new(address, Permission::Member);
        member.network_ids = networks.to_vec();
        let member = inventory.users().create(&Caller::system(organization), member).await?;
        let mut key = NewUserApiKey::new(member.id, "benchmark", Permission::Member);
        key.network_ids = networks.to_vec();
        let key = inventory.user_api_keys().create(&Caller::system(member.organization_id), key).await?;
        Ok(Self {
            sees: format!("{count} of {all} networks"),
            caller: inventory.authenticate_user_key(key.plaintext()).await?,
            credential: (AUTHORIZATION, format!("Bearer {}", key.plaintext())),
        })
    }

    pub(crate) fn get(&self, uri: &str) -> Result<Request<String>, Box<dyn Error>> {
        Ok(self.sign(Request::get(uri.parse::<Uri>()?)).body(String::new())?)
    }

    pub(crate) fn put(&self, uri: &str, body: String) -> Result<Request<String>, Box<dyn Error>> {
        Ok(self.sign(Request::put(uri)).header("content-type", "application/json").body(body)?)
    }

    fn sign(&self, request: Builder) -> Builder {
        request.header(&self.credential.0, &self.credential.1)
    }
}
