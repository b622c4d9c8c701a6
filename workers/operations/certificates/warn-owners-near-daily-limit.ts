import type { IssuedCertificate } from "../../../core/certificates/issue.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import { isUsageWarningDue, markUsageWarned } from "../../../storage/client-usage.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { insertOwnerMails } from "../../../storage/owners.ts";
import type { Runtime, Stores } from "../../services.ts";

/**
 * The owners hear once a day and client that submissions without an API key come close to the day's limit: beyond it their forms get no
 * certificates. Of any number at once, one writes the mails. If it fails, the next submission calls for it again.
 */
export const warnOwnersNearDailyLimit = async (
  services: Runtime & Stores,
  db: Database,
  businessId: BusinessId,
  { clientId, issuedAt }: IssuedCertificate["certificate"],
): Promise<void> => {
  const now = services.clock();
  const day = Math.floor(issuedAt / dayMs);
  const data = { clientId, until: (day + 1) * dayMs };
  const onlyIf = isUsageWarningDue({ clientId, day });
  const mails = await insertOwnerMails(db, services.vault, businessId, { template: "client_limit_near", data, now, onlyIf });
  await batch(db, [...mails, markUsageWarned(db, { clientId, day }, now)]);
};
