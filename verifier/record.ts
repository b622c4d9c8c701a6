// Checks the record that the fingerprint is the hash of, and everything that the record commits to by hash. Used for packs and for the
// public API response.
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { fromBase64, fromBase64Url, encodeUtf8 } from "../core/bytes.ts";
import { toCanonicalJson, isJsonObject, type JsonObject } from "../core/canonical-json.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { computeFieldCommitment } from "../core/certificates/subject.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import { findDifferingMembers, hasExactMembers, isSha256Hex, asObject, parseCanonical, asString, asStrings } from "./json.ts";
import { findIssuerKey, type Trust } from "./trust.ts";
import { parseWithdrawalNumber } from "./withdrawn-entities.ts";

const textMemberNames = ["cert_id", "disclosure_hash", "origin_domain", "purpose", "subject_hash", "timestamp"] as const;
const choiceMemberNames = ["entities_accepted", "entities_rejected"] as const;

export const isNamedBusiness = (value: unknown): boolean =>
  isJsonObject(value) && hasExactMembers(value, ["id", "name"]) && Object.values(value).every((text) => typeof text === "string");

/**
 * Parses a record. Returns null unless the text is canonical and has exactly the members of a record. The two members with the person's
 * choice for each recipient are optional, but only together.
 */
export const parsePreimage = (text: string | null): Preimage | null => {
  const record = asObject(parseCanonical(text));
  if (record === null) return null;
  const names = ["business", "entities", ...textMemberNames];
  const hasValidMembers = hasExactMembers(record, names) || hasExactMembers(record, [...names, ...choiceMemberNames]);
  const isTyped =
    isNamedBusiness(record.business) &&
    textMemberNames.every((name) => typeof record[name] === "string") &&
    ["entities", ...choiceMemberNames].every((name) => record[name] === undefined || asStrings(record[name]) !== null);
  return hasValidMembers && isTyped && isIsoTime(record.timestamp) ? (record as unknown as Preimage) : null;
};

export const checkCanonical = (preimage: Preimage | null): Finding =>
  preimage === null ? fail("the record is not canonical JSON with exactly the bound members") : pass();

/**
 * Checks the fingerprint of a record. `claimed` is the fingerprint on the certificate, and `expected` is a fingerprint
 * that the person verifying got from another source, or null.
 */
export const checkFingerprint = (text: string | null, claimed: unknown, expected: string | null): Finding => {
  const actual = sha256Hex(text ?? "");
  if (typeof claimed !== "string") return fail("there is no readable certificate with a fingerprint");
  if (text === null || actual !== claimed) return fail("the fingerprint of the certificate does not match its record");
  if (expected !== null && actual !== expected) return fail("it is not the expected fingerprint");
  return pass(actual);
};

const isSortedSet = (names: readonly string[]): boolean => names.every((name, at) => at === 0 || (names[at - 1] as string) < name);

export const checkArrays = (preimage: Preimage): Finding => {
  const { entities, entities_accepted: accepted, entities_rejected: rejected } = preimage;
  if (![entities, accepted ?? [], rejected ?? []].every(isSortedSet)) return fail("a list is not sorted or names a recipient twice");
  if (accepted === undefined || rejected === undefined) return pass(`${entities.length} recipients with one choice for all`);
  if (accepted.some((name) => rejected.includes(name))) return fail("a recipient is both accepted and declined");
  if (![...accepted, ...rejected].every((name) => entities.includes(name))) return fail("a choice is for a recipient that is not named");
  return pass(`${entities.length} recipients, ${accepted.length} accepted, ${rejected.length} declined`);
};

export const checkDisclosure = (disclosure: Uint8Array | string, preimage: Preimage): Finding =>
  sha256Hex(disclosure) === preimage.disclosure_hash ? pass() : fail("the text does not match the hash in the record");

const parseCommitments = (text: string | null): Readonly<Record<string, string>> | null => {
  const record = asObject(parseCanonical(text));
  return record !== null && Object.values(record).every(isSha256Hex) ? (record as Record<string, string>) : null;
};

export const checkCommitments = (text: string | null, preimage: Preimage, erasedAt: unknown): Finding => {
  if (text === null && isIsoTime(erasedAt)) return skipped(`the person's details were erased at ${erasedAt}`);
  if (text === null) return fail("subject/commitments.json is missing");
  if (parseCommitments(text) === null) return fail("subject/commitments.json is not a canonical map of commitments");
  return sha256Hex(text) === preimage.subject_hash ? pass() : fail("the commitments do not match the hash in the record");
};

const saltLength = 16;

export const checkDisclosures = (text: string | null, commitmentsText: string | null): Finding => {
  if (text === null && commitmentsText === null) return skipped("there is nothing to disclose");
  const commitments = parseCommitments(commitmentsText);
  const list = parseCanonical(text);
  if (commitments === null || !Array.isArray(list)) return fail("subject/disclosures.json is not a canonical list");
  let last = "";
  for (const item of list) {
    const [salt = "", key = "", value = "", ...more] = asStrings(item) ?? [];
    if (asStrings(item)?.length !== 3 || more.length > 0 || key <= last)
      return fail("a disclosure is not [salt, key, value], in order of keys");
    if (fromBase64Url(salt)?.length !== saltLength) return fail(`the salt of ${key} is not 128 bits of base64url`);
    if (!Object.hasOwn(commitments, key) || commitments[key] !== computeFieldCommitment(salt, key, value)) {
      return fail(`${key} does not match its commitment`);
    }
    last = key;
  }
  return pass(list.length === 0 ? "nothing disclosed" : list.map((item) => (item as string[])[1]).join(", "));
};

/**
 * Checks the policies in a pack. `index` is the parsed policies/index.json, `listed` is the list on the certificate, and `paths` lists all
 * policy files in the pack. `hashOfFile` returns the hash of the file at a path, or undefined.
 */
export const checkPolicies = (
  index: unknown,
  listed: unknown,
  paths: readonly string[],
  hashOfFile: (path: string) => string | undefined,
): Finding => {
  if (!Array.isArray(index)) return fail("policies/index.json is not a canonical list");
  const indexedPaths = new Set<string>();
  let missingTexts = 0;
  for (const item of index) {
    const policy = asObject(item);
    if (policy === null || !hasExactMembers(policy, ["captured_at", "content_hash", "id", "kind", "path", "source_url"])) {
      return fail("policies/index.json is malformed");
    }
    if (policy.path === null) {
      missingTexts += 1;
      continue;
    }
    const path = asString(policy.path) ?? "";
    if (path !== `policies/${policy.kind}-${policy.content_hash}.txt`) return fail("a policy's file name does not match its hash");
    if (hashOfFile(path) !== policy.content_hash) return fail(`${path} does not match its hash`);
    indexedPaths.add(path);
  }
  if (paths.some((path) => !indexedPaths.has(path))) return fail("the pack has a policy that the index does not name");
  const published = index.map((item) => {
    const { path: _, ...rest } = item as JsonObject;
    return rest;
  });
  if (toCanonicalJson(published as never) !== toCanonicalJson((listed ?? null) as never))
    return fail("the certificate lists different policies");
  if (missingTexts > 0) return incomplete(`the text of ${missingTexts} of ${index.length} policies is not in the pack`);
  return pass(index.length === 0 ? "no policies were linked" : `${index.length} policies`);
};

/** Checks the issuer's signature on a canonical text. The key must have been valid at `at`. */
export const checkIssuerSignature = async (
  crypto: NoteCrypto,
  signed: { readonly what: string; readonly text: string; readonly canonical: string; readonly at: string },
  claimed: unknown,
  trust: Trust | null,
): Promise<Finding> => {
  const signature = asObject(claimed);
  const bytes = fromBase64(asString(signature?.value) ?? "");
  if (signature?.alg !== "Ed25519" || bytes?.length !== 64) return fail("the issuer's signature is malformed");
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no trusted issuer key to check the signature with");
  const key = findIssuerKey(trust, signature.kid, signed.at);
  if (typeof key === "string") return fail(`the ${signed.what} is signed by a key that ${key}`);
  const isSigned = await crypto.verifyEd25519(key.publicKey, encodeUtf8(signed.canonical), bytes);
  return isSigned ? pass(`signed by ${key.kid}`) : fail(`the issuer's signature is not over this ${signed.text}`);
};

/** Returns the members of the public certificate that must match the record, with their expected values. */
const toBoundMembers = (preimage: Preimage): Partial<JsonObject> => ({
  cert_id: preimage.cert_id,
  business_id: preimage.business.id,
  business_name: preimage.business.name,
  issued_at: preimage.timestamp,
  entities: preimage.entities,
  entities_accepted: preimage.entities_accepted,
  entities_rejected: preimage.entities_rejected,
  disclosure_hash: preimage.disclosure_hash,
  purpose: preimage.purpose,
  origin_domain: preimage.origin_domain,
  subject_hash: preimage.subject_hash,
  preimage: preimage as unknown as JsonObject,
});

/**
 * Finds a contradiction between the members of a withdrawal, for one recipient or for the whole certificate. Returns null if there is none.
 */
const findContradiction = (withdrawal: JsonObject): string | null => {
  const { method, received_at: receivedAt = null, cease_acknowledged_at: acknowledgedAt = null, overdue } = withdrawal;
  if (acknowledgedAt !== null && overdue === true) return "an acknowledged withdrawal is called overdue";
  if (method !== undefined && (method === "business_recorded") !== (receivedAt !== null))
    return "the method of a withdrawal contradicts when the business received it";
  return null;
};

/**
 * Checks the recipients that are listed as withdrawn. The person must have consented to each one, and each must be listed once. Times,
 * deadlines and receipt URLs must be consistent. If the certificate is active, there must be a recipient whose consent was not withdrawn.
 */
const findEntitiesFault = (certificate: JsonObject, preimage: Preimage): string | null => {
  const listed = certificate.entities_withdrawn;
  if (listed === undefined) return null;
  if (!Array.isArray(listed) || listed.length === 0) return "the list of withdrawn recipients is malformed";
  const consented = preimage.entities_accepted ?? preimage.entities;
  const revokedAt = asObject(certificate.withdrawal)?.withdrawn_at;
  const seen = new Set<string>();
  for (const entity of listed.map(asObject)) {
    const name = asString(entity?.entity) ?? "";
    const at = entity?.withdrawn_at;
    if (!consented.includes(name) || seen.has(name)) return "a withdrawn recipient was not consented to, or is listed twice";
    if (!isIsoTime(at) || at < preimage.timestamp || (isIsoTime(revokedAt) && at > revokedAt))
      return "the time of a recipient's withdrawal is inconsistent";
    const receivedAt = entity?.received_at ?? null;
    if (receivedAt !== null && !(isIsoTime(receivedAt) && receivedAt <= at))
      return "the business received the request for a recipient after its withdrawal";
    if (entity?.cease_by !== new Date(getCeaseDeadline(Date.parse(receivedAt ?? at))).toISOString())
      return "the deadline of a recipient is not the tenth business day";
    const contradiction = findContradiction(entity as JsonObject);
    if (contradiction !== null) return contradiction;
    const receiptPath = `/certs/${preimage.cert_id}/receipt?withdrawal=${parseWithdrawalNumber(entity as JsonObject)}`;
    if (asString(entity?.receipt_url)?.endsWith(receiptPath) !== true) return "the receipt of a recipient's withdrawal is elsewhere";
    seen.add(name);
  }
  return certificate.status === "active" && seen.size === consented.length
    ? "the certificate is active, but all recipients are withdrawn"
    : null;
};

/** Compares the public certificate with the record and checks the issuer's signature on the record. */
export const checkCertificate = async (
  crypto: NoteCrypto,
  certificate: JsonObject,
  preimage: Preimage,
  canonical: string,
  trust: Trust | null,
): Promise<Finding> => {
  const names = findDifferingMembers(certificate, toBoundMembers(preimage));
  if (names.length > 0) return fail(`certificate and record differ in ${names.join(", ")}`);
  if (certificate.canonical !== canonical) return fail("the certificate shows a different record");
  if (certificate.fingerprint_version !== "1") return fail("the fingerprint has an unknown version");
  if (typeof certificate.disclosure_text !== "string" || sha256Hex(certificate.disclosure_text) !== preimage.disclosure_hash) {
    return fail("the certificate shows a different disclosure");
  }
  if (asString(certificate.verify_url)?.endsWith(`/${preimage.cert_id}`) !== true) return fail("verify_url is for a different certificate");
  const { status, withdrawal } = certificate;
  if (status !== "active" && status !== "revoked") return fail("the certificate has no known status");
  const isWithdrawn = (withdrawal ?? null) !== null;
  if (isWithdrawn !== (status === "revoked") || isWithdrawn !== isJsonObject(withdrawal))
    return fail("the certificate's status contradicts its withdrawal");
  const entitiesFault = findEntitiesFault(certificate, preimage) ?? (isJsonObject(withdrawal) ? findContradiction(withdrawal) : null);
  if (entitiesFault !== null) return fail(entitiesFault);
  const signed = await checkIssuerSignature(
    crypto,
    { what: "certificate", text: "record", canonical, at: preimage.timestamp },
    certificate.signature,
    trust,
  );
  return signed.outcome === "pass" ? pass(`${status}, ${signed.detail}`) : signed;
};
