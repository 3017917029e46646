/**
 * A client of banqi. `connect` of `banqi-client/node` or `banqi-client/web` gives the services; everything else
 * is here.
 *
 * @packageDocumentation
 */

export type { Banqi, Connector, Options } from "./client.js";
export { services } from "./client.js";
export type { FieldViolation } from "./errors.js";
export { BanqiError } from "./errors.js";
export { randomBytes, randomUuid } from "./random.js";
export type { Fault, Kept, Proof } from "./verify.js";
export { commitment, deriveDeal, verifyDeal } from "./verify.js";
export type { Watched, WatchOptions } from "./watch.js";
export { watchGame } from "./watch.js";
export { Code } from "@connectrpc/connect";
export type { MessageInitShape } from "@bufbuild/protobuf";
export { equals } from "@bufbuild/protobuf";
export type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";

export * from "./generated/banqi/v1/action_pb.js";
export * from "./generated/banqi/v1/game_pb.js";
export * from "./generated/banqi/v1/game_service_pb.js";
export * from "./generated/banqi/v1/platform_service_pb.js";
export * from "./generated/banqi/v1/position_pb.js";
export * from "./generated/banqi/v1/result_pb.js";
export * from "./generated/banqi/v1/rules_pb.js";
export * from "./generated/banqi/v1/rules_service_pb.js";
export * from "./generated/banqi/v1/time_control_pb.js";
