// The types and helpers that the steps of the demo month share.
import type { Environment } from "../../core/access/entitlement.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { MemberSession } from "../../core/access/session.ts";
import type { CaptureReceipt } from "../../core/certificates/capture-receipt.ts";
import type { BusinessId, ClientId } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import type { Instant } from "../../core/time.ts";
import type { Services } from "../../workers/platform/platform.ts";
import type { Lead } from "./leads.ts";
import type { Dice } from "./random.ts";
import type { Site } from "./site.ts";

/** An action at a certain time. Steps run in the order of their times, with the clock set to each step's time. */
export interface Step {
  readonly at: Instant;
  readonly run: () => Promise<void>;
}

/** A form submission; `receipt` is set once its step has run. */
export interface IssuedLead {
  readonly lead: Lead;
  receipt: CaptureReceipt | null;
}

export interface Month {
  readonly services: Services;
  readonly dice: Dice;
  /** The end of the month, which is the present time. */
  readonly now: Instant;
  readonly site: Site;
  readonly clientId: ClientId;
  readonly businessId: BusinessId;
  /** Authenticates the business with its API key, as a request does. This also records when the key was last used. */
  readonly authenticate: (environment: Environment) => Promise<Principal>;
  readonly owner: MemberSession;
  /** Signs in with an emailed code and returns the session's token. */
  readonly signIn: (email: string, realm: "business" | "consumer", name: string | null) => Promise<string>;
}

/** Returns the value. Throws on a refusal, because every step of the demo month must be allowed. */
export const getValue = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(`demo month: a step was refused: ${result.code}`);
  return result.value;
};

export const getReceipt = ({ receipt }: IssuedLead): CaptureReceipt => {
  if (receipt === null) throw new Error("demo month: a step needs a certificate that is not issued yet");
  return receipt;
};
