//! The decoder of stored records: any bytes, and broken copies of real records.

use arbitrary::{Result, Unstructured};
use arrayvec::ArrayVec;
use banqi::game::{
    Command, DealSource, Entropy, Game, GameId, GameKey, History, Limits, Millis, NewGame, NewSeat,
    Request, Seating, ServerSeed, Span, Spectators, StoredGame, TimeControl, decide,
};
use banqi::rules::{RuleSet, Seat};
use banqi::store::Record;
use banqi::store::codec::{IndexTask, read, read_on, write};

/// Reads the bytes themselves, and a record of a game that they describe, whole and broken.
pub fn stored_records(data: &[u8]) {
    if let Ok(record) = Record::from_stored(data.to_vec().into()) {
        read_any(&record);
    }
    if let Ok(task) = IndexTask::from_bytes(data) {
        assert_eq!(IndexTask::from_bytes(&task.to_bytes()).as_ref(), Ok(&task));
    }
    // Fails only where nothing was to be read.
    let _ = broken_copies(&mut Unstructured::new(data));
}

fn id() -> GameId {
    "game-1".parse().expect("an id")
}

/// What is read is written so that it is read the same, and replaying it does not panic.
fn read_any(record: &Record) {
    let Ok(stored) = read(&id(), record) else { return };
    let written = write(&stored);
    assert_eq!(written.version, record.version);
    assert_eq!(read(&id(), &written).as_ref(), Ok(&stored));
    if let Ok(game) = Game::replay(stored) {
        assert!(game.as_at(game.version().revision).is_some());
    }
}

fn broken_copies(bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(rules) = crate::random::rule_set(bytes)? else { return Ok(()) };
    let (first, game) = play(bytes, rules)?;
    let record = write(game.stored());
    let stored = read(&id(), &record).expect("what was written is read");
    assert_eq!(stored, *game.stored());
    assert_eq!(read_on(&first, &record).as_ref(), Ok(&stored));
    let replayed = Game::replay(stored).expect("what was played is replayed");
    assert_eq!(replayed.position(), game.position());
    assert_eq!(replayed.outcome(), game.outcome());
    let mut broken = record.payload.to_vec();
    while !bytes.is_empty() && !broken.is_empty() {
        let at = bytes.int_in_range(0..=broken.len() - 1)?;
        match bytes.int_in_range(0..=3)? {
            0 => broken[at] ^= 1 << bytes.int_in_range(0..=7)?,
            1 => broken.truncate(at),
            2 => broken.insert(at, bytes.arbitrary()?),
            _ => {
                broken.remove(at);
            }
        }
        read_any(&Record { payload: broken.clone().into(), ..record.clone() });
    }
    Ok(())
}

/// A game as the bytes say, and how it was first stored.
fn play(bytes: &mut Unstructured<'_>, rules: RuleSet) -> Result<(StoredGame, Game)> {
    let deal = match bytes.arbitrary()? {
        true => DealSource::from(crate::random::deal(bytes, rules.board_size())?),
        false => DealSource::Derived(ServerSeed::new([7; 32])),
    };
    let given = matches!(deal, DealSource::Given(_));
    let seats = (0..rules.seats())
        .map(|_| match bytes.int_in_range(0..=2)? {
            0 => Ok(NewSeat::Open),
            1 => Ok(NewSeat::Reserved("ana".parse().expect("an id"))),
            _ => Ok(NewSeat::Assigned(None)),
        })
        .collect::<Result<_>>()?;
    let new = NewGame {
        id: id(),
        rules,
        seats,
        seating: if given || bytes.arbitrary()? { Seating::AsGiven } else { Seating::Random },
        deal,
        key: GameKey::new([9; 32]),
        origin: History([1, 2, 3, 4, 5, 6, 7, 8]),
        entropy_required: !given && bytes.arbitrary()?,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: [("event".to_owned(), "fuzz".to_owned())].into(),
        request: None,
    };
    let mut game = Game::create(new, Millis(1_767_225_600_000)).expect("a game that makes sense");
    let first = game.stored().clone();
    let steps: ArrayVec<[u8; 2], 64> =
        std::iter::from_fn(|| (bytes.len() > 16).then(|| bytes.arbitrary().ok()).flatten())
            .take(64)
            .collect();
    for [kind, choice] in steps {
        let command = command(&game, kind, choice);
        let now = game.updated_at() + Span(u64::from(choice) * 1000);
        let Ok(change) = decide(&game, &command, now, &Limits::default()) else { continue };
        let seat = Some(game.position().to_move());
        let request = (kind % 2 == 0)
            .then(|| Request::new(&[kind], seat, &format!("request {choice}"), &[choice]));
        // A deal that contradicts the position is refused; nothing else can be.
        if let Ok(after) = game.after(&change, request) {
            game = after;
        }
    }
    Ok((first, game))
}

fn command(game: &Game, kind: u8, choice: u8) -> Command {
    let seat = Seat::from_index(usize::from(choice) % Seat::MAX).expect("below the most seats");
    let entropy = || Entropy::new(&[choice; 3]).expect("1 to 64 bytes");
    match kind % 16 {
        0 | 1 => Command::Join { seat: None, player: None, entropy: Some(entropy()) },
        2 => Command::Join { seat: Some(seat), player: "ana".parse().ok(), entropy: None },
        3 => Command::AddEntropy { seat, entropy: entropy() },
        4 => Command::EnforceDeadline,
        5 if choice < 64 => Command::Resign { seat },
        _ => {
            let actions = game.referee().legal_actions();
            let Some(&action) = actions.get(usize::from(choice) % actions.len().max(1)) else {
                return Command::EnforceDeadline;
            };
            Command::Play { seat: game.position().to_move(), action }
        }
    }
}
