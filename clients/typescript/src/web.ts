/** Banqi from browsers, over gRPC-Web. */

import { createGrpcWebTransport } from "@connectrpc/connect-web";

import type { Banqi, Options } from "./client.js";
import { services } from "./client.js";

/** The services at an address like `https://play.example`. */
export function connect(baseUrl: string, options?: Options): Banqi {
  return services((interceptors) => createGrpcWebTransport({ baseUrl, interceptors, useBinaryFormat: true }), options);
}
