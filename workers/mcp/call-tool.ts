// tools/call: the realm before the arguments, the arguments before the tool, and the audit entry before the answer.
import type { Realm } from "../../core/access/session.ts";
import { visibleJson, visibleValue } from "../../core/agents/visible-json.ts";
import { isObject, type Json } from "../../core/canonical-json.ts";
import { kindOfError } from "../log.ts";
import { recordCall, type RecordedCall } from "../operations/agents/record-call.ts";
import { argumentFault } from "./arguments.ts";
import { tellPerson } from "../operations/agents/tell-person.ts";
import { isAway, type Called, type Tool, type ToolAnswer } from "./tool.ts";
import { realmsOf, takesOf, toolNamed, toolsOf } from "./tools.ts";

interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError: boolean;
}

/** A tool that was called, in whichever revision. */
export interface CalledTool {
  readonly answer: ToolAnswer;
  /** Names of its members that hold what others wrote. */
  readonly foreign: readonly string[];
  /** The page that the person is to be brought to; null where that was not asked for, and of a failure. */
  readonly openAt: string | null;
}

/** `requestId` is also for the log, where a tool fails unexpectedly. */
export type CallContext = Called<Realm>;

export interface ToolCall {
  readonly name: string;
  readonly sent: Json | undefined;
  /** In revision 2026-07-28. */
  readonly isLater: boolean;
}

interface Outcome extends CalledTool {
  readonly record: RecordedCall;
}

const noSuchTool = ({ services, agent }: CallContext): string =>
  `no such tool; this token has: ${toolsOf(agent.realm)
    .map(({ name }) => name)
    .join(", ")}. Agents cannot agree to or renew a share; the person does that at ${services.config.appUrl}/app/shares`;

/** What the tool answers; a fault that is no outage is told of in our log only. */
const ran = async (context: CallContext, called: Tool, given: never): Promise<ToolAnswer | "failed"> => {
  try {
    return await called.run(context, given);
  } catch (error) {
    if (isAway(error)) throw error;
    context.services.log.fault({ request_id: context.requestId, at: "tool", error: kindOfError(error) });
    return "failed";
  }
};

const outcomeOf = async (context: CallContext, { name, sent, isLater }: ToolCall): Promise<Outcome> => {
  const called = toolNamed(name);
  const refused = (text: string, record: Partial<RecordedCall> = {}): Outcome => ({
    answer: { ok: false, text },
    foreign: [],
    openAt: null,
    record: { tool: called?.name ?? "unknown", outcome: "refused", argumentNames: [], ...record },
  });
  if (called === undefined) return refused(noSuchTool(context));
  const [realm] = realmsOf(called);
  if (!realmsOf(called).includes(context.agent.realm)) return refused(`tool ${called.name} requires a ${realm} token`);
  const takes = takesOf(called, { realm: context.agent.realm, isLater });
  const argumentNames = isObject(sent) ? Object.keys(takes.shape).filter((known) => Object.hasOwn(sent, known)) : [];
  const given = takes.safeParse(sent === undefined ? {} : sent);
  if (!given.success) return refused(argumentFault(takes, given.error), { argumentNames });
  const answer = await ran(context, called, given.data as never);
  if (answer === "failed") return refused("the tool failed; look at the record before you try again", { argumentNames, outcome: "failed" });
  const path = answer.ok ? (called.handsOver?.pathOf(given.data) ?? null) : null;
  return {
    answer,
    foreign: called.foreign,
    openAt: path === null ? null : `${context.services.config.appUrl}${path}`,
    record: { tool: called.name, outcome: answer.ok ? "done" : "refused", argumentNames },
  };
};

/** Throws when storage could not be asked: nothing is answered of a call that could not be entered. */
export const callTool = async (context: CallContext, call: ToolCall): Promise<CalledTool> => {
  const { record, ...called } = await outcomeOf(context, call);
  if (called.answer.ok && called.answer.isEntered === true) await tellPerson(context.services, context.agent);
  else await recordCall(context.services, context.agent, record);
  return called;
};

export const resultOfTool = ({ answer }: Pick<CalledTool, "answer">): ToolResult => ({
  content: [{ type: "text", text: answer.ok ? visibleJson(answer.data) : answer.text }],
  isError: !answer.ok,
});

/** The same for programs; null of a failure. */
export const structuredOf = ({ answer, foreign }: Pick<CalledTool, "answer" | "foreign">): object | null =>
  answer.ok ? visibleValue(answer.data, new Set(foreign)) : null;
