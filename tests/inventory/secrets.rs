//! What must not be found anywhere: passwords and keys in plain text.

use toposcope::inventory::{NewUser, NewUserApiKey};
use toposcope::model::Permission;

use crate::support::World;

const PASSWORD: &str = "correct horse battery staple";

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn no_record_holds_a_password_or_a_key() {
    let world = World::new().await;
    let mut new = NewUser::new(world.organization, "owner@example.net", Permission::Owner);
    new.password = Some(PASSWORD.to_owned());
    let owner = world.inventory.create_user(new).await.unwrap();
    let mut texts = Vec::new();
    for number in 0..8 {
        let new = NewUserApiKey::new(owner.id, format!("key {number}"), Permission::Owner);
        let issued = world.inventory.create_user_api_key(new).await.unwrap();
        texts.push(issued.plaintext().to_owned());
        world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    }
    let bodies = world.store.bodies();
    assert!(bodies.iter().any(|body| holds(body, "$argon2id$")), "the password is kept as its hash");
    assert!(bodies.iter().any(|body| holds(body, "topo_u_…")), "the keys are kept masked");
    for body in
        bodies.iter().map(|body| &body[..]).chain(world.store.aliases().iter().map(|alias| &alias.value[..]))
    {
        assert!(!holds(body, PASSWORD));
        for text in &texts {
            // Nor any part of it that is long enough not to be there by chance.
            let random = &text["topo_u_".len()..];
            assert!(
                !random.as_bytes().windows(12).any(|part| holds(body, std::str::from_utf8(part).unwrap()))
            );
        }
    }
}

#[tokio::test]
async fn debug_output_holds_no_password_and_no_key() {
    let world = World::new().await;
    let mut new = NewUser::new(world.organization, "owner@example.net", Permission::Owner);
    new.password = Some(PASSWORD.to_owned());
    let shown = format!("{new:?} {new:#?}");
    assert!(shown.contains("owner@example.net") && !shown.contains(PASSWORD), "{shown}");
    let owner = world.inventory.create_user(new).await.unwrap();
    let new = NewUserApiKey::new(owner.id, "laptop", Permission::Owner);
    let issued = world.inventory.create_user_api_key(new).await.unwrap();
    let shown = format!("{issued:?} {issued:#?} {:?}", world.inventory);
    assert!(shown.contains(&issued.record().key), "{shown}");
    assert!(!shown.contains(issued.plaintext()));
    assert!(!shown.contains(&issued.plaintext()["topo_u_".len()..][..32]));
    assert!(!shown.contains(PASSWORD));
}

#[tokio::test]
async fn refusals_of_secrets_do_not_repeat_them() {
    let world = World::new().await;
    let mut new = NewUser::new(world.organization, "owner@example.net", Permission::Owner);
    new.password = Some("hunter2!!".to_owned());
    let error = world.inventory.create_user(new).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let text = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
    let error = world.inventory.authenticate_user_key(text).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("0123456789ABCDEF"));
}
