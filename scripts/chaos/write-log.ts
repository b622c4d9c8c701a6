// The log of writes that the service has acknowledged during `npm run chaos`, and of the requests that may have written something although no
// answer arrived. The reconcile step compares the service with it.
import type { DemoBusiness } from "../demo-world.ts";

export interface Business {
  readonly account: DemoBusiness;
  /** The cookie of its owner. */
  readonly owner: string;
  /** The endpoint that it has from the start, which receives all its events. */
  readonly receiver: { readonly host: string; readonly endpointId: string };
}

export interface Submission {
  readonly business: Business;
  readonly email: string;
  /** Number of the fault's phase in which the load sent it: 0 before, 1 during and 2 after. */
  readonly phase: number;
  /** The certificate that the service acknowledged; null if it acknowledged none. */
  certificate: { readonly id: string; readonly fingerprint: string } | null;
  isWithdrawn: boolean;
}

export interface Grant {
  readonly business: Business;
  /** Different for each grant, so that a second share of one request is noticed. */
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
  /** Addresses to which a code was requested and the request was accepted. */
  readonly codes: { readonly email: string; readonly phase: number }[];
  /** Answers that contradict an acknowledged write. */
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
