/** How much time a seat has left. */

import type { Duration, Game, SeatClock, Timestamp } from "banqi-client";

/** What a clock shows. */
export interface Shown {
  /** Milliseconds of the main time, of the turn or of the present period. Unset: no limit. */
  readonly left: number | undefined;
  /** The periods that are left, the present one included; 0 without them. */
  readonly periods: number;
}

/** What a seat's clock shows at a moment of the service's clock. */
export function shown(game: Game, clock: SeatClock, now: number): Shown {
  const periods = clock.periodsLeft;
  if (!clock.running || !game.deadline) {
    return { left: clock.remaining && duration(clock.remaining), periods };
  }
  const all = Math.max(0, timestamp(game.deadline) - now);
  const byoYomi = game.timeControl?.clock;
  const period = byoYomi?.case === "byoYomi" && byoYomi.value.period ? duration(byoYomi.value.period) : 0;
  if (period === 0 || all > periods * period) {
    return { left: all - periods * period, periods };
  }
  const left = Math.max(1, Math.ceil(all / period));
  return { left: all - (left - 1) * period, periods: left };
}

/** `4:05`, `9.3` below ten seconds, `2 d 03:00` over a day. */
export function written(milliseconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  if (milliseconds < 10_000) {
    return (Math.floor(milliseconds / 100) / 10).toFixed(1);
  }
  const seconds = Math.floor(milliseconds / 1_000);
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) {
    return `${days} d ${two(hours)}:${two(minutes)}`;
  }
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

function duration({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1_000 + nanos / 1e6;
}

function timestamp({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + nanos / 1e6;
}
