// A certificate's subject. The certificate commits to each field with a 128-bit salt, because a plain hash of a phone number could be
// reversed by trying all ~10^10 numbers. Anyone who has a value and its salt can prove that field without the others. Once the root salt is
// deleted, no one can match values to the commitments, but the fingerprint stays valid.
import { toBase64Url } from "../bytes.ts";
import { toCanonicalJson } from "../canonical-json.ts";
import { hmacSha256, sha256Hex } from "../hash.ts";
import { maskFieldValue } from "../masking.ts";

/**
 * The fields by key, as stored. This is a Map because keys are user input, which is unsafe in property names (prototype pollution).
 */
export type SubjectFields = ReadonlyMap<string, string>;

const saltBytes = 16; // 128 bits, so that no table of guesses can be computed

/** Returns the salt of a field: 128 bits in base64url, derived from the root salt so that only the root salt has to be stored. */
export const deriveFieldSalt = (rootSalt: Uint8Array, key: string): string =>
  toBase64Url(hmacSha256(rootSalt, `svc-subject-v1\n${key}`).subarray(0, saltBytes));

/** Derives the evidence salt, which is as unpredictable as a random salt. Its label makes it different from the salts of fields. */
export const deriveEvidenceSalt = (rootSalt: Uint8Array): string =>
  toBase64Url(hmacSha256(rootSalt, "svc-evidence-v1").subarray(0, saltBytes));

/**
 * Derives the salt of the issuance's audit entry. It is stored separately, because the root salt is deleted in an erasure and this salt is
 * not.
 */
export const deriveAuditSalt = (rootSalt: Uint8Array): string => toBase64Url(hmacSha256(rootSalt, "svc-audit-v1").subarray(0, saltBytes));

/** Returns the hex SHA-256 of the canonical JSON `[salt, key, value]`. */
export const computeFieldCommitment = (salt: string, key: string, value: string): string => sha256Hex(toCanonicalJson([salt, key, value]));

export const deriveSubjectSalts = (fields: SubjectFields, rootSalt: Uint8Array): Record<string, string> =>
  Object.fromEntries([...fields.keys()].map((key) => [key, deriveFieldSalt(rootSalt, key)]));

export const computeSubjectCommitments = (fields: SubjectFields, rootSalt: Uint8Array): Record<string, string> =>
  Object.fromEntries([...fields].map(([key, value]) => [key, computeFieldCommitment(deriveFieldSalt(rootSalt, key), key, value)]));

/** Returns the hex SHA-256 over the canonical JSON of the per-field commitments. */
export const computeSubjectHash = (commitments: Record<string, string>): string => sha256Hex(toCanonicalJson(commitments));

/**
 * Returns the masked form of every field, as published with the certificate. `unrecognized` lists the fields to mask completely, regardless
 * of their keys.
 */
export const maskSubject = (fields: SubjectFields, unrecognized: readonly string[] = []): Record<string, string> =>
  Object.fromEntries([...fields].map(([key, value]) => [key, maskFieldValue(unrecognized.includes(key) ? "" : key, value)]));
