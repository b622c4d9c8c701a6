// The encryption contexts of people's email addresses, in a separate file so that the demo seed does not import SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/**
 * The context of a placeholder address. It is decrypted if an email address is unknown, so that response times do not reveal whether an
 * address is known.
 */
export const unknownAddressContext = consumerEmailContext("nobody");
