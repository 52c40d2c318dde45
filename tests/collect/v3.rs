use async_snmp::{AuthProtocol, PrivProtocol, Version};
use toposcope::collect::snmp::{AskError, SnmpRefusal, TableEnd};
use toposcope::collect::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use crate::farm::{Agent, FarmEngine, FarmUser, Fault};
use crate::support::{COMMUNITY, IF_TABLE, farm_of, find, ip, table, variables};

const AUTHENTICATION: [(SnmpAuthentication, AuthProtocol); 6] = [
    (SnmpAuthentication::Md5, AuthProtocol::Md5),
    (SnmpAuthentication::Sha1, AuthProtocol::Sha1),
    (SnmpAuthentication::Sha224, AuthProtocol::Sha224),
    (SnmpAuthentication::Sha256, AuthProtocol::Sha256),
    (SnmpAuthentication::Sha384, AuthProtocol::Sha384),
    (SnmpAuthentication::Sha512, AuthProtocol::Sha512),
];

const PRIVACY: [(SnmpPrivacy, PrivProtocol); 6] = [
    (SnmpPrivacy::Des, PrivProtocol::Des),
    (SnmpPrivacy::Aes128, PrivProtocol::Aes128),
    (SnmpPrivacy::Aes192, PrivProtocol::Aes192Blumenthal),
    (SnmpPrivacy::Aes192Cisco, PrivProtocol::Aes192Reeder),
    (SnmpPrivacy::Aes256, PrivProtocol::Aes256Blumenthal),
    (SnmpPrivacy::Aes256Cisco, PrivProtocol::Aes256Reeder),
];

const PASSWORDS: [&str; 2] = ["the authentication", "the private key"];

fn agent(engine: FarmEngine) -> Agent {
    Agent::new(&[], variables(30)).v3(engine)
}

fn engine(authentication: Option<(AuthProtocol, &str)>, privacy: Option<(PrivProtocol, &str)>) -> FarmEngine {
    FarmEngine::new(b"farm", FarmUser::new("reader", authentication, privacy))
}

fn usual_engine() -> FarmEngine {
    let [authentication, privacy] = PASSWORDS;
    engine(Some((AuthProtocol::Sha256, authentication)), Some((PrivProtocol::Aes128, privacy)))
}

fn usual_user() -> SnmpUser {
    let [authentication, privacy] = PASSWORDS;
    SnmpUser::new("reader")
        .authentication(SnmpAuthentication::Sha256, authentication)
        .privacy(SnmpPrivacy::Aes128, privacy)
}

#[tokio::test(start_paused = true)]
async fn agent_is_read_with_each_pair_of_protocols() {
    let [authentication, privacy] = PASSWORDS;
    let pairs = AUTHENTICATION
        .iter()
        .map(|pair| (pair, &PRIVACY[1]))
        .chain(PRIVACY.iter().map(|pair| (&AUTHENTICATION[1], pair)));
    for ((auth, farm_auth), (secret, farm_secret)) in pairs {
        let engine = engine(Some((*farm_auth, authentication)), Some((*farm_secret, privacy)));
        let agent = agent(engine);
        let expected = agent.below(IF_TABLE);
        let farm = farm_of(agent);
        let user = SnmpUser::new("reader").authentication(*auth, authentication).privacy(*secret, privacy);
        let mut agent = find(&farm, "192.0.2.1", vec![SnmpSecret::v3(user)]).await.unwrap();
        assert_eq!(table(&mut agent, IF_TABLE).await, (expected, TableEnd::Complete), "{auth:?} {secret:?}");
        assert!(!farm.has_seen(b"switch-1"), "it is encrypted");
    }
}

#[tokio::test(start_paused = true)]
async fn agent_is_read_without_privacy_and_without_authentication() {
    let [authentication, _] = PASSWORDS;
    let authenticated = SnmpUser::new("reader").authentication(SnmpAuthentication::Sha1, authentication);
    for (engine, user) in [
        (engine(Some((AuthProtocol::Sha1, authentication)), None), authenticated),
        (engine(None, None), SnmpUser::new("reader")),
    ] {
        let farm = farm_of(agent(engine));
        let mut agent = find(&farm, "192.0.2.1", vec![SnmpSecret::v3(user)]).await.unwrap();
        assert_eq!(table(&mut agent, IF_TABLE).await.1, TableEnd::Complete);
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_say_what_is_wrong() {
    let [authentication, privacy] = PASSWORDS;
    let user = |name: &str| SnmpUser::new(name).authentication(SnmpAuthentication::Sha256, authentication);
    for (user, refusal) in [
        (user("another").privacy(SnmpPrivacy::Aes128, privacy), SnmpRefusal::UnknownUser),
        (user("reader"), SnmpRefusal::UnsupportedLevel),
        (
            SnmpUser::new("reader")
                .authentication(SnmpAuthentication::Sha256, "something else")
                .privacy(SnmpPrivacy::Aes128, privacy),
            SnmpRefusal::WrongDigest,
        ),
        (user("reader").privacy(SnmpPrivacy::Aes128, "something else"), SnmpRefusal::DecryptionFailed),
        (user("reader").privacy(SnmpPrivacy::Aes128, "short"), SnmpRefusal::BadPassword),
    ] {
        let farm = farm_of(agent(usual_engine()));
        let error = find(&farm, "192.0.2.1", vec![SnmpSecret::v3(user)]).await.unwrap_err();
        assert_eq!(error, AskError::Refused(refusal));
    }
}

#[tokio::test(start_paused = true)]
async fn agent_that_answers_version_3_gets_no_community() {
    let mut both = agent(usual_engine());
    both.community = COMMUNITY.to_vec();
    let farm = farm_of(both);
    let secrets = vec![SnmpSecret::v2c(COMMUNITY), SnmpSecret::v3(usual_user())];
    let mut agent = find(&farm, "192.0.2.1", secrets).await.unwrap();
    assert!(agent.is_v3());
    assert_eq!(table(&mut agent, IF_TABLE).await.1, TableEnd::Complete);
    assert!(!farm.has_seen(COMMUNITY));
}

#[tokio::test(start_paused = true)]
async fn user_without_rights_is_refused_and_no_community_is_sent() {
    for status in [6, 16] {
        let mut both = agent(usual_engine()).faulty([Fault::Denies(Version::V3, status)]);
        both.community = COMMUNITY.to_vec();
        let farm = farm_of(both);
        let secrets = vec![SnmpSecret::v3(usual_user()), SnmpSecret::v2c(COMMUNITY)];
        assert_eq!(find(&farm, "192.0.2.1", secrets).await.unwrap_err(), AskError::Denied(status));
        assert!(!farm.has_seen(COMMUNITY));
    }
}

#[tokio::test(start_paused = true)]
async fn reboots_and_new_engine_ids_and_clocks_that_jump_are_survived() {
    type Change = fn(&mut FarmEngine);
    let changes: [(&str, Change, usize); 4] = [
        ("nothing", |_| {}, 1),
        ("a reboot", |engine| (engine.boots, engine.time, engine.began) = (8, 0, None), 1),
        ("a jump", |engine| engine.time += 10_000, 1),
        ("another engine", |engine| engine.id = vec![0x80, 0, 0, 9, 4, b'n', b'e', b'w'], 3),
    ];
    for (name, change, discoveries) in changes {
        let agent = agent(usual_engine());
        let expected = agent.below(IF_TABLE);
        let farm = farm_of(agent);
        let mut agent = find(&farm, "192.0.2.1", vec![SnmpSecret::v3(usual_user())]).await.unwrap();
        farm.change(ip("192.0.2.1"), |agent| change(agent.engine.as_mut().unwrap()));
        assert_eq!(table(&mut agent, IF_TABLE).await, (expected, TableEnd::Complete), "{name}");
        farm.change(ip("192.0.2.1"), |agent| {
            assert_eq!(agent.engine.as_ref().unwrap().discoveries, discoveries, "{name}");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn lost_packets_are_sent_again() {
    let agent = agent(usual_engine()).faulty([Fault::DropsEvery(3)]);
    let expected = agent.below(IF_TABLE);
    let farm = farm_of(agent);
    let mut agent = find(&farm, "192.0.2.1", vec![SnmpSecret::v3(usual_user())]).await.unwrap();
    assert_eq!(table(&mut agent, IF_TABLE).await, (expected, TableEnd::Complete));
}

#[tokio::test(start_paused = true)]
async fn passwords_are_in_no_text_and_no_packet() {
    let secret = SnmpSecret::v3(usual_user());
    let farm = farm_of(agent(usual_engine()));
    let agent = find(&farm, "192.0.2.1", vec![secret.clone()]).await.unwrap();
    let text = format!("{secret:?} {:?} {agent:?}", usual_user());
    for password in PASSWORDS {
        assert!(!text.contains(password) && !farm.has_seen(password.as_bytes()));
    }
    assert!(!text.contains("reader"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn agent_with_an_invalid_engine_id_is_refused_and_found_by_its_community() {
    let mut engine = usual_engine();
    engine.states_zeros = true;
    let mut both = agent(engine);
    both.community = COMMUNITY.to_vec();
    let farm = farm_of(both);
    let user = || SnmpSecret::v3(usual_user());
    let error = find(&farm, "192.0.2.1", vec![user()]).await.unwrap_err();
    assert_eq!(error, AskError::Refused(SnmpRefusal::UnstableEngine));
    let found = find(&farm, "192.0.2.1", vec![user(), SnmpSecret::v2c(COMMUNITY)]).await.unwrap();
    assert!(!found.is_v3());
}
