//! Records are deleted while concurrent tasks create references to them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;
use toposcope::model::{Permission, User};
use uuid::Uuid;

use super::audit::audit;
use super::deeds::deeds;
use super::stage::Stage;
use super::{STORES, Way, join_all};
use crate::backend::Backend;
use crate::common::{SplitMix64, key_for};

/// Number of rounds; each has its own network, tag and user to delete.
fn rounds() -> usize {
    Backend::current().effort(80, 2_000)
}

/// State shared by all rounds.
pub(super) struct Scene {
    pub(super) stage: Stage,
    /// A user that no round deletes.
    pub(super) boss: User,
    pub(super) session: String,
    pub(super) key: Uuid,
    /// The created keys, each with its user.
    pub(super) keys: Mutex<Vec<(Uuid, Uuid)>>,
    /// The sessions begun with the users' first password, each with its user.
    pub(super) sessions: Mutex<Vec<(String, Uuid)>>,
    /// The users whose password has changed.
    pub(super) changed: Mutex<HashSet<Uuid>>,
    /// Number of users created in the rounds.
    pub(super) created: AtomicUsize,
    /// Numbers of networks, tags and users deleted.
    pub(super) deleted: [AtomicUsize; 3],
}

impl Scene {
    async fn new(store: Way) -> Self {
        let stage = Stage::new(store).await;
        let (boss, session, key) = new_owner(&stage).await;
        Self {
            stage,
            boss,
            session,
            key,
            keys: Mutex::default(),
            sessions: Mutex::default(),
            changed: Mutex::default(),
            created: AtomicUsize::new(0),
            deleted: Default::default(),
        }
    }
}

/// A user with a session and a key.
async fn new_owner(stage: &Stage) -> (User, String, Uuid) {
    let user = stage.world.user(&stage.world.home, Permission::Owner, &[]).await;
    let session = stage.world.sign_in(&user).await;
    let key = key_for(&user, Permission::Viewer, &[]);
    let key = stage.world.inventory.create_user_api_key(key).await.unwrap().record().id;
    (user, session, key)
}

/// The records that are deleted in a round.
pub(super) struct Round {
    pub(super) scene: Arc<Scene>,
    pub(super) number: usize,
    pub(super) network: Uuid,
    pub(super) tag: Uuid,
    pub(super) user: User,
    /// The user's session.
    pub(super) session: String,
    /// The user's key.
    pub(super) key: Uuid,
}

impl Round {
    async fn new(scene: Arc<Scene>, number: usize) -> Self {
        let stage = &scene.stage;
        let inventory = &stage.world.inventory;
        let network = inventory.create_network(stage.organization(), "a network").await.unwrap().id;
        let tag = inventory.create_tag(stage.organization(), "a tag").await.unwrap().id;
        let (user, session, key) = new_owner(stage).await;
        scene.keys.lock().unwrap().push((key, user.id));
        Self { scene, number, network, tag, user, session, key }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_refers_to_what_was_deleted_meanwhile() {
    for store in STORES {
        let scene = Arc::new(Scene::new(store).await);
        let mut random = SplitMix64(5);
        for number in 0..rounds() {
            let round = Arc::new(Round::new(scene.clone(), number).await);
            let mut tasks = JoinSet::new();
            for deed in deeds(&mut random) {
                tasks.spawn(round.clone().act(deed, SplitMix64(random.next())));
            }
            join_all(tasks).await;
        }
        audit(&scene).await;
        let [networks, tags, users] = scene.deleted.each_ref().map(|count| count.load(Ordering::Relaxed));
        println!("of {} deleted: {networks} networks, {tags} tags, {users} users", rounds());
        // Both orders must occur: the deletion first, and the others first.
        assert!([networks, tags, users].iter().all(|count| (1..rounds()).contains(count)));
    }
}
