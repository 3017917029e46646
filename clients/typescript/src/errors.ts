/** What calls fail with. */

import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";

/** A field of a request that is wrong. */
export interface FieldViolation {
  /** Its path. */
  readonly field: string;
  /** What is wrong with it, and what would be right. */
  readonly description: string;
}

/** A call that failed. Compare `reason`; the message is for people. Its `code` is gRPC's. */
export class BanqiError extends ConnectError {
  /** Why, as docs/errors.md lists it: `NOT_YOUR_TURN`. Empty where it comes from no service of banqi. */
  readonly reason: string;
  /** What goes with the reason, like `game_id`, or `etag` and `revision`. */
  readonly info: Readonly<Record<string, string>>;
  /** Every field that is wrong, with `INVALID_FIELDS`. */
  readonly violations: readonly FieldViolation[];
  /** In how many milliseconds to come back, where the service says so. */
  readonly retryDelay: number | undefined;
  readonly #banqi = true;

  constructor(error: ConnectError) {
    super(error.rawMessage, error.code, error.metadata, undefined, error);
    this.details = error.details;
    const info = error.findDetails(ErrorInfoSchema).find((detail) => detail.domain === "banqi");
    const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    this.reason = info?.reason ?? "";
    this.info = info?.metadata ?? {};
    this.violations = error.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
    this.retryDelay = delay === undefined ? undefined : durationMs(delay);
  }

  /** Connect's own errors are none of these, although they are found to be one another's. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && #banqi in value;
  }

  /** Whatever was thrown, as this. */
  static override from(thrown: unknown): BanqiError {
    return thrown instanceof BanqiError ? thrown : new BanqiError(ConnectError.from(thrown));
  }

  /** Whether the same request may do better after a while: it has one effect, however often it is sent. */
  get isTransient(): boolean {
    switch (this.code) {
      case Code.Unavailable:
      case Code.DeadlineExceeded:
        return true;
      case Code.ResourceExhausted:
        return this.retryDelay !== undefined;
      case Code.Aborted:
        return this.reason === "CONTENTION";
      // What a balancer makes of half an answer, where the service has said nothing itself.
      case Code.Internal:
      case Code.Unknown:
      case Code.Canceled:
        return this.reason === "";
      default:
        return false;
    }
  }
}
