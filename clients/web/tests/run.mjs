// node run.mjs ORIGIN [DIRECTORY [SCENE…]]: plays on the page of a running service, and writes pictures to DIRECTORY
// unless it is empty.
import assert from "node:assert/strict";
import { join } from "node:path";

import { DESK, launch, Person, PHONE } from "./browser.mjs";
import { Table } from "./player.mjs";

const [origin, pictures, ...only] = process.argv.slice(2);
const browser = await launch();
const scenes = { wholeGame, fourSeats, byKeyboard, bargains, sameDevice, declined, languages };

async function picture(person, name, options = {}) {
  if (pictures) {
    await person.page.evaluate(() => scrollTo(0, 0));
    await person.page.screenshot({ path: join(pictures, `${name}.png`), ...options });
  }
}

/** Two people and a watcher: a whole game by clicks, with a reload and a lost connection, the deal verified, a rematch. */
async function wholeGame() {
  const ann = await Person.come(browser, origin, "Ann");
  const bob = await Person.come(browser, origin, "Bob", { viewport: PHONE, hasTouch: true, isMobile: true, colorScheme: "dark" });
  const cat = await Person.come(browser, origin, "Cat");
  let link = await ann.create({ preset: "TCGA" });
  await ann.axe("an invitation");
  await picture(ann, "invitation");
  await bob.page.goto(link);
  await bob.page.waitForSelector(".invitation");
  await bob.axe("a question to join");
  await bob.join(link);
  await cat.page.goto(link);
  await cat.page.waitForSelector(".square");

  let table = new Table(origin, link);
  let jumps = 0;
  for (let round = 1; ; round += 1) {
    let game = await ready(table);
    let actions = 0;
    while (!game.result) {
      // Of a rematch the one who lost begins, so seats are told by who has them.
      const people = game.seats.map(({ playerId }) => (playerId === "Ann" ? ann : bob));
      game = await table.turn(game, people);
      actions += 1;
      if (round === 1 && actions === 12) {
        await bob.page.reload();
        await bob.shows(actions);
      }
      if (round === 1 && actions === 16) {
        await picture(ann, "desk");
        await ann.axe("a game");
        await bob.axe("a game on a phone");
        await picture(bob, "phone", { fullPage: true });
        await cat.shows(actions);
        await symbols(ann);
        game = await withoutConnection(ann, bob, table, people);
        actions += 1;
      }
    }
    await cat.shows(actions);
    jumps += table.seen.jump;
    for (const person of [ann, bob, cat]) {
      await person.page.waitForSelector(".after h2");
    }
    if (round === 1) {
      await fairness(ann, bob, cat);
    }
    assert.ok(table.seen.flip > 0 && table.seen.capture + table.seen.jump > 0, JSON.stringify(table.seen));
    link = await rematch(ann, bob, cat);
    if (jumps > 0) {
      break;
    }
    assert.ok(round < 10, "no cannon has jumped in ten games");
    table = new Table(origin, link);
  }
  await Promise.all([ann, bob, cat].map((person) => person.leave()));
}

async function ready(table) {
  for (let attempt = 0; ; attempt += 1) {
    const game = await table.game();
    if (game.legalActions.length > 0) {
      return game;
    }
    assert.ok(attempt < 100, "the game does not begin");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function symbols(person) {
  await person.page.selectOption("header select >> nth=0", "symbols");
  await person.page.waitForSelector(".piece svg");
  await picture(person, "symbols");
  await person.page.selectOption("header select >> nth=0", "han");
}

/** One is offline while the other acts, and sees it afterwards; then it goes on. */
async function withoutConnection(ann, bob, table, people) {
  let game = await table.game();
  const [mover, other] = people[game.position.toMove - 1] === ann ? [ann, bob] : [bob, ann];
  await other.context.setOffline(true);
  game = await table.turn(game, people);
  await other.context.setOffline(false);
  await other.shows(await mover.page.locator(".record li").count());
  return game;
}

async function fairness(ann, bob, cat) {
  for (const person of [ann, bob, cat]) {
    await person.page.click(".after button:not(.main)");
    await person.page.waitForSelector(".fairness .holds");
    assert.equal(await person.page.locator(".fairness .fails").count(), 0);
  }
  // The two have added numbers of their own, the watcher has not.
  assert.equal(await ann.page.locator(".fairness .holds").count(), 3);
  assert.equal(await bob.page.locator(".fairness .holds").count(), 3);
  assert.equal(await cat.page.locator(".fairness .holds").count(), 2);
  await ann.axe("a game that is over");
  await picture(ann, "verified");
  await ann.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await ann.page.click(".record button");
  await ann.page.waitForSelector(".notice p");
  const record = await ann.page.evaluate(() => navigator.clipboard.readText());
  assert.match(record, /\[RuleSet "TCGA"\]/);
}

async function rematch(ann, bob, cat) {
  await ann.page.click(".after button.main");
  await ann.page.getByText("Waiting for the rematch to be accepted").waitFor();
  await bob.page.waitForSelector(".after [role=alert]");
  await bob.page.click(".after button.main");
  await bob.page.waitForSelector(".square.can, .seats .to-move");
  await cat.page.click(".after a");
  await cat.page.waitForSelector(".seats .to-move");
  assert.equal(cat.page.url(), ann.page.url());
  return ann.page.url();
}

/** Four people on the double board. */
async function fourSeats() {
  const names = ["Ann", "Bob", "Cat", "Dan"];
  const people = await Promise.all(names.map((name) => Person.come(browser, origin, name)));
  const link = await people[0].create({ preset: "DOUBLE_FOUR" });
  for (const person of people.slice(1)) {
    await person.join(link);
  }
  const table = new Table(origin, link);
  let game = await ready(table);
  for (let action = 0; action < 40 && !game.result; action += 1) {
    game = await table.turn(game, people);
  }
  await people[3].shows(40);
  await people[0].axe("four seats");
  await picture(people[0], "four");
  await people[1].page.setViewportSize(PHONE);
  await picture(people[1], "four-phone", { fullPage: true });
  // Who is out is told with the reason. The three others resign, so the one who is left has won.
  for (const person of people.slice(1)) {
    await person.page.getByRole("button", { name: "Resign" }).click();
    await person.page.getByRole("button", { name: "Yes" }).click();
  }
  await people[0].page.waitForSelector(".after h2");
  assert.equal(await people[0].page.textContent(".after h2"), "You have won!");
  assert.equal((await people[0].page.textContent(".departure")).trim(), "out: Resigned");
  await Promise.all(people.map((person) => person.leave()));
}

/** Without a mouse: what screen readers are told is right, and keys are enough. */
async function byKeyboard() {
  const ann = await Person.come(browser, origin, "Ann");
  const bob = await Person.come(browser, origin, "Bob");
  const link = await ann.create();
  await bob.join(link);
  await ann.page.waitForSelector(".square.can");
  await ann.page.locator('[data-square="0"]').focus();
  const focused = () => ann.page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const reaches = (square) =>
    ann.page.waitForFunction((square) => document.activeElement.getAttribute("aria-label")?.startsWith(`${square} `), square);
  assert.equal(await focused(), "a1 face down");
  for (const [key, expected] of [["ArrowRight", "b1"], ["ArrowUp", "b2"], ["End", "h2"], ["Home", "a2"], ["ArrowDown", "a1"], ["ArrowLeft", "a1"]]) {
    await ann.page.keyboard.press(key);
    await reaches(expected);
  }
  await ann.page.keyboard.press("Enter");
  await ann.shows(1);
  assert.match(await focused(), /^a1 (red|black) (general|advisor|elephant|chariot|horse|cannon|soldier), last action$/);
  assert.match(await ann.page.textContent(".status"), /a1 turned up: (red|black) /);
  // One square can be reached by Tab, and the others by the arrows from there.
  assert.equal(await ann.page.locator('.square[tabindex="0"]').count(), 1);
  await Promise.all([ann, bob].map((person) => person.leave()));
}

/** Clocks, a draw declined and accepted, a turn taken back. */
async function bargains() {
  const ann = await Person.come(browser, origin, "Ann");
  const bob = await Person.come(browser, origin, "Bob");
  const link = await ann.create({ time: 3 });
  await bob.join(link);
  const table = new Table(origin, link);
  const button = (person, name) => person.page.getByRole("button", { name, exact: true });
  let game = await ready(table);
  await ann.page.waitForSelector(".clock.running");
  assert.match(await ann.page.textContent(".clock.running"), /^(9:5\d|10:00) ×3$/);
  await button(ann, "Offer a draw").click();
  await button(bob, "Decline").click();
  await ann.page.getByText("Bob\u2069 declines.").waitFor();
  await button(ann, "Offer a draw").click();
  await ann.page.waitForSelector(".notice p");
  assert.match(await ann.page.textContent(".notice p"), /after your next turn/);
  // Until somebody has moved a piece, which can be taken back.
  let mover;
  for (let action = 0; !mover; action += 1) {
    const quiet = game.legalActions.find(({ kind }) => kind === 2);
    const person = [ann, bob][game.position.toMove - 1];
    if (quiet) {
      await keptInHand(person, quiet, game.legalActions.find(({ kind }) => kind === 1));
      await person.act(quiet);
      mover = person;
    } else {
      game = await table.turn(game, [ann, bob]);
    }
    assert.ok(action < 40, "nobody can move");
  }
  const other = mover === ann ? bob : ann;
  const shown = await mover.page.locator(".record li").count();
  await other.shows(shown);
  await button(mover, "Take back my turn").click();
  await other.page.waitForSelector(".question");
  await button(other, "Accept").click();
  await mover.page.waitForFunction((count) => document.querySelectorAll(".record li").length === count - 1, shown);
  await mover.page.getByText("A turn was taken back.").waitFor();
  await button(other, "Offer a draw").click();
  await button(mover, "Accept").click();
  await ann.page.waitForSelector(".after h2");
  assert.equal(await ann.page.textContent(".after h2"), "A draw.");
  // Who asked for a rematch may take that back, which the other one is told.
  await button(ann, "Rematch").click();
  await bob.page.waitForSelector(".question");
  await button(ann, "Take the offer of a rematch back").click();
  await button(ann, "Yes").click();
  await ann.page.getByText("The offer of a rematch was taken back.").first().waitFor();
  await ann.page.locator(".after").getByRole("link", { name: "Home" }).waitFor();
  await bob.page.getByText("That rematch was called off.").waitFor();
  await Promise.all([ann, bob].map((person) => person.leave()));
}

/** Who may not act is told why, a resignation stands in the record, and a rematch is declined or taken back. */
async function declined() {
  const ann = await Person.come(browser, origin, "Ann");
  const bob = await Person.come(browser, origin, "Bob", { viewport: PHONE, colorScheme: "dark" });
  const cat = await Person.come(browser, origin, "Cat", { locale: "sv" });
  const link = await ann.create();
  await ann.tapped("Waiting for the other player to open the link");
  await bob.join(link);
  await cat.page.goto(link);
  await ann.page.waitForSelector(".square.can");
  await bob.tapped("Ann is to move");
  await cat.tapped("Du tittar på");
  const table = new Table(origin, link);
  await table.turn(await ready(table), [ann, bob]);
  // What was said of a moment is over with it.
  await bob.page.waitForSelector(".notice p", { state: "detached" });
  await bob.page.getByRole("button", { name: "Resign" }).click();
  await bob.page.getByRole("button", { name: "Yes" }).click();
  await ann.page.waitForSelector(".record .end");
  const end = async (person) => (await person.page.textContent(".record li:last-child")).replace(/[\u2068\u2069]/g, "");
  assert.equal(await end(ann), "Bob: Resigned – Ann has won.");
  await cat.page.waitForSelector(".record .end");
  assert.equal(await end(cat), "Bob: Uppgivet – Ann har vunnit.");
  await ann.page.click(".after button.main");
  await bob.page.getByRole("button", { name: "Decline" }).click();
  await bob.page.getByText("You have declined the rematch.").waitFor();
  await bob.page.reload();
  await bob.page.getByText("You have declined the rematch.").waitFor();
  await bob.axe("a rematch declined");
  await ann.page.waitForSelector(".after h2");
  const told = async (person) => (await person.page.textContent(".after h2")).replace(/[\u2068\u2069]/g, "");
  assert.equal(await told(ann), "Bob has declined the rematch.");
  await ann.page.reload();
  await ann.page.waitForSelector(".after h2");
  await ann.page.waitForFunction(() => document.querySelector(".after h2").textContent.includes("has declined"));
  await ann.page.goto(link);
  await ann.page.getByText("That rematch was called off.").waitFor();
  await refusedInSwedish(cat, ann.page.url());
  await Promise.all([ann, bob, cat].map((person) => person.leave()));
}

/** With a piece in hand nothing is turned up by a click that misses. */
async function keptInHand(person, move, flip) {
  if (flip) {
    const shown = await person.page.locator(".record li").count();
    await person.page.click(`[data-square="${move.from - 1}"]`);
    await person.page.click(`[data-square="${flip.from - 1}"]`);
    await person.page.getByText("The rules do not allow that here.").waitFor();
    assert.equal(await person.page.locator(".record li").count(), shown);
  }
}

/** What the service says is told in the language of the page. */
async function refusedInSwedish(person, link) {
  await person.page.goto(`${link.split("#")[0]}#/game/nowhere`);
  await person.page.getByText("Det finns inget sådant parti, eller så har det tagits bort.").waitFor();
}

/** Both players on one device. */
async function sameDevice() {
  const ann = await Person.come(browser, origin, "Ann");
  const link = await ann.create({ here: true });
  const table = new Table(origin, link);
  let game = await ready(table);
  for (let action = 0; action < 6; action += 1) {
    game = await table.turn(game, [ann, ann]);
  }
  await ann.page.goto(`${origin}/`);
  await ann.page.click(".recent a");
  await ann.shows(6);
  await ann.leave();
}

/** No choice is cut, at either width; a notice covers nothing that can be used. */
async function fits(person, where) {
  for (const width of [PHONE.width, 320]) {
    await person.page.setViewportSize({ ...PHONE, width });
    const cut = await person.page.evaluate(() =>
      [...document.querySelectorAll("select")].flatMap((select) => {
        const whole = select.cloneNode();
        whole.replaceChildren(new Option(select.selectedOptions[0].text));
        whole.style.cssText = "position: absolute; width: auto; max-width: none; visibility: hidden";
        select.after(whole);
        const needed = whole.getBoundingClientRect().width;
        whole.remove();
        return needed > select.getBoundingClientRect().width + 0.5 ? [select.selectedOptions[0].text] : [];
      }),
    );
    assert.deepEqual(cut, [], `${where} at ${width}`);
  }
  await person.page.setViewportSize(PHONE);
}

/** Every language, on a phone: nothing is wider than the page, and nothing is left unsaid. */
async function languages() {
  const ann = await Person.come(browser, origin, "Ann", { viewport: PHONE });
  const link = await ann.create({ here: true });
  const tags = await ann.page.locator("header select >> nth=1").locator("option").evaluateAll((options) => options.map(({ value }) => value));
  assert.deepEqual(tags, ["en", "zh-Hant", "zh-Hans", "tr", "el", "sv", "cs", "kk"]);
  for (const tag of tags) {
    for (const place of ["game", "home"]) {
      await ann.page.goto(place === "game" ? link : `${origin}/`);
      await ann.page.waitForSelector(place === "game" ? ".square" : ".how-to");
      await ann.page.selectOption("header select >> nth=1", tag);
      assert.equal(await ann.page.getAttribute("html", "lang"), tag);
      await fits(ann, `${place} in ${tag}`);
      const wider = await ann.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wider, 0, `${place} in ${tag} is wider than a phone`);
      assert.doesNotMatch(await ann.page.innerText("body"), /\{\w+\}|undefined/);
      await ann.axe(`${place} in ${tag}`);
      if (tag === "zh-Hant") {
        await picture(ann, `${place}-${tag}`);
      }
    }
  }
  await ann.leave();
}

try {
  for (const [name, scene] of Object.entries(scenes).filter(([name]) => only.length === 0 || only.includes(name))) {
    const began = performance.now();
    await scene();
    console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
} finally {
  await browser.close();
}
