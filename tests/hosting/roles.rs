//! Which role may call what: every method of every service.

use banqi::api::callers::Role;
use banqi::api::proto::DESCRIPTORS;
use banqi::server::Config;
use prost::Message;
use prost_types::FileDescriptorSet;
use rstest::rstest;

use crate::guarded::{Guarded, Metadata, bearer, by_key, key, of, refused_for_its_caller};
use crate::world::{Backing, World};

/// What a method needs of its caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Needs {
    /// A key of this role.
    Key(Role),
    /// A seat token or any key.
    SeatOrKey,
}

use Needs::{Key, SeatOrKey};

const METHODS: [(&str, Needs); 31] = [
    ("GameService/CreateGame", Key(Role::Player)),
    ("GameService/JoinGame", Key(Role::Player)),
    ("GameService/AddEntropy", SeatOrKey),
    ("GameService/GetGame", SeatOrKey),
    ("GameService/BatchGetGames", SeatOrKey),
    ("GameService/ListLegalActions", SeatOrKey),
    ("GameService/PlayAction", SeatOrKey),
    ("GameService/ResignGame", SeatOrKey),
    ("GameService/AbortGame", SeatOrKey),
    ("GameService/OfferDraw", SeatOrKey),
    ("GameService/AnswerDraw", SeatOrKey),
    ("GameService/RequestTakeback", SeatOrKey),
    ("GameService/AnswerTakeback", SeatOrKey),
    ("GameService/Rematch", SeatOrKey),
    ("GameService/ReissueSeatToken", Key(Role::Platform)),
    ("GameService/WatchGame", SeatOrKey),
    ("GameService/GetFairnessProof", SeatOrKey),
    ("GameService/ExportGame", SeatOrKey),
    ("GameService/PollGame", SeatOrKey),
    // Or a token of the player's: `player_tokens`.
    ("GameService/WatchPlayer", Key(Role::Platform)),
    ("GameService/ListGames", Key(Role::Platform)),
    ("RulesService/ListPresets", Key(Role::Reader)),
    ("RulesService/CheckRuleSet", Key(Role::Reader)),
    ("RulesService/AnalyzePosition", Key(Role::Reader)),
    ("RulesService/ReplayGame", Key(Role::Reader)),
    ("PlatformService/ImportGame", Key(Role::Platform)),
    ("PlatformService/IssuePlayerToken", Key(Role::Platform)),
    ("PlatformService/AdjudicateGame", Key(Role::Platform)),
    ("PlatformService/DeleteGame", Key(Role::Platform)),
    ("PlatformService/ErasePlayer", Key(Role::Platform)),
    ("PlatformService/StreamLifecycle", Key(Role::Platform)),
];

/// The methods of the table with their paths.
fn methods() -> impl Iterator<Item = (String, Needs)> {
    METHODS.into_iter().map(|(name, needs)| (format!("/banqi.v1.{name}"), needs))
}

#[test]
fn the_table_has_every_method() {
    let files = FileDescriptorSet::decode(DESCRIPTORS).expect("descriptors").file;
    let mut all = Vec::new();
    for file in files.iter().filter(|file| file.package() == "banqi.v1") {
        for service in &file.service {
            let names = service.method.iter().map(|method| method.name());
            all.extend(names.map(|name| format!("/banqi.v1.{}/{name}", service.name())));
        }
    }
    let mut told: Vec<String> = methods().map(|(path, _)| path).collect();
    all.sort();
    told.sort();
    assert_eq!(told, all);
}

#[tokio::test]
async fn each_role_may_call_what_it_should_and_nothing_else() {
    let guarded = Guarded::start(Backing::Memory).await;
    for (path, needs) in methods() {
        for role in Role::ALL {
            let told = refused_for_its_caller(guarded.any(), &path, &by_key(of(role))).await;
            match needs {
                Key(needed) if role < needed => {
                    let (reason, metadata) = told.unwrap_or_else(|| panic!("{path} for {role}"));
                    assert_eq!(reason, "ROLE_TOO_LOW", "{path} for {role}");
                    assert_eq!(metadata["role"], role.name());
                    assert_eq!(metadata["needed"], needed.name());
                }
                _ => assert_eq!(told, None, "{path} for {role}"),
            }
        }
    }
}

#[tokio::test]
async fn without_a_key_of_the_service_nothing_can_be_called() {
    let guarded = Guarded::start(Backing::Memory).await;
    for (path, needs) in methods() {
        let (reason, metadata) =
            refused_for_its_caller(guarded.any(), &path, &Vec::new()).await.expect(&path);
        assert_eq!(reason, "API_KEY_MISSING", "{path}");
        let needed = if let Key(role) = needs { role } else { Role::Reader };
        assert_eq!(metadata["needed"], needed.name(), "{path}");
        let strangers = [by_key(77), bearer(key(77).expose()), vec![("x-api-key", String::new())]];
        for metadata in strangers {
            let told = refused_for_its_caller(guarded.any(), &path, &metadata).await;
            assert_eq!(told.expect(&path).0, "API_KEY_WRONG", "{path}");
        }
    }
}

#[rstest]
#[case::other_scheme(vec![("authorization", "Basic YTpi".to_owned())], "authorization")]
#[case::no_scheme(vec![("authorization", "bqs_AAAA".to_owned())], "authorization")]
#[case::no_token(bearer(""), "authorization")]
#[case::foreign_token(bearer("eyJhbGciOi.J9"), "authorization")]
#[case::twice([bearer("bqs_A"), bearer("bqs_B")].concat(), "authorization")]
#[case::two_keys([by_key(1), by_key(2)].concat(), "x-api-key")]
#[case::key_twice([by_key(1), bearer(key(1).expose())].concat(), "authorization")]
#[tokio::test]
async fn malformed_credentials_are_told(#[case] metadata: Metadata, #[case] field: &str) {
    let guarded = Guarded::start(Backing::Memory).await;
    let open = World::with(Backing::Memory, 1, Config::default()).await;
    for replica in [guarded.any(), open.any()] {
        for (path, _) in methods() {
            let told = refused_for_its_caller(replica, &path, &metadata).await;
            let (reason, about) = told.expect(&path);
            assert_eq!(reason, "CREDENTIALS_MALFORMED", "{path}");
            assert_eq!(about["key"], field, "{path}");
        }
    }
}
