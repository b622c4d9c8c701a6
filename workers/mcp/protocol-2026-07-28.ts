// Revision 2026-07-28: every request says who asks and in which revision, and nothing is begun or kept between two of them.
import { isJsonObject, type Json } from "../../core/canonical-json.ts";
import { rpcErrors, type RpcMessage, type RpcResponse, type RpcError } from "../../core/agents/json-rpc.ts";
import {
  findModernRequestError,
  modernProtocolVersion,
  supportsUrlElicitation,
  serverInfoKey,
  type HeaderLookup,
} from "../../core/agents/protocol-2026-07-28.ts";
import { hourMs, minuteMs } from "../../core/time.ts";
import { callTool, toolResultToWire, structuredContentFrom, type AnyToolContext } from "./call-tool.ts";
import { serverInstructions, toolListingFrom, serverInfo } from "./protocol-2025-03-26.ts";
import { modernToolToWire, listToolsForRealm } from "./tool-registry.ts";

export interface ModernResponse {
  readonly status: 200 | 400 | 404;
  readonly reply: RpcResponse;
}

type MessageWithId = RpcMessage & { readonly id: string | number };

const respondWithResult = ({ id }: MessageWithId, result: object): ModernResponse => ({
  status: 200,
  reply: { jsonrpc: "2.0", id, result: { ...result, _meta: { [serverInfoKey]: serverInfo } } },
});

const respondComplete = (asked: MessageWithId, result: object): ModernResponse =>
  respondWithResult(asked, { resultType: "complete", ...result });

/** The person is asked to open their own page. The address authorizes nothing: the page wants their session. */
const respondInputRequired = (asked: MessageWithId, url: string): ModernResponse =>
  respondWithResult(asked, {
    resultType: "input_required",
    inputRequests: { sheet: { method: "elicitation/create", params: { mode: "url", message: "Open your share in svc", url } } },
  });

/** Whatever the person answered, asked again a tool tells how things stand: a page that was opened is not yet a decision. */
const callModernTool = async (context: AnyToolContext, asked: MessageWithId, name: string, params: { readonly [key: string]: Json }) => {
  const called = await callTool(context, { name, rawArguments: params.arguments, isLater: true });
  const { answer, handOverUrl } = called;
  const isRetry = params.inputResponses !== undefined;
  if (handOverUrl !== null && !isRetry && supportsUrlElicitation(asked)) return respondInputRequired(asked, handOverUrl);
  const told =
    answer.ok && handOverUrl !== null && !isRetry
      ? { ...called, answer: { ...answer, data: { ...answer.data, open_at: handOverUrl } } }
      : called;
  const structured = structuredContentFrom(told);
  return respondComplete(asked, { ...toolResultToWire(told), ...(structured !== null && { structuredContent: structured }) });
};

const respondWithRpcError = ({ id }: MessageWithId, status: ModernResponse["status"], error: RpcError): ModernResponse => ({
  status,
  reply: { jsonrpc: "2.0", id, error },
});

/** The answer to a message that carries the claim. Throws when storage could not be asked. */
export const handleModernMessage = async (context: AnyToolContext, asked: MessageWithId, header: HeaderLookup): Promise<ModernResponse> => {
  const fault = findModernRequestError(asked, header);
  if (fault !== null) return respondWithRpcError(asked, 400, fault);
  const { services, agent } = context;
  const params = isJsonObject(asked.params) ? asked.params : {};
  switch (asked.method) {
    case "server/discover":
      return respondComplete(asked, {
        supportedVersions: [modernProtocolVersion],
        capabilities: { tools: {} },
        instructions: serverInstructions(services.config.appUrl),
        ttlMs: hourMs,
        cacheScope: "public",
      });
    case "tools/list":
      if (params.cursor !== undefined)
        return respondWithRpcError(asked, 200, { ...rpcErrors.invalidParams, message: "there is one page, and no cursor" });
      return respondComplete(asked, {
        tools: listToolsForRealm(agent.realm).map((one) => modernToolToWire(one, toolListingFrom(context, true))),
        ttlMs: 5 * minuteMs,
        cacheScope: "private", // of a realm
      });
    case "tools/call":
      if (typeof params.name !== "string") return respondWithRpcError(asked, 200, rpcErrors.invalidParams);
      if (params.inputResponses !== undefined && !isJsonObject(params.inputResponses))
        return respondWithRpcError(asked, 200, { ...rpcErrors.invalidParams, message: "inputResponses must be an object" });
      return callModernTool(context, asked, params.name, params);
    default:
      return respondWithRpcError(asked, 404, rpcErrors.methodNotFound);
  }
};
