// Revision 2026-07-28: every request says who asks and in which revision, and nothing is begun or kept between two of them.
import { isObject, type Json } from "../../core/canonical-json.ts";
import { rpcErrors, type Message, type Reply, type RpcError } from "../../core/agents/json-rpc.ts";
import { modernFault, modernVersion, opensAddresses, serverInfoKey, type Headers } from "../../core/agents/modern-era.ts";
import { hourMs, minuteMs } from "../../core/time.ts";
import { callTool, resultOfTool, structuredOf, type CallContext } from "./call-tool.ts";
import { instructions, listedIn, serverInfo } from "./spec-era.ts";
import { modernDefinitionOf, toolsOf } from "./tools.ts";

export interface ModernAnswer {
  readonly status: 200 | 400 | 404;
  readonly reply: Reply;
}

type Asked = Message & { readonly id: string | number };

const answered = ({ id }: Asked, result: object): ModernAnswer => ({
  status: 200,
  reply: { jsonrpc: "2.0", id, result: { ...result, _meta: { [serverInfoKey]: serverInfo } } },
});

const complete = (asked: Asked, result: object): ModernAnswer => answered(asked, { resultType: "complete", ...result });

/** The person is asked to open their own page. The address authorizes nothing: the page wants their session. */
const opening = (asked: Asked, url: string): ModernAnswer =>
  answered(asked, {
    resultType: "input_required",
    inputRequests: { sheet: { method: "elicitation/create", params: { mode: "url", message: "Open your share in svc", url } } },
  });

/** Whatever the person answered, asked again a tool tells how things stand: a page that was opened is not yet a decision. */
const callInLater = async (context: CallContext, asked: Asked, name: string, params: { readonly [key: string]: Json }) => {
  const called = await callTool(context, { name, sent: params.arguments, isLater: true });
  const { answer, openAt } = called;
  const isRetry = params.inputResponses !== undefined;
  if (openAt !== null && !isRetry && opensAddresses(asked)) return opening(asked, openAt);
  const told =
    answer.ok && openAt !== null && !isRetry ? { ...called, answer: { ...answer, data: { ...answer.data, open_at: openAt } } } : called;
  const structured = structuredOf(told);
  return complete(asked, { ...resultOfTool(told), ...(structured !== null && { structuredContent: structured }) });
};

const refused = ({ id }: Asked, status: ModernAnswer["status"], error: RpcError): ModernAnswer => ({
  status,
  reply: { jsonrpc: "2.0", id, error },
});

/** The answer to a message that carries the claim. Throws when storage could not be asked. */
export const answerModern = async (context: CallContext, asked: Asked, header: Headers): Promise<ModernAnswer> => {
  const fault = modernFault(asked, header);
  if (fault !== null) return refused(asked, 400, fault);
  const { services, agent } = context;
  const params = isObject(asked.params) ? asked.params : {};
  switch (asked.method) {
    case "server/discover":
      return complete(asked, {
        supportedVersions: [modernVersion],
        capabilities: { tools: {} },
        instructions: instructions(services.config.appUrl),
        ttlMs: hourMs,
        cacheScope: "public",
      });
    case "tools/list":
      if (params.cursor !== undefined) return refused(asked, 200, { ...rpcErrors.badParams, message: "there is one page, and no cursor" });
      return complete(asked, {
        tools: toolsOf(agent.realm).map((one) => modernDefinitionOf(one, listedIn(context, true))),
        ttlMs: 5 * minuteMs,
        cacheScope: "private", // of a realm
      });
    case "tools/call":
      if (typeof params.name !== "string") return refused(asked, 200, rpcErrors.badParams);
      if (params.inputResponses !== undefined && !isObject(params.inputResponses))
        return refused(asked, 200, { ...rpcErrors.badParams, message: "inputResponses must be an object" });
      return callInLater(context, asked, params.name, params);
    default:
      return refused(asked, 404, rpcErrors.unknownMethod);
  }
};
