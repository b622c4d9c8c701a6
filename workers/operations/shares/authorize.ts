// A request to share: what a business asks of a person, checked and put into words; the token by which it goes to the person; and a decision
// on it that arrives as JSON, from a program that showed the request itself, or for a test person. No row is written for a request: the token
// carries what was asked and when, and a keyed hash binds it to every other parameter, which whoever decides sends again.
import { mayRead } from "../../../core/access/entitlement.ts";
import { base64UrlOf, bytesOfBase64Url } from "../../../core/bytes.ts";
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import { homeOfId, type ClientId, type Home } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { scopeBits, scopeOfBits, type AskedScope } from "../../../core/shares/fields.ts";
import { boundOrigin, readWords, type GrantingClient } from "../../../core/shares/grant.ts";
import { requestLifeMs } from "../../../core/shares/request.ts";
import type { Instant } from "../../../core/time.ts";
import { grantingClient } from "../../../storage/accounts.ts";
import type { Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { grantShare, type Granted, type Granting, type GrantRequest } from "./grant.ts";

/** What a token says by itself. */
interface TokenContent {
  readonly asked: AskedScope;
  readonly at: Instant;
  /** The request demonstrably came from the origin it names: needed where the answer goes back by redirect. */
  readonly hasEvidence: boolean;
}

/** Everything else that a request consists of, and what else the token is for: a browser, a session. */
export type TokenBinding = { readonly [key: string]: Json };

const prefix = "az_";
const pattern = /^az_([0-9a-z]{2})([A-Za-z0-9_-]{1,200})\.([A-Za-z0-9_-]{43})$/;

const macOf = ({ vault }: Stores, home: string, content: string, binding: TokenBinding): Promise<string> =>
  vault.linkToken(`authorize\n${home}${content}\n${canonicalJson(binding)}`);

export const makeToken = async (
  services: Stores,
  home: Home,
  { asked, at, hasEvidence }: TokenContent,
  binding: TokenBinding,
): Promise<string> => {
  const text = canonicalJson([at, scopeBits(asked.scope), scopeBits(asked.needed), hasEvidence]);
  const content = base64UrlOf(new TextEncoder().encode(text));
  return `${prefix}${home}${content}.${await macOf(services, home, content, binding)}`;
};

/** Null for whatever we did not make for this very request. Its age is the reader's to judge. */
export const readToken = async (services: Stores, token: string, binding: TokenBinding): Promise<TokenContent | null> => {
  const [, home, content, mac] = pattern.exec(token) ?? [];
  if (home === undefined || content === undefined || mac === undefined) return null;
  if (!isSameSecret(mac, await macOf(services, home, content, binding))) return null;
  const [at, scope, needed, hasEvidence] = JSON.parse(new TextDecoder().decode(bytesOfBase64Url(content) as Uint8Array)) as [
    Instant,
    number,
    number,
    boolean,
  ];
  return { asked: { scope: scopeOfBits(scope), needed: scopeOfBits(needed) }, at, hasEvidence };
};

export const isExpired = ({ at }: TokenContent, now: Instant): boolean => now >= at + requestLifeMs;

/** As it arrives; the shapes of all members are right. */
export interface ShareRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly origin: string;
  readonly asked: AskedScope;
  readonly purpose: string;
  readonly disclosureText: string | null;
  readonly durationDays: number;
  readonly challenge: string;
  readonly state: string | null;
}

export interface AuthorizedRequest extends Omit<ShareRequest, "clientId"> {
  readonly client: GrantingClient;
  /** Empty where the business sent none. */
  readonly disclosureText: string;
  readonly disclosureHash: string;
}

/** The parameters that a decision repeats. The scope is in the token itself: the person may choose less of it. */
export const bindingOf = (
  request: Pick<AuthorizedRequest, "origin" | "purpose" | "disclosureText" | "durationDays" | "challenge" | "state"> & {
    readonly clientId: ClientId;
  },
): TokenBinding => ({
  client_id: request.clientId,
  origin: request.origin,
  purpose: request.purpose,
  disclosure_text: request.disclosureText,
  duration_days: request.durationDays,
  code_challenge: request.challenge,
  state: request.state,
});

/** Refuses, in this order: words that may not be shown, an unknown client, the account's state, an origin that is not the client's. */
export const authorizeRequest = async (services: Runtime & Stores, request: ShareRequest): Promise<Result<AuthorizedRequest>> => {
  const words = readWords(request.purpose, request.disclosureText);
  if (!words.ok) return words;
  const { clientId } = request;
  const client = clientId === null ? null : await grantingClient(services.homes.of(clientId), clientId);
  if (client === null) return refuse("client_not_found");
  const readable = mayRead(client.business.status);
  if (!readable.ok) return readable;
  const bound = boundOrigin(client, request.origin, services.config.environment === "development");
  if (!bound.ok) return bound;
  const { asked, durationDays, challenge, state } = request;
  const disclosureHash = sha256Hex(words.value.disclosureText);
  return ok({ client, origin: bound.value.origin, asked, ...words.value, disclosureHash, durationDays, challenge, state });
};

/** For programs that show the request themselves. */
export const tokenOf = (services: Runtime & Stores, request: AuthorizedRequest): Promise<string> => {
  const { clientId } = request.client;
  const content = { asked: request.asked, at: services.clock(), hasEvidence: false };
  return makeToken(services, homeOfId(clientId), content, bindingOf({ ...request, clientId }));
};

export interface Decision extends Omit<GrantRequest, "decisionKey" | "mayDecide" | "keep"> {
  readonly state: string | null;
  /** Of GET /v1/authorize; null for a caller that did not ask there. */
  readonly token: string | null;
}

const stale = refuse("invalid_request", "authorize_token: is not of this request, or is older than 10 minutes.");

const heldToToken = async (services: Runtime & Stores, decision: Decision): Promise<Result<true, "invalid_request">> => {
  const { token, clientId } = decision;
  if (token === null || clientId === null) return ok(true);
  const words = readWords(decision.purpose, decision.disclosureText);
  if (!words.ok) return words;
  const origin = URL.canParse(decision.origin) ? new URL(decision.origin).origin : decision.origin;
  const content = await readToken(services, token, bindingOf({ ...decision, ...words.value, origin, clientId }));
  if (content === null || isExpired(content, services.clock()) || !token.startsWith(`az_${homeOfId(clientId)}`)) return stale;
  const { scope, needed } = content.asked;
  if (decision.scope.some((key) => !scope.includes(key))) return refuse("invalid_request", "scope: must not hold more than was asked for.");
  if (needed.some((key) => !decision.scope.includes(key)))
    return refuse("invalid_request", "scope: must hold what was asked for as needed.");
  return ok(true);
};

/**
 * Refuses as `grantShare`. The token is judged after the client, the account and the origin: who is asked for is told apart from what
 * was shown, so a refusal of the token is given only where everything before it is right.
 */
export const decideShare = async (
  services: Runtime & Stores & Proofs & Phones & Schedules,
  by: Granting,
  decision: Decision,
  keep: Keeping<Granted> | undefined,
): Promise<Result<Granted>> =>
  grantShare(services, by, {
    ...decision,
    keep,
    decisionKey: decision.token,
    mayDecide: () => heldToToken(services, decision),
  });
