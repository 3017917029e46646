//! Every way of being illegal, by its name.

use banqi::rules::{
    CannonRule, Colour, ColourSet, FaceDownRule, HorseRule, Layout, Preset, Referee, RuleChanges,
    RuleSet, Seat,
};
use rstest::rstest;

/// A game on a single board with these pieces, written `a1=K b1=?p`; red is seat 1 and to move.
pub(crate) fn game(rules: &RuleSet, pieces: &str) -> (Referee, Layout) {
    let mut cells = vec!["."; rules.board_size().squares()];
    for word in pieces.split_whitespace() {
        let (square, piece) = word.split_once('=').expect("a square and a piece");
        let square: banqi::rules::Square = square.parse().expect("a square");
        cells[usize::from(square.index())] = piece;
    }
    let layout = Layout::parse(rules.board_size(), &cells.join(" ")).expect("a board");
    let colours = [Colour::Red, Colour::Black, Colour::Blue, Colour::Green].map(ColourSet::of);
    let position = layout
        .setup(Seat::FIRST, &colours[..usize::from(rules.seats())], 0)
        .into_position(rules)
        .expect("a legal position");
    (Referee::from_position(rules, position), layout)
}

fn taiwanese(changes: RuleChanges) -> RuleSet {
    RuleSet::TAIWANESE.with(&changes).expect("a rule set that makes sense")
}

#[rstest]
#[case::flip_beyond_the_board("a5", "OFF_BOARD")]
#[case::move_beyond_the_board("a4-a5", "OFF_BOARD")]
#[case::flip_of_an_empty_square("h4", "EMPTY_SQUARE")]
#[case::move_from_an_empty_square("h4-h3", "EMPTY_SQUARE")]
#[case::flip_of_a_face_up_piece("a1", "NOT_FACE_DOWN")]
#[case::move_of_a_face_down_piece("c1-c2", "FACE_DOWN_PIECE")]
#[case::move_of_another_seats_piece("b1-b2", "NOT_YOUR_PIECE")]
#[case::capture_of_an_own_piece("a1-a2", "OWN_PIECE")]
#[case::two_squares("a1-a3", "OUT_OF_REACH")]
#[case::diagonally("a1-b2", "OUT_OF_REACH")]
#[case::a_general_takes_no_soldier("d2-e2", "RANK_TOO_LOW")]
#[case::a_weaker_piece("a1-b1", "RANK_TOO_LOW")]
#[case::a_face_down_target("d2-d1", "FACE_DOWN_TARGET")]
#[case::a_cannon_does_not_step_to_take("g2-h2", "OUT_OF_REACH")]
#[case::a_cannon_needs_a_screen("g2-g4", "OUT_OF_REACH")]
#[case::nothing_to_end("end", "NO_CHAIN")]
fn under_the_default_rules(#[case] action: &str, #[case] name: &str) {
    let pieces = "a1=P a2=H b1=r c1=?k d1=?P d2=K e2=p g2=C h2=p g4=r a4=R";
    let (referee, _) = game(&RuleSet::TAIWANESE, pieces);
    assert_refused(&referee, action, name);
}

#[test]
fn only_flips_before_colours_are_set() {
    let referee = Referee::new(&Preset::TaiwaneseDarkChain.rules());
    assert_refused(&referee, "a1-a2", "COLOURS_NOT_SET");
    assert_refused(&referee, "end", "NO_CHAIN");
    assert_eq!(referee.legal_actions().len(), 32);
}

#[test]
fn a_weaker_stepping_cannon() {
    let rules = taiwanese(RuleChanges { cannon: Some(CannonRule::Step), ..RuleChanges::default() });
    let (referee, _) = game(&rules, "a1=C b1=h");
    assert_refused(&referee, "a1-b1", "RANK_TOO_LOW");
}

#[test]
fn in_a_chain_only_further_captures_by_its_piece() {
    let rules = taiwanese(RuleChanges { chain: Some(true), ..RuleChanges::default() });
    let (mut referee, layout) = game(&rules, "a1=R a2=h a3=p c1=A d1=?p h1=r");
    play(&mut referee, &layout, "a1-a2");
    assert_refused(&referee, "c1-c2", "CHAIN_PIECE");
    assert_refused(&referee, "d1", "CHAIN_NEEDS_CAPTURE");
    assert_refused(&referee, "a2-b2", "CHAIN_NEEDS_CAPTURE");
    let legal: Vec<String> = referee.legal_actions().iter().map(ToString::to_string).collect();
    assert_eq!(legal.len(), 2, "{legal:?}");
    play(&mut referee, &layout, "end");
    assert_eq!(referee.position().to_move().number(), 2);
}

#[test]
fn a_chase_beyond_the_limit_has_its_own_reason() {
    let rules = taiwanese(RuleChanges { chase_limit: Some(2), ..RuleChanges::default() });
    let (mut referee, layout) = game(&rules, "a1=R c1=h h4=?p");
    // The horse runs along the second rank, the chariot behind it.
    for action in ["a1-b1", "c1-c2", "b1-b2", "c2-d2", "b2-c2", "d2-e2"] {
        play(&mut referee, &layout, action);
    }
    assert_refused(&referee, "c2-d2", "CHASE_LIMIT");
    play(&mut referee, &layout, "c2-c3");
}

#[test]
fn nothing_is_legal_once_the_game_is_over() {
    let (mut referee, layout) = game(&RuleSet::TAIWANESE, "a1=R a2=h");
    play(&mut referee, &layout, "a1-a2");
    assert!(referee.outcome().is_some());
    for action in ["a2-a3", "a1", "end", "h8"] {
        assert_refused(&referee, action, "GAME_OVER");
    }
}

/// What a face-down piece is must not show in what is legal, nor in why not.
#[rstest]
#[case(Preset::Taiwanese.rules())]
#[case(Preset::TaiwaneseDarkChain.rules())]
#[case(taiwanese(RuleChanges {
    face_down: Some(FaceDownRule::Trade),
    cannon: Some(CannonRule::JumpAny),
    horse: Some(HorseRule::Diagonal),
    ..RuleChanges::default()
}))]
fn what_is_face_down_changes_no_answer(#[case] rules: RuleSet) {
    let squares: Vec<String> =
        ('a'..='h').flat_map(|file| (1..=4).map(move |rank| format!("{file}{rank}"))).collect();
    let moves = squares.iter().flat_map(|a| squares.iter().map(move |b| format!("{a}-{b}")));
    let every: Vec<String> = squares.iter().cloned().chain(moves).chain(["end".into()]).collect();
    let answers = |pieces| {
        let (referee, _) = game(&rules, pieces);
        let check = |text: &String| text.parse().ok().map(|action| referee.check(action));
        (referee.legal_actions().to_vec(), every.iter().map(check).collect::<Vec<_>>())
    };
    let one = answers("a1=H b1=?k b2=?P a2=C d1=?p h1=r");
    let other = answers("a1=H b1=?P b2=?p a2=C d1=?k h1=r");
    assert_eq!(one, other);
}

fn play(referee: &mut Referee, layout: &Layout, action: &str) {
    let parsed = action.parse().expect("an action");
    referee
        .play(parsed, |square| layout.deal().at(square))
        .unwrap_or_else(|e| panic!("{action} in {}: {e:?}", referee.position()));
}

fn assert_refused(referee: &Referee, action: &str, name: &str) {
    let parsed = action.parse().expect("an action");
    let refused = referee.check(parsed).expect_err("must be refused");
    assert_eq!(refused.name(), name, "{action}: {refused}");
}
