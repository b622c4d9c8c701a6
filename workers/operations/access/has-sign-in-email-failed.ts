// Checks whether the delivery of a person's sign-in code failed.
import { hasNewestCodeFailed } from "../../../storage/email-codes.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { PendingSignIn } from "./sign-in-note.ts";
import { lookUpAddress, toCodeRequester } from "./sign-in-address.ts";

/**
 * Returns true if the newest code that this browser requested as a consumer could not be delivered. Any address may sign in as a consumer,
 * so the result does not reveal whether an account exists. For a business sign-in, the result would reveal this, so do not call this
 * function there.
 */
export const hasSignInEmailFailed = async (services: ReadDependencies, { email, browser }: PendingSignIn): Promise<boolean> => {
  const lookup = await lookUpAddress(services, "consumer", email);
  return lookup !== null && hasNewestCodeFailed(lookup.db, toCodeRequester(lookup, browser));
};
