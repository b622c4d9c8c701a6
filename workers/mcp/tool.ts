// The interface of tools. A tool is available in every realm that it has a description for. It always runs for the token's owner, and never
// takes a person or business from its arguments.
import type { z } from "@hono/zod-openapi";
import type { Realm } from "../../core/access/session.ts";
import type { Agent } from "../../core/agents/agent-token.ts";
import { isTemporaryFault } from "../http/error-handler.ts";
import type { Services } from "../platform/platform.ts";

export type ToolResult =
  /** `isAudited` means that the audit log already contains the change, with the token as the actor. */
  | { readonly ok: true; readonly data: object; readonly isAudited?: true }
  /** Never contains input or text that third parties have written. */
  | { readonly ok: false; readonly text: string };

export interface ToolContext<R extends Realm> {
  readonly services: Services;
  readonly agent: Extract<Agent, { readonly realm: R }>;
  readonly requestId: string;
}

export interface Tool<R extends Realm = Realm, S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** Descriptions by realm. Tokens of a realm without a description cannot call the tool. */
  readonly descriptions: Readonly<Record<R, string>>;
  readonly hints: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly inputSchema: S;
  /** Schema of the result, the same as in the corresponding API route. */
  readonly outputSchema: z.ZodType;
  /** The keys of the result whose values were written by third parties. */
  readonly untrustedFields: readonly string[];
  readonly run: (context: ToolContext<R>, toolArguments: z.output<S>) => Promise<ToolResult>;
  /** The page of the app that the client can open for the person. Used only for consumer tokens in revision 2026-07-28. */
  readonly handOver?: HandOver;
}

export interface HandOver {
  /** The tool's arguments, including the one that requests the page. */
  readonly inputSchema: z.ZodObject;
  /** Returns the page's path, or null if the page was not requested. The path contains only a record ID. */
  readonly getPath: (toolArguments: Readonly<Record<string, unknown>>) => string | null;
}

export const readOnlyHints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

/**
 * Erases the realm type, so that all tools fit in one registry. This is safe, because `callTool` checks the realm before it runs a tool.
 */
export const defineTool = <R extends Realm, S extends z.ZodObject>(tool: Tool<R, S>): Tool => tool as unknown as Tool;

/** Thrown if an operation refuses with `storage_unavailable`. The response is error -32000. */
export class StorageUnavailableError extends Error {
  constructor() {
    super("storage unavailable");
    this.name = "StorageUnavailableError";
  }
}

export const isStorageUnavailable = (error: unknown): boolean => error instanceof StorageUnavailableError || isTemporaryFault(error);
