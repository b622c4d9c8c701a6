// tools/call: the realm before the arguments, the arguments before the tool, and the audit entry before the answer.
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

/** A tool that was called, in whichever revision. */
export interface CompletedToolCall {
  readonly answer: ToolResult;
  /** Names of its members that hold what others wrote. */
  readonly foreign: readonly string[];
  /** The page that the person is to be brought to; null where that was not asked for, and of a failure. */
  readonly handOverUrl: string | null;
}

/** `requestId` is also for the log, where a tool fails unexpectedly. */
export type AnyToolContext = ToolContext<Realm>;

export interface ToolCall {
  readonly name: string;
  readonly rawArguments: Json | undefined;
  /** In revision 2026-07-28. */
  readonly isLater: boolean;
}

interface RecordedOutcome extends CompletedToolCall {
  readonly record: ToolCallRecord;
}

const unknownToolMessage = ({ services, agent }: AnyToolContext): string =>
  `no such tool; this token has: ${listToolsForRealm(agent.realm)
    .map(({ name }) => name)
    .join(", ")}. Agents cannot agree to or renew a share; the person does that at ${services.config.appUrl}/app/shares`;

/** What the tool answers; a fault that is no outage is told of in our log only. */
const runTool = async (context: AnyToolContext, called: Tool, given: never): Promise<ToolResult | "failed"> => {
  try {
    return await called.run(context, given);
  } catch (error) {
    if (isStorageUnavailable(error)) throw error;
    context.services.log.error({ request_id: context.requestId, at: "tool", error: getErrorKind(error) });
    return "failed";
  }
};

const executeToolCall = async (context: AnyToolContext, { name, rawArguments, isLater }: ToolCall): Promise<RecordedOutcome> => {
  const called = findTool(name);
  const refused = (text: string, record: Partial<ToolCallRecord> = {}): RecordedOutcome => ({
    answer: { ok: false, text },
    foreign: [],
    handOverUrl: null,
    record: { tool: called?.name ?? "unknown", outcome: "refused", argumentNames: [], ...record },
  });
  if (called === undefined) return refused(unknownToolMessage(context));
  const [realm] = getToolRealms(called);
  if (!getToolRealms(called).includes(context.agent.realm)) return refused(`tool ${called.name} requires a ${realm} token`);
  const takes = getInputSchema(called, { realm: context.agent.realm, isLater });
  const argumentNames = isJsonObject(rawArguments) ? Object.keys(takes.shape).filter((known) => Object.hasOwn(rawArguments, known)) : [];
  const given = takes.safeParse(rawArguments === undefined ? {} : rawArguments);
  if (!given.success) return refused(describeArgumentError(takes, given.error), { argumentNames });
  const answer = await runTool(context, called, given.data as never);
  if (answer === "failed") return refused("the tool failed; look at the record before you try again", { argumentNames, outcome: "failed" });
  const path = answer.ok ? (called.handOver?.getPath(given.data) ?? null) : null;
  return {
    answer,
    foreign: called.untrustedFields,
    handOverUrl: path === null ? null : `${context.services.config.appUrl}${path}`,
    record: { tool: called.name, outcome: answer.ok ? "done" : "refused", argumentNames },
  };
};

/** Throws when storage could not be asked: nothing is answered of a call that could not be entered. */
export const callTool = async (context: AnyToolContext, call: ToolCall): Promise<CompletedToolCall> => {
  const { record, ...called } = await executeToolCall(context, call);
  if (called.answer.ok && called.answer.isAudited === true) await notifyPersonOfChange(context.services, context.agent);
  else await recordToolCall(context.services, context.agent, record);
  return called;
};

export const toolResultToWire = ({ answer }: Pick<CompletedToolCall, "answer">): WireToolResult => ({
  content: [{ type: "text", text: answer.ok ? toVisibleJson(answer.data) : answer.text }],
  isError: !answer.ok,
});

/** The same for programs; null of a failure. */
export const structuredContentFrom = ({ answer, foreign }: Pick<CompletedToolCall, "answer" | "foreign">): object | null =>
  answer.ok ? toVisibleValue(answer.data, new Set(foreign)) : null;
