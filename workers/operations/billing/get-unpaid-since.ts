import type { MemberSession } from "../../../core/access/session.ts";
import type { Instant } from "../../../core/time.ts";
import { findCustomerByAccount } from "../../../storage/billing.ts";
import type { Stores } from "../dependencies.ts";

/** Since when a business is suspended because a payment is missing; null where it is not, or an operator suspended it. */
export const getUnpaidSince = async (services: Stores, { business }: MemberSession): Promise<Instant | null> =>
  business.status === "suspended"
    ? ((await findCustomerByAccount(services.shards.forId(business.id), business.id))?.suspendedAt ?? null)
    : null;
