// Which program a client id is of. A program that registers itself is kept nowhere: its id holds what it said, signed, so that ten
// thousand registrations leave nothing behind. One with an address is read from there, seldom and by the guarded fetcher alone.
import {
  clientOfDocument,
  clientOfRegistration,
  documentUrlOf,
  isIdTooLong,
  registeredPrefix,
  registrationOf,
  type OAuthClient,
  type Registration,
  type RegistrationFault,
} from "../../../core/agents/oauth-client.ts";
import { redirectUriOf } from "../../../core/agents/redirect-uri.ts";
import { base64UrlOf, bytesOfBase64Url, utf8 } from "../../../core/bytes.ts";
import { isSameSecret } from "../../../core/hash.ts";
import { minuteMs, secondMs } from "../../../core/time.ts";
import type { Counters, Memories, Runtime, Stores, Web } from "../../services.ts";

const saltBytes = 16;

type Signed = readonly [name: string | null, redirectUris: readonly string[], authentication: Registration["authentication"], salt: string];

const macOf = ({ vault }: Stores, payload: string): Promise<string> => vault.linkToken(`oauth client\n${payload}`);

const secretOf = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(`oauth secret\n${id}`);

const isBlocked = ({ config }: Runtime, client: OAuthClient): boolean =>
  [client.host, ...client.redirectUris.map((uri) => redirectUriOf(uri)?.host ?? null)].some(
    (host) => host !== null && config.oauthBlockedHosts.includes(host),
  );

export interface RegisteredClient extends Registration {
  readonly id: string;
  /** Null for a program that keeps no secret. */
  readonly secret: string | null;
}

export const registerClient = async (services: Runtime & Stores, body: unknown): Promise<RegisteredClient | RegistrationFault> => {
  const { config, random } = services;
  const registration = registrationOf(
    body,
    config.oauthHosts.filter((host) => !config.oauthBlockedHosts.includes(host)),
  );
  if (typeof registration === "string") return registration;
  const { name, redirectUris, authentication } = registration;
  // Who sends the same once more gets another id, and so no secret of somebody else's.
  const salt = authentication === "none" ? "" : base64UrlOf(random(saltBytes));
  const payload = base64UrlOf(utf8(JSON.stringify([name, redirectUris, authentication, salt] satisfies Signed)));
  const id = `${registeredPrefix}${payload}.${await macOf(services, payload)}`;
  if (isIdTooLong(id)) return "invalid_client_metadata";
  return { ...registration, id, secret: authentication === "none" ? null : await secretOf(services, id) };
};

/** Null for an id that we did not make. */
const registered = async (services: Stores, id: string): Promise<OAuthClient | null> => {
  const [payload = "", mac = "", more] = id.slice(registeredPrefix.length).split(".");
  const bytes = bytesOfBase64Url(payload);
  if (isIdTooLong(id) || more !== undefined || bytes === null || !isSameSecret(mac, await macOf(services, payload))) return null;
  const [name, redirectUris, authentication] = JSON.parse(new TextDecoder().decode(bytes)) as Signed;
  return clientOfRegistration(id, { name, redirectUris, authentication });
};

const fetchMs = 5 * secondMs;
const maxDocumentBytes = 8 * 1_024;
const keptMs = 5 * minuteMs;
const failureKeptMs = 30 * secondMs;

const readDocument = async (services: Web & Counters, url: URL): Promise<OAuthClient | null> => {
  const counted = await services.takeByAddress("OAUTH_DOCUMENTS_PER_HOST", url.host);
  if (!counted.allowed) return null;
  const answer = await services.fetchPage({
    url: url.href,
    userAgent: "Svc-OAuth/1",
    isWithin: (hostname) => hostname === url.hostname,
    ports: [443],
    totalMs: fetchMs,
    maxBytes: maxDocumentBytes,
    wants: "json",
    maxRedirects: 0,
  });
  if (answer.outcome !== "page") return null;
  try {
    return clientOfDocument(url, JSON.parse(answer.page.body));
  } catch {
    return null; // no JSON
  }
};

type Reading = Runtime & Stores & Memories & Web & Counters;

/** A question that is under way is not asked again; a failure is asked again soon. */
const documented = async (services: Reading, url: URL): Promise<OAuthClient | null> => {
  const { oauthClients, clock } = services;
  const known = oauthClients.get(url.href);
  const now = clock();
  if (known !== undefined) {
    const client = await known.client;
    if (now < known.at + (client === null ? failureKeptMs : keptMs)) return client;
  }
  const client = readDocument(services, url);
  oauthClients.set(url.href, { client, at: now });
  return client;
};

/** Null for a program that cannot be told, or may not be connected. */
export const oauthClientOf = async (services: Reading, id: string): Promise<OAuthClient | null> => {
  const url = documentUrlOf(id);
  const client = id.startsWith(registeredPrefix) ? await registered(services, id) : url === null ? null : await documented(services, url);
  return client === null || isBlocked(services, client) ? null : client;
};

/** Whether this is how the program of this id proves itself. A document's program keeps no secret; its id is held to its code. */
export const isRightClient = async (services: Stores, id: string, secret: string | null): Promise<boolean> => {
  if (!id.startsWith(registeredPrefix)) return documentUrlOf(id) !== null && secret === null;
  const client = await registered(services, id);
  if (client === null) return false;
  if (client.authentication === "none") return secret === null || secret === "";
  return secret !== null && isSameSecret(secret, await secretOf(services, id));
};
