//! Time of a failed login by the cause of the failure.
//!
//! The times must not differ. No bodies are in memory.
//!
//! Passwords are hashed at minimum cost. At the default cost a hash takes about a thousand times as long as a
//! read.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toposcope::access::{Caller, PasswordCost, PasswordHasher};
use toposcope::inventory::{Inventory, NewUser};
use toposcope::model::Permission;
use toposcope::store::SledStore;

use crate::folder::Folder;

const USERS: usize = 1_000;
/// Number of rounds. One more failure, and logins for the address would be refused.
const ROUNDS: usize = 4;

const KINDS: [&str; 3] = ["wrong password", "no such user", "user without password"];

pub(crate) async fn measure(folder: &Folder) -> Result<(), Box<dyn Error>> {
    let place = folder.place("login");
    eprintln!("logins: creating {USERS} users with a password and {USERS} without");
    let store = Arc::new(SledStore::open(&place).await?);
    create_users(&inventory(store.clone())?).await?;
    store.close().await?;

    let inventory = inventory(Arc::new(SledStore::builder(&place).cache_size(0).open().await?))?;
    let mut times: [Vec<Duration>; KINDS.len()] = Default::default();
    for _ in 0..ROUNDS {
        for number in 0..USERS {
            for (kind, times) in times.iter_mut().enumerate() {
                let email = address(kind, number);
                let begin = Instant::now();
                let outcome = inventory.log_in(&email, "a wrong password".to_owned()).await;
                times.push(begin.elapsed());
                assert!(outcome.is_err(), "{email} logged in");
            }
        }
    }
    println!(
        "| failed login, bodies not in memory | median, µs | 90 % within, µs | median / wrong password |"
    );
    println!("|---|---|---|---|");
    for times in &mut times {
        times.sort_unstable();
    }
    let micros = |times: &[Duration], percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e6;
    let base = micros(&times[0], 50);
    for (name, times) in KINDS.iter().zip(&times) {
        let (median, most) = (micros(times, 50), micros(times, 90));
        println!("| {name} | {median:.1} | {most:.1} | {:.3} |", median / base);
    }
    println!();
    Ok(())
}

fn inventory(store: Arc<SledStore>) -> Result<Inventory, Box<dyn Error>> {
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1)?);
    Ok(Inventory::new(store).with_passwords(passwords))
}

async fn create_users(inventory: &Inventory) -> Result<(), Box<dyn Error>> {
    let organization = inventory.organizations().create("Benchmark").await?.id;
    for number in 0..USERS {
        for kind in [0, 2] {
            let mut user = NewUser::new(address(kind, number), Permission::Viewer);
            user.password = (kind == 0).then(|| format!("the password of {number}"));
            inventory.users().create(&Caller::system(organization), user).await?;
        }
    }
    Ok(())
}

/// Returns the address for a login of this kind. There is no user with an address of kind 1.
fn address(kind: usize, number: usize) -> String {
    format!("user{number}-{kind}@example.net")
}
