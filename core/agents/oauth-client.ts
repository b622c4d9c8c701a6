// OAuth clients. A client either serves a metadata document whose URL is the client's ID, or registers itself. The service does not verify
// what a self-registered client claims about itself, but it checks redirect URIs strictly.
import { cutText } from "../cut-text.ts";
import { isJsonObject, type JsonObject } from "../canonical-json.ts";
import type { Instant } from "../time.ts";
import { parseRedirectUri } from "./redirect-uri.ts";

export type ClientAuthentication = "none" | "client_secret_post" | "client_secret_basic";

export interface OAuthClient {
  readonly id: string;
  /** The client's name; null if the claimed name must not be shown. */
  readonly name: string | null;
  /** The host that published the client's metadata document; null if the client registered itself. */
  readonly host: string | null;
  readonly redirectUris: readonly string[];
  readonly authentication: ClientAuthentication;
}

/** A client resolved from its metadata document. */
export interface ResolvedClient {
  /** The client; null if the URL does not serve a client document, or if neither the document nor a copy is available. */
  readonly client: OAuthClient | null;
  /**
   * When the URL was fetched; null if it could not be fetched. In that case, `client` comes from an earlier fetch or from known-clients.ts,
   * or is null.
   */
  readonly fetchedAt: Instant | null;
  readonly refetchAt: Instant;
}

const maxNameLength = 80;
const maxRedirectUris = 20;
const maxClientIdLength = 1_024;

const invisibleCharacters = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns the name as one visible line, or null if no visible character remains. */
const cleanClientName = (text: unknown): string | null => {
  if (typeof text !== "string") return null;
  const name = cutText(text, 400).normalize("NFC").replaceAll(/\s+/g, " ").replaceAll(invisibleCharacters, "").trim();
  return cutText(name, maxNameLength).trim() || null;
};

/**
 * The starts of the names of well-known assistants (in the form that `foldClientName` returns), with the hosts that belong to each. `svc`
 * has no hosts, so no client can have a name that starts with it.
 */
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

/**
 * Returns the claimed name. Returns null for the name of a well-known assistant, unless all of the client's hosts belong to that assistant.
 */
const filterClaimedName = (name: string | null, hosts: readonly string[]): string | null => {
  const known = name === null ? undefined : knownClientNames.find(([start]) => foldClientName(name).startsWith(start));
  return known === undefined || (hosts.length > 0 && hosts.every((host) => known[1].includes(host))) ? name : null;
};

const parseRedirectUris = (value: unknown): readonly string[] | null =>
  Array.isArray(value) && value.length > 0 && value.length <= maxRedirectUris && value.every((uri) => typeof uri === "string")
    ? (value as readonly string[])
    : null;

/** Parses a client ID as a document URL. Returns null unless it is an allowed URL, written exactly as the URL parser would write it. */
export const parseDocumentUrl = (id: string): URL | null => {
  if (id.length > maxClientIdLength || !id.startsWith("https://")) return null;
  const uri = parseRedirectUri(id);
  const url = uri?.kind === "https" ? new URL(id) : null;
  return url === null || url.pathname === "/" ? null : url;
};

/** Returns whether the document contains a client secret or a private key, which anyone who reads the document could use. */
const exposesSecret = ({ client_secret: secret, jwks }: JsonObject): boolean => {
  const keys = isJsonObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : [];
  return secret !== undefined || keys.some((key) => isJsonObject(key) && ("d" in key || "k" in key));
};

/**
 * Returns the client that a metadata document describes. Returns null if `client_id` in the document differs from the document's URL, or if
 * the document is not usable.
 */
export const clientFromDocument = (url: URL, document: unknown): OAuthClient | null => {
  if (!isJsonObject(document)) return null;
  const { client_id, client_name, redirect_uris, token_endpoint_auth_method: method } = document;
  const redirectUris = parseRedirectUris(redirect_uris)?.filter((uri) => parseRedirectUri(uri) !== null) ?? [];
  // This service does not support private_key_jwt, so a client that uses it is treated as public.
  const isPublic = method === undefined || method === "none" || method === "private_key_jwt";
  if (client_id !== url.href || redirectUris.length === 0 || !isPublic || exposesSecret(document)) return null;
  return {
    id: url.href,
    name: filterClaimedName(cleanClientName(client_name), [url.host]),
    host: url.host,
    redirectUris,
    authentication: "none",
  };
};

/** The stored data of a client that registers itself. */
export interface ClientRegistration {
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly authentication: ClientAuthentication;
}

export type RegistrationFault = "invalid_redirect_uri" | "invalid_client_metadata";

const secretAuthenticationMethods: readonly unknown[] = ["client_secret_post", "client_secret_basic"];

/**
 * Parses a registration. An https redirect URI is accepted only if its host is in `hosts`, because anyone can register under any name.
 * Redirect URIs that are not accepted are dropped. Returns a fault if none is left or the body is not an object.
 */
export const parseClientRegistration = (body: unknown, hosts: readonly string[]): ClientRegistration | RegistrationFault => {
  if (!isJsonObject(body)) return "invalid_client_metadata";
  const { redirect_uris, client_name, token_endpoint_auth_method: method } = body;
  const redirectUris = [...new Set(parseRedirectUris(redirect_uris) ?? [])].filter((uri) => {
    const parsed = parseRedirectUri(uri);
    return parsed !== null && (parsed.kind !== "https" || hosts.includes(parsed.host));
  });
  if (redirectUris.length === 0) return "invalid_redirect_uri";
  const authentication = secretAuthenticationMethods.includes(method) ? (method as ClientAuthentication) : "none";
  return { name: cleanClientName(client_name), redirectUris, authentication };
};

/**
 * Returns a self-registered client. Keeps the name of a well-known assistant only if every redirect URI is on one of that assistant's
 * hosts.
 */
export const clientFromRegistration = (id: string, { name, redirectUris, authentication }: ClientRegistration): OAuthClient => {
  const hosts = redirectUris.flatMap((uri) => parseRedirectUri(uri)?.host ?? []);
  return { id, name: filterClaimedName(name, hosts), host: null, redirectUris, authentication };
};

export const registeredClientPrefix = "dcr_";
export const isClientIdTooLong = (id: string): boolean => id.length > maxClientIdLength;
