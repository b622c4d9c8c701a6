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
  type ReadClient,
  type Registration,
  type RegistrationFault,
} from "../../../core/agents/oauth-client.ts";
import { redirectUriOf } from "../../../core/agents/redirect-uri.ts";
import { base64UrlOf, bytesOfBase64Url, utf8 } from "../../../core/bytes.ts";
import { isSameSecret } from "../../../core/hash.ts";
import { knownClientOf } from "../../../core/agents/known-clients.ts";
import { firstHome } from "../../../core/ids.ts";
import { dayMs, minuteMs, secondMs } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import { keepOAuthClient, keptOAuthClient } from "../../../storage/oauth-clients.ts";
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
  if (!id.startsWith(registeredPrefix)) return null;
  const [payload = "", mac = "", more] = id.slice(registeredPrefix.length).split(".");
  const bytes = bytesOfBase64Url(payload);
  if (isIdTooLong(id) || more !== undefined || bytes === null || !isSameSecret(mac, await macOf(services, payload))) return null;
  const [name, redirectUris, authentication] = JSON.parse(new TextDecoder().decode(bytes)) as Signed;
  return clientOfRegistration(id, { name, redirectUris, authentication });
};

const fetchMs = 5 * secondMs;
const maxDocumentBytes = 8 * 1_024;
const minKeptMs = 5 * minuteMs;
const maxKeptMs = dayMs;
const failureKeptMs = 30 * secondMs;
const maxReadings = 4; // at once, so that documents that drip hold up nothing else here

/** `unreached`: its host did not say. What it said wrongly is an answer. */
const fetchDocument = async (services: Runtime & Web & Counters, url: URL): Promise<ReadClient | "unreached"> => {
  const counted = await services.takeByAddress("OAUTH_DOCUMENTS_PER_HOST", url.host);
  if (!counted.allowed) return "unreached";
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
  const readAt = services.clock();
  if (answer.outcome === "unreached" || (answer.outcome === "nothing" && answer.reason === "status")) return "unreached";
  const none = { client: null, readAt, askAgainAt: readAt + failureKeptMs };
  if (answer.outcome === "nothing") return none;
  const keptMs = Math.min(Math.max((answer.page.maxAge ?? 0) * secondMs, minKeptMs), maxKeptMs);
  try {
    const client = clientOfDocument(url, JSON.parse(answer.page.body));
    return client === null ? none : { client, readAt, askAgainAt: readAt + keptMs };
  } catch {
    return none; // no JSON
  }
};

type Reading = Runtime & Stores & Memories & Web & Counters;

const copies = ({ homes }: Stores): Database => homes.at(firstHome);

/** From its address; else as it was in the last days, or as it is known to everybody. */
const readDocument = async (services: Reading, url: URL): Promise<ReadClient> => {
  const { oauthReadings, clock } = services;
  const isTooMany = oauthReadings.size >= maxReadings;
  if (!isTooMany) oauthReadings.add(url.href);
  try {
    const read = isTooMany ? "unreached" : await fetchDocument(services, url);
    if (read !== "unreached") return read;
    const now = clock();
    const client = (await keptOAuthClient(copies(services), url.href, now)) ?? knownClientOf(url);
    return { client, readAt: null, askAgainAt: now + failureKeptMs };
  } finally {
    if (!isTooMany) oauthReadings.delete(url.href);
  }
};

/** A question that is under way is not asked again; a failure is asked again soon. */
const documented = async (services: Reading, url: URL): Promise<ReadClient> => {
  const { oauthClients, clock } = services;
  const remembered = oauthClients.get(url.href);
  const known = await remembered?.catch(() => undefined);
  if (known !== undefined && clock() < known.askAgainAt) return known;
  const begun = oauthClients.get(url.href);
  if (begun !== undefined && begun !== remembered) return begun; // by another request, meanwhile
  const reading = readDocument(services, url);
  oauthClients.set(url.href, reading);
  return reading;
};

const isOurs = ({ config }: Runtime, { host }: URL): boolean =>
  [config.baseUrl, config.verifyUrl, config.cdnUrl, config.mcpUrl, config.appUrl].some((own) => new URL(own).host === host);

/** Once a person has allowed it: what its document said serves for a while if its host falls silent. */
export const keepClient = async (services: Reading, id: string): Promise<void> => {
  const url = documentUrlOf(id);
  if (url === null) return;
  const { client, readAt } = await documented(services, url);
  if (client !== null && readAt !== null) await keepOAuthClient(copies(services), client, readAt).run();
};

/** Null for a program that cannot be told, or may not be connected. */
export const oauthClientOf = async (services: Reading, id: string): Promise<OAuthClient | null> => {
  const url = documentUrlOf(id);
  if (url !== null && isOurs(services, url)) return null;
  const client = url === null ? await registered(services, id) : (await documented(services, url)).client;
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
