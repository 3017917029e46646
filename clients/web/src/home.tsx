/** A new game, or one that is there. */

import type { MessageInitShape } from "banqi-client";
import type { Game } from "banqi-client";
import { BanqiError, GameState, SeatClaim, Seating, type TimeControlSchema } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { why } from "./ending";
import { toHex } from "./hexadecimal";
import { HowTo } from "./how-to";
import { keep, keepGame, kept, keptGame, keptGames } from "./keeping";
import { tell, told } from "./notices";
import { about, loadPresets, nameOf, presets, shortName } from "./presets";
import { gameLink, typedGame } from "./routes";
import { seatName } from "./seats";
import { apiKey, away, service, useKey } from "./service";
import type { Key } from "./text";
import { language, t } from "./text";

type Time = MessageInitShape<typeof TimeControlSchema>;

const seconds = (count: number): { seconds: bigint } => ({ seconds: BigInt(count) });

const TIMES: readonly { readonly key: Key; readonly time: Time | undefined }[] = [
  { key: "timeNone", time: undefined },
  { key: "timeIncrement", time: { clock: { case: "increment", value: { mainTime: seconds(300), increment: seconds(5) } } } },
  { key: "timeSudden", time: { clock: { case: "suddenDeath", value: { mainTime: seconds(600) } } } },
  {
    key: "timeByoYomi",
    time: { clock: { case: "byoYomi", value: { mainTime: seconds(600), periods: 3, period: seconds(30) } } },
  },
  { key: "timePerTurn", time: { clock: { case: "perTurn", value: { limit: seconds(30) } } } },
  { key: "timeDays", time: { clock: { case: "correspondence", value: { daysPerTurn: 3 } } } },
];

export function Home(): JSX.Element {
  return (
    <main class="home">
      <p class="tagline">{t("tagline")}</p>
      {away.value ? (
        <p class="lost" role="alert">
          {t("connectionLost")}
        </p>
      ) : null}
      <NewGame />
      <OpenGame />
      <HowTo />
    </main>
  );
}

function NewGame(): JSX.Element {
  const [preset, setPreset] = useState("TAIWANESE");
  const [here, setHere] = useState(false);
  const [first, setFirst] = useState("random");
  const [time, setTime] = useState(0);
  const [name, setName] = useState(kept("name") ?? "");
  const [busy, setBusy] = useState(false);
  const [wantsKey, setWantsKey] = useState(false);
  const key = apiKey.value;
  const shown = useRef(true);
  useEffect(() => () => {
    shown.current = false;
  }, []);
  useEffect(() => {
    const load = async (): Promise<void> => {
      try {
        await loadPresets();
        setWantsKey(false);
      } catch (thrown) {
        const error = BanqiError.from(thrown);
        if (error.isTransient && shown.current) {
          await load();
        } else {
          refused(error);
        }
      }
    };
    void load();
  }, [key]);

  const refused = (error: BanqiError): void => {
    if (error.reason.startsWith("API_KEY") || error.reason === "ROLE_TOO_LOW") {
      setWantsKey(true);
    } else {
      tell(told(error));
    }
  };
  const seats = presets.value.find((found) => found.name === preset)?.rules?.seats ?? 2;
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    keep("name", name);
    const assigned = SeatClaim.ASSIGNED;
    const mine = { claim: assigned, playerId: here ? "" : name.trim() };
    const others = Array.from({ length: seats - 1 }, () => ({ claim: here ? assigned : SeatClaim.OPEN }));
    try {
      const { game, seatTokens } = await service.games.createGame({
        preset,
        seats: first === "other" && !here ? [...others, mine] : [mine, ...others],
        seating: first === "random" && !here ? Seating.RANDOM : Seating.AS_GIVEN,
        entropyRequired: true,
        ...(TIMES[time]?.time ? { timeControl: TIMES[time].time } : {}),
      });
      if (game) {
        keepGame(game.gameId, (kept) => {
          kept.commitment = toHex(game.commitment);
          for (const { seat, token } of seatTokens) {
            kept.tokens[seat] = token;
          }
        });
        away.value = false;
        // Who has gone elsewhere meanwhile finds it among the games.
        if (shown.current) {
          location.hash = gameLink(game.gameId);
        }
      }
    } catch (thrown) {
      refused(BanqiError.from(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section>
      <h2>{t("newGame")}</h2>
      {wantsKey ? (
        <label>
          {t("apiKey")}
          <input type="password" autocomplete="off" value={key} onChange={(event) => useKey(event.currentTarget.value)} />
        </label>
      ) : null}
      <form onSubmit={(event) => void create(event)}>
        <label>
          {t("rules")}
          <select name="preset" value={preset} onChange={(event) => setPreset(event.currentTarget.value)}>
            {(presets.value.length > 0 ? presets.value.map(({ name }) => name) : ["TAIWANESE"]).map((name) => (
              <option key={name} value={name}>
                {shortName(name)}
              </option>
            ))}
          </select>
          <small class="about">{about(preset)}</small>
        </label>
        <fieldset>
          <legend>{t("opponent")}</legend>
          <Choice name="opponent" value="link" chosen={here ? "here" : "link"} onChoose={() => setHere(false)}>
            {t(seats === 2 ? "opponentLink" : "opponentsLink")}
          </Choice>
          <Choice name="opponent" value="here" chosen={here ? "here" : "link"} onChoose={() => setHere(true)}>
            {t(seats === 2 ? "opponentHere" : "opponentsHere")}
          </Choice>
        </fieldset>
        {here ? null : (
          <>
            <fieldset>
              <legend>{t("whoFirst")}</legend>
              <Choice name="first" value="random" chosen={first} onChoose={setFirst}>
                {t("firstRandom")}
              </Choice>
              <Choice name="first" value="me" chosen={first} onChoose={setFirst}>
                {t("firstMe")}
              </Choice>
              <Choice name="first" value="other" chosen={first} onChoose={setFirst}>
                {t("firstOther")}
              </Choice>
            </fieldset>
            <label>
              {t("yourName")}
              <input name="name" maxLength={30} value={name} autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} />
            </label>
          </>
        )}
        <label>
          {t("time")}
          <select name="time" value={time} onChange={(event) => setTime(Number(event.currentTarget.value))}>
            {TIMES.map(({ key }, index) => (
              <option key={key} value={index}>
                {t(key)}
              </option>
            ))}
          </select>
        </label>
        <button class="main" disabled={busy}>
          {t("create")}
        </button>
      </form>
    </section>
  );
}

function Choice({
  name,
  value,
  chosen,
  onChoose,
  children,
}: {
  name: string;
  value: string;
  chosen: string;
  onChoose: (value: string) => void;
  children: string;
}): JSX.Element {
  return (
    <label class="choice">
      <input type="radio" name={name} value={value} checked={chosen === value} onChange={() => onChoose(value)} />
      {children}
    </label>
  );
}

function OpenGame(): JSX.Element {
  const [text, setText] = useState("");
  const games = keptGames().slice(0, 8);
  const open = (event: Event): void => {
    event.preventDefault();
    const id = typedGame(text);
    if (id === undefined) {
      tell({ key: "noSuchGame" });
    } else {
      location.hash = gameLink(id);
    }
  };
  return (
    <section>
      <h2>{t("openGame")}</h2>
      <form class="line" onSubmit={open}>
        <label>
          {t("gameLink")}
          <input name="game" value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button>{t("open")}</button>
      </form>
      {games.length > 0 ? (
        <>
          <h3>{t("recent")}</h3>
          <ul class="recent">
            {games.map(({ id, opened }) => (
              <li key={id}>
                <a href={`#${gameLink(id)}`}>
                  <Recent id={id} />
                </a>{" "}
                <time>{new Date(opened).toLocaleString(language.value)}</time>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  );
}

/** A game in the list: who plays, and how it stands. Its id while that is not known, or not any more. */
function Recent({ id }: { id: string }): JSX.Element {
  const [game, setGame] = useState<Game | undefined>(undefined);
  useEffect(() => {
    service.games.getGame({ gameId: id }).then(
      (answer) => setGame(answer.game),
      () => undefined,
    );
  }, [id]);
  if (!game) {
    return <>{id}</>;
  }
  const mine = Object.keys(keptGame(id).tokens).map(Number);
  const state =
    game.state === GameState.FINISHED
      ? why(game.result?.reason ?? 0)
      : game.state === GameState.WAITING
        ? t("waitingForPlayers")
        : t(mine.includes(game.position?.toMove ?? 0) ? "yourTurn" : "turnOf", {
            name: seatName(game, game.position?.toMove ?? 0),
          });
  const preset = nameOf(game.rules);
  return (
    <>
      {game.seats.map(({ number }) => seatName(game, number)).join(" – ")} · {state}
      {preset ? ` · ${shortName(preset)}` : ""}
    </>
  );
}
