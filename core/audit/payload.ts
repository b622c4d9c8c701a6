// What an audit entry says is committed to by a salted hash and stored apart: the chain can be public and the payload
// can be erased, and every hash still verifies.
import { toCanonicalJson, type JsonObject } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";

/** Hex SHA-256 of the canonical JSON `[salt, payload]`; the salt is 16 random bytes in base64url. */
export const hashAuditPayload = (salt: string, payload: JsonObject): string => sha256Hex(toCanonicalJson([salt, payload]));
