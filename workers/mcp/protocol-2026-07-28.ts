// The methods of protocol revision 2026-07-28. Every request names its client and revision, and the server keeps no state between requests.
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
import { listWireTools } from "./tool-registry.ts";

export interface ModernResponse {
  readonly status: 200 | 400 | 404;
  readonly reply: RpcResponse;
}

type MessageWithId = RpcMessage & { readonly id: string | number };

const respondWithResult = ({ id }: MessageWithId, result: object): ModernResponse => ({
  status: 200,
  reply: { jsonrpc: "2.0", id, result: { ...result, _meta: { [serverInfoKey]: serverInfo } } },
});

const respondComplete = (message: MessageWithId, result: object): ModernResponse =>
  respondWithResult(message, { resultType: "complete", ...result });

/** Asks the client to open a page for the person. The URL grants no access, because the page requires the person's session. */
const respondInputRequired = (message: MessageWithId, url: string): ModernResponse =>
  respondWithResult(message, {
    resultType: "input_required",
    inputRequests: { sheet: { method: "elicitation/create", params: { mode: "url", message: "Open your share in svc", url } } },
  });

/**
 * Runs a tool call. The person decides on the opened page, so a retry ignores the client's `inputResponses` and returns the current state.
 */
const callModernTool = async (context: AnyToolContext, message: MessageWithId, name: string, params: { readonly [key: string]: Json }) => {
  const completed = await callTool(context, { name, rawArguments: params.arguments, isModern: true });
  const { result, handOverUrl } = completed;
  const isRetry = (params.inputResponses ?? null) !== null;
  if (handOverUrl !== null && !isRetry && supportsUrlElicitation(message)) return respondInputRequired(message, handOverUrl);
  const shown =
    result.ok && handOverUrl !== null && !isRetry
      ? { ...completed, result: { ...result, data: { ...result.data, open_at: handOverUrl } } }
      : completed;
  const structured = structuredContentFrom(shown);
  return respondComplete(message, { ...toolResultToWire(shown), ...(structured !== null && { structuredContent: structured }) });
};

const respondWithRpcError = ({ id }: MessageWithId, status: ModernResponse["status"], error: RpcError): ModernResponse => ({
  status,
  reply: { jsonrpc: "2.0", id, error },
});

/** Responds to a message that has the version key of revision 2026-07-28. Throws on a storage outage. */
export const handleModernMessage = async (
  context: AnyToolContext,
  message: MessageWithId,
  header: HeaderLookup,
): Promise<ModernResponse> => {
  const fault = findModernRequestError(message, header);
  if (fault !== null) return respondWithRpcError(message, 400, fault);
  const { services } = context;
  const params = isJsonObject(message.params) ? message.params : {};
  switch (message.method) {
    case "server/discover":
      return respondComplete(message, {
        supportedVersions: [modernProtocolVersion],
        capabilities: { tools: {} },
        instructions: serverInstructions(services.config.appUrl),
        ttlMs: hourMs,
        cacheScope: "public",
      });
    case "tools/list":
      if ((params.cursor ?? "") !== "")
        return respondWithRpcError(message, 200, {
          ...rpcErrors.invalidParams,
          message: "cursor must be omitted, because tools/list has only one page.",
        });
      return respondComplete(message, {
        tools: listWireTools(toolListingFrom(context, true)),
        ttlMs: 5 * minuteMs,
        cacheScope: "private", // the result depends on the realm of the token
      });
    case "tools/call":
      if (typeof params.name !== "string") return respondWithRpcError(message, 200, rpcErrors.invalidParams);
      if ((params.inputResponses ?? null) !== null && !isJsonObject(params.inputResponses))
        return respondWithRpcError(message, 200, { ...rpcErrors.invalidParams, message: "inputResponses must be an object." });
      return callModernTool(context, message, params.name, params);
    default:
      return respondWithRpcError(message, 404, rpcErrors.methodNotFound);
  }
};
