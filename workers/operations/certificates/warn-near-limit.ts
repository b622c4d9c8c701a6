// The owners hear once a day and client that submissions without an API key come close to the day's limit: beyond it their forms
// get no certificates.
import type { BusinessId, ClientId } from "../../../core/ids.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { isNotWarned, noteWarning } from "../../../storage/client-days.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { ownerMails } from "../../../storage/owners.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Stores } from "../../services.ts";

interface Counted {
  readonly businessId: BusinessId;
  readonly clientId: ClientId;
  readonly issuedAt: Instant;
}

const writeMails = async (services: Runtime & Stores, db: Database, of: Counted): Promise<void> => {
  const { clientId } = of;
  const now = services.clock();
  const day = Math.floor(of.issuedAt / dayMs);
  const data = { client_id: clientId, until: (day + 1) * dayMs };
  const onlyIf = isNotWarned({ clientId, day });
  const mails = await ownerMails(db, services.vault, of.businessId, { template: "client_limit_near", data, now, onlyIf });
  await batch(db, [...mails, noteWarning(db, { clientId, day }, now)]);
};

/** Of any number at once, one writes the mails. If it fails, the next submission calls for it again. */
export const warnNearLimit = async (services: Runtime & Stores, db: Database, of: Counted): Promise<void> => {
  await failingAlone(services, "warn-near-limit", () => writeMails(services, db, of));
};
