// MCP revision 2026-07-28. A request uses this revision if and only if `_meta` in its body contains the version key. This file checks that
// such a request is complete, and that its headers match the body.
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

/** Returns whether the message has the version key, with any value. Earlier revisions do not use it. */
export const isModernRequest = (message: Pick<RpcMessage, "params">): boolean => Object.hasOwn(getMeta(message) ?? {}, versionKey);

/** The error for a request that uses a method of this revision without the version key. */
export const missingVersionError: RpcError = { code: invalidParamsCode, message: `params._meta must contain ${versionKey}.` };

export type HeaderLookup = (name: string) => string | undefined;

/** Decodes a header value. Clients use base64 for text that a header cannot contain. */
const decodeHeaderValue = (value: string | undefined): string | null => {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  if (encoded === undefined) return value ?? null;
  const bytes = fromBase64(encoded);
  return bytes === null ? null : new TextDecoder().decode(bytes);
};

const createHeaderMismatch = (header: string): RpcError => ({
  code: headerMismatchCode,
  message: `The header ${header} must match the request body.`,
});

/** Returns whether the client can open a URL for its user. `elicitation: {}` means that the client supports only forms. */
export const supportsUrlElicitation = (message: Pick<RpcMessage, "params">): boolean => {
  const capabilities = getMeta(message)?.[capabilitiesKey];
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined;
  return isJsonObject(elicitation) && isJsonObject(elicitation.url);
};

/** Returns the first error in a request of this revision, or null if the request is valid. A request with an error gets status 400. */
export const findModernRequestError = (message: RpcMessage, header: HeaderLookup): RpcError | null => {
  const meta = getMeta(message) ?? {};
  const version = meta[versionKey];
  const info = meta[`${metaPrefix}clientInfo`];
  if (typeof version !== "string") return { code: invalidParamsCode, message: `${versionKey} must be a string.` };
  if (!isJsonObject(meta[capabilitiesKey])) return { code: invalidParamsCode, message: `params._meta must contain ${capabilitiesKey}.` };
  if ((info ?? null) !== null && !isJsonObject(info))
    return { code: invalidParamsCode, message: `${metaPrefix}clientInfo must be an object.` };
  if (header("mcp-protocol-version") !== version) return createHeaderMismatch("MCP-Protocol-Version");
  if (version !== modernProtocolVersion)
    return {
      code: unsupportedVersionCode,
      message: "This protocol revision is not supported. Use one in data.supported.",
      data: { supported: [modernProtocolVersion], requested: version },
    };
  if (header("mcp-method") !== message.method) return createHeaderMismatch("Mcp-Method");
  const name = message.method === "tools/call" && isJsonObject(message.params) ? message.params.name : undefined;
  if (typeof name === "string" && decodeHeaderValue(header("mcp-name")) !== name) return createHeaderMismatch("Mcp-Name");
  return null;
};
