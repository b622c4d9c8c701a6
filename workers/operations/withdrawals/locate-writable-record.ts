// The checks that all acknowledgments of withdrawals share.
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";
import { locateOwnRecord, type LocatedRecord } from "./locate-record.ts";

export type AcknowledgementRefusal =
  | "cert_not_found"
  | "cease_not_open"
  | "subscription_past_due"
  | "business_suspended"
  | "business_inactive";

/**
 * Finds the certificate. Returns the errors of `authorizeWrite`, and `cert_not_found` for unknown certificates and other businesses'
 * certificates.
 */
export const locateWritableRecord = async (
  services: IntakeDependencies,
  reader: BusinessScope,
  certId: CertId,
): Promise<Result<LocatedRecord, AcknowledgementRefusal>> => {
  const writable = authorizeWrite(reader.business.status);
  if (!writable.ok) return writable;
  const located = await locateOwnRecord(services, reader, certId);
  return located === null ? refuse("cert_not_found") : ok(located);
};

export const hasAcknowledged = <T extends { readonly acknowledgedAt: Instant | null }>(
  withdrawal: T,
): withdrawal is T & { readonly acknowledgedAt: Instant } => withdrawal.acknowledgedAt !== null;
