// The encryption contexts of people's email addresses. They are in a separate file so that the demo seed can use them without importing
// SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/**
 * The context of a placeholder address. If an email address is unknown, the code decrypts the placeholder instead, so that the response
 * time does not reveal this.
 */
export const unknownAddressContext = consumerEmailContext("nobody");
