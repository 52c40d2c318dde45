use toposcope::inventory::{
    Entity, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey, PortUpdate, UserApiKeyUpdate,
};
use toposcope::model::{Permission, Protocol};
use uuid::Uuid;

use super::{Call, PORT, Scene};
use crate::support::{PASSWORD, bare_host};

/// A changing method, and the entity that its `Conflict` names, with the id unless the record is new.
pub(super) struct Change {
    pub(super) name: &'static str,
    pub(super) entity: Entity,
    pub(super) id: fn(&Scene) -> Option<Uuid>,
    pub(super) call: Call,
}

const fn change(name: &'static str, entity: Entity, id: fn(&Scene) -> Option<Uuid>, call: Call) -> Change {
    Change { name, entity, id, call }
}

pub(super) const CHANGES: [Change; 27] = [
    change(
        "set_api_access",
        Entity::Organization,
        |scene| Some(scene.fixture.organization),
        |scene, inventory| {
            Box::pin(async { inventory.set_api_access(scene.fixture.organization, true).await.map(drop) })
        },
    ),
    change(
        "delete_network",
        Entity::Network,
        |scene| Some(scene.free_network),
        |scene, inventory| Box::pin(inventory.delete_network(scene.free_network)),
    ),
    change(
        "delete_tag",
        Entity::Tag,
        |scene| Some(scene.free_tag),
        |scene, inventory| Box::pin(inventory.delete_tag(scene.free_tag)),
    ),
    change(
        "set_user_rights",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| {
            Box::pin(async {
                let networks = vec![scene.fixture.network];
                inventory.set_user_rights(scene.user.id, Permission::Viewer, networks).await.map(drop)
            })
        },
    ),
    change(
        "set_user_enabled",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| {
            Box::pin(async { inventory.set_user_enabled(scene.user.id, true).await.map(drop) })
        },
    ),
    change(
        "set_user_password",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| Box::pin(inventory.set_user_password(scene.user.id, Some(PASSWORD.to_owned()))),
    ),
    change(
        "set_user_password, taking it away",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| Box::pin(inventory.set_user_password(scene.user.id, None)),
    ),
    change(
        "end_sessions",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| Box::pin(inventory.end_sessions(scene.user.id)),
    ),
    change(
        "set_user_enabled, switching off",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| {
            Box::pin(async { inventory.set_user_enabled(scene.user.id, false).await.map(drop) })
        },
    ),
    change(
        "create_user",
        Entity::User,
        |_| None,
        |scene, inventory| {
            Box::pin(async {
                let mut new = NewUser::new(scene.fixture.organization, "b@example.net", Permission::Viewer);
                new.password = Some(PASSWORD.to_owned());
                new.network_ids = vec![scene.fixture.network];
                inventory.create_user(new).await.map(drop)
            })
        },
    ),
    change(
        "delete_user",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| Box::pin(inventory.delete_user(scene.user.id)),
    ),
    change(
        "create_user_api_key",
        Entity::UserApiKey,
        |_| None,
        |scene, inventory| {
            Box::pin(async {
                let mut new = NewUserApiKey::new(scene.user.id, "key", Permission::Viewer);
                new.network_ids = vec![scene.fixture.network];
                new.tags = scene.fixture.tags.to_vec();
                inventory.create_user_api_key(new).await.map(drop)
            })
        },
    ),
    change(
        "set_user_api_key_enabled",
        Entity::UserApiKey,
        |scene| Some(scene.key()),
        |scene, inventory| {
            Box::pin(async { inventory.set_user_api_key_enabled(scene.key(), true).await.map(drop) })
        },
    ),
    change(
        "rotate_user_api_key",
        Entity::UserApiKey,
        |scene| Some(scene.key()),
        |scene, inventory| Box::pin(async { inventory.rotate_user_api_key(scene.key()).await.map(drop) }),
    ),
    change(
        "delete_user_api_key",
        Entity::UserApiKey,
        |scene| Some(scene.key()),
        |scene, inventory| Box::pin(inventory.delete_user_api_key(scene.key())),
    ),
    change(
        "delete_user_api_key_as",
        Entity::UserApiKey,
        |scene| Some(scene.key()),
        |scene, inventory| Box::pin(inventory.delete_user_api_key_as(&scene.caller, scene.key())),
    ),
    change(
        "update_user_api_key_as",
        Entity::UserApiKey,
        |scene| Some(scene.key()),
        |scene, inventory| {
            Box::pin(async {
                let key = scene.key.record();
                let tags = scene.fixture.tags.to_vec();
                let mut update = UserApiKeyUpdate::new(key.organization_id, key.user_id, "key", tags);
                update.network_ids = Some(vec![scene.fixture.network]);
                inventory.update_user_api_key_as(&scene.caller, key.id, &update).await.map(drop)
            })
        },
    ),
    change(
        "create_daemon_api_key",
        Entity::DaemonApiKey,
        |_| None,
        |scene, inventory| {
            Box::pin(async {
                let mut new = NewDaemonApiKey::new(scene.fixture.network, "scanner");
                new.tags = scene.fixture.tags.to_vec();
                inventory.create_daemon_api_key(new).await.map(drop)
            })
        },
    ),
    change(
        "create_daemon_api_key_as",
        Entity::DaemonApiKey,
        |_| None,
        |scene, inventory| {
            Box::pin(async {
                let new = NewDaemonApiKey::new(scene.fixture.network, "scanner");
                inventory.create_daemon_api_key_as(&scene.caller, new).await.map(drop)
            })
        },
    ),
    change(
        "set_daemon_api_key_enabled",
        Entity::DaemonApiKey,
        |scene| Some(scene.daemon_key()),
        |scene, inventory| {
            Box::pin(async { inventory.set_daemon_api_key_enabled(scene.daemon_key(), true).await.map(drop) })
        },
    ),
    change(
        "delete_daemon_api_key",
        Entity::DaemonApiKey,
        |scene| Some(scene.daemon_key()),
        |scene, inventory| Box::pin(inventory.delete_daemon_api_key(scene.daemon_key())),
    ),
    change(
        "create_share",
        Entity::Share,
        |_| None,
        |scene, inventory| {
            Box::pin(async {
                let mut new = NewShare::new(scene.fixture.organization, "the office");
                new.network_id = Some(scene.fixture.network);
                new.password = Some(PASSWORD.to_owned());
                inventory.create_share(new).await.map(drop)
            })
        },
    ),
    change(
        "set_share_enabled",
        Entity::Share,
        |scene| Some(scene.share),
        |scene, inventory| Box::pin(async { inventory.set_share_enabled(scene.share, true).await.map(drop) }),
    ),
    change(
        "delete_share",
        Entity::Share,
        |scene| Some(scene.share),
        |scene, inventory| Box::pin(inventory.delete_share(scene.share)),
    ),
    change(
        "log_in",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| {
            Box::pin(async { inventory.log_in(&scene.user.email, PASSWORD.to_owned()).await.map(drop) })
        },
    ),
    change(
        "submit_referral",
        Entity::User,
        |scene| Some(scene.user.id),
        |scene, inventory| {
            Box::pin(async { inventory.submit_referral(&scene.caller, "other", None).await.map(drop) })
        },
    ),
    change(
        "update_port",
        Entity::Port,
        |_| Some(PORT),
        |scene, inventory| {
            Box::pin(async {
                let host = bare_host(scene.host.id, scene.fixture.network);
                let number = 8443.try_into().unwrap();
                let update = PortUpdate::new(host.id, host.network_id, number, Protocol::Tcp);
                inventory.update_port(&scene.caller, PORT, update).await.map(drop)
            })
        },
    ),
];
