// Encryption contexts of people's email addresses. A file of its own, so that the demo's seed can use it without the SQL.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/** Context of an address that belongs to no one. It is opened when there is no real address, so that both cases take the same time. */
export const unknownAddressContext = consumerEmailContext("nobody");
