// The encryption contexts of people's email addresses, in a separate file so that the demo seed can use them without importing SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/**
 * The context of a placeholder address. If an address is unknown, the placeholder is decrypted instead. Otherwise, the response time would
 * reveal that the address is unknown.
 */
export const unknownAddressContext = consumerEmailContext("nobody");
