// Checks on the record behind the fingerprint, and on everything that it names by hash. The same for a pack and for the
// public answer of the service.
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { fromBase64, fromBase64Url, encodeUtf8 } from "../core/bytes.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { computeFieldCommitment } from "../core/certificates/subject.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import {
  findDifferingMembers,
  hasExactMembers,
  isSha256Hex,
  isIsoInstant,
  isObject,
  asObject,
  parseCanonical,
  asString,
  asStrings,
  type JsonObject,
} from "./json.ts";
import { findIssuerKey, type Trust } from "./trust.ts";

const textMemberNames = ["cert_id", "disclosure_hash", "origin_domain", "purpose", "subject_hash", "timestamp"] as const;
const answerMemberNames = ["entities_accepted", "entities_rejected"] as const;

export const isNamedBusiness = (value: unknown): boolean =>
  isObject(value) && hasExactMembers(value, ["id", "name"]) && Object.values(value).every((text) => typeof text === "string");

/** Null unless the text is canonical and has exactly the eight members of a record, or the ten of one with answers. */
export const parsePreimage = (text: string | null): Preimage | null => {
  const record = asObject(parseCanonical(text));
  if (record === null) return null;
  const names = ["business", "entities", ...textMemberNames];
  const isShaped = hasExactMembers(record, names) || hasExactMembers(record, [...names, ...answerMemberNames]);
  const isTyped =
    isNamedBusiness(record.business) &&
    textMemberNames.every((name) => typeof record[name] === "string") &&
    ["entities", ...answerMemberNames].every((name) => record[name] === undefined || asStrings(record[name]) !== null);
  return isShaped && isTyped && isIsoInstant(record.timestamp) ? (record as unknown as Preimage) : null;
};

export const checkCanonical = (preimage: Preimage | null): Finding =>
  preimage === null ? fail("the record is not canonical JSON of exactly the bound members") : pass();

/** `claimed` is what the certificate says, `expected` what the reader was told elsewhere. */
export const checkFingerprint = (text: string | null, claimed: unknown, expected: string | null): Finding => {
  const actual = sha256Hex(text ?? "");
  if (typeof claimed !== "string") return fail("there is no certificate to read that names a fingerprint");
  if (text === null || actual !== claimed) return fail("the certificate names another fingerprint than its record has");
  if (expected !== null && actual !== expected) return fail("it is not the fingerprint that was expected");
  return pass(actual);
};

const isSortedSet = (names: readonly string[]): boolean => names.every((name, at) => at === 0 || (names[at - 1] as string) < name);

export const checkArrays = (preimage: Preimage): Finding => {
  const { entities, entities_accepted: accepted, entities_rejected: rejected } = preimage;
  if (![entities, accepted ?? [], rejected ?? []].every(isSortedSet)) return fail("a list is not sorted, or names somebody twice");
  if (accepted === undefined || rejected === undefined) return pass(`${entities.length} recipients, asked about together`);
  if (accepted.some((name) => rejected.includes(name))) return fail("somebody is both accepted and declined");
  if (![...accepted, ...rejected].every((name) => entities.includes(name))) return fail("somebody was answered who was not named");
  return pass(`${entities.length} recipients, ${accepted.length} accepted, ${rejected.length} declined`);
};

export const checkDisclosure = (disclosure: Uint8Array | string, preimage: Preimage): Finding =>
  sha256Hex(disclosure) === preimage.disclosure_hash ? pass() : fail("it is another text than the record names");

const parseCommitments = (text: string | null): Readonly<Record<string, string>> | null => {
  const record = asObject(parseCanonical(text));
  return record !== null && Object.values(record).every(isSha256Hex) ? (record as Record<string, string>) : null;
};

export const checkCommitments = (text: string | null, preimage: Preimage, erasedAt: unknown): Finding => {
  if (text === null && isIsoInstant(erasedAt)) return skipped(`the person's details were erased at ${erasedAt}`);
  if (text === null) return fail("subject/commitments.json is missing");
  if (parseCommitments(text) === null) return fail("subject/commitments.json is not a canonical map of commitments");
  return sha256Hex(text) === preimage.subject_hash ? pass() : fail("the record names other commitments");
};

const saltLength = 16;

export const checkDisclosures = (text: string | null, commitmentsText: string | null): Finding => {
  if (text === null && commitmentsText === null) return skipped("nothing is left to disclose");
  const commitments = parseCommitments(commitmentsText);
  const list = parseCanonical(text);
  if (commitments === null || !Array.isArray(list)) return fail("subject/disclosures.json is not a canonical list");
  let last = "";
  for (const one of list) {
    const [salt = "", key = "", value = "", ...more] = asStrings(one) ?? [];
    if (asStrings(one)?.length !== 3 || more.length > 0 || key <= last)
      return fail("a disclosure is not [salt, key, value], in order of keys");
    if (fromBase64Url(salt)?.length !== saltLength) return fail(`the salt of ${key} is not 128 bits of base64url`);
    if (!Object.hasOwn(commitments, key) || commitments[key] !== computeFieldCommitment(salt, key, value)) {
      return fail(`${key} is not what was committed to`);
    }
    last = key;
  }
  return pass(list.length === 0 ? "nothing disclosed" : list.map((one) => (one as string[])[1]).join(", "));
};

/** `textOfPolicy` gives the hash of the text at a path, undefined where there is none; `paths` are all that are there. */
export const checkPolicies = (
  index: unknown,
  listed: unknown,
  paths: readonly string[],
  hashOfFile: (path: string) => string | undefined,
): Finding => {
  if (!Array.isArray(index)) return fail("policies/index.json is not a canonical list");
  const named = new Set<string>();
  let without = 0;
  for (const one of index) {
    const policy = asObject(one);
    if (policy === null || !hasExactMembers(policy, ["captured_at", "content_hash", "id", "kind", "path", "source_url"])) {
      return fail("policies/index.json is malformed");
    }
    if (policy.path === null) {
      without += 1;
      continue;
    }
    const path = asString(policy.path) ?? "";
    if (path !== `policies/${policy.kind}-${policy.content_hash}.txt`) return fail("a policy is filed under another name than its hash");
    if (hashOfFile(path) !== policy.content_hash) return fail(`${path} is not the text with that hash`);
    named.add(path);
  }
  if (paths.some((path) => !named.has(path))) return fail("a policy is there that the index does not name");
  const published = index.map((one) => {
    const { path: _, ...rest } = one as JsonObject;
    return rest;
  });
  if (toCanonicalJson(published as never) !== toCanonicalJson((listed ?? null) as never))
    return fail("the certificate lists other policies");
  if (without > 0) return incomplete(`the text of ${without} of ${index.length} policies is not in the pack`);
  return pass(index.length === 0 ? "none were linked" : `${index.length} policies`);
};

/** The issuer's signature on the canonical text of something. */
export const checkIssuerSignature = async (
  crypto: NoteCrypto,
  signed: { readonly what: string; readonly text: string; readonly canonical: string; readonly at: string },
  claimed: unknown,
  trust: Trust | null,
): Promise<Finding> => {
  const signature = asObject(claimed);
  const bytes = fromBase64(asString(signature?.value) ?? "");
  if (signature?.alg !== "Ed25519" || bytes?.length !== 64) return fail("the issuer's signature is malformed");
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no issuer's key to check the signature with");
  const key = findIssuerKey(trust, signature.kid, signed.at);
  if (typeof key === "string") return fail(`the ${signed.what} is signed by a key that ${key}`);
  const isSigned = await crypto.verifyEd25519(key.publicKey, encodeUtf8(signed.canonical), bytes);
  return isSigned ? pass(`signed by ${key.kid}`) : fail(`the issuer's signature is not over this ${signed.text}`);
};

/** Members of the public certificate that the record binds, as the record has them. */
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

/** Recipients that were withdrawn from one by one: each consented to, once, and never the last while it is active. */
const findEntitiesFault = (certificate: JsonObject, preimage: Preimage): string | null => {
  const listed = certificate.entities_withdrawn;
  if (listed === undefined) return null;
  if (!Array.isArray(listed) || listed.length === 0) return "the list of recipients that were withdrawn from is malformed";
  const consented = preimage.entities_accepted ?? preimage.entities;
  const revokedAt = asObject(certificate.withdrawal)?.withdrawn_at;
  const seen = new Set<string>();
  for (const one of listed.map(asObject)) {
    const name = asString(one?.entity) ?? "";
    const at = one?.withdrawn_at;
    if (!consented.includes(name) || seen.has(name)) return "somebody was withdrawn from who was not consented to, or twice";
    if (!isIsoInstant(at) || at < preimage.timestamp || (isIsoInstant(revokedAt) && at > revokedAt))
      return "a recipient was withdrawn from at a time that does not fit the others";
    const told = one?.received_at ?? null;
    if (told !== null && !(isIsoInstant(told) && told <= at)) return "the business was told of a recipient after it was withdrawn from";
    if (one?.cease_by !== new Date(getCeaseDeadline(Date.parse(told ?? at))).toISOString())
      return "the deadline of a recipient is not the tenth business day";
    seen.add(name);
  }
  return certificate.status === "active" && seen.size === consented.length ? "it is active, and nobody is left to make contact" : null;
};

/** The public certificate against the record, and the issuer's signature on the record. */
export const checkCertificate = async (
  crypto: NoteCrypto,
  certificate: JsonObject,
  preimage: Preimage,
  canonical: string,
  trust: Trust | null,
): Promise<Finding> => {
  const names = findDifferingMembers(certificate, toBoundMembers(preimage));
  if (names.length > 0) return fail(`certificate and record differ in ${names.join(", ")}`);
  if (certificate.canonical !== canonical) return fail("the certificate prints another record");
  if (certificate.fingerprint_version !== "1") return fail("the fingerprint is of a version not known here");
  if (typeof certificate.disclosure_text !== "string" || sha256Hex(certificate.disclosure_text) !== preimage.disclosure_hash) {
    return fail("the certificate shows another disclosure");
  }
  if (asString(certificate.verify_url)?.endsWith(`/${preimage.cert_id}`) !== true)
    return fail("the certificate names the address of another");
  const { status, withdrawal } = certificate;
  if (status !== "active" && status !== "revoked") return fail("the certificate has no known status");
  if (isObject(withdrawal) !== (status === "revoked")) return fail("the certificate's status and its withdrawal contradict each other");
  const ofEntities = findEntitiesFault(certificate, preimage);
  if (ofEntities !== null) return fail(ofEntities);
  const signed = await checkIssuerSignature(
    crypto,
    { what: "certificate", text: "record", canonical, at: preimage.timestamp },
    certificate.signature,
    trust,
  );
  return signed.outcome === "pass" ? pass(`${status}, ${signed.detail}`) : signed;
};
