// Chromium, and what every page is watched for: it asks nobody but its origin, and throws nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

export const DESK = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

const AXE = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

export async function launch() {
  // Root, as containers have it, needs the sandbox off; pages are this project's own.
  return chromium.launch({ executablePath: find(), args: ["--no-sandbox"] });
}

function find() {
  for (const name of BROWSERS) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // The next one.
    }
  }
  throw new Error(`none of ${BROWSERS.join(", ")} is in PATH`);
}

/** A person with a browser of their own. */
export class Person {
  constructor(name, context, page, origin) {
    Object.assign(this, { name, context, page, origin, faults: [], asked: 0 });
    context.on("request", (request) => {
      this.asked += 1;
      if (new URL(request.url()).origin !== origin) {
        this.faults.push(`asked ${request.url()}`);
      }
    });
    page.on("pageerror", (error) => this.faults.push(error.message));
    page.on("console", (message) => {
      // What the browser itself says of a lost connection is no fault of the page.
      if (message.type() === "error" && !/ERR_|Failed to load resource/.test(message.text())) {
        this.faults.push(message.text());
      }
    });
  }

  static async come(browser, origin, name, options = {}) {
    const context = await browser.newContext({ viewport: DESK, locale: "en", reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(30_000);
    return new Person(name, context, await context.newPage(), origin);
  }

  /** Goes home and creates a game; answers its link. */
  async create({ preset = "TAIWANESE", first = "me", time, here = false } = {}) {
    await this.page.goto(`${this.origin}/`);
    await this.page.waitForSelector(`option[value=${preset}]`, { state: "attached" });
    await this.page.selectOption("select[name=preset]", preset);
    await this.page.check(`input[name=opponent][value=${here ? "here" : "link"}]`);
    if (!here) {
      await this.page.check(`input[name=first][value=${first}]`);
      await this.page.fill("input[name=name]", this.name);
    }
    if (time !== undefined) {
      await this.page.selectOption("select[name=time]", { index: time });
    }
    await this.page.click("form button.main");
    await this.page.waitForSelector(here ? ".square" : ".invitation .link");
    return this.page.url();
  }

  async join(link) {
    await this.page.goto(link);
    await this.page.fill(".invitation input[name=name]", this.name);
    await this.page.click(".invitation button.main");
    await this.page.waitForSelector(".invitation form", { state: "detached" });
  }

  square(number) {
    return this.page.locator(`[data-square="${number - 1}"]`);
  }

  /** Clicks on the board where nothing can be done from here, and is told why, where it covers no control. */
  async tapped(expected) {
    await this.square(3).click();
    await this.page.locator(".notice p").waitFor();
    assert.equal((await this.page.textContent(".notice p")).replace(/[\u2068\u2069]/g, ""), expected);
    const covered = await this.page.evaluate(() => {
      const said = document.querySelector(".notice p").getBoundingClientRect();
      const controls = [...document.querySelectorAll("button, select, input, a, summary")];
      return controls.filter((control) => {
        const { left, right, top, bottom, width } = control.getBoundingClientRect();
        return width > 0 && left < said.right && right > said.left && top < said.bottom && bottom > said.top;
      }).length;
    });
    assert.equal(covered, 0, "the notice covers controls");
  }

  /** Acts by clicks or touches, and waits until it is shown. */
  async act(action) {
    const before = await this.page.locator(".record li").count();
    await this.square(action.from).click();
    if (action.to) {
      await this.square(action.to).click();
    }
    await this.shows(before + 1);
  }

  /** Waits until so many actions are shown. */
  async shows(count) {
    await this.page.waitForFunction((count) => document.querySelectorAll(".record li").length >= count, count);
  }

  async axe(where) {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
    assert.deepEqual(told, [], `axe-core on ${where}`);
    return violations.map(({ id, impact }) => `${id} (${impact})`);
  }

  async leave() {
    assert.ok(this.asked > 0);
    assert.deepEqual(this.faults, [], `${this.name}'s page`);
    await this.context.close();
  }
}
