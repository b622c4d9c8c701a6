// Finds when a business was suspended because of a missing payment.
import type { MemberSession } from "../../../core/access/session.ts";
import type { Instant } from "../../../core/time.ts";
import { findCustomerByAccount } from "../../../storage/billing.ts";
import type { Stores } from "../dependencies.ts";

/** Returns when the business was suspended for nonpayment. Returns null if it is not suspended, or if an operator suspended it. */
export const getUnpaidSince = async (services: Stores, { business }: MemberSession): Promise<Instant | null> =>
  business.status === "suspended"
    ? ((await findCustomerByAccount(services.shards.forId(business.id), business.id))?.suspendedAt ?? null)
    : null;
