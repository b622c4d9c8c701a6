// Emails owners when a client is close to its daily limit for submissions without an API key.
import type { IssuedCertificate } from "../../../core/certificates/issue.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { dayMs, toDayNumber } from "../../../core/time.ts";
import { isUsageWarningDue, markUsageWarned } from "../../../storage/client-usage.ts";
import { batch, type Database } from "../../../storage/database.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";

/**
 * Writes the warning at most once per client and UTC day, even if calls are concurrent. The owners must know in time, because forms without
 * an API key get no certificates after the limit is reached. If a call fails, the next submission tries again.
 */
export const warnOwnersNearDailyLimit = async (
  services: ReadDependencies,
  db: Database,
  businessId: BusinessId,
  { clientId, issuedAt }: IssuedCertificate["certificate"],
): Promise<void> => {
  const now = services.clock();
  const day = toDayNumber(issuedAt);
  const data = { clientId, until: (day + 1) * dayMs };
  const onlyIf = isUsageWarningDue({ clientId, day });
  const notice = await prepareOwnerNotice(services, db, businessId, { template: "client_limit_near", data }, onlyIf);
  await batch(db, [...notice, markUsageWarned(db, { clientId, day }, now)]);
};
