/** Banqi from Node, over gRPC. */

import { createGrpcTransport } from "@connectrpc/connect-node";

import type { Banqi, Options } from "./client.js";
import { services } from "./client.js";

/** The services at an address like `http://127.0.0.1:50051`. */
export function connect(baseUrl: string, options?: Options): Banqi {
  return services((interceptors) => createGrpcTransport({ baseUrl, interceptors }), options);
}
