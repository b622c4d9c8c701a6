// The agent server's JSON-RPC 2.0 messages and error codes (SPEC Agent server).
import { isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";

type RpcMessageId = string | number;

export interface RpcMessage {
  /** The ID of the message; undefined for a notification, which gets no response. */
  readonly id: RpcMessageId | undefined;
  readonly method: string;
  readonly params: JsonObject | readonly Json[] | undefined;
}

export const rpcErrors = {
  storageUnavailable: { code: -32000, message: "Storage is temporarily unavailable. Retry the same request." },
  unauthorized: { code: -32001, message: "Authentication is required. Send a valid agent token." },
  rateLimited: { code: -32029, message: "Too many requests. Retry after the time given in Retry-After." },
  invalidRequest: { code: -32600, message: "The message must be a JSON-RPC 2.0 request." },
  tooLarge: { code: -32600, message: "The message must be at most 256 KiB." },
  invalidBatch: { code: -32600, message: "A batch must contain 1 to 20 messages. Protocol revision 2026-07-28 does not allow batches." },
  methodNotFound: { code: -32601, message: "Method not found." },
  invalidParams: { code: -32602, message: "params of tools/call must contain the name of a tool." },
  internalError: { code: -32603, message: "An internal error occurred. Try again later." },
} as const;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

export type RpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RpcMessageId; readonly result: object }
  | { readonly jsonrpc: "2.0"; readonly id: RpcMessageId | null; readonly error: RpcError };

export const toRpcResult = (id: RpcMessageId, result: object): RpcResponse => ({ jsonrpc: "2.0", id, result });
export const toRpcError = (id: RpcMessageId | null, error: RpcError): RpcResponse => ({ jsonrpc: "2.0", id, error });

const isRpcMessageId = (value: Json | undefined): value is RpcMessageId => typeof value === "string" || typeof value === "number";

/** Returns the ID for the response, even if the rest of the message is invalid. */
export const getRpcMessageId = (value: Json | undefined): RpcMessageId | null =>
  isJsonObject(value) && isRpcMessageId(value.id) ? value.id : null;

/**
 * Parses a message. Returns null for anything that is not a request or notification, including responses. `params: null` counts as missing.
 */
export const parseRpcMessage = (value: Json): RpcMessage | null => {
  if (!isJsonObject(value) || value.jsonrpc !== "2.0") return null;
  const { method, id, params = null } = value;
  if (typeof method !== "string" || method === "") return null;
  // A notification gets no response, regardless of what else it contains.
  if (method.startsWith("notifications/")) return { id: undefined, method, params: undefined };
  if (id !== undefined && !isRpcMessageId(id)) return null;
  if (typeof params !== "object") return null;
  return { id, method, params: params ?? undefined };
};
