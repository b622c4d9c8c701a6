import type { Person } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, type ClientId, type ShareId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { parseShareTerms, checkGrantAllowed, maxTestShares, decideGrant, type ShareGrant } from "../../../core/shares/grant.ts";
import { getPersonaFields, type PersonaName } from "../../../core/shares/persona.ts";
import { codeLifetimeMs } from "../../../core/shares/request.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { insertShareCode, isOutdatedGrant } from "../../../storage/share-changes.ts";
import { isAlreadyDecided } from "../../../storage/share-codes.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitShare, type GrantServices, type ShareCreation } from "./commit-share.ts";
import { deriveShareCode, hashDecisionRequest, resolveEarlierDecision } from "./earlier-decision.ts";

/** Who agrees: somebody with an account, or a test person. */
export type Grantor = { readonly person: Person } | { readonly persona: PersonaName };

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
  readonly canDecide: () => Promise<Result<true, "invalid_request">>;
  readonly language: MailLanguage;
  readonly requestId: string;
  readonly saveIdempotentResponse?: SaveIdempotentResponse<GrantResult> | undefined;
}

export interface GrantResult {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** This request was decided before; the first decision is answered. */
  readonly isRepeated: boolean;
}

const commitGrant = async (
  services: GrantServices,
  db: Database,
  making: ShareCreation,
  decided: ShareGrant,
  { challenge, saveIdempotentResponse }: GrantRequest,
  requestHash: string,
): Promise<GrantResult> => {
  const { share } = decided;
  const { written, client } = making;
  const code = await deriveShareCode(services, shardOfId(share.id), requestHash, 1);
  const row = { codeHash: sha256Hex(code), requestHash, challenge, requireOrigin: client.requireOrigin, createdAt: written };
  const granted: GrantResult = { code, codeExpiresAt: written + codeLifetimeMs, share, isRepeated: false };
  const after = [insertShareCode(db, decided, row), ...((await saveIdempotentResponse?.(granted)) ?? [])];
  await commitShare(services, db, decided, making, { before: [], after });
  return granted;
};

const testShareLimitRefusal = refuse(
  "rate_limited",
  "This business has 10,000 active test shares, which is all there may be. POST /v1/sandbox/reset ends them.",
);

/**
 * Refuses, in this order: words that may not be shown, an unknown client, a person on a test client and a test person on a live one,
 * a person who is gone, then as `decideGrant`, then as the earlier decision on the same request.
 */
export const grantShare = async (services: GrantServices, by: Grantor, request: GrantRequest): Promise<Result<GrantResult>> => {
  const words = parseShareTerms(request.purpose, request.disclosureText);
  if (!words.ok) return words;
  const { clientId } = request;
  if (clientId === null) return refuse("client_not_found");
  const db = services.shards.forId(clientId);
  const person = "person" in by ? by.person : null;
  const decisionKey = request.decisionKey ?? crypto.randomUUID();
  const requestHash = hashDecisionRequest(person, decisionKey);
  return retryOnConflict([isOutdatedGrant, isAlreadyDecided], async () => {
    const [client, kept] = await Promise.all([
      findGrantingClient(db, clientId),
      "persona" in by
        ? { fields: getPersonaFields(by.persona), revision: 0 }
        : findContactFields(services.shards.forId(by.person.id), services.vault, by.person.id),
    ]);
    if (client === null) return refuse("client_not_found");
    if (client.environment === "live" && person === null) return refuse("sandbox_only");
    if (client.environment === "sandbox" && person !== null)
      return refuse("forbidden", "A test client takes the details of test people only: POST /v1/share/sandbox-consent.");
    if (kept === null) return refuse("unauthorized");
    const mayAsk = checkGrantAllowed(client, request.origin, services.config.environment === "development");
    if (!mayAsk.ok) return mayAsk;
    const may = await request.canDecide();
    if (!may.ok) return may;
    if (client.activeTestShares >= maxTestShares) return testShareLimitRefusal;
    const written = services.clock();
    const decided = decideGrant({
      client,
      person,
      agreement: { ...request, ...words.value },
      bound: mayAsk.value,
      fields: kept.fields,
      missingOk: request.missingOk,
      now: written + client.clockOffsetMs,
      shareId: generateId("shr_", shardOfId(clientId), services.random) as ShareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const { language, requestId } = request;
    const making = { client, person, revision: kept.revision, language, requestId, written };
    try {
      return ok(await commitGrant(services, db, making, decided.value, request, requestHash));
    } catch (error) {
      const before = isAlreadyDecided(error) ? await resolveEarlierDecision(services, db, shardOfId(clientId), requestHash) : null;
      if (before === null) throw error;
      return before;
    }
  });
};
