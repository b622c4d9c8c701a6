// JSON-RPC 2.0 as the agent server reads and writes it: what a message is, and the numbers of its errors (SPEC, Agent server errors).
import { isObject, type Json, type JsonObject } from "../canonical-json.ts";

type MessageId = string | number;

export interface Message {
  /** Undefined: a notification, which nobody answers. */
  readonly id: MessageId | undefined;
  readonly method: string;
  readonly params: JsonObject | readonly Json[] | undefined;
}

export const rpcErrors = {
  storage: { code: -32000, message: "storage could not be reached; send the same request again" },
  unauthorized: { code: -32001, message: "a valid agent token is needed" },
  limited: { code: -32029, message: "too many requests; try again after the time given in Retry-After" },
  malformed: { code: -32600, message: "not a JSON-RPC 2.0 request" },
  unknownMethod: { code: -32601, message: "no such method" },
  badParams: { code: -32602, message: "tools/call needs params with the name of a tool" },
  internal: { code: -32603, message: "something went wrong on our side" },
} as const;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

export type Reply =
  | { readonly jsonrpc: "2.0"; readonly id: MessageId; readonly result: object }
  | { readonly jsonrpc: "2.0"; readonly id: MessageId | null; readonly error: RpcError };

export const resultOf = (id: MessageId, result: object): Reply => ({ jsonrpc: "2.0", id, result });
export const errorOf = (id: MessageId | null, error: RpcError): Reply => ({ jsonrpc: "2.0", id, error });

const isId = (value: Json | undefined): value is MessageId => typeof value === "string" || typeof value === "number";

/** The id to answer under, whatever else is wrong with the message. */
export const idIn = (value: Json | undefined): MessageId | null => (isObject(value) && isId(value.id) ? value.id : null);

/** Null for whatever is no request and no notification, answers included. */
export const messageOf = (value: Json): Message | null => {
  if (!isObject(value) || value.jsonrpc !== "2.0") return null;
  const { method, id, params } = value;
  if (typeof method !== "string" || method === "") return null;
  if (id !== undefined && !isId(id)) return null;
  if (params !== undefined && (typeof params !== "object" || params === null)) return null;
  return { id, method, params };
};
