// What a tool is: its words for each realm it is for, the arguments it takes, and what it does for whoever the token is of. A tool says
// nothing of who may call it beyond its realms: the principal comes from the token alone.
import type { z } from "@hono/zod-openapi";
import type { Realm } from "../../core/access/session.ts";
import type { Agent } from "../../core/agents/agent-token.ts";
import { isOutage } from "../http/error-handler.ts";
import type { Services } from "../services.ts";

export type ToolResult =
  /** `isEntered`: what it did stands in the audit chain already, under this token. */
  | { readonly ok: true; readonly data: object; readonly isAudited?: true }
  /** Constant words but for numbers and our own names: never what was sent, never what others wrote. */
  | { readonly ok: false; readonly text: string };

/** What every tool is given beside its arguments. */
export interface ToolContext<R extends Realm> {
  readonly services: Services;
  readonly agent: Extract<Agent, { readonly realm: R }>;
  readonly requestId: string;
}

export interface Tool<R extends Realm = Realm, S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** By realm; a realm without one cannot call it. */
  readonly descriptions: Readonly<Record<R, string>>;
  readonly hints: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly inputSchema: S;
  /** Its answer, as the same question has it in the API. */
  readonly outputSchema: z.ZodType;
  /** Names of the answer's members that hold what others wrote. */
  readonly untrustedFields: readonly string[];
  readonly run: (called: ToolContext<R>, given: z.output<S>) => Promise<ToolResult>;
  /** In revision 2026-07-28, for a person's token: the page of the app that the person can be brought to. */
  readonly handOver?: HandOver;
}

export interface HandOver {
  /** The arguments of the tool with the one that asks for it. */
  readonly inputSchema: z.ZodObject;
  /** Null where it was not asked for. The path holds an id of ours and nothing else. */
  readonly getPath: (given: Readonly<Record<string, unknown>>) => string | null;
}

/** Nothing is changed by it, however often it is called. */
export const readOnlyHints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

/** For the table, where tools of all realms stand side by side; `run` is called only for a realm that has a description. */
export const defineTool = <R extends Realm, S extends z.ZodObject>(of: Tool<R, S>): Tool => of as unknown as Tool;

/** Storage could not be asked, where an operation says so as a refusal: the whole request is answered -32000. */
export class StorageUnavailableError extends Error {
  constructor() {
    super("storage could not be asked");
    this.name = "StorageAway";
  }
}

export const isStorageUnavailable = (error: unknown): boolean => error instanceof StorageUnavailableError || isOutage(error);
