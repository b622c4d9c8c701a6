// Which program asks to be connected. It either serves a document about itself at an address, which is then its id, or it registered
// itself and nothing of what it says about itself was checked. A redirect is judged strictly; what is of no use here is passed over.
import { isJsonObject, type JsonObject } from "../canonical-json.ts";
import type { Instant } from "../time.ts";
import { parseRedirectUri } from "./redirect-uri.ts";

export type ClientAuthentication = "none" | "client_secret_post" | "client_secret_basic";

export interface OAuthClient {
  readonly id: string;
  /** Null where the name it gives itself may not be shown. */
  readonly name: string | null;
  /** Whose server vouches for it; null for one that registered itself. */
  readonly host: string | null;
  readonly redirectUris: readonly string[];
  readonly authentication: ClientAuthentication;
}

/** What is known of a program with a document. */
export interface ResolvedClient {
  /** Null for an address that serves no document of a program. */
  readonly client: OAuthClient | null;
  /** When it was read from its address; null for a copy. */
  readonly fetchedAt: Instant | null;
  /** From when on its address is asked again. */
  readonly refetchAt: Instant;
}

const maxNameLength = 80;
const maxRedirectUris = 20;
const maxClientIdLength = 1_024;

const invisibleCharacters = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** One visible line; null when nothing is left. */
const cleanClientName = (text: unknown): string | null => {
  if (typeof text !== "string") return null;
  const name = text.slice(0, 400).normalize("NFC").replaceAll(/\s+/g, " ").replaceAll(invisibleCharacters, "").trim();
  return [...name].slice(0, maxNameLength).join("").trim() || null;
};

/** Assistants that people know, by the start of their names, and where those are at home. */
const knownClientNames: readonly (readonly [start: string, hosts: readonly string[]])[] = [
  ["claude", ["claude.ai", "claude.com", "anthropic.com"]],
  ["anthropic", ["claude.ai", "claude.com", "anthropic.com"]],
  ["chatgpt", ["chatgpt.com", "openai.com"]],
  ["openai", ["chatgpt.com", "openai.com"]],
  ["codex", ["chatgpt.com", "openai.com"]],
  ["visualstudiocode", ["vscode.dev", "insiders.vscode.dev"]],
  ["vscode", ["vscode.dev", "insiders.vscode.dev"]],
  ["cursor", ["www.cursor.com", "Cursor"]],
  ["svc", []],
];

const foldClientName = (name: string): string =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** A known name is shown only for the program whose it is. */
const filterClaimedName = (name: string | null, hosts: readonly string[]): string | null => {
  const known = name === null ? undefined : knownClientNames.find(([start]) => foldClientName(name).startsWith(start));
  return known === undefined || (hosts.length > 0 && hosts.every((host) => known[1].includes(host))) ? name : null;
};

const parseRedirectUris = (value: unknown): readonly string[] | null =>
  Array.isArray(value) && value.length > 0 && value.length <= maxRedirectUris && value.every((one) => typeof one === "string")
    ? (value as readonly string[])
    : null;

/** Whether such an id is the address of a document: judged as it is written. */
export const parseDocumentUrl = (id: string): URL | null => {
  if (id.length > maxClientIdLength || !id.startsWith("https://")) return null;
  const place = parseRedirectUri(id);
  const url = place?.kind === "https" ? new URL(id) : null;
  return url === null || url.pathname === "/" ? null : url;
};

/** A key that only its owner may have stands in it, so it is nobody's any more. */
const exposesSecret = ({ client_secret: secret, jwks }: JsonObject): boolean => {
  const keys = isJsonObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : [];
  return secret !== undefined || keys.some((key) => isJsonObject(key) && ("d" in key || "k" in key));
};

/** What a document says of the program whose id is its address; null for a document that is not of it, or of no use. */
export const clientFromDocument = (url: URL, document: unknown): OAuthClient | null => {
  if (!isJsonObject(document)) return null;
  const { client_id, client_name, redirect_uris, token_endpoint_auth_method: method } = document;
  const redirectUris = parseRedirectUris(redirect_uris)?.filter((uri) => parseRedirectUri(uri) !== null) ?? [];
  const isPublic = method === undefined || method === "none" || method === "private_key_jwt"; // the last is not offered, and so not used
  if (client_id !== url.href || redirectUris.length === 0 || !isPublic || exposesSecret(document)) return null;
  return {
    id: url.href,
    name: filterClaimedName(cleanClientName(client_name), [url.host]),
    host: url.host,
    redirectUris,
    authentication: "none",
  };
};

/** What a program that registers itself is remembered by. */
export interface ClientRegistration {
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly authentication: ClientAuthentication;
}

export type RegistrationFault = "invalid_redirect_uri" | "invalid_client_metadata";

const secretAuthenticationMethods: readonly unknown[] = ["client_secret_post", "client_secret_basic"];

/** `hosts`: where https redirects may lead, since a stranger may register any name. Redirects of no use are left out. */
export const parseClientRegistration = (body: unknown, hosts: readonly string[]): ClientRegistration | RegistrationFault => {
  if (!isJsonObject(body)) return "invalid_client_metadata";
  const { redirect_uris, client_name, token_endpoint_auth_method: method } = body;
  const redirectUris = [...new Set(parseRedirectUris(redirect_uris) ?? [])].filter((uri) => {
    const place = parseRedirectUri(uri);
    return place !== null && (place.kind !== "https" || hosts.includes(place.host));
  });
  if (redirectUris.length === 0) return "invalid_redirect_uri";
  const authentication = secretAuthenticationMethods.includes(method) ? (method as ClientAuthentication) : "none";
  return { name: cleanClientName(client_name), redirectUris, authentication };
};

export const clientFromRegistration = (id: string, { name, redirectUris, authentication }: ClientRegistration): OAuthClient => {
  const hosts = redirectUris.flatMap((uri) => parseRedirectUri(uri)?.host ?? []);
  return { id, name: filterClaimedName(name, hosts), host: null, redirectUris, authentication };
};

export const registeredClientPrefix = "dcr_";
export const isClientIdTooLong = (id: string): boolean => id.length > maxClientIdLength;
