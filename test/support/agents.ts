// Creates agent tokens through the API and calls the agent server with them.
import type { Realm } from "../../core/access/session.ts";
import { buildJsonRequest, signIn } from "./people.ts";
import { call, world, type TestResponse, type Call } from "./world.ts";

export interface CreatedToken {
  readonly id: string;
  readonly token: string;
}

const tokenPaths: Readonly<Record<Realm, string>> = { consumer: "/v1/me/agent-token", business: "/v1/business/portal/agent-token" };

/** Creates a token for the owner of the session. */
export const createTokenWith = (
  realm: Realm,
  session: { readonly cookie: string; readonly "accept-language"?: string },
  body: object = {},
): Promise<TestResponse> => call(tokenPaths[realm], buildJsonRequest(body, session));

/** Creates a token for the person with this email. The default is the consumer or business owner of the demo data. */
export const createToken = async (
  realm: Realm,
  email = realm === "consumer" ? world.consumerEmail : world.ownerEmail,
): Promise<CreatedToken> => {
  const response = await createTokenWith(realm, await signIn(email, realm));
  if (response.status !== 201) throw new Error(`token not created: ${response.text}`);
  return response.body.data;
};

export const buildBearerHeader = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Sends a POST request to the agent server. A string or byte array is sent unchanged as the body. Any other value is sent as JSON. */
export const postToAgentServer = (body: unknown, headers: Record<string, string> = {}, service: Call = call): Promise<TestResponse> =>
  service("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  });

export const callMethod = (token: string, method: string, params?: unknown, service: Call = call): Promise<TestResponse> =>
  postToAgentServer({ jsonrpc: "2.0", id: 1, method, ...(params !== undefined && { params }) }, buildBearerHeader(token), service);

const buildMetaKey = (name: string): string => `io.modelcontextprotocol/${name}`;

/** Calls a method in protocol revision 2026-07-28, as a client with these capabilities. */
export const callModernMethod = (
  token: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  capabilities: object = {},
): Promise<TestResponse> =>
  postToAgentServer(
    {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: { [buildMetaKey("protocolVersion")]: "2026-07-28", [buildMetaKey("clientCapabilities")]: capabilities } },
    },
    {
      ...buildBearerHeader(token),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params.name === "string" && { "mcp-name": params.name }),
    },
  );

export const callTool = (token: string, name: string, args?: unknown, service: Call = call): Promise<TestResponse> =>
  callMethod(token, "tools/call", { name, ...(args !== undefined && { arguments: args }) }, service);

/** Returns the text of a tool result and its error flag. */
export const parseResult = ({ body }: TestResponse): { readonly isError: boolean; readonly text: string } => ({
  isError: body.result.isError,
  text: body.result.content[0].text,
});
