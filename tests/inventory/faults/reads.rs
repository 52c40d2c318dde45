use toposcope::inventory::HostQuery;

use super::Call;
use crate::support::PASSWORD;

/// The methods that only read.
pub(super) const READS: [(&str, Call); 24] = [
    ("organization", |scene, inventory| {
        Box::pin(async { inventory.organization(scene.fixture.organization).await.map(drop) })
    }),
    ("organizations", |_, inventory| Box::pin(async { inventory.organizations().await.map(drop) })),
    ("network", |scene, inventory| {
        Box::pin(async { inventory.network(scene.fixture.network).await.map(drop) })
    }),
    ("networks", |scene, inventory| {
        Box::pin(async { inventory.networks(scene.fixture.organization).await.map(drop) })
    }),
    ("tag", |scene, inventory| Box::pin(async { inventory.tag(scene.fixture.tags[0]).await.map(drop) })),
    ("tags", |scene, inventory| {
        Box::pin(async { inventory.tags(scene.fixture.organization).await.map(drop) })
    }),
    ("user", |scene, inventory| Box::pin(async { inventory.user(scene.user.id).await.map(drop) })),
    ("is_user_enabled", |scene, inventory| {
        Box::pin(async { inventory.is_user_enabled(scene.user.id).await.map(drop) })
    }),
    ("users", |scene, inventory| {
        Box::pin(async { inventory.users(scene.fixture.organization).await.map(drop) })
    }),
    ("user_api_key", |scene, inventory| {
        Box::pin(async { inventory.user_api_key(scene.key()).await.map(drop) })
    }),
    ("user_api_keys", |scene, inventory| {
        Box::pin(async { inventory.user_api_keys(scene.user.id).await.map(drop) })
    }),
    ("daemon_api_key", |scene, inventory| {
        Box::pin(async { inventory.daemon_api_key(scene.daemon_key()).await.map(drop) })
    }),
    ("daemon_api_keys", |scene, inventory| {
        Box::pin(async { inventory.daemon_api_keys(scene.fixture.organization).await.map(drop) })
    }),
    ("share", |scene, inventory| Box::pin(async { inventory.share(scene.share).await.map(drop) })),
    ("shares", |scene, inventory| {
        Box::pin(async { inventory.shares(scene.fixture.organization).await.map(drop) })
    }),
    ("share_metadata", |scene, inventory| {
        Box::pin(async { inventory.share_metadata(scene.share).await.map(drop) })
    }),
    ("verify_share_password", |scene, inventory| {
        Box::pin(async { inventory.verify_share_password(scene.share, PASSWORD.to_owned()).await.map(drop) })
    }),
    ("referrals", |scene, inventory| {
        Box::pin(async { inventory.referrals(scene.fixture.organization).await.map(drop) })
    }),
    ("host", |scene, inventory| {
        Box::pin(async { inventory.host(scene.fixture.organization, scene.host.id).await.map(drop) })
    }),
    ("list_hosts", |scene, inventory| {
        Box::pin(async { inventory.list_hosts(&scene.caller, &HostQuery::default()).await.map(drop) })
    }),
    ("authenticate_user_key", |scene, inventory| {
        Box::pin(async { inventory.authenticate_user_key(scene.key.plaintext()).await.map(drop) })
    }),
    ("authenticate_daemon_key", |scene, inventory| {
        Box::pin(async { inventory.authenticate_daemon_key(scene.daemon_key.plaintext()).await.map(drop) })
    }),
    ("authenticate_session", |scene, inventory| {
        Box::pin(async { inventory.authenticate_session(scene.session.plaintext()).await.map(drop) })
    }),
    ("purge_expired", |_, inventory| Box::pin(async { inventory.purge_expired().await.map(drop) })),
];
