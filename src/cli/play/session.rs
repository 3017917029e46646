//! A game that is played: what happens in it, and what is typed.

mod bargain;

use std::io::{self, Write as _};
use std::time::Duration;

use super::bot::Bot;
use super::input::{HELP, Input, interrupted, typed};
use super::seating::Seating;
use super::{OPTIONS, PlayError};
use crate::api::proto::v1;
use crate::cli::refusal;
use crate::cli::screen::{BACK, HISTORY_LOST, LOST, Screen, ending, happened};
use crate::client::{Client, Watch, Watched};
use crate::rules::Action;

/// How long a bot thinks, so that one sees what it does.
const THOUGHT: Duration = Duration::from_millis(400);

/// After how long a player is told that the service has not answered yet.
const SLOW: Duration = Duration::from_secs(2);

/// How many lines of what happened are shown.
const SAID: usize = 4;

/// A game on a terminal.
pub(super) struct Session {
    client: Client,
    seating: Seating,
    bot: Bot,
    screen: Screen,
    /// The address of the service where somebody else may play too.
    from_elsewhere: Option<String>,
    game: Option<v1::Game>,
    said: Vec<String>,
    /// The revision that what was typed last has made: it is shown before the next line is read.
    made: u64,
    /// Whether the player was told that the service does not answer.
    away: bool,
}

/// Whether the session goes on.
enum Next {
    Go,
    Quit,
    /// With the rematch.
    Rematch(Seating),
}

impl Session {
    pub(super) fn new(
        client: Client,
        seating: Seating,
        bot: Bot,
        screen: Screen,
        from_elsewhere: Option<String>,
    ) -> Self {
        Self {
            client,
            seating,
            bot,
            screen,
            from_elsewhere,
            game: None,
            said: Vec::new(),
            made: 0,
            away: false,
        }
    }

    /// Plays until the player leaves, or the input ends, and says how to come back.
    pub(super) async fn run(mut self) -> Result<(), PlayError> {
        let played = tokio::select! {
            played = self.turns() => played,
            () = interrupted() => Ok(()),
        };
        self.leave()?;
        played
    }

    async fn turns(&mut self) -> Result<(), PlayError> {
        let mut lines = typed();
        let mut watch = self.watch();
        // Once a game has been over for a while only what is typed counts.
        let mut watching = true;
        loop {
            let next = tokio::select! {
                watched = watch.next(), if watching => match watched? {
                    Some(watched) => self.seen(watched).await?,
                    None => {
                        watching = false;
                        Next::Go
                    }
                },
                line = lines.recv(), if self.listens() => match line {
                    Some(line) => self.typed(&line).await?,
                    None => Next::Quit,
                },
                () = self.bots_turn() => {
                    self.play_bot().await?;
                    Next::Go
                }
            };
            match next {
                Next::Go => {}
                Next::Quit => return Ok(()),
                Next::Rematch(seating) => {
                    self.seating = seating;
                    self.game = None;
                    self.said.clear();
                    self.made = 0;
                    watch = self.watch();
                    watching = true;
                }
            }
        }
    }

    /// Whether the next line is to be read: once the player has seen what the last one came to, also where
    /// all lines come at once through a pipe. Whoever waits for a service that is away may always leave.
    fn listens(&self) -> bool {
        self.away || (self.is_shown() && self.bot_to_move().is_none())
    }

    /// Whether the watch has come to what was made from here.
    fn is_shown(&self) -> bool {
        self.game.as_ref().is_some_and(|game| game.revision >= self.made)
    }

    fn watch(&self) -> Watch {
        let token = self.seating.own.values().next().map_or("", String::as_str);
        self.client.watch(&self.seating.game_id, token)
    }

    /// How somebody else gets in, where there is a seat to take.
    fn invitation(&self, game: &v1::Game) -> String {
        let open = |seat: &v1::GameSeat| !seat.joined && seat.claim() == v1::SeatClaim::Open;
        match &self.from_elsewhere {
            Some(address) if game.seats.iter().any(open) => format!(
                "a friend plays with\n  banqi play --server {address} --game {}\n",
                game.game_id
            ),
            _ => "waiting until all are here\n".to_owned(),
        }
    }

    /// Ready when it is a bot's turn; never otherwise.
    async fn bots_turn(&self) {
        match self.bot_to_move() {
            Some(_) => tokio::time::sleep(THOUGHT).await,
            None => std::future::pending().await,
        }
    }

    fn bot_to_move(&self) -> Option<u32> {
        let seat = self.to_move().filter(|_| self.is_shown())?;
        self.seating.bots.contains_key(&seat).then_some(seat)
    }

    /// The seat to move, while the game goes on.
    fn to_move(&self) -> Option<u32> {
        let game = self.game.as_ref().filter(|game| game.state() == v1::GameState::Active)?;
        Some(game.position.as_ref()?.to_move)
    }

    async fn play_bot(&mut self) -> Result<(), PlayError> {
        let (Some(seat), Some(game)) = (self.bot_to_move(), &self.game) else { return Ok(()) };
        let Some(action) = self.bot.choose(game) else { return Ok(()) };
        let token = self.seating.bots.get(&seat).cloned().unwrap_or_default();
        let request = self.action(token, action, game.etag.clone());
        match self.client.play_action(request).await {
            // The watch shows it.
            Ok(answer) => self.has_made(answer.game)?,
            // The game has ended or was taken back meanwhile, as the watch will tell.
            Err(error) if error.reason == "ETAG_MISMATCH" => self.game = None,
            // It is the bot's turn as before, so it tries again.
            Err(error) if error.is_transient() => self.tell_away()?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn action(&self, seat_token: String, action: String, etag: String) -> v1::PlayActionRequest {
        let game_id = self.seating.game_id.clone();
        v1::PlayActionRequest { game_id, seat_token, action, etag, ..Default::default() }
    }

    /// Notes what a call has made of the game, which the watch is going to show.
    fn has_made(&mut self, game: Option<v1::Game>) -> Result<(), PlayError> {
        self.made = self.made.max(game.map_or(0, |game| game.revision));
        self.tell_back()
    }

    /// Says, once, that the service does not answer.
    fn tell_away(&mut self) -> Result<(), PlayError> {
        if std::mem::replace(&mut self.away, true) {
            return Ok(());
        }
        Ok(writeln!(io::stdout(), "\n{LOST}")?)
    }

    /// Says so once it answers again.
    fn tell_back(&mut self) -> Result<(), PlayError> {
        if std::mem::take(&mut self.away) {
            self.tell(BACK)?;
        }
        Ok(())
    }

    async fn seen(&mut self, watched: Watched) -> Result<Next, PlayError> {
        let own = self.own();
        match watched {
            Watched::Snapshot(snapshot) => {
                if snapshot.history_lost {
                    self.say(HISTORY_LOST.to_owned());
                    self.made = 0;
                }
                self.game = snapshot.game;
            }
            Watched::Event(event) => {
                let v1::GameEvent { entry: Some(entry), game: Some(game) } = *event else {
                    return Ok(Next::Go);
                };
                let said = happened(&entry, &game, &own);
                let last = said.is_some();
                self.said.extend(said);
                self.said.extend(ending(&game, &own).filter(|_| last));
                self.game = Some(game);
                self.answer_for_bots().await?;
            }
            Watched::Presence(_) => return Ok(Next::Go),
            Watched::Lost => {
                self.tell_away()?;
                return Ok(Next::Go);
            }
            Watched::Back => {
                self.tell_back()?;
                return Ok(Next::Go);
            }
        }
        self.show()?;
        Ok(Next::Go)
    }

    fn own(&self) -> Vec<u32> {
        self.seating.own.keys().copied().collect()
    }

    fn say(&mut self, line: String) {
        self.said.push(line);
    }

    /// Shows the game, what happened last, and what is expected.
    fn show(&mut self) -> io::Result<()> {
        let Some(game) = &self.game else { return Ok(()) };
        let own = self.own();
        let first = self.said.len().saturating_sub(SAID);
        let mut text = self.screen.show(game, &own, &self.said[first..]);
        text += &self.expected(game, &own);
        if !self.screen.clears() {
            self.said.clear();
        }
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn expected(&self, game: &v1::Game, own: &[u32]) -> String {
        let to_move = self.to_move().filter(|seat| own.contains(seat));
        match (game.state(), to_move) {
            (v1::GameState::Finished, _) => "over: rematch, record, or quit\n> ".to_owned(),
            (v1::GameState::Active, Some(seat)) if own.len() > 1 => {
                format!("seat {seat} is to move (help says what can be typed)\n> ")
            }
            (v1::GameState::Active, Some(_)) => {
                "you are to move (help says what can be typed)\n> ".to_owned()
            }
            (v1::GameState::Active, None) => "waiting for the other side\n".to_owned(),
            _ => self.invitation(game),
        }
    }

    async fn typed(&mut self, line: &str) -> Result<Next, PlayError> {
        let input = match Input::read(line) {
            Ok(input) => input,
            Err(told) => return self.tell(&told),
        };
        match self.act_or_say_why_not_yet(input).await {
            Err(PlayError::Refused(error)) if error.reason == "ETAG_MISMATCH" => self.tell(
                "something else happened first: look, and type it again if you still want it",
            ),
            Err(PlayError::Refused(error)) => self.tell(&refusal::told(&error, OPTIONS)),
            acted => acted,
        }
    }

    /// Does what was typed. Where that takes long, the player is told that the service does not answer.
    async fn act_or_say_why_not_yet(&mut self, input: Input) -> Result<Next, PlayError> {
        if self.away {
            return self.act(input).await;
        }
        let acted = {
            let mut acting = std::pin::pin!(self.act(input));
            tokio::select! {
                acted = &mut acting => return acted,
                () = tokio::time::sleep(SLOW) => {}
            }
            writeln!(io::stdout(), "{LOST}")?;
            acting.await
        };
        self.away = true;
        if acted.is_ok() {
            self.tell_back()?;
        }
        acted
    }

    /// Says something now, below what is shown.
    fn tell(&self, text: &str) -> Result<Next, PlayError> {
        let mut out = io::stdout().lock();
        write!(out, "{text}\n> ")?;
        out.flush()?;
        Ok(Next::Go)
    }

    async fn act(&mut self, input: Input) -> Result<Next, PlayError> {
        match input {
            Input::Quit => return Ok(Next::Quit),
            Input::Help => return self.tell(HELP),
            Input::Again => self.show()?,
            Input::Legal => return self.tell(&self.legal()),
            Input::Record => return self.record().await,
            Input::Rematch => return self.rematch().await,
            Input::Act(action) => return self.play(action).await,
            Input::Resign
            | Input::Abort
            | Input::Draw
            | Input::Accept
            | Input::Decline
            | Input::Takeback => {
                let game = self.bargain(&input).await?;
                self.has_made(game)?;
            }
        }
        Ok(Next::Go)
    }

    fn legal(&self) -> String {
        let actions = self.game.iter().flat_map(|game| &game.legal_actions);
        let texts: Vec<&str> = actions.map(|action| action.text.as_str()).collect();
        if texts.is_empty() { "nothing, for nobody is to move".to_owned() } else { texts.join(" ") }
    }

    async fn play(&mut self, action: Action) -> Result<Next, PlayError> {
        let token = self.to_move().and_then(|seat| self.seating.own.get(&seat));
        // Whose turn it is not is told so by the service.
        let Some(token) = token.or_else(|| self.seating.own.values().next()).cloned() else {
            return self.tell("no seat is played from here");
        };
        let etag = self.game.as_ref().map(|game| game.etag.clone()).unwrap_or_default();
        let answer = self.client.play_action(self.action(token, action.to_string(), etag)).await?;
        self.has_made(answer.game)?;
        Ok(Next::Go)
    }

    async fn record(&self) -> Result<Next, PlayError> {
        let game_id = self.seating.game_id.clone();
        let request = v1::ExportGameRequest { game_id, ..Default::default() };
        let token = self.seating.own.values().next().map_or("", String::as_str);
        let text = self.client.as_seat(token).export_game(request).await?.text;
        self.tell(&text)
    }

    async fn rematch(&mut self) -> Result<Next, PlayError> {
        let mut next: Option<Seating> = None;
        let all = self.seating.own.iter().map(|seat| (seat, true));
        let all = all.chain(self.seating.bots.iter().map(|seat| (seat, false)));
        for ((_, seat_token), own) in all {
            let request = v1::RematchRequest {
                game_id: self.seating.game_id.clone(),
                seat_token: seat_token.clone(),
                ..Default::default()
            };
            let answer = self.client.rematch(request).await?;
            let game_id = answer.game.ok_or(PlayError::NoGame)?.game_id;
            let seating = next.get_or_insert_with(|| Seating::at(game_id));
            let seats = if own { &mut seating.own } else { &mut seating.bots };
            seats.extend(answer.seat_tokens.into_iter().map(|token| (token.seat, token.token)));
        }
        Ok(next.map_or(Next::Go, Next::Rematch))
    }

    /// Says how to come back, or why one cannot.
    fn leave(&self) -> Result<(), PlayError> {
        if self.game.as_ref().is_some_and(|game| game.result.is_some()) {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let Some(address) = &self.from_elsewhere else {
            writeln!(out, "\nthe game was kept here alone, and is gone")?;
            return Ok(());
        };
        let game = &self.seating.game_id;
        if !self.seating.bots.is_empty() {
            writeln!(
                out,
                "\nthe bot plays from here and leaves with you, which ends game\n{game}"
            )?;
            return Ok(());
        }
        writeln!(out, "\nthe game goes on without you; come back with")?;
        let tokens: Vec<&str> = self.seating.own.values().map(String::as_str).collect();
        let tokens = tokens.join(",");
        writeln!(out, "BANQI_SEAT_TOKEN={tokens} banqi play --server {address} --game {game}")?;
        Ok(())
    }
}
