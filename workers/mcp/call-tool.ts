// Runs tools/call: checks the realm and the arguments, runs the tool, and records the audit entry before the response is sent.
import type { z } from "@hono/zod-openapi";
import type { Realm } from "../../core/access/session.ts";
import { toVisibleJson, toVisibleValue } from "../../core/agents/visible-json.ts";
import { isJsonObject, type Json } from "../../core/canonical-json.ts";
import { getErrorKind } from "../log.ts";
import { recordToolCall, type ToolCallRecord } from "../operations/agents/record-tool-call.ts";
import { describeArgumentError } from "./tool-arguments.ts";
import { notifyPersonOfChange } from "../operations/agents/notify-person-of-change.ts";
import { isStorageUnavailable, type ToolContext, type Tool, type ToolResult } from "./tool.ts";
import { getToolRealms, getInputSchema, findTool, listToolsForRealm } from "./tool-registry.ts";

interface WireToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError: boolean;
}

export interface CompletedToolCall {
  readonly result: ToolResult;
  /** The keys of the result whose values were written by third parties. */
  readonly foreign: readonly string[];
  /** The URL for the person to open. Null if the call failed or did not request a page. */
  readonly handOverUrl: string | null;
}

export type AnyToolContext = ToolContext<Realm>;

export interface ToolCall {
  readonly name: string;
  readonly rawArguments: Json | undefined;
  /** True for revision 2026-07-28. */
  readonly isModern: boolean;
}

interface RecordedOutcome extends CompletedToolCall {
  readonly record: ToolCallRecord;
}

const unknownToolMessage = ({ services, agent }: AnyToolContext): string =>
  `Unknown tool. This token can use: ${listToolsForRealm(agent.realm)
    .map(({ name }) => name)
    .join(", ")}. Agents cannot agree to or renew a share; the person does that at ${services.config.appUrl}/app/shares.`;

/** Omits optional arguments that are null or empty, because some assistants send every argument. */
const omitEmptyArguments = ({ shape }: z.ZodObject, args: Json): Json => {
  if (!isJsonObject(args)) return args;
  const isOptional = (key: string): boolean => Object.hasOwn(shape, key) && (shape[key] as z.ZodType).safeParse(undefined).success;
  return Object.fromEntries(Object.entries(args).filter(([key, value]) => !((value === null || value === "") && isOptional(key))));
};

/** Runs the tool. Throws on a storage outage. Logs any other error and returns `failed`. */
const runTool = async (context: AnyToolContext, tool: Tool, toolArguments: never): Promise<ToolResult | "failed"> => {
  try {
    return await tool.run(context, toolArguments);
  } catch (error) {
    if (isStorageUnavailable(error)) throw error;
    context.services.log.error({ request_id: context.requestId, at: "tool", error: getErrorKind(error) });
    return "failed";
  }
};

const executeToolCall = async (context: AnyToolContext, { name, rawArguments, isModern }: ToolCall): Promise<RecordedOutcome> => {
  const tool = findTool(name);
  const refused = (text: string, record: Partial<ToolCallRecord> = {}): RecordedOutcome => ({
    result: { ok: false, text },
    foreign: [],
    handOverUrl: null,
    record: { tool: tool?.name ?? "unknown", outcome: "refused", argumentNames: [], ...record },
  });
  if (tool === undefined) return refused(unknownToolMessage(context));
  const [realm] = getToolRealms(tool);
  // The specification fixes this text (SPEC Agent server).
  if (!getToolRealms(tool).includes(context.agent.realm)) return refused(`tool ${tool.name} requires a ${realm} token`);
  const inputSchema = getInputSchema(tool, { realm: context.agent.realm, isModern });
  const argumentNames = isJsonObject(rawArguments) ? Object.keys(inputSchema.shape).filter((key) => Object.hasOwn(rawArguments, key)) : [];
  const parsed = inputSchema.safeParse(omitEmptyArguments(inputSchema, rawArguments ?? {}));
  if (!parsed.success) return refused(describeArgumentError(inputSchema, parsed.error), { argumentNames });
  const result = await runTool(context, tool, parsed.data as never);
  if (result === "failed")
    return refused("The tool failed. Check whether anything changed before you try again.", { argumentNames, outcome: "failed" });
  const path = result.ok ? (tool.handOver?.getPath(parsed.data) ?? null) : null;
  return {
    result,
    foreign: tool.untrustedFields,
    handOverUrl: path === null ? null : `${context.services.config.appUrl}${path}`,
    record: { tool: tool.name, outcome: result.ok ? "done" : "refused", argumentNames },
  };
};

/**
 * Runs a call and records it in the audit log. If the operation has already recorded the change, notifies the person instead. Throws on a
 * storage outage, even if the tool has run and only the audit entry failed.
 */
export const callTool = async (context: AnyToolContext, call: ToolCall): Promise<CompletedToolCall> => {
  const { record, ...completed } = await executeToolCall(context, call);
  if (completed.result.ok && completed.result.isAudited === true) await notifyPersonOfChange(context.services, context.agent);
  else await recordToolCall(context.services, context.agent, record);
  return completed;
};

export const toolResultToWire = ({ result }: Pick<CompletedToolCall, "result">): WireToolResult => ({
  content: [{ type: "text", text: result.ok ? toVisibleJson(result.data) : result.text }],
  isError: !result.ok,
});

/** Returns the result as structured content, or null after a failure. */
export const structuredContentFrom = ({ result, foreign }: Pick<CompletedToolCall, "result" | "foreign">): object | null =>
  result.ok ? toVisibleValue(result.data, new Set(foreign)) : null;
