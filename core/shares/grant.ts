// Decides whether to grant or renew a share: returns a share with its domain event, or a refusal (SPEC Share). The decisions depend only on
// the arguments, which include IDs, salts and the time.
import { authorizeWrite, type AccessRefusal, type Environment } from "../access/entitlement.ts";
import { normalizeOrigin, verifyOrigin, type OriginRules, type VerifiedDomain } from "../access/origins.ts";
import type { Actor } from "../actor.ts";
import { computeSubjectCommitments, computeSubjectHash } from "../certificates/subject.ts";
import type { AuditChain, DomainEvent, DomainEventType, AuditContent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import type { ClientId, ShareId } from "../ids.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs, toIso, type Instant } from "../time.ts";
import { validateLine, validateMultilineText, trimWhiteSpace } from "../text.ts";
import type { BusinessPrincipal, Person } from "../access/principal.ts";
import type { ContactFields, ContactKey } from "./fields.ts";
import type { RequestEvidence } from "./request-evidence.ts";
import { canonicalizeSharePreimage, computeShareFingerprint } from "./fingerprint.ts";
import { getOriginDomain, type Share } from "./share.ts";

/** A client and its business account, both as of `revision`. */
export interface GrantingClient {
  readonly clientId: ClientId;
  readonly environment: Environment;
  /** True if every request that redeems a code must have an Origin header, including requests from servers. */
  readonly requireOrigin: boolean;
  /** The URLs that the business has registered. A return URL among them is sufficient evidence that the business sent a request. */
  readonly returnUrls: readonly string[];
  readonly business: BusinessPrincipal;
  /** The business's logo, for programs that display a request themselves. The pages of this service do not show it. */
  readonly logoUrl: string | null;
  readonly domains: readonly VerifiedDomain[];
  readonly revision: number;
  /** How far the sandbox clock is ahead of real time, in milliseconds; 0 for a live client. */
  readonly clockOffsetMs: number;
  /** The number of the business's active sandbox shares; 0 for a live client. */
  readonly activeTestShares: number;
}

/** The maximum number of active sandbox shares per business. There is a limit because anyone can create such shares. */
export const maxTestShares = 10_000;

/** The origin of a request (scheme, host and port) and the verified domain that covers it. */
export interface VerifiedRequestOrigin {
  readonly origin: string;
  /** The ID of that domain; null for a test client on http://localhost. */
  readonly domainId: string | null;
}

/**
 * Verifies a request's origin. Refuses with `origin_mismatch` if the origin is malformed or no verified domain of the business covers it.
 */
export const verifyRequestOrigin = (
  { domains, environment }: Pick<GrantingClient, "domains" | "environment">,
  origin: string,
  allowsLocalHttp: boolean,
): Result<VerifiedRequestOrigin, "origin_mismatch"> => {
  const rules: OriginRules = { allowsLocalHttp, allowsSandboxLocalhost: environment === "sandbox" };
  const verified = verifyOrigin(origin, domains, rules);
  return verified.ok ? ok({ origin: normalizeOrigin(origin), domainId: verified.value.domainId }) : refuse("origin_mismatch");
};

const maxPurposeLength = 500;
const maxDisclosureLength = 20_000;
export const defaultDurationDays = 365;
export const maxDurationDays = 730;

export interface ShareTerms {
  readonly purpose: string;
  /** The disclosure text; empty if the business sent none. */
  readonly disclosureText: string;
}

/**
 * Validates the text that the business shows to the person. Refuses an empty purpose, and a purpose or disclosure that is too long or not
 * plain text.
 */
export const parseShareTerms = (purpose: string, disclosureText: string | null): Result<ShareTerms, "invalid_request"> => {
  const trimmedPurpose = trimWhiteSpace(purpose);
  if (trimmedPurpose === "" || trimmedPurpose.length > maxPurposeLength)
    return refuse("invalid_request", "purpose: must be 1 to 500 characters.");
  const fault = validateLine(trimmedPurpose);
  if (fault !== null) return refuse("invalid_request", `purpose: ${fault}.`);
  if (disclosureText === null || disclosureText === "") return ok({ purpose: trimmedPurpose, disclosureText: "" });
  if (disclosureText.length > maxDisclosureLength) return refuse("invalid_request", "disclosure_text: must be at most 20,000 characters.");
  const disclosureFault = validateMultilineText(disclosureText);
  return disclosureFault === null
    ? ok({ purpose: trimmedPurpose, disclosureText })
    : refuse("invalid_request", `disclosure_text: ${disclosureFault}.`);
};

/** The terms that the person agreed to. */
export interface ShareAgreement extends ShareTerms {
  readonly scope: readonly ContactKey[];
  readonly durationDays: number;
  readonly origin: string;
  readonly requestEvidence: RequestEvidence;
}

export interface PreparedShare {
  readonly share: Share;
  readonly disclosureText: string;
  /** The exact text whose SHA-256 is the fingerprint. */
  readonly canonical: string;
  readonly subjectHash: string;
  readonly rootSalt: Uint8Array;
  /** The person's fields within the scope. */
  readonly fields: ContactFields;
  readonly domainEvent: DomainEvent;
}

/** Returns the actor of a share's events: the person or, for a test person, the client. */
const getShareActor = (person: Person | null, clientId: ClientId): Actor => person?.actor ?? { kind: "client", id: clientId };

/** Returns the actor for the business's audit chain, which must not identify the person. */
const toBusinessActor = (actor: Actor): Actor =>
  actor.kind === "consumer" || actor.kind === "agent" ? { kind: "subject", verifiedBy: "account" } : actor;

export interface ShareAuditChains {
  readonly business: AuditChain;
  /** The person's chain; null for a test person and for an erased account. */
  readonly person: AuditChain | null;
}

export const createShareDomainEvent = (
  type: DomainEventType,
  share: Share,
  { business, person }: ShareAuditChains,
  at: Instant,
  { actor, payload }: AuditContent,
): DomainEvent => ({
  type,
  entityType: "share",
  entityId: share.id,
  at,
  chains: [{ ...business, content: { actor: toBusinessActor(actor), payload } }, ...(person === null ? [] : [person])],
  actor,
  payload: { ...payload, business_id: share.business.id },
  anchor: { fingerprint: share.fingerprint, originDomain: getOriginDomain(share.origin) },
  businessId: share.business.id,
  environment: share.environment,
});

interface ShareInput {
  readonly client: Pick<GrantingClient, "clientId" | "environment" | "business" | "clockOffsetMs">;
  /** The person who grants the share; null for a test person. */
  readonly person: Person | null;
  readonly fields: ContactFields;
  readonly now: Instant;
  readonly shareId: ShareId;
  readonly rootSalt: Uint8Array;
}

const prepareShare = (
  type: "share.created" | "share.renewed",
  input: ShareInput & { readonly agreement: ShareAgreement; readonly supersedes: ShareId | null },
): PreparedShare => {
  const { client, person, agreement, now, shareId, rootSalt, supersedes } = input;
  const { business, clientId, environment } = client;
  const { scope, durationDays, origin, requestEvidence, purpose, disclosureText } = agreement;
  const fields = Object.fromEntries(scope.flatMap((key) => (input.fields[key] === undefined ? [] : [[key, input.fields[key]]])));
  const values = new Map(Object.entries(fields as ContactFields).map(([key, { value }]) => [key, value]));
  const expiresAt = now + durationDays * dayMs;
  const subjectHash = computeSubjectHash(computeSubjectCommitments(values, rootSalt));
  const disclosureHash = sha256Hex(disclosureText);
  const boundMembers = {
    id: shareId,
    business: { id: business.id, name: business.name },
    disclosureHash,
    expiresAt,
    purpose,
    scope,
    supersedes,
  };
  const canonical = canonicalizeSharePreimage({ ...boundMembers, originDomain: getOriginDomain(origin), subjectHash, createdAt: now });
  const fingerprint = computeShareFingerprint(canonical);
  const actor = getShareActor(person, clientId);
  const payload = {
    fingerprint,
    client_id: clientId,
    environment,
    scope: [...scope],
    expires_at: toIso(expiresAt),
    supersedes,
    request_evidence: requestEvidence,
  };
  const share: Share = {
    ...boundMembers,
    status: "active",
    fingerprint,
    clientId,
    environment,
    origin,
    requestEvidence,
    createdAt: now,
    durationDays,
    revokedAt: null,
    ceaseBy: null,
    acknowledgedAt: null,
    supersededBy: null,
    clockOffsetMs: client.clockOffsetMs,
  };
  const chains = { business: business.chain, person: person?.chain ?? null };
  const domainEvent = createShareDomainEvent(type, share, chains, now, { actor, payload });
  return { share, disclosureText, canonical, subjectHash, rootSalt, fields, domainEvent };
};

/**
 * Returns true if a field in the scope has no value and is not in `allowedMissing`. The second address line can always be empty if an
 * address is shared, because most addresses have none.
 */
const hasMissingValue = (scope: readonly ContactKey[], fields: ContactFields, allowedMissing: readonly ContactKey[]): boolean => {
  const hasAddress = scope.includes("address_line1") && fields.address_line1 !== undefined;
  return scope.some((key) => fields[key] === undefined && !allowedMissing.includes(key) && !(key === "address_line2" && hasAddress));
};

const missingValueRefusal = refuse(
  "invalid_request",
  "scope: must contain only fields with a value. Save a value, remove the field or, for a new share, add it to missing_ok.",
);

export interface ShareGrant extends PreparedShare {
  readonly verifiedOrigin: VerifiedRequestOrigin;
}

export type GrantRefusal = AccessRefusal | "origin_mismatch" | "invalid_request";

/**
 * Checks that the client may receive shares from this origin. An error due to the account's status takes precedence over `origin_mismatch`.
 */
export const checkGrantAllowed = (
  client: GrantingClient,
  origin: string,
  allowsLocalHttp: boolean,
): Result<VerifiedRequestOrigin, GrantRefusal> => {
  const writable = authorizeWrite(client.business.status);
  return writable.ok ? verifyRequestOrigin(client, origin, allowsLocalHttp) : writable;
};

/** Grants a share. Refuses if a field in the scope has no value and is not in `allowedMissing`. */
export const decideGrant = (
  input: ShareInput & {
    readonly verifiedOrigin: VerifiedRequestOrigin;
    readonly agreement: ShareAgreement;
    readonly allowedMissing: readonly ContactKey[];
  },
): Result<ShareGrant, "invalid_request"> => {
  const { agreement, verifiedOrigin, fields, allowedMissing } = input;
  if (hasMissingValue(agreement.scope, fields, allowedMissing)) return missingValueRefusal;
  const prepared = prepareShare("share.created", {
    ...input,
    supersedes: null,
    agreement: { ...agreement, origin: verifiedOrigin.origin },
  });
  return ok({ ...prepared, verifiedOrigin });
};

/**
 * Replaces an active share. Fields from the old scope may be empty, but added fields must have values. Refuses if the share is not active
 * or the business has no write access.
 */
export const decideRenewal = (
  input: ShareInput & {
    readonly old: Share;
    readonly disclosureText: string;
    readonly scope: readonly ContactKey[] | null;
    readonly durationDays: number | null;
  },
): Result<PreparedShare, GrantRefusal | "share_inactive"> => {
  const { old, client, fields } = input;
  if (old.status !== "active") return refuse("share_inactive");
  const writable = authorizeWrite(client.business.status);
  if (!writable.ok) return writable;
  const scope = input.scope ?? old.scope;
  if (hasMissingValue(scope, fields, old.scope)) return missingValueRefusal;
  const { purpose, origin, requestEvidence } = old;
  const durationDays = input.durationDays ?? old.durationDays;
  const agreement = { purpose, origin, requestEvidence, disclosureText: input.disclosureText, scope, durationDays };
  return ok(prepareShare("share.renewed", { ...input, supersedes: old.id, agreement }));
};
