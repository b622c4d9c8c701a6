// Revision 2026-07-28 of the protocol, told apart by the body alone: a request is of it if and only if it says so in `_meta`. What a
// request of it must hold, and which of its headers must repeat what the body says.
import { bytesOfBase64 } from "../bytes.ts";
import { isObject } from "../canonical-json.ts";
import type { Message, RpcError } from "./json-rpc.ts";

export const modernVersion = "2026-07-28";

const prefix = "io.modelcontextprotocol/";
const versionKey = `${prefix}protocolVersion`;
const capabilitiesKey = `${prefix}clientCapabilities`;
export const serverInfoKey = `${prefix}serverInfo`;

const headerMismatch = -32020;
const unsupportedVersion = -32022;
const badParams = -32602;

const metaOf = ({ params }: Pick<Message, "params">) => (isObject(params) && isObject(params._meta) ? params._meta : null);

/** The claim: the key is there as the message's own, whatever it holds. No earlier revision knows it. */
export const isModern = (message: Pick<Message, "params">): boolean => Object.hasOwn(metaOf(message) ?? {}, versionKey);

/** What somebody is told who asks for the new method without the claim. */
export const missingClaim: RpcError = { code: badParams, message: `params._meta must hold ${versionKey}` };

export type Headers = (name: string) => string | undefined;

/** As a header carries a name that is not plain text. */
const decoded = (value: string | undefined): string | null => {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  if (encoded === undefined) return value ?? null;
  const bytes = bytesOfBase64(encoded);
  return bytes === null ? null : new TextDecoder().decode(bytes);
};

const mismatch = (header: string): RpcError => ({ code: headerMismatch, message: `the header ${header} must say what the body says` });

/** Whether the client says that it can bring its person to an address. `elicitation: {}` means forms alone. */
export const opensAddresses = (message: Pick<Message, "params">): boolean => {
  const capabilities = metaOf(message)?.[capabilitiesKey];
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  return isObject(elicitation) && isObject(elicitation.url);
};

/** What is wrong with a request that carries the claim, all of it 400; null when nothing is. */
export const modernFault = (message: Message, header: Headers): RpcError | null => {
  const meta = metaOf(message) ?? {};
  const version = meta[versionKey];
  const info = meta[`${prefix}clientInfo`];
  if (typeof version !== "string") return { code: badParams, message: `${versionKey} must be a text` };
  if (!isObject(meta[capabilitiesKey])) return { code: badParams, message: `params._meta must hold ${capabilitiesKey}` };
  if (info !== undefined && !isObject(info)) return { code: badParams, message: `${prefix}clientInfo must be an object` };
  if (header("mcp-protocol-version") !== version) return mismatch("MCP-Protocol-Version");
  if (version !== modernVersion)
    return {
      code: unsupportedVersion,
      message: "this revision is not spoken here",
      data: { supported: [modernVersion], requested: version },
    };
  if (header("mcp-method") !== message.method) return mismatch("Mcp-Method");
  const name = message.method === "tools/call" && isObject(message.params) ? message.params.name : undefined;
  if (typeof name === "string" && decoded(header("mcp-name")) !== name) return mismatch("Mcp-Name");
  return null;
};
