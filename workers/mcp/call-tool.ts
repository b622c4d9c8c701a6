// tools/call: the realm before the arguments, the arguments before the tool, and the audit entry before the answer.
import type { Realm } from "../../core/access/session.ts";
import { isObject } from "../../core/agents/json-rpc.ts";
import { visibleJson, visibleValue } from "../../core/agents/visible-json.ts";
import type { Json } from "../../core/canonical-json.ts";
import { kindOfError } from "../log.ts";
import { recordCall, type RecordedCall } from "../operations/agents/record-call.ts";
import { argumentFault } from "./arguments.ts";
import { isAway } from "./faults.ts";
import { tellPerson } from "../operations/agents/tell-person.ts";
import type { Called, Tool, ToolAnswer } from "./tool.ts";
import { realmsOf, toolNamed, toolsOf } from "./tools.ts";

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError: boolean;
}

export interface CalledTool {
  readonly result: ToolResult;
  /** The same for programs; null of a failure. */
  readonly structured: object | null;
}

/** `requestId` is also for the log, where a tool fails unexpectedly. */
export type CallContext = Called<Realm>;

interface Outcome {
  readonly answer: ToolAnswer;
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

const outcomeOf = async (context: CallContext, name: string, sent: Json | undefined): Promise<Outcome> => {
  const called = toolNamed(name);
  const refused = (text: string, record: Partial<RecordedCall> = {}): Outcome => ({
    answer: { ok: false, text },
    record: { tool: called?.name ?? "unknown", outcome: "refused", argumentNames: [], ...record },
  });
  if (called === undefined) return refused(noSuchTool(context));
  const [realm] = realmsOf(called);
  if (!realmsOf(called).includes(context.agent.realm)) return refused(`tool ${called.name} requires a ${realm} token`);
  const { takes } = called;
  const argumentNames = isObject(sent) ? Object.keys(takes.shape).filter((known) => Object.hasOwn(sent, known)) : [];
  const given = takes.safeParse(sent === undefined ? {} : sent);
  if (!given.success) return refused(argumentFault(takes, given.error), { argumentNames });
  const answer = await ran(context, called, given.data as never);
  if (answer === "failed") return refused("the tool failed; look at the record before you try again", { argumentNames, outcome: "failed" });
  return { answer, record: { tool: called.name, outcome: answer.ok ? "done" : "refused", argumentNames } };
};

/** Throws when storage could not be asked: nothing is answered of a call that could not be entered. */
export const callTool = async (context: CallContext, name: string, sent: Json | undefined): Promise<CalledTool> => {
  const { answer, record } = await outcomeOf(context, name, sent);
  if (answer.ok && answer.isEntered === true) await tellPerson(context.services, context.agent);
  else await recordCall(context.services, context.agent, record);
  const text = answer.ok ? visibleJson(answer.data) : answer.text;
  const structured = answer.ok ? visibleValue(answer.data, new Set(toolNamed(name)?.foreign)) : null;
  return { result: { content: [{ type: "text", text }], isError: !answer.ok }, structured };
};
