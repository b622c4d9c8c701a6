// Revision 2026-07-28 of the protocol, told apart by the body alone: a request is of it if and only if it says so in `_meta`. What a
// request of it must hold, and which of its headers must repeat what the body says.
import { fromBase64 } from "../bytes.ts";
import { isJsonObject } from "../canonical-json.ts";
import type { RpcMessage, RpcError } from "./json-rpc.ts";

export const modernProtocolVersion = "2026-07-28";

const metaPrefix = "io.modelcontextprotocol/";
const versionKey = `${metaPrefix}protocolVersion`;
const capabilitiesKey = `${metaPrefix}clientCapabilities`;
export const serverInfoKey = `${metaPrefix}serverInfo`;

const headerMismatchCode = -32020;
const unsupportedVersionCode = -32022;
const invalidParamsCode = -32602;

const getMeta = ({ params }: Pick<RpcMessage, "params">) => (isJsonObject(params) && isJsonObject(params._meta) ? params._meta : null);

/** The claim: the key is there as the message's own, whatever it holds. No earlier revision knows it. */
export const isModernRequest = (message: Pick<RpcMessage, "params">): boolean => Object.hasOwn(getMeta(message) ?? {}, versionKey);

/** What somebody is told who asks for the new method without the claim. */
export const missingVersionError: RpcError = { code: invalidParamsCode, message: `params._meta must hold ${versionKey}` };

export type HeaderLookup = (name: string) => string | undefined;

/** As a header carries a name that is not plain text. */
const decodeHeaderValue = (value: string | undefined): string | null => {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  if (encoded === undefined) return value ?? null;
  const bytes = fromBase64(encoded);
  return bytes === null ? null : new TextDecoder().decode(bytes);
};

const createHeaderMismatch = (header: string): RpcError => ({
  code: headerMismatchCode,
  message: `the header ${header} must say what the body says`,
});

/** Whether the client says that it can bring its person to an address. `elicitation: {}` means forms alone. */
export const supportsUrlElicitation = (message: Pick<RpcMessage, "params">): boolean => {
  const capabilities = getMeta(message)?.[capabilitiesKey];
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined;
  return isJsonObject(elicitation) && isJsonObject(elicitation.url);
};

/** What is wrong with a request that carries the claim, all of it 400; null when nothing is. */
export const findModernRequestError = (message: RpcMessage, header: HeaderLookup): RpcError | null => {
  const meta = getMeta(message) ?? {};
  const version = meta[versionKey];
  const info = meta[`${metaPrefix}clientInfo`];
  if (typeof version !== "string") return { code: invalidParamsCode, message: `${versionKey} must be a text` };
  if (!isJsonObject(meta[capabilitiesKey])) return { code: invalidParamsCode, message: `params._meta must hold ${capabilitiesKey}` };
  if (info !== undefined && !isJsonObject(info)) return { code: invalidParamsCode, message: `${metaPrefix}clientInfo must be an object` };
  if (header("mcp-protocol-version") !== version) return createHeaderMismatch("MCP-Protocol-Version");
  if (version !== modernProtocolVersion)
    return {
      code: unsupportedVersionCode,
      message: "this revision is not spoken here",
      data: { supported: [modernProtocolVersion], requested: version },
    };
  if (header("mcp-method") !== message.method) return createHeaderMismatch("Mcp-Method");
  const name = message.method === "tools/call" && isJsonObject(message.params) ? message.params.name : undefined;
  if (typeof name === "string" && decodeHeaderValue(header("mcp-name")) !== name) return createHeaderMismatch("Mcp-Name");
  return null;
};
