//! Every vector, compared in everything it says.

use banqi::rules::{Referee, Seat};

use crate::vector_files::{self, LegalLists, Vector};

#[test]
fn positions() {
    assert!(check_file("positions.jsonl") >= 89);
}

#[test]
fn games() {
    assert!(check_file("games.jsonl") >= 128);
}

#[test]
fn endgames() {
    assert!(check_file("endgames.jsonl") >= 240);
}

/// Checks a file and tells all that differs, not the first difference alone.
fn check_file(file: &str) -> usize {
    let vectors = vector_files::read(file);
    let differences: Vec<String> = vectors
        .iter()
        .filter_map(|vector| check(vector).err().map(|e| format!("{}: {e}", vector.name)))
        .collect();
    assert!(
        differences.is_empty(),
        "{} of {} vectors of {file} differ:\n{}",
        differences.len(),
        vectors.len(),
        differences.join("\n")
    );
    vectors.len()
}

fn check(vector: &Vector) -> Result<(), String> {
    let (mut referee, deal) = vector.start();
    let actions: Vec<&str> = vector.actions.split_whitespace().collect();
    let records: Vec<&str> = vector.records.split_whitespace().collect();
    same("number of records", &actions.len(), &records.len())?;
    if let Some(counts) = &vector.legal_counts {
        same("number of counts", &actions.len(), &counts.len())?;
    }
    for (ply, (action, expected)) in actions.iter().zip(&records).enumerate() {
        let at = |what: &str| format!("{what} at ply {ply} ({action})");
        if let Some(counts) = &vector.legal_counts {
            same(&at("legal count"), &referee.legal_actions().len(), &counts[ply])?;
        }
        if let LegalLists::ByPly(lists) = &vector.legal
            && let Some(list) = lists.get(&ply.to_string())
        {
            same(&at("legal actions"), &sorted_actions(&referee), list)?;
        }
        let action = action.parse().map_err(|e| format!("{e}"))?;
        let played = referee
            .play(action, |square| deal.at(square))
            .map_err(|e| format!("{}: {e:?} in {}", at("refused"), referee.position()))?;
        same(&at("record"), &played.record.to_string().as_str(), expected)?;
    }
    if let LegalLists::AtEnd(list) = &vector.legal {
        same("legal actions at the end", &sorted_actions(&referee), list)?;
    }
    same("final position", &referee.position().to_string(), &vector.final_position)?;
    check_result(vector, &referee)
}

fn check_result(vector: &Vector, referee: &Referee) -> Result<(), String> {
    let outcome = referee.outcome();
    let found = outcome.map(|o| (o.winner().map(Seat::number), o.reason.name()));
    let expected = vector.result.as_ref().map(|r| (r.winner, r.reason.as_str()));
    same("result", &found, &expected)?;
    if let Some(out) = &vector.out {
        let found: Vec<_> =
            referee.departures().iter().map(|d| (d.seat.number(), d.reason.name())).collect();
        let expected: Vec<_> = out
            .iter()
            .flat_map(|group| group.seats.iter().map(|&seat| (seat, group.reason.as_str())))
            .collect();
        same("seats that went out", &found, &expected)?;
    }
    if let Some(places) = &vector.places {
        same("places", &outcome.map(|o| o.places.to_vec()), &Some(places.clone()))?;
    }
    Ok(())
}

fn sorted_actions(referee: &Referee) -> Vec<String> {
    let mut actions: Vec<_> = referee.legal_actions().iter().map(ToString::to_string).collect();
    actions.sort();
    actions
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}:\n     found {found:?}\n  expected {expected:?}"))
    }
}
