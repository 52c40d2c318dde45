//! Credentials of a client.

use toposcope::client::{Client, ClientErrorKind};
use toposcope::inventory::{ErrorKind, ListQuery, NewDaemonApiKey, NewUser};
use toposcope::model::{DaemonApiKey, Permission, Tag};
use toposcope::service::{ApiBuilder, SessionCookie};
use toposcope::wire::ErrorCode;

use super::{client_of, owner};
use crate::common::{LAB, OFFICE, PASSWORD, Populated};

#[tokio::test]
async fn login_begins_a_session_and_logout_ends_it() {
    let populated = Populated::new().await;
    let mut client = Client::new(populated.server.api.clone());
    let anonymous = client.list::<Tag>(&ListQuery::default()).await.unwrap_err();
    assert_eq!(anonymous.code(), Some(ErrorCode::AuthNotAuthenticated));

    let email = populated.member.email.to_uppercase();
    let wrong = client.log_in(&email, "another password").await.unwrap_err();
    assert_eq!(wrong.code(), Some(ErrorCode::AuthInvalidCredentials));
    assert_eq!(client.log_in(&email, PASSWORD).await.unwrap(), populated.member);
    client.submit_referral("reddit", Some("a thread")).await.unwrap();
    let clone = client.clone();
    assert_eq!(clone.list::<Tag>(&ListQuery::default()).await.unwrap().total, 3);

    client.log_out().await.unwrap();
    for client in [client, clone] {
        let error = client.list::<Tag>(&ListQuery::default()).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::AuthNotAuthenticated));
    }
}

#[tokio::test]
async fn client_with_the_name_of_the_cookie_uses_sessions_of_a_server_that_has_changed_it() {
    let populated = Populated::new().await;
    let cookie = SessionCookie::new().with_name("inventory").unwrap().with_host_prefix();
    let server = populated.configured(|builder| builder.session_cookie(cookie.clone()).unwrap());
    let mut client = Client::new(server.api.clone());
    let unnamed = client.log_in(&populated.member.email, PASSWORD).await.unwrap_err();
    assert_eq!(unnamed.kind(), ClientErrorKind::UnexpectedResponse);
    let mut client = client.with_cookie_name(cookie.name());
    client.log_in(&populated.member.email, PASSWORD).await.unwrap();
    assert_eq!(client.me().await.unwrap(), populated.member);
    let given = client.with_session(&populated.session).unwrap();
    assert_eq!(given.me().await.unwrap(), populated.member);
}

#[tokio::test]
async fn client_logs_in_to_the_organization_that_it_chooses() {
    let populated = Populated::new().await;
    let server = populated.configured(ApiBuilder::shared_emails);
    let mut users = Vec::new();
    for site in [&populated.home, &populated.abroad] {
        let mut new = NewUser::new("ann@example.net", Permission::Owner);
        new.password = Some(PASSWORD.to_owned());
        users.push(server.api.inventory().users().create(&site.system(), new).await.unwrap());
    }
    let mut client = Client::new(server.api.clone());
    let error = client.log_in("ann@example.net", PASSWORD).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuthChooseOrganization));
    for user in users {
        let session = client.log_in_to(user.organization_id, "ann@example.net", PASSWORD).await.unwrap();
        assert_eq!((&session, client.me().await.unwrap()), (&user, user.clone()));
    }
}

#[tokio::test]
async fn login_replaces_a_key() {
    let populated = Populated::new().await;
    let mut client = client_of(&populated.server, &populated.member_key);
    let refused = client.submit_referral("reddit", None).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::AuthUserContextRequired));
    client.log_in(&populated.member.email, PASSWORD).await.unwrap();
    client.submit_referral("reddit", None).await.unwrap();
}

#[tokio::test]
async fn debug_output_shows_no_secret() {
    let populated = Populated::new().await;
    let mut client = client_of(&populated.server, &populated.member_key);
    let key = client.create_daemon_key(&NewDaemonApiKey::new(LAB, "a daemon")).await.unwrap();
    let record = key.record();
    assert!(record.key.starts_with("topo_d_…") && key.plaintext().ends_with(&record.key["topo_d_…".len()..]));
    let stored = client.get::<DaemonApiKey>(record.id).await.unwrap().record;
    assert_eq!(*record, stored);
    let rotated = client.rotate_daemon_key(record.id).await.unwrap();
    assert!(!format!("{:?}", rotated.record()).contains(rotated.plaintext()));
    let records = client.records::<DaemonApiKey>(ListQuery::default());
    let mut shown =
        format!("{client:?} {records:?} {key:?} {:#?}", client.clone().with_api_key("a b").unwrap());
    client.log_in(&populated.member.email, PASSWORD).await.unwrap();
    shown.push_str(&format!("{client:?} {:?}", client.clone().with_session(&populated.session).unwrap()));
    for secret in
        [&populated.member_key, key.plaintext(), &populated.session, "session_id", "Bearer", "topo_"]
    {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let error = client.with_api_key("topo_u_\n").unwrap_err();
    assert_eq!(error.kind(), ClientErrorKind::Request);
    assert!(!format!("{error:?}").contains("topo_"));
}

#[tokio::test]
async fn daemon_key_is_created_with_all_its_fields() {
    let (fixture, client) = owner().await;
    let mut new = NewDaemonApiKey::new(OFFICE, "scanner");
    (new.tags, new.is_enabled) = (fixture.home.tags.to_vec(), false);
    new.expires_at = Some(crate::common::at(3_600));
    let created = client.create_daemon_key(&new).await.unwrap();
    let record = created.record();
    assert_eq!((&record.name, record.network_id, &record.tags), (&new.name, OFFICE, &new.tags));
    assert_eq!((record.expires_at, record.is_enabled), (new.expires_at, false));
    let refused = fixture.inventory.authenticate_daemon_key(created.plaintext()).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Disabled { .. }), "{refused}");
}

#[tokio::test]
async fn public_operations_need_no_credential() {
    let populated = Populated::new().await;
    let client = Client::new(populated.server.api.clone());
    let share = client.share_metadata(populated.share_id).await.unwrap();
    assert_eq!((share.id, share.name.as_str()), (populated.share_id, "a share"));
    let versions = client.version().await.unwrap();
    assert_eq!((versions.api_version, versions.server_version.as_str()), (1, crate::common::VERSION));
}
