// A request to share, as it goes to the person and comes back with their decision. No row is written for a request: the token carries
// what was asked and when, and a keyed hash binds it to every other parameter, which whoever decides sends again.
import { base64UrlOf, bytesOfBase64Url } from "../../../core/bytes.ts";
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import { isSameSecret } from "../../../core/hash.ts";
import type { Home } from "../../../core/ids.ts";
import { scopeBits, scopeOfBits, type AskedScope } from "../../../core/shares/fields.ts";
import { requestLifeMs } from "../../../core/shares/request.ts";
import type { Instant } from "../../../core/time.ts";
import type { Stores } from "../../services.ts";

/** What a token says by itself. */
export interface TokenContent {
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
