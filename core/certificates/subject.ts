// The person on a certificate: the salted commitment that stands for each field in public.
// A plain hash of an address would be a dictionary oracle (there are only ~10^10 phone numbers), and a keyed hash could
// be checked by us alone. With a 128-bit salt per field the holder can prove one field at a time, nobody can guess, and
// deleting the root salt turns the commitment into noise while the fingerprint stays valid.
import { toBase64Url } from "../bytes.ts";
import { toCanonicalJson } from "../canonical-json.ts";
import { hmacSha256, sha256Hex } from "../hash.ts";
import { maskFieldValue } from "../masking.ts";

/** Field key to value, as stored. A Map, because keys come from outside and must never meet a prototype. */
export type SubjectFields = ReadonlyMap<string, string>;

const saltBytes = 16; // 128 bits: no table of guesses can be computed

/** base64url, 128 bits, derived from the certificate's root salt so that only the root needs keeping. */
export const deriveFieldSalt = (rootSalt: Uint8Array, key: string): string =>
  toBase64Url(hmacSha256(rootSalt, `svc-subject-v1\n${key}`).subarray(0, saltBytes));

/** As good as random, and told apart from the salt of any field. */
export const deriveEvidenceSalt = (rootSalt: Uint8Array): string =>
  toBase64Url(hmacSha256(rootSalt, "svc-evidence-v1").subarray(0, saltBytes));

export const computeFieldCommitment = (salt: string, key: string, value: string): string => sha256Hex(toCanonicalJson([salt, key, value]));

export const deriveSubjectSalts = (fields: SubjectFields, rootSalt: Uint8Array): Record<string, string> =>
  Object.fromEntries([...fields.keys()].map((key) => [key, deriveFieldSalt(rootSalt, key)]));

export const computeSubjectCommitments = (fields: SubjectFields, rootSalt: Uint8Array): Record<string, string> =>
  Object.fromEntries([...fields].map(([key, value]) => [key, computeFieldCommitment(deriveFieldSalt(rootSalt, key), key, value)]));

/** Hex SHA-256 over the canonical JSON of the per-field commitments. */
export const computeSubjectHash = (commitments: Record<string, string>): string => sha256Hex(toCanonicalJson(commitments));

export const maskSubject = (fields: SubjectFields): Record<string, string> =>
  Object.fromEntries([...fields].map(([key, value]) => [key, maskFieldValue(key, value)]));
