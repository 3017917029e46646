//! What holds for every course of a game.

use banqi::api::answer;
use banqi::api::convert::encoded::{EncodedGame, UnchangingFields};
use banqi::api::convert::game::{View, game as message};
use banqi::api::proto::v1;
use banqi::game::{
    Clock, Command, DealSource, Etag, Game, GameState, Limits, Log, Millis, NewGame, NewSeat,
    Refusal, Request, Revision, ServerSeed, Span, StoredGame, TimeControl, decide, derive_deal,
};
use banqi::rules::{Action, BoardSize, Deal, Preset, Seat, Square};
use banqi::store::{Record, codec};
use proptest::prelude::*;
use prost::Message as _;

use super::support::{START, create, entropy, new_game, summary};

/// Something to try on a game, not knowing its state.
#[derive(Clone, Debug)]
enum Attempt {
    Join(Option<u8>, Option<u8>, bool),
    AddEntropy(u8, Vec<u8>),
    /// The legal action with this number, modulo their count.
    PlayLegal(u16),
    Play(u8, Action),
    Resign(u8),
    Abort(Option<u8>),
    OfferDraw(u8),
    AnswerDraw(u8, bool),
    RequestTakeback(u8),
    AnswerTakeback(u8, bool),
    Reissue(u8),
    MakeRematch,
    Expire,
}

fn actions() -> impl Strategy<Value = Action> {
    let square = || (0..64_u8).prop_map(|index| Square::new(index).expect("below 64"));
    prop_oneof![
        square().prop_map(Action::Flip),
        (square(), square())
            .prop_filter("a move goes elsewhere", |(from, to)| from != to)
            .prop_map(|(from, to)| Action::Move { from, to }),
        Just(Action::EndChain),
    ]
}

fn attempts() -> impl Strategy<Value = Attempt> {
    let seat = || 1..=4_u8;
    prop_oneof![
        2 => (prop::option::of(seat()), prop::option::of(0..3_u8), any::<bool>())
            .prop_map(|(seat, player, entropy)| Attempt::Join(seat, player, entropy)),
        2 => (seat(), prop::collection::vec(any::<u8>(), 1..=64))
            .prop_map(|(seat, bytes)| Attempt::AddEntropy(seat, bytes)),
        60 => any::<u16>().prop_map(Attempt::PlayLegal),
        4 => (seat(), actions()).prop_map(|(seat, action)| Attempt::Play(seat, action)),
        1 => seat().prop_map(Attempt::Resign),
        1 => prop::option::of(seat()).prop_map(Attempt::Abort),
        3 => seat().prop_map(Attempt::OfferDraw),
        2 => (seat(), prop::bool::weighted(0.3))
            .prop_map(|(seat, accept)| Attempt::AnswerDraw(seat, accept)),
        6 => seat().prop_map(Attempt::RequestTakeback),
        6 => (seat(), prop::bool::weighted(0.8))
            .prop_map(|(seat, accept)| Attempt::AnswerTakeback(seat, accept)),
        1 => seat().prop_map(Attempt::Reissue),
        1 => Just(Attempt::MakeRematch),
        1 => Just(Attempt::Expire),
    ]
}

fn command(game: &Game, attempt: &Attempt) -> Option<Command> {
    let seat = |number: u8| Seat::new(number).expect("1 to 4");
    Some(match attempt {
        Attempt::Join(number, player, with_entropy) => Command::Join {
            seat: number.map(seat),
            player: player.map(|player| format!("p{player}").parse().expect("a player id")),
            entropy: with_entropy.then(|| entropy(b"joined")),
        },
        Attempt::AddEntropy(number, bytes) => {
            Command::AddEntropy { seat: seat(*number), entropy: entropy(bytes) }
        }
        Attempt::PlayLegal(number) => {
            let actions = game.referee().legal_actions();
            let index = usize::from(*number).checked_rem(actions.len())?;
            Command::Play { seat: game.position().to_move(), action: actions[index] }
        }
        Attempt::Play(number, action) => Command::Play { seat: seat(*number), action: *action },
        Attempt::Resign(number) => Command::Resign { seat: seat(*number) },
        Attempt::Abort(number) => Command::Abort { seat: number.map(seat) },
        Attempt::OfferDraw(number) => Command::OfferDraw { seat: seat(*number) },
        Attempt::AnswerDraw(number, accept) => {
            Command::AnswerDraw { seat: seat(*number), accept: *accept }
        }
        Attempt::RequestTakeback(number) => Command::RequestTakeback { seat: seat(*number) },
        Attempt::AnswerTakeback(number, accept) => {
            Command::AnswerTakeback { seat: seat(*number), accept: *accept }
        }
        Attempt::Reissue(number) => Command::ReissueToken { seat: seat(*number) },
        Attempt::MakeRematch => Command::MakeRematch { id: "game-2".parse().expect("an id") },
        Attempt::Expire => Command::EnforceDeadline,
    })
}

/// Time controls under which some games end by time and most do not.
fn time_controls() -> impl Strategy<Value = TimeControl> {
    let span = || (100..3_000_000_u64).prop_map(Span);
    let clock = prop_oneof![
        3 => Just(TimeControl::default().clock()),
        1 => prop::option::of(span()).prop_map(|inactivity| Clock::Unlimited { inactivity }),
        1 => span().prop_map(|main| Clock::SuddenDeath { main }),
        1 => (span(), span()).prop_map(|(main, increment)| Clock::Increment { main, increment }),
        1 => span().prop_map(|limit| Clock::PerTurn { limit }),
        1 => (span(), 1..5_u8, span())
            .prop_map(|(main, periods, period)| Clock::ByoYomi { main, periods, period }),
        1 => (1..3_u16).prop_map(|days| Clock::Correspondence { days }),
    ];
    (clock, prop::option::of(span())).prop_map(|(clock, first_turn)| {
        TimeControl::new(clock, first_turn).expect("a time control")
    })
}

fn new_games() -> impl Strategy<Value = NewGame> {
    let claims = prop::collection::vec(prop_oneof![3 => Just(0_u8), 1 => 1..3_u8], 4);
    (0..Preset::ALL.len(), claims, any::<[u8; 32]>(), any::<bool>(), 0..4_u8, time_controls())
        .prop_map(|(preset, claims, seed, entropy_required, given, time_control)| {
            let mut new = new_game(Preset::ALL[preset]);
            for (seat, claim) in new.seats.iter_mut().zip(claims) {
                *seat = match claim {
                    0 => NewSeat::Assigned(None),
                    1 => NewSeat::Open,
                    _ => NewSeat::Reserved("p1".parse().expect("a player id")),
                };
            }
            let seed = ServerSeed::new(seed);
            let deal = derive_deal(new.rules.board_size(), &new.id, &seed, []);
            new.deal = DealSource::Derived(seed);
            new.time_control = time_control;
            new.entropy_required = entropy_required && given == 1;
            if given == 0 {
                new.deal = DealSource::from(deal);
            }
            new
        })
}

/// Every state that a course of attempts leads through, the first one first.
fn course(new: NewGame, attempts: &[(Attempt, u32)]) -> Vec<Game> {
    let mut games = vec![create(new)];
    let mut now = START;
    for (number, (attempt, thought)) in attempts.iter().enumerate() {
        now = Millis(now.0 + u64::from(*thought));
        let game = games.last().expect("not empty");
        let Some(command) = command(game, attempt) else { continue };
        let due = || decide(game, &Command::EnforceDeadline, now, &Limits::default());
        let change = match decide(game, &command, now, &Limits::default()) {
            Err(Refusal::Overdue) => due().expect("due"),
            Err(_) => continue,
            Ok(change) => change,
        };
        let request = Request::new(b"caller", None, &number.to_string(), b"");
        let after = game.after(&change, Some(request)).expect("what is decided can be done");
        games.push(after);
    }
    games
}

fn courses(length: usize) -> impl Strategy<Value = Vec<Game>> {
    let attempts = prop::collection::vec((attempts(), 0..100_000_u32), 0..length);
    (new_games(), attempts).prop_map(|(new, attempts)| course(new, &attempts))
}

fn reread(game: &Game) -> StoredGame {
    let record = codec::write(game.stored());
    let stored = codec::read(game.id(), &record).expect("readable");
    assert_eq!(codec::write(&stored), record, "read and written is the same");
    stored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn playing_and_replaying_agree(games in courses(250), pick in any::<prop::sample::Index>()) {
        let last = games.last().expect("not empty");
        let replayed = Game::replay(reread(last)).expect("no contradiction");
        prop_assert_eq!(summary(&replayed), summary(last));
        prop_assert_eq!(replayed.stored(), last.stored());

        // A replica that saw an earlier state catches up to the same.
        let earlier = pick.get(&games);
        let record = codec::write(last.stored());
        let stored = codec::read_on(earlier.stored(), &record).expect("readable");
        prop_assert_eq!(&stored, last.stored());
        let caught_up = earlier.catch_up(stored).expect("no contradiction");
        prop_assert_eq!(summary(&caught_up), summary(last));
        prop_assert_eq!(caught_up.stored(), last.stored());
        // And so does one that saw a later one, by replaying.
        let back = last.catch_up(reread(earlier)).expect("no contradiction");
        prop_assert_eq!(summary(&back), summary(earlier));

        let then = last.as_at(earlier.version().revision).expect("it was there");
        prop_assert_eq!(summary(&then), summary(earlier));
    }

    #[test]
    fn an_encoded_game_has_the_bytes_of_its_message(
        games in courses(120),
        since in -5_000..5_000_i64,
    ) {
        // As the first state made them.
        let unchanging = UnchangingFields::of(&games[0]);
        for game in &games {
            let now = Millis(game.updated_at().0.saturating_add_signed(since));
            let encoded = EncodedGame::of(game, &unchanging);
            let event = message(game, View::Basic, None).encode_to_vec();
            prop_assert_eq!(encoded.without_time(), &event);
            let told = message(game, View::Basic, Some(now));
            let answer = answer::PlayActionResponse {
                game: encoded.at(now),
                record: told.last_action.clone(),
                durability: Some(v1::Durability { wanted: 2, acknowledged: 1 }),
            };
            let expected = v1::PlayActionResponse {
                game: Some(told.clone()),
                record: told.last_action.clone(),
                durability: answer.durability,
            };
            prop_assert_eq!(answer.encode_to_vec(), expected.encode_to_vec());
            let answer = answer::GetGameResponse { game: encoded.at(now) };
            let expected = v1::GetGameResponse { game: Some(told) };
            prop_assert_eq!(answer.encode_to_vec(), expected.encode_to_vec());
        }
    }

    #[test]
    fn every_revision_has_its_own_etag_and_it_comes_back(games in courses(120)) {
        let last = games.last().expect("not empty");
        for (index, game) in games.iter().enumerate() {
            let version = game.version();
            prop_assert_eq!(version.revision, Revision(index as u64 + 1));
            prop_assert_eq!(last.version_at(version.revision), Some(version));
            let text = Etag(version).to_string();
            prop_assert_eq!(text.parse::<Etag>(), Ok(Etag(version)));
            prop_assert!(games[..index].iter().all(|other| Etag(other.version()).to_string() != text));
        }
        let mut history = last.stored().log.origin();
        let log = &last.stored().log;
        for revision in 2..=log.revision().0 {
            let length = |revision| log.cut(Revision(revision)).expect("cut").bytes().len();
            history = history.then(&log.bytes()[length(revision - 1)..length(revision)]);
        }
        prop_assert_eq!(history, last.version().history);
    }

    #[test]
    fn refusals_do_not_depend_on_what_is_hidden_and_the_log_says_nothing_of_it(
        preset in 0..Preset::ALL.len(),
        attempts in prop::collection::vec((attempts(), 0..100_000_u32), 0..60),
        shuffle in any::<[u8; 32]>(),
    ) {
        let mut new = new_game(Preset::ALL[preset]);
        let board = new.rules.board_size();
        let deal = derive_deal(board, &new.id, &ServerSeed::new([5; 32]), []);
        new.deal = DealSource::from(deal.clone());
        let games = course(new.clone(), &attempts);
        let last = games.last().expect("not empty");

        // Another deal with the same pieces where they were turned up.
        let squares: Vec<Square> = (0..board.squares() as u8).filter_map(Square::new).collect();
        let seen: Vec<Square> = last
            .entries()
            .filter_map(|(_, deed)| Some(deed.played?.record.turned_up()?.0))
            .collect();
        let mut hidden: Vec<Square> =
            squares.iter().copied().filter(|square| !seen.contains(square)).collect();
        let kept = hidden.clone();
        hidden.sort_by_key(|square| {
            (shuffle[usize::from(square.index()) % 32].wrapping_mul(square.index()), square.index())
        });
        let other: Vec<_> = squares
            .iter()
            .filter_map(|square| {
                let from = kept.iter().position(|other| other == square).map(|place| hidden[place]);
                deal.at(from.unwrap_or(*square))
            })
            .collect();
        new.deal = DealSource::from(Deal::from_pieces(board, &other).expect("the same set"));
        let others = course(new, &attempts);
        let other = others.last().expect("not empty");
        prop_assert_eq!(last.stored().log.bytes(), other.stored().log.bytes());
        prop_assert_eq!(&last.stored().requests, &other.stored().requests);
        prop_assert_eq!(last.version(), other.version());
        if last.state() != GameState::Finished {
            prop_assert_eq!(summary(last), summary(other));
        }
        let limits = Limits::default();
        let now = last.updated_at() + Span(1);
        for (attempt, _) in &attempts {
            if let Some(command) = command(last, attempt) {
                let (here, there) =
                    (decide(last, &command, now, &limits), decide(other, &command, now, &limits));
                prop_assert_eq!(here, there);
            }
        }
    }

    #[test]
    fn broken_records_are_refused_without_a_panic(
        games in courses(80),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let game = games.last().expect("not empty");
        let mut record = codec::write(game.stored());
        let mut payload = record.payload.to_vec();
        for (index, byte) in &damage {
            *index.get_mut(&mut payload) = *byte;
        }
        if let Some(index) = cut {
            payload.truncate(index.index(payload.len()));
        }
        record.payload = payload.into();
        if let Ok(stored) = codec::read(game.id(), &record) {
            // What cannot be told from a record may replay or contradict itself.
            let _ = Game::replay(stored);
        }
        // Past the header, which catches most of it.
        let mut log = game.stored().log.bytes().to_vec();
        for (index, byte) in &damage {
            *index.get_mut(&mut log) = *byte;
        }
        if let Ok(log) = Log::read(game.stored().log.origin(), log) {
            let version = log.version();
            let stored = StoredGame { log, ..game.stored().clone() };
            if let Ok(replayed) = Game::replay(stored) {
                prop_assert_eq!(replayed.version(), version);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_record(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let id = "x".parse().expect("an id");
        if let Ok(record) = Record::from_stored(bytes.clone().into()) {
            let record = Record { format: codec::RecordFormat::OLDEST.number(), ..record };
            prop_assert!(codec::read(&id, &record).is_err());
        }
        let _ = Log::read(banqi::game::History([0; 8]), bytes);
    }
}

#[test]
fn courses_reach_the_ends_that_they_are_to_test() {
    // The properties above are worth little if no course gets far.
    let attempts: Vec<_> =
        (0..400_u16).map(|number| (Attempt::PlayLegal(number.wrapping_mul(7919)), 900)).collect();
    let mut ended = 0;
    for preset in Preset::ALL {
        let games = course(new_game(preset), &attempts);
        assert!(games.len() > 60, "{preset}: {} revisions", games.len());
        ended += usize::from(games.last().expect("not empty").outcome().is_some());
    }
    assert!(ended > 0);
    assert_eq!(BoardSize::Single.squares(), 32);
}
