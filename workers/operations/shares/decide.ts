// A decision that arrives as JSON: from a program that showed the request itself, or for a test person. The token, where there is one,
// holds it to the request that was shown: nothing else may have changed, and never more may be chosen than was asked.
import { homeOfId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { readWords } from "../../../core/shares/grant.ts";
import type { Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { bindingOf } from "./authorize.ts";
import { isExpired, readToken } from "./authorize-token.ts";
import { grantShare, type Granted, type Granting, type GrantRequest } from "./grant.ts";

export interface Decision extends Omit<GrantRequest, "decisionKey" | "mayDecide" | "keep"> {
  readonly state: string | null;
  /** Of GET /v1/authorize; null for a caller that did not ask there. */
  readonly token: string | null;
}

const stale = refuse("invalid_request", "authorize_token: is not of this request, or is older than 10 minutes.");

const heldToToken = async (services: Runtime & Stores, decision: Decision): Promise<Result<true, "invalid_request">> => {
  const { token, clientId } = decision;
  if (token === null || clientId === null) return ok(true);
  const words = readWords(decision.purpose, decision.disclosureText);
  if (!words.ok) return words;
  const origin = URL.canParse(decision.origin) ? new URL(decision.origin).origin : decision.origin;
  const content = await readToken(services, token, bindingOf({ ...decision, ...words.value, origin, clientId }));
  if (content === null || isExpired(content, services.clock()) || !token.startsWith(`az_${homeOfId(clientId)}`)) return stale;
  const { scope, needed } = content.asked;
  if (decision.scope.some((key) => !scope.includes(key))) return refuse("invalid_request", "scope: must not hold more than was asked for.");
  if (needed.some((key) => !decision.scope.includes(key)))
    return refuse("invalid_request", "scope: must hold what was asked for as needed.");
  return ok(true);
};

/**
 * Refuses as `grantShare`. The token is judged after the client, the account and the origin: who is asked for is told apart from what
 * was shown, so a refusal of the token is given only where everything before it is right.
 */
export const decideShare = async (
  services: Runtime & Stores & Proofs & Phones & Schedules,
  by: Granting,
  decision: Decision,
  keep: Keeping<Granted> | undefined,
): Promise<Result<Granted>> =>
  grantShare(services, by, {
    ...decision,
    keep,
    decisionKey: decision.token,
    mayDecide: () => heldToToken(services, decision),
  });
