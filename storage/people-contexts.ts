// Encryption contexts for people's email addresses. They have their own file so that the demo seed can use them without the SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/**
 * Context of an email address that does not belong to anyone. This address is opened if there is not a real address, so that both cases
 * take the same time.
 */
export const unknownAddressContext = consumerEmailContext("nobody");
