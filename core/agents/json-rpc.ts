// JSON-RPC 2.0 as the agent server reads and writes it: what a message is, and the numbers of its errors (SPEC, Agent server errors).
import { isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";

type RpcMessageId = string | number;

export interface RpcMessage {
  /** Undefined: a notification, which nobody answers. */
  readonly id: RpcMessageId | undefined;
  readonly method: string;
  readonly params: JsonObject | readonly Json[] | undefined;
}

export const rpcErrors = {
  storageUnavailable: { code: -32000, message: "storage could not be reached; send the same request again" },
  unauthorized: { code: -32001, message: "a valid agent token is needed" },
  rateLimited: { code: -32029, message: "too many requests; try again after the time given in Retry-After" },
  invalidRequest: { code: -32600, message: "not a JSON-RPC 2.0 request" },
  methodNotFound: { code: -32601, message: "no such method" },
  invalidParams: { code: -32602, message: "tools/call needs params with the name of a tool" },
  internalError: { code: -32603, message: "something went wrong on our side" },
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

/** The id to answer under, whatever else is wrong with the message. */
export const getRpcMessageId = (value: Json | undefined): RpcMessageId | null =>
  isJsonObject(value) && isRpcMessageId(value.id) ? value.id : null;

/** Null for whatever is no request and no notification, answers included. */
export const parseRpcMessage = (value: Json): RpcMessage | null => {
  if (!isJsonObject(value) || value.jsonrpc !== "2.0") return null;
  const { method, id, params } = value;
  if (typeof method !== "string" || method === "") return null;
  if (id !== undefined && !isRpcMessageId(id)) return null;
  if (params !== undefined && (typeof params !== "object" || params === null)) return null;
  return { id, method, params };
};
