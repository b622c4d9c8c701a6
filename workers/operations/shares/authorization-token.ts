import { toBase64Url, fromBase64Url } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ShardId } from "../../../core/ids.ts";
import { scopeToBits, scopeFromBits, type RequestedScope } from "../../../core/shares/fields.ts";
import { requestLifetimeMs } from "../../../core/shares/request.ts";
import type { Instant } from "../../../core/time.ts";
import type { Stores } from "../dependencies.ts";

/** What a token says by itself. */
interface TokenContent {
  readonly asked: RequestedScope;
  readonly at: Instant;
  /** The request demonstrably came from the origin it names: needed where the answer goes back by redirect. */
  readonly hasEvidence: boolean;
}

/** Everything else that a request consists of, and what else the token is for: a browser, a session. */
export type TokenBinding = { readonly [key: string]: Json };

const tokenPrefix = "az_";

const tokenPattern = /^az_([0-9a-z]{2})([A-Za-z0-9_-]{1,200})\.([A-Za-z0-9_-]{43})$/;

const computeTokenMac = ({ vault }: Stores, home: string, content: string, binding: TokenBinding): Promise<string> =>
  vault.linkToken(`authorize\n${home}${content}\n${toCanonicalJson(binding)}`);

export const createAuthorizationToken = async (
  services: Stores,
  home: ShardId,
  { asked, at, hasEvidence }: TokenContent,
  binding: TokenBinding,
): Promise<string> => {
  const text = toCanonicalJson([at, scopeToBits(asked.scope), scopeToBits(asked.needed), hasEvidence]);
  const content = toBase64Url(new TextEncoder().encode(text));
  return `${tokenPrefix}${home}${content}.${await computeTokenMac(services, home, content, binding)}`;
};

/** Null for whatever we did not make for this very request. Its age is the reader's to judge. */
export const parseAuthorizationToken = async (services: Stores, token: string, binding: TokenBinding): Promise<TokenContent | null> => {
  const [, home, content, mac] = tokenPattern.exec(token) ?? [];
  if (home === undefined || content === undefined || mac === undefined) return null;
  if (!isEqualConstantTime(mac, await computeTokenMac(services, home, content, binding))) return null;
  const [at, scope, needed, hasEvidence] = JSON.parse(new TextDecoder().decode(fromBase64Url(content) as Uint8Array)) as [
    Instant,
    number,
    number,
    boolean,
  ];
  return { asked: { scope: scopeFromBits(scope), needed: scopeFromBits(needed) }, at, hasEvidence };
};

export const isTokenExpired = ({ at }: TokenContent, now: Instant): boolean => now >= at + requestLifetimeMs;
