// The decisions to grant and to renew: a client, a person's fields and what they agreed to become a share and its fact, or a
// refusal (SPEC, States and transitions, Share). Pure: ids, salts and the clock come in as arguments.
import { mayWrite, type AccessRefusal, type Environment } from "../access/entitlement.ts";
import { verifyOrigin, type OriginRules, type VerifiedDomain } from "../access/origins.ts";
import type { Actor } from "../actor.ts";
import { subjectCommitments, subjectHash } from "../certificates/subject.ts";
import type { AuditChain, Fact, FactType, Told } from "../facts.ts";
import { sha256Hex } from "../hash.ts";
import type { ClientId, ShareId } from "../ids.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs, isoOf, type Instant } from "../time.ts";
import { lineFault, passageFault, trimmed } from "../text.ts";
import type { ActingBusiness, Person } from "../access/principal.ts";
import type { ContactFields, ContactKey } from "./fields.ts";
import { canonicalShare, shareFingerprint } from "./fingerprint.ts";
import { originDomain, type Share } from "./share.ts";

/** A client and the account behind it, as it stood at a revision. */
export interface GrantingClient {
  readonly clientId: ClientId;
  readonly environment: Environment;
  /** A redemption without an Origin is refused, a server's too. */
  readonly requireOrigin: boolean;
  /** Addresses that need no other evidence for an answer by redirect. */
  readonly returnUrls: readonly string[];
  readonly business: ActingBusiness;
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
export interface BoundOrigin {
  readonly origin: string;
  /** Null for a test client on http://localhost. */
  readonly domainId: string | null;
}

/** Refuses `origin_mismatch` for an Origin that is none, or that none of the business's verified domains covers. */
export const boundOrigin = (
  { domains, environment }: Pick<GrantingClient, "domains" | "environment">,
  origin: string,
  allowsLocalHttp: boolean,
): Result<BoundOrigin, "origin_mismatch"> => {
  const rules: OriginRules = { allowsLocalHttp, allowsSandboxLocalhost: environment === "sandbox" };
  const verified = verifyOrigin(origin, domains, rules);
  return verified.ok ? ok({ origin: new URL(origin).origin, domainId: verified.value.domainId }) : refuse("origin_mismatch");
};

const maxPurposeLength = 500;
const maxDisclosureLength = 20_000;
export const defaultDurationDays = 365;
export const maxDurationDays = 730;

export interface ReadWords {
  readonly purpose: string;
  /** Empty where the business sent none. */
  readonly disclosureText: string;
}

/** What the business says to the person (CONTRACT 18, Text). */
export const readWords = (purpose: string, disclosureText: string | null): Result<ReadWords, "invalid_request"> => {
  const line = trimmed(purpose);
  if (line === "" || line.length > maxPurposeLength) return refuse("invalid_request", "purpose: must be 1 to 500 characters.");
  const fault = lineFault(line);
  if (fault !== null) return refuse("invalid_request", `purpose: ${fault}.`);
  if (disclosureText === null || disclosureText === "") return ok({ purpose: line, disclosureText: "" });
  if (disclosureText.length > maxDisclosureLength) return refuse("invalid_request", "disclosure_text: must be at most 20,000 characters.");
  const passage = passageFault(disclosureText);
  return passage === null ? ok({ purpose: line, disclosureText }) : refuse("invalid_request", `disclosure_text: ${passage}.`);
};

/** What the person agreed to. */
export interface Agreement extends ReadWords {
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
  readonly fact: Fact;
}

/** What a test person does is told as their client's act. */
const actorOf = (person: Person | null, clientId: ClientId): Actor => person?.actor ?? { kind: "client", id: clientId };

/** How a business is told of what the person did: as somebody's with an account, never whose. */
const toldToBusiness = (actor: Actor): Actor =>
  actor.kind === "consumer" || actor.kind === "agent" ? { kind: "subject", provenBy: "account" } : actor;

/** The chains that tell of a share. */
export interface ShareChains {
  readonly business: AuditChain;
  /** Null for a test person, and once the account is erased. */
  readonly person: AuditChain | null;
}

export const shareFact = (
  type: FactType,
  share: Share,
  { business, person }: ShareChains,
  at: Instant,
  { actor, payload }: Told,
): Fact => ({
  type,
  entityType: "share",
  entityId: share.id,
  at,
  chains: [{ ...business, told: { actor: toldToBusiness(actor), payload } }, ...(person === null ? [] : [person])],
  actor,
  payload: { ...payload, business_id: share.business.id },
  anchor: { fingerprint: share.fingerprint, originDomain: originDomain(share.origin) },
  businessId: share.business.id,
  environment: share.environment,
});

/** What becomes a share, whether a first one or one in place of another. */
interface Sharing {
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
  input: Sharing & { readonly agreement: Agreement; readonly supersedes: ShareId | null },
): PreparedShare => {
  const { client, person, agreement, now, shareId, rootSalt, supersedes } = input;
  const { business, clientId, environment } = client;
  const { scope, durationDays, origin, purpose, disclosureText } = agreement;
  const fields = Object.fromEntries(scope.flatMap((key) => (input.fields[key] === undefined ? [] : [[key, input.fields[key]]])));
  const values = new Map(Object.entries(fields as ContactFields).map(([key, { value }]) => [key, value]));
  const expiresAt = now + durationDays * dayMs;
  const hashOfSubject = subjectHash(subjectCommitments(values, rootSalt));
  const disclosureHash = sha256Hex(disclosureText);
  const bound = { id: shareId, business: { id: business.id, name: business.name }, disclosureHash, expiresAt, purpose, scope, supersedes };
  const canonical = canonicalShare({ ...bound, originDomain: originDomain(origin), subjectHash: hashOfSubject, createdAt: now });
  const fingerprint = shareFingerprint(canonical);
  const actor = actorOf(person, clientId);
  const words = { fingerprint, client_id: clientId, environment, scope: [...scope], expires_at: isoOf(expiresAt), supersedes };
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
  const fact = shareFact(type, share, chains, now, { actor, payload: words });
  return { share, disclosureText, canonical, subjectHash: hashOfSubject, rootSalt, fields, fact };
};

/** A value for each scoped field, unless its absence was agreed to. */
const missingFault = (scope: readonly ContactKey[], fields: ContactFields, missingOk: readonly ContactKey[]): boolean =>
  scope.some((key) => fields[key] === undefined && !missingOk.includes(key));

const missing = refuse(
  "invalid_request",
  "scope: there is no value for a field. Leave the field out, save a value, or name it in missing_ok.",
);

export interface DecidedGrant extends PreparedShare {
  readonly bound: BoundOrigin;
}

export type GrantRefusal = AccessRefusal | "origin_mismatch" | "invalid_request";

/** Whether the client may be granted anything from this origin now. Refuses, in this order: the account's state, the origin. */
export const mayGrant = (client: GrantingClient, origin: string, allowsLocalHttp: boolean): Result<BoundOrigin, GrantRefusal> => {
  const writable = mayWrite(client.business.status);
  return writable.ok ? boundOrigin(client, origin, allowsLocalHttp) : writable;
};

/** Refuses a missing value. */
export const decideGrant = (
  input: Sharing & { readonly bound: BoundOrigin; readonly agreement: Agreement; readonly missingOk: readonly ContactKey[] },
): Result<DecidedGrant, "invalid_request"> => {
  const { agreement, bound, fields, missingOk } = input;
  if (missingFault(agreement.scope, fields, missingOk)) return missing;
  const prepared = prepareShare("share.created", { ...input, supersedes: null, agreement: { ...agreement, origin: bound.origin } });
  return ok({ ...prepared, bound });
};

/** A fresh share in place of an active one. A field of the old scope may have lost its value since; a new one needs one. */
export const decideRenewal = (
  input: Sharing & {
    readonly old: Share;
    readonly disclosureText: string;
    readonly scope: readonly ContactKey[] | null;
    readonly durationDays: number | null;
  },
): Result<PreparedShare, GrantRefusal | "share_inactive"> => {
  const { old, client, fields } = input;
  if (old.status !== "active") return refuse("share_inactive");
  const writable = mayWrite(client.business.status);
  if (!writable.ok) return writable;
  const scope = input.scope ?? old.scope;
  if (missingFault(scope, fields, old.scope)) return missing;
  const { purpose, origin } = old;
  const durationDays = input.durationDays ?? old.durationDays;
  const agreement = { purpose, origin, disclosureText: input.disclosureText, scope, durationDays };
  return ok(prepareShare("share.renewed", { ...input, supersedes: old.id, agreement }));
};
