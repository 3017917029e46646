/** The page: one game, or all of them. */

import { render } from "preact";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";

import { GamePage } from "./game-page";
import { Home } from "./home";
import { Notices } from "./notice";
import { hush } from "./notices";
import { draw, drawing } from "./piece";
import { shownGame } from "./routes";
import { choose, language, LANGUAGES, t } from "./text";

function Page(): JSX.Element {
  const id = shownGame.value;
  // What was said on another page is over.
  useLayoutEffect(() => hush(true), [id]);
  return (
    <>
      <header>
        <a href="#/" class="brand">
          <span aria-hidden="true">暗棋</span> <span class="word">{t("title")}</span>
        </a>
        <label>
          <span class="hidden">{t("pieces")}</span>
          <select value={drawing.value} onChange={(event) => draw(event.currentTarget.value)}>
            <option value="han">{t("piecesHan")}</option>
            <option value="symbols">{t("piecesSymbols")}</option>
          </select>
        </label>
        <label>
          <span class="hidden">{t("language")}</span>
          <select value={language.value} onChange={(event) => choose(event.currentTarget.value)}>
            {LANGUAGES.map(({ tag, name }) => (
              <option key={tag} value={tag} lang={tag}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </header>
      {id === undefined ? <Notices /> : null}
      {id === undefined ? <Home /> : <GamePage id={id} key={id} />}
    </>
  );
}

render(<Page />, document.getElementById("app")!);
