// Grants a share: the person agrees to share contact fields with a business. The business gets a code that it redeems for the fields.
import type { Person } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, type ShareId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { parseShareTerms, checkGrantAllowed, maxTestShares, decideGrant, type ShareGrant } from "../../../core/shares/grant.ts";
import { getPersonaFields, type PersonaName } from "../../../core/shares/persona.ts";
import type { RequestEvidence } from "../../../core/shares/request-evidence.ts";
import { codeLifetimeMs } from "../../../core/shares/request.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { findContactFields, isOutdatedFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { insertShareCode, isOutdatedGrant, isShareLimitReached } from "../../../storage/share-changes.ts";
import { isAlreadyDecided } from "../../../storage/share-codes.ts";
import {
  createTakeShareUpdates,
  prepareFieldsUpdate,
  type PreparedFieldsUpdate,
  type TakeShareUpdates,
} from "../consumers/prepare-fields-update.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import type { ShareRequest } from "./authorize-share-request.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import { commitShare, type ShareCreation } from "./commit-share.ts";
import { deriveShareCode, hashDecisionRequest, resolveEarlierDecision, type GrantResult } from "./earlier-decision.ts";

/** The grantor: a person with an account or a sandbox test person. */
export type Grantor = { readonly person: Person } | { readonly persona: PersonaName };

export interface GrantRequest extends Omit<ShareRequest, "requestedScope" | "state"> {
  /** The evidence that the request came from the business. */
  readonly requestEvidence: RequestEvidence;
  readonly scope: readonly ContactKey[];
  /** The fields that may be shared without a value. */
  readonly allowedMissing: readonly ContactKey[];
  /**
   * Values that the person typed with the decision. They are saved in the same transaction as the share or, if the person's account is in
   * another shard, before it. Null clears a field.
   */
  readonly fieldChanges?: ReadonlyMap<ContactKey, string | null>;
  /** Requests from the same person with the same key count as one request, with one share and one code. If null, every request is new. */
  readonly decisionKey: string | null;
  /**
   * Compares the decision with the request that was shown to the person. Called after the checks of the client, account and origin. Omit it
   * if the comparison was already made, as the consent sheet does with `verifySheetToken`.
   */
  readonly checkDecision?: () => Promise<Result<true, "invalid_request">>;
  readonly language: Language;
  readonly requestId: string;
}

const commitGrant = async (
  services: ShareWriteDependencies,
  db: Database,
  creation: ShareCreation,
  decided: ShareGrant,
  { challenge, requestHash }: { readonly challenge: string; readonly requestHash: string },
  saveIdempotentResponse: SaveIdempotentResponse<GrantResult>,
): Promise<Result<GrantResult, "rate_limited">> => {
  const { share } = decided;
  const { writtenAt, client } = creation;
  const code = await deriveShareCode(services, shardOfId(share.id), requestHash, 1);
  const row = { codeHash: sha256Hex(code), requestHash, challenge, requireOrigin: client.requireOrigin, createdAt: writtenAt };
  const granted: GrantResult = { code, codeExpiresAt: writtenAt + codeLifetimeMs, share, isRepeated: false };
  const after = [insertShareCode(db, decided, row), ...(await saveIdempotentResponse(granted))];
  const written = await commitShare(services, db, decided, creation, { after });
  return written.ok ? ok(granted) : written;
};

/** Returns the grantor's fields as they will be once the share is written. */
const prepareGrantorFields = async (
  services: ShareWriteDependencies,
  grantor: Grantor,
  changes: GrantRequest["fieldChanges"],
  takeShareUpdates: TakeShareUpdates,
): Promise<Result<Omit<PreparedFieldsUpdate, "changedKeys">, "invalid_request" | "unauthorized">> => {
  if ("persona" in grantor) return ok({ fields: getPersonaFields(grantor.persona), revision: 0, write: null });
  const { person } = grantor;
  if (changes !== undefined && changes.size > 0) return prepareFieldsUpdate(services, person, changes, takeShareUpdates);
  const stored = await findContactFields(services.shards.forId(person.id), services.vault, person.id);
  return stored === null ? refuse("unauthorized") : ok({ ...stored, write: null });
};

const testShareLimitRefusal = refuse(
  "rate_limited",
  "Active test share limit reached (10,000). Reset the sandbox with POST /v1/sandbox/reset first.",
);

/**
 * Grants a share and issues its code, in one transaction (SPEC Share, Authorization code). If identical requests are concurrent, one of
 * them creates the share and the others return it. Returns the first of these errors that applies:
 * - `invalid_request` for an invalid purpose or disclosure text
 * - `client_not_found`
 * - `sandbox_only` for a test person on a live client, `forbidden` for a person on a test client
 * - `unauthorized` if the person's account no longer exists, and `invalid_request` for an invalid value in `fieldChanges`
 * - the errors for the business's account status, and `origin_mismatch`
 * - the errors of `checkDecision`
 * - `rate_limited` if there are 10,000 active test shares
 * - `invalid_request` for a missing value
 * - `rate_limited` if a storage limit is reached
 * - the errors of `resolveEarlierDecision`, if the same request was decided earlier
 * - `share_limit` if the person has 100 active shares with the business, or 1,000 in its shard
 * - `storage_unavailable` if concurrent changes made every attempt fail
 */
export const grantShare = async (
  services: ShareWriteDependencies,
  grantor: Grantor,
  request: GrantRequest,
  saveIdempotentResponse: SaveIdempotentResponse<GrantResult> = async () => [],
): Promise<Result<GrantResult>> => {
  const terms = parseShareTerms(request.purpose, request.disclosureText);
  if (!terms.ok) return terms;
  const { clientId } = request;
  if (clientId === null) return refuse("client_not_found");
  const db = services.shards.forId(clientId);
  const person = "person" in grantor ? grantor.person : null;
  const decisionKey = request.decisionKey ?? crypto.randomUUID();
  const requestHash = hashDecisionRequest(person, decisionKey);
  const takeShareUpdates = createTakeShareUpdates(services);
  return retryOnConflict([isOutdatedGrant, isOutdatedFields, isAlreadyDecided], async () => {
    const [client, stored] = await Promise.all([
      findGrantingClient(db, clientId),
      prepareGrantorFields(services, grantor, request.fieldChanges, takeShareUpdates),
    ]);
    if (client === null) return refuse("client_not_found");
    if (client.environment === "live" && person === null) return refuse("sandbox_only");
    if (client.environment === "sandbox" && person !== null)
      return refuse("forbidden", "Test clients accept only test people. Use POST /v1/share/sandbox-consent.");
    if (!stored.ok) return stored;
    const { fields, revision, write: fieldsWrite } = stored.value;
    const verified = checkGrantAllowed(client, request.origin, services.config.environment === "development");
    if (!verified.ok) return verified;
    const allowed = (await request.checkDecision?.()) ?? ok(true);
    if (!allowed.ok) return allowed;
    if (client.activeTestShares >= maxTestShares) return testShareLimitRefusal;
    const writtenAt = services.clock();
    const decided = decideGrant({
      client,
      person,
      agreement: { ...request, ...terms.value },
      verifiedOrigin: verified.value,
      fields,
      allowedMissing: request.allowedMissing,
      now: writtenAt + client.clockOffsetMs,
      shareId: generateId("shr_", shardOfId(clientId), services.random) as ShareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const { language, requestId, challenge } = request;
    const creation = { client, person, fields, revision, fieldsWrite, language, requestId, writtenAt };
    try {
      return await commitGrant(services, db, creation, decided.value, { challenge, requestHash }, saveIdempotentResponse);
    } catch (error) {
      if (!isShareLimitReached(error) && !isAlreadyDecided(error)) throw error;
      const earlier = await resolveEarlierDecision(services, db, shardOfId(clientId), requestHash);
      if (earlier !== null) return earlier;
      if (isShareLimitReached(error)) return refuse("share_limit");
      throw error;
    }
  });
};
