// Audit payloads. A payload is stored apart from the chain, which contains only a salted hash of it. The chain can therefore be public, and
// payloads can be erased while every hash can still be verified.
import { toCanonicalJson, type JsonObject } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";

/** Returns the hex SHA-256 of the canonical JSON `[salt, payload]`; the salt is 16 random bytes in base64url. */
export const hashAuditPayload = (salt: string, payload: JsonObject): string => sha256Hex(toCanonicalJson([salt, payload]));
