//! What a player types.

use std::io::{self, BufRead as _};

use tokio::sync::mpsc;

use crate::rules::Action;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Act(Action),
    Legal,
    Help,
    Resign,
    Abort,
    Draw,
    Accept,
    Decline,
    Takeback,
    Rematch,
    Record,
    Again,
    Quit,
}

/// What can be typed.
pub(super) const HELP: &str = "\
b3           turn up the piece on b3
b3-b4        move from b3 to b4, or capture there (b3 b4 and b3b4 will do)
end          end a chain of captures
legal        what may be done now
draw         offer a draw
takeback     ask to take your last turn back
accept, decline   answer an offer or a request
resign, abort     give up; call the game off before both have acted
rematch      another game, once this one is over
record       the game as it can be kept
show         the board again
quit         leave; a game on a service goes on there";

impl Input {
    /// Reads a line.
    pub(super) fn read(line: &str) -> Result<Self, String> {
        let word = line.trim().to_lowercase();
        Ok(match word.as_str() {
            "legal" | "l" => Self::Legal,
            "help" | "h" | "?" => Self::Help,
            "resign" => Self::Resign,
            "abort" => Self::Abort,
            "draw" => Self::Draw,
            "accept" | "yes" | "y" => Self::Accept,
            "decline" | "no" | "n" => Self::Decline,
            "takeback" | "undo" => Self::Takeback,
            "rematch" => Self::Rematch,
            "record" => Self::Record,
            "show" | "" => Self::Again,
            "quit" | "exit" | "q" => Self::Quit,
            other => Self::Act(action(other).ok_or_else(|| {
                format!("`{}` is no action and no command: write b3, b3-b4, or help", line.trim())
            })?),
        })
    }
}

/// An action, also where the hyphen is missing.
fn action(text: &str) -> Option<Action> {
    if let Ok(action) = text.parse() {
        return Some(action);
    }
    let squares: String = text.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
    let (from, to) = squares.split_at_checked(2)?;
    format!("{from}-{to}").parse().ok()
}

/// Ready when the player presses Ctrl-C.
pub(super) async fn interrupted() {
    // Where it cannot be listened to, Ctrl-C ends the process, as it does anywhere else.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

/// The lines of standard input. Reading blocks, so a thread of its own does.
pub(super) fn typed() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_may_be_written_as_people_do() {
        let expected = Ok(Input::Act("b3-b4".parse().expect("an action")));
        for text in ["b3-b4", "b3 b4", "B3B4", " b3xb4 ".replace('x', " ").as_str()] {
            assert_eq!(Input::read(text), expected, "{text}");
        }
        assert_eq!(Input::read("b3"), Ok(Input::Act("b3".parse().expect("an action"))));
        assert_eq!(Input::read("END"), Ok(Input::Act("end".parse().expect("an action"))));
    }

    #[test]
    fn what_is_nothing_is_said_to_be_so() {
        let told = Input::read("i9").expect_err("no square");
        assert!(told.contains("`i9`") && told.contains("help"), "{told}");
    }
}
