/** Clients that do what everybody would write: request ids, repetition, deadlines, typed errors. */

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Client, Interceptor, StreamResponse, Transport, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";

import { BanqiError } from "./errors.js";
import { GameService } from "./generated/banqi/v1/game_service_pb.js";
import { PlatformService } from "./generated/banqi/v1/platform_service_pb.js";
import { RulesService } from "./generated/banqi/v1/rules_service_pb.js";
import { randomUuid } from "./random.js";
import { pause } from "./pause.js";

/** How a client behaves. */
export interface Options {
  /** An API key, where the service wants one; or what gives the present one. */
  readonly apiKey?: string | (() => string | undefined) | undefined;
  /** How long one attempt of a call may take, in milliseconds. 5,000 unless given. */
  readonly attempt?: number;
  /** How long a call may take with all its repetitions, in milliseconds. 30,000 unless given. */
  readonly total?: number;
  /** Is told of every attempt that failed and is made again. */
  readonly onRetry?: (error: BanqiError) => void;
}

/** Makes the way to a service: what is to stand around every call is given to it. */
export type Connector = (interceptors: Interceptor[]) => Transport;

/** The services, every call of which is safe to make: see `Options` and `BanqiError`. */
export interface Banqi {
  /** Hosted games. */
  readonly games: Client<typeof GameService>;
  /** The rules alone. */
  readonly rules: Client<typeof RulesService>;
  /** What only a platform may. */
  readonly platform: Client<typeof PlatformService>;
}

/** The services behind a connector: `connect` of `banqi-client/node` and of `banqi-client/web` have one. */
export function services(connector: Connector, options: Options = {}): Banqi {
  const transport = connector([errors, identify, authorize(options), repeat(options)]);
  return {
    games: createClient(GameService, transport),
    rules: createClient(RulesService, transport),
    platform: createClient(PlatformService, transport),
  };
}

type Answer = UnaryResponse | StreamResponse;

/** The outermost: what is thrown is a `BanqiError`, in the middle of a stream as well. */
const errors: Interceptor = (next) => async (request) => {
  try {
    const answer: Answer = await next(request);
    return answer.stream ? { ...answer, message: typed(answer.message) } : answer;
  } catch (thrown) {
    throw BanqiError.from(thrown);
  }
};

async function* typed<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw BanqiError.from(thrown);
  }
}

/** Gives writes a `request_id` that have none, and tells balancers which game a call is about. */
const identify: Interceptor = (next) => async (request) => {
  if (!request.stream) {
    label(request, request.message);
    return next(request);
  }
  const message = await first(request.message);
  label(request, message);
  return next({ ...request, message: one(message) });
};

function label(request: { header: Headers }, message: MessageShape<DescMessage>): void {
  const fields = message as { requestId?: string; gameId?: string };
  if (fields.requestId === "") {
    fields.requestId = randomUuid();
  }
  if (fields.gameId) {
    request.header.set("banqi-game-id", fields.gameId);
  }
}

async function first<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) {
    return message;
  }
  throw new ConnectError("a stream without a request", Code.Internal);
}

async function* one<T>(message: T): AsyncIterable<T> {
  yield message;
}

function authorize({ apiKey }: Options): Interceptor {
  return (next) => (request) => {
    const key = typeof apiKey === "function" ? apiKey() : apiKey;
    if (key) {
      request.header.set("x-api-key", key);
    }
    return next(request);
  };
}

/** Sends a call again, unchanged, while it fails for want of an answer. Streams are `watch`'s to resume. */
function repeat({ attempt = 5_000, total = 30_000, onRetry }: Options): Interceptor {
  return (next) => async (request) => {
    if (request.stream) {
      return next(request);
    }
    const end = Date.now() + total;
    for (let failures = 0; ; failures += 1) {
      try {
        return await next(within(request, Math.min(attempt, end - Date.now())));
      } catch (thrown) {
        const error = BanqiError.from(thrown);
        const delay = error.retryDelay ?? backoff(failures);
        if (request.signal.aborted || !error.isTransient || Date.now() + delay >= end) {
          throw error;
        }
        onRetry?.(error);
        await pause(delay, request.signal);
      }
    }
  };
}

/** The request with a deadline for one attempt. */
function within(request: UnaryRequest, milliseconds: number): UnaryRequest {
  // PollGame says itself how long it waits.
  const waits = (request.message as { wait?: { seconds: bigint } }).wait;
  const limit = milliseconds + (waits ? Number(waits.seconds) * 1_000 : 0);
  const header = new Headers(request.header);
  header.set("grpc-timeout", `${Math.max(1, Math.floor(limit))}m`);
  // A little later than the service's own, so that its answer is the one that is told.
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(limit + 500)]);
  return { ...request, header, signal };
}

/** How long to wait after so many failures, in milliseconds: never the same, so that clients do not come all at once. */
export function backoff(failures: number): number {
  return Math.min(5_000, 100 * 2 ** failures) * (0.5 + Math.random() / 2);
}
