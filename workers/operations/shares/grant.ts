// The person agrees: a share, and the code that redeems it. One decision a request, however often it arrives: a second press, a reload
// and a lost answer all meet the first decision, and get its code again while it is of use.
import type { Person } from "../../../core/access/principal.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { writtenAt } from "../../../core/facts.ts";
import { homeOfId, newId, type ClientId, type Home, type ShareId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import {
  decideGrant,
  maxTestShares,
  mayGrant,
  readWords,
  type DecidedGrant,
  type PreparedShare,
  type GrantingClient,
} from "../../../core/shares/grant.ts";
import { personaFields, type PersonaName } from "../../../core/shares/persona.ts";
import { codeLifeMs } from "../../../core/shares/request.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { decidedRequest, giveCodeAnew, isDecidedAlready, mayBeGivenAnew } from "../../../storage/auth-codes.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { grantingClient } from "../../../storage/accounts.ts";
import { insertCode, insertShare, isOutdatedGrant } from "../../../storage/share-changes.ts";
import { changeableShare } from "../../../storage/shares.ts";
import type { Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { contactIndexes } from "../consumers/share-updates.ts";
import { receiptMail } from "./mails.ts";
import { settleIntent, writeIntent } from "./other-home.ts";

/** Who agrees: somebody with an account, or a test person. */
export type Granting = { readonly person: Person } | { readonly persona: PersonaName };

export interface GrantRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly origin: string;
  readonly scope: readonly ContactKey[];
  readonly purpose: string;
  readonly disclosureText: string | null;
  readonly durationDays: number;
  readonly challenge: string;
  /** Fields that may be shared although there is no value. */
  readonly missingOk: readonly ContactKey[];
  /** What makes two requests of the same person one; null: this one is alone. */
  readonly decisionKey: string | null;
  /** Asked once the client, its account and its origin are right: whether this is the request that was shown. */
  readonly mayDecide: () => Promise<Result<true, "invalid_request">>;
  readonly language: MailLanguage;
  readonly requestId: string;
  readonly keep?: Keeping<Granted> | undefined;
}

export interface Granted {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** This request was decided before; the first decision is answered. */
  readonly isRepeated: boolean;
}

type GrantServices = Runtime & Stores & Proofs & Phones & Schedules;

/** Made again from the key whenever the same request asks, so that it is stored nowhere. */
const codeOf = async ({ vault }: Stores, home: Home, requestHash: string, generation: number): Promise<string> =>
  `ac_${home}${await vault.linkToken(`code\n${requestHash}\n${generation}`)}`;

const requestHashOf = (person: Pick<Person, "id"> | null, decisionKey: string): string =>
  sha256Hex(canonicalJson([person?.id ?? null, decisionKey]));

/** How a request stands that was decided before. `late`: its code was never redeemed, and can be given anew. */
export type EarlierDecision =
  | { readonly kind: "open"; readonly code: string; readonly share: Share }
  | { readonly kind: "late" | "over"; readonly share: Share };

/** For a page that is loaded again. Changes nothing; null for a request that nobody has decided on. */
export const earlierDecision = async (
  services: Runtime & Stores,
  person: Pick<Person, "id"> | null,
  clientId: ClientId,
  decisionKey: string,
): Promise<EarlierDecision | null> => {
  const db = services.homes.of(clientId);
  const requestHash = requestHashOf(person, decisionKey);
  const decided = await decidedRequest(db, requestHash);
  const now = services.clock();
  const found = decided === null ? null : await changeableShare(db, decided.shareId, "link", now);
  if (decided === null || found === null) return null;
  const { share } = found;
  if (decided.usedAt !== null || share.status !== "active") return { kind: "over", share };
  if (decided.expiresAt > now)
    return { kind: "open", code: await codeOf(services, homeOfId(clientId), requestHash, decided.generation), share };
  return { kind: mayBeGivenAnew(decided, now) ? "late" : "over", share };
};

/** What was decided on this request before. */
const decidedBefore = async (
  services: Runtime & Stores,
  db: Database,
  home: Home,
  requestHash: string,
): Promise<Result<Granted> | null> => {
  const decided = await decidedRequest(db, requestHash);
  if (decided === null) return null;
  const now = services.clock();
  const found = await changeableShare(db, decided.shareId, "link", now);
  if (found === null) throw new Error("shares: a code belongs to no share");
  const { share } = found;
  if (decided.usedAt !== null) return refuse("code_used");
  if (share.status !== "active") return refuse("share_inactive");
  const given = async (generation: number, codeExpiresAt: Instant): Promise<Result<Granted>> =>
    ok({ code: await codeOf(services, home, requestHash, generation), codeExpiresAt, share, isRepeated: true });
  if (decided.expiresAt > now) return given(decided.generation, decided.expiresAt);
  if (!mayBeGivenAnew(decided, now)) return refuse("code_expired");
  const next = decided.generation + 1;
  const nextHash = sha256Hex(await codeOf(services, home, requestHash, next));
  return (await giveCodeAnew(db, decided, nextHash, now)) ? given(next, now + codeLifeMs) : decidedBefore(services, db, home, requestHash);
};

/**
 * The code of a decision that stands, given anew where it ran out before anybody redeemed it. Nothing is chosen a second time. Null for a
 * request that nobody has decided on.
 */
export const codeAgain = (
  services: Runtime & Stores,
  person: Pick<Person, "id"> | null,
  clientId: ClientId,
  decisionKey: string,
): Promise<Result<Granted> | null> => {
  const db = services.homes.of(clientId);
  return decidedBefore(services, db, homeOfId(clientId), requestHashOf(person, decisionKey));
};

/** What a new share is made of besides what was decided. */
interface Making {
  readonly client: GrantingClient;
  readonly person: Person | null;
  /** Of the fields that it was decided on. */
  readonly revision: number;
  readonly language: MailLanguage;
  readonly requestId: string;
  readonly written: Instant;
}

/** A share and all that belongs to it as one batch, with rows of the change that comes before it and that names it. */
export const commitShare = async (
  services: GrantServices,
  db: Database,
  prepared: PreparedShare,
  { revision, written, ...of }: Making,
  { before, after }: { readonly before: readonly Statement[]; readonly after: readonly Statement[] },
): Promise<void> => {
  const { vault, signer } = services;
  const { share } = prepared;
  const { person, language } = of;
  const isSameHome = person === null || homeOfId(person.id) === homeOfId(share.id);
  const [value, indexes, homes, mail] = await Promise.all([
    signer.sign(prepared.canonical),
    contactIndexes(services, prepared.fields),
    person === null ? [] : writeIntent(services, db, person, share.id),
    person === null ? [] : receiptMail(services, db, person, share, language),
  ]);
  const signature = { kid: signer.kid, alg: "Ed25519", value } as const;
  const rows = await insertShare(db, vault, { prepared, ...of, fields: { revision, isSameHome }, indexes, signature });
  await commit(db, services, [...homes, ...before, ...rows, ...after, ...mail], [writtenAt(prepared.fact, written)]);
  if (person !== null && !isSameHome) await settleIntent(services, person.id, share.id, revision);
  services.scheduleMail();
};

const commitGrant = async (
  services: GrantServices,
  db: Database,
  making: Making,
  decided: DecidedGrant,
  { challenge, keep }: GrantRequest,
  requestHash: string,
): Promise<Granted> => {
  const { share } = decided;
  const { written, client } = making;
  const code = await codeOf(services, homeOfId(share.id), requestHash, 1);
  const row = { codeHash: sha256Hex(code), requestHash, challenge, requireOrigin: client.requireOrigin, createdAt: written };
  const granted: Granted = { code, codeExpiresAt: written + codeLifeMs, share, isRepeated: false };
  const after = [insertCode(db, decided, row), ...((await keep?.(granted)) ?? [])];
  await commitShare(services, db, decided, making, { before: [], after });
  return granted;
};

const tooManyTestShares = refuse(
  "rate_limited",
  "This business has 10,000 active test shares, which is all there may be. POST /v1/sandbox/reset ends them.",
);

/**
 * Refuses, in this order: words that may not be shown, an unknown client, a person on a test client and a test person on a live one,
 * a person who is gone, then as `decideGrant`, then as the earlier decision on the same request.
 */
export const grantShare = async (services: GrantServices, by: Granting, request: GrantRequest): Promise<Result<Granted>> => {
  const words = readWords(request.purpose, request.disclosureText);
  if (!words.ok) return words;
  const { clientId } = request;
  if (clientId === null) return refuse("client_not_found");
  const db = services.homes.of(clientId);
  const person = "person" in by ? by.person : null;
  const decisionKey = request.decisionKey ?? crypto.randomUUID();
  const requestHash = requestHashOf(person, decisionKey);
  return retrying([isOutdatedGrant, isDecidedAlready], async () => {
    const [client, kept] = await Promise.all([
      grantingClient(db, clientId),
      "persona" in by
        ? { fields: personaFields(by.persona), revision: 0 }
        : keptFields(services.homes.of(by.person.id), services.vault, by.person.id),
    ]);
    if (client === null) return refuse("client_not_found");
    if (client.environment === "live" && person === null) return refuse("sandbox_only");
    if (client.environment === "sandbox" && person !== null)
      return refuse("forbidden", "A test client takes the details of test people only: POST /v1/share/sandbox-consent.");
    if (kept === null) return refuse("unauthorized");
    const mayAsk = mayGrant(client, request.origin, services.config.environment === "development");
    if (!mayAsk.ok) return mayAsk;
    const may = await request.mayDecide();
    if (!may.ok) return may;
    if (client.activeTestShares >= maxTestShares) return tooManyTestShares;
    const written = services.clock();
    const decided = decideGrant({
      client,
      person,
      agreement: { ...request, ...words.value },
      bound: mayAsk.value,
      fields: kept.fields,
      missingOk: request.missingOk,
      now: written + client.clockOffsetMs,
      shareId: newId("shr_", homeOfId(clientId), services.random) as ShareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const { language, requestId } = request;
    const making = { client, person, revision: kept.revision, language, requestId, written };
    try {
      return ok(await commitGrant(services, db, making, decided.value, request, requestHash));
    } catch (error) {
      const before = isDecidedAlready(error) ? await decidedBefore(services, db, homeOfId(clientId), requestHash) : null;
      if (before === null) throw error;
      return before;
    }
  });
};
