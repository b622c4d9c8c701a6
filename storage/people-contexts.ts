// Encryption contexts for people's email addresses. They are in a separate file so that the demo seed can use them without importing any
// SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/**
 * Context of a placeholder email address that belongs to no one. The placeholder is decrypted if there is no real address, so that both
 * cases take the same time.
 */
export const unknownAddressContext = consumerEmailContext("nobody");
