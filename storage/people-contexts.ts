// Where the addresses of people are sealed; apart from the SQL, so that the demo's seed can seal its own.
import { columnContext, selfOwnedContext } from "./vault.ts";

export const memberEmailContext = columnContext("members", "email");
export const consumerEmailContext = selfOwnedContext("consumers", "email");
/** Of an address that is nobody's: opened where there is none to open, so that both take the same time. */
export const unknownAddressContext = consumerEmailContext("nobody");
