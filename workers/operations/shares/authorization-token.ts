// Creates and parses tokens for share requests. Nothing is stored. The MAC in a token proves that this service authorized the request at
// the given time and with the given scope.
import { toBase64Url, fromBase64Url } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { ShardId } from "../../../core/ids.ts";
import { scopeToBits, scopeFromBits, type RequestedScope } from "../../../core/shares/fields.ts";
import { requestLifetimeMs } from "../../../core/shares/request.ts";
import type { RequestEvidence } from "../../../core/shares/request-evidence.ts";
import type { Instant } from "../../../core/time.ts";
import type { Stores } from "../dependencies.ts";

interface TokenContent {
  readonly requestedScope: RequestedScope;
  readonly issuedAt: Instant;
  /** The evidence that the request came from the business; null if there is none. */
  readonly evidence: RequestEvidence | null;
}

/**
 * The data that the token is bound to, such as the rest of the request and the browser. The token's MAC covers this data, but the token
 * does not contain it.
 */
export type TokenBinding = { readonly [key: string]: Json };

const tokenPrefix = "az_";

const tokenPattern = /^az_([0-9a-z]{2})([A-Za-z0-9_-]{1,200})\.([A-Za-z0-9_-]{43})$/;

const toMacPurpose = (shard: string, content: string, binding: TokenBinding): string =>
  `authorize\n${shard}${content}\n${toCanonicalJson(binding)}`;

/** Creates a token for this binding. `shard` is the client's shard. */
export const createAuthorizationToken = async (
  services: Stores,
  shard: ShardId,
  { requestedScope, issuedAt, evidence }: TokenContent,
  binding: TokenBinding,
): Promise<string> => {
  const text = toCanonicalJson([issuedAt, scopeToBits(requestedScope.scope), scopeToBits(requestedScope.needed), evidence]);
  const content = toBase64Url(new TextEncoder().encode(text));
  return `${tokenPrefix}${shard}${content}.${await services.vault.linkToken(toMacPurpose(shard, content, binding))}`;
};

/**
 * Parses a token. Returns null unless this service created it for exactly this binding. Does not check the token's age (see
 * `isTokenExpired`).
 */
export const parseAuthorizationToken = async (services: Stores, token: string, binding: TokenBinding): Promise<TokenContent | null> => {
  const [, shard, content, mac] = tokenPattern.exec(token) ?? [];
  if (shard === undefined || content === undefined || mac === undefined) return null;
  if (!(await services.vault.isLinkToken(toMacPurpose(shard, content, binding), mac))) return null;
  const [issuedAt, scope, needed, evidence] = JSON.parse(new TextDecoder().decode(fromBase64Url(content) as Uint8Array)) as [
    Instant,
    number,
    number,
    RequestEvidence | null,
  ];
  return { requestedScope: { scope: scopeFromBits(scope), needed: scopeFromBits(needed) }, issuedAt, evidence };
};

/** Returns whether the token is at least 10 minutes old. */
export const isTokenExpired = ({ issuedAt }: TokenContent, now: Instant): boolean => now >= issuedAt + requestLifetimeMs;
