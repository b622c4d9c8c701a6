// The log of the writes that the service has acknowledged during `npm run chaos`. It also contains requests without a response, which may
// have written something. reconcile.ts compares the service with this log.
import type { DemoBusiness } from "../demo-world.ts";

export interface Business {
  readonly account: DemoBusiness;
  /** The owner's session cookie. */
  readonly owner: string;
  /** The endpoint that the business has from the start. It receives all of the business's events. */
  readonly receiver: { readonly host: string; readonly endpointId: string };
}

export interface Submission {
  readonly business: Business;
  readonly email: string;
  /** When the submission was sent: 0 is before the fault, 1 is during it, and 2 is after it. */
  readonly phase: number;
  /** The certificate that the service acknowledged; null if it acknowledged none. */
  certificate: { readonly id: string; readonly fingerprint: string } | null;
  isWithdrawn: boolean;
}

export interface Grant {
  readonly business: Business;
  /** Different for each grant, so that a second share from the same request is noticed. */
  readonly purpose: string;
  readonly phase: number;
  shareId: string | null;
  isRevoked: boolean;
}

export interface Registration {
  readonly business: Business;
  readonly url: string;
  readonly phase: number;
  endpointId: string | null;
}

export interface WriteLog {
  readonly submissions: Submission[];
  readonly grants: Grant[];
  readonly registrations: Registration[];
  /** The requests for an email code that the service accepted. */
  readonly codes: { readonly email: string; readonly phase: number }[];
  /** Responses that contradict an acknowledged write. */
  readonly contradictions: string[];
}

export const createWriteLog = (): WriteLog => ({ submissions: [], grants: [], registrations: [], codes: [], contradictions: [] });

/** Counts the acknowledged writes: certificates, withdrawals, shares, revocations, endpoints and requested codes. */
export const countAcknowledged = ({ submissions, grants, registrations, codes }: WriteLog): number =>
  submissions.filter(({ certificate }) => certificate !== null).length +
  submissions.filter(({ isWithdrawn }) => isWithdrawn).length +
  grants.filter(({ shareId }) => shareId !== null).length +
  grants.filter(({ isRevoked }) => isRevoked).length +
  registrations.filter(({ endpointId }) => endpointId !== null).length +
  codes.length;
