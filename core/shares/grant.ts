// The decisions to grant and to renew: a client, a person's fields and what they agreed to become a share and its fact, or a
// refusal (SPEC, States and transitions, Share). Pure: ids, salts and the clock come in as arguments.
import { authorizeWrite, type AccessRefusal, type Environment } from "../access/entitlement.ts";
import { verifyOrigin, type OriginRules, type VerifiedDomain } from "../access/origins.ts";
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
import { formatSharePreimage, computeShareFingerprint } from "./fingerprint.ts";
import { getOriginDomain, type Share } from "./share.ts";

/** A client and the account behind it, as it stood at a revision. */
export interface GrantingClient {
  readonly clientId: ClientId;
  readonly environment: Environment;
  /** A redemption without an Origin is refused, a server's too. */
  readonly requireOrigin: boolean;
  /** Addresses that need no other evidence for an answer by redirect. */
  readonly returnUrls: readonly string[];
  readonly business: BusinessPrincipal;
  /** For programs that show a request themselves; no page of ours shows it. */
  readonly logoUrl: string | null;
  readonly domains: readonly VerifiedDomain[];
  readonly revision: number;
  /** How far the clock of its shares is ahead of the time. None for a live client. */
  readonly clockOffsetMs: number;
  /** Of its business; none are counted for a live client. */
  readonly activeTestShares: number;
}

/** At most this many active shares in the sandbox of a business: anyone can make them. */
export const maxTestShares = 10_000;

/** Where a request may come from: scheme, host and port as one text, and the domain that covers it. */
export interface VerifiedRequestOrigin {
  readonly origin: string;
  /** Null for a test client on http://localhost. */
  readonly domainId: string | null;
}

/** Refuses `origin_mismatch` for an Origin that is none, or that none of the business's verified domains covers. */
export const verifyRequestOrigin = (
  { domains, environment }: Pick<GrantingClient, "domains" | "environment">,
  origin: string,
  allowsLocalHttp: boolean,
): Result<VerifiedRequestOrigin, "origin_mismatch"> => {
  const rules: OriginRules = { allowsLocalHttp, allowsSandboxLocalhost: environment === "sandbox" };
  const verified = verifyOrigin(origin, domains, rules);
  return verified.ok ? ok({ origin: new URL(origin).origin, domainId: verified.value.domainId }) : refuse("origin_mismatch");
};

const maxPurposeLength = 500;
const maxDisclosureLength = 20_000;
export const defaultDurationDays = 365;
export const maxDurationDays = 730;

export interface ShareTerms {
  readonly purpose: string;
  /** Empty where the business sent none. */
  readonly disclosureText: string;
}

/** What the business says to the person (CONTRACT 18, Text). */
export const parseShareTerms = (purpose: string, disclosureText: string | null): Result<ShareTerms, "invalid_request"> => {
  const line = trimWhiteSpace(purpose);
  if (line === "" || line.length > maxPurposeLength) return refuse("invalid_request", "purpose: must be 1 to 500 characters.");
  const fault = validateLine(line);
  if (fault !== null) return refuse("invalid_request", `purpose: ${fault}.`);
  if (disclosureText === null || disclosureText === "") return ok({ purpose: line, disclosureText: "" });
  if (disclosureText.length > maxDisclosureLength) return refuse("invalid_request", "disclosure_text: must be at most 20,000 characters.");
  const passage = validateMultilineText(disclosureText);
  return passage === null ? ok({ purpose: line, disclosureText }) : refuse("invalid_request", `disclosure_text: ${passage}.`);
};

/** What the person agreed to. */
export interface ShareAgreement extends ShareTerms {
  readonly scope: readonly ContactKey[];
  readonly durationDays: number;
  readonly origin: string;
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

/** What a test person does is told as their client's act. */
const getShareActor = (person: Person | null, clientId: ClientId): Actor => person?.actor ?? { kind: "client", id: clientId };

/** How a business is told of what the person did: as somebody's with an account, never whose. */
const toBusinessActor = (actor: Actor): Actor =>
  actor.kind === "consumer" || actor.kind === "agent" ? { kind: "subject", verifiedBy: "account" } : actor;

/** The chains that tell of a share. */
export interface ShareAuditChains {
  readonly business: AuditChain;
  /** Null for a test person, and once the account is erased. */
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

/** What becomes a share, whether a first one or one in place of another. */
interface ShareInput {
  readonly client: Pick<GrantingClient, "clientId" | "environment" | "business" | "clockOffsetMs">;
  /** Null for a test person. */
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
  const { scope, durationDays, origin, purpose, disclosureText } = agreement;
  const fields = Object.fromEntries(scope.flatMap((key) => (input.fields[key] === undefined ? [] : [[key, input.fields[key]]])));
  const values = new Map(Object.entries(fields as ContactFields).map(([key, { value }]) => [key, value]));
  const expiresAt = now + durationDays * dayMs;
  const hashOfSubject = computeSubjectHash(computeSubjectCommitments(values, rootSalt));
  const disclosureHash = sha256Hex(disclosureText);
  const bound = { id: shareId, business: { id: business.id, name: business.name }, disclosureHash, expiresAt, purpose, scope, supersedes };
  const canonical = formatSharePreimage({ ...bound, originDomain: getOriginDomain(origin), subjectHash: hashOfSubject, createdAt: now });
  const fingerprint = computeShareFingerprint(canonical);
  const actor = getShareActor(person, clientId);
  const words = { fingerprint, client_id: clientId, environment, scope: [...scope], expires_at: toIso(expiresAt), supersedes };
  const share: Share = {
    ...bound,
    status: "active",
    fingerprint,
    clientId,
    environment,
    origin,
    createdAt: now,
    durationDays,
    revokedAt: null,
    ceaseBy: null,
    acknowledgedAt: null,
    supersededBy: null,
    clockOffsetMs: client.clockOffsetMs,
  };
  const chains = { business: business.chain, person: person?.chain ?? null };
  const fact = createShareDomainEvent(type, share, chains, now, { actor, payload: words });
  return { share, disclosureText, canonical, subjectHash: hashOfSubject, rootSalt, fields, domainEvent: fact };
};

/** A value for each scoped field, unless its absence was agreed to. */
const hasMissingValue = (scope: readonly ContactKey[], fields: ContactFields, missingOk: readonly ContactKey[]): boolean =>
  scope.some((key) => fields[key] === undefined && !missingOk.includes(key));

const missingValueRefusal = refuse(
  "invalid_request",
  "scope: there is no value for a field. Leave the field out, save a value, or name it in missing_ok.",
);

export interface ShareGrant extends PreparedShare {
  readonly verifiedOrigin: VerifiedRequestOrigin;
}

export type GrantRefusal = AccessRefusal | "origin_mismatch" | "invalid_request";

/** Whether the client may be granted anything from this origin now. Refuses, in this order: the account's state, the origin. */
export const checkGrantAllowed = (
  client: GrantingClient,
  origin: string,
  allowsLocalHttp: boolean,
): Result<VerifiedRequestOrigin, GrantRefusal> => {
  const writable = authorizeWrite(client.business.status);
  return writable.ok ? verifyRequestOrigin(client, origin, allowsLocalHttp) : writable;
};

/** Refuses a missing value. */
export const decideGrant = (
  input: ShareInput & {
    readonly bound: VerifiedRequestOrigin;
    readonly agreement: ShareAgreement;
    readonly missingOk: readonly ContactKey[];
  },
): Result<ShareGrant, "invalid_request"> => {
  const { agreement, bound, fields, missingOk } = input;
  if (hasMissingValue(agreement.scope, fields, missingOk)) return missingValueRefusal;
  const prepared = prepareShare("share.created", { ...input, supersedes: null, agreement: { ...agreement, origin: bound.origin } });
  return ok({ ...prepared, verifiedOrigin: bound });
};

/** A fresh share in place of an active one. A field of the old scope may have lost its value since; a new one needs one. */
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
  const { purpose, origin } = old;
  const durationDays = input.durationDays ?? old.durationDays;
  const agreement = { purpose, origin, disclosureText: input.disclosureText, scope, durationDays };
  return ok(prepareShare("share.renewed", { ...input, supersedes: old.id, agreement }));
};
