// Revision 2026-07-28: every request says who asks and in which revision, and nothing is begun or kept between two of them.
import { isObject, rpcErrors, type Message, type Reply, type RpcError } from "../../core/agents/json-rpc.ts";
import { modernFault, modernVersion, serverInfoKey, type Headers } from "../../core/agents/modern-era.ts";
import { hourMs, minuteMs } from "../../core/time.ts";
import { callTool, type CallContext } from "./call-tool.ts";
import { instructions, serverInfo } from "./spec-era.ts";
import { modernDefinitionOf, toolsOf } from "./tools.ts";

export interface ModernAnswer {
  readonly status: 200 | 400 | 404;
  readonly reply: Reply;
}

type Asked = Message & { readonly id: string | number };

const complete = ({ id }: Asked, result: object): ModernAnswer => ({
  status: 200,
  reply: { jsonrpc: "2.0", id, result: { resultType: "complete", ...result, _meta: { [serverInfoKey]: serverInfo } } },
});

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
        tools: toolsOf(agent.realm).map((one) => modernDefinitionOf(one, agent.realm)),
        ttlMs: 5 * minuteMs,
        cacheScope: "private", // of a realm
      });
    case "tools/call": {
      if (typeof params.name !== "string") return refused(asked, 200, rpcErrors.badParams);
      const { result, structured } = await callTool(context, params.name, params.arguments);
      return complete(asked, { ...result, ...(structured !== null && { structuredContent: structured }) });
    }
    default:
      return refused(asked, 404, rpcErrors.unknownMethod);
  }
};
