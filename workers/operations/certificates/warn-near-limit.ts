// The owners hear once a day and client that submissions without an API key come close to the day's limit: beyond it their forms
// get no certificates.
import type { BusinessId, ClientId } from "../../../core/ids.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { isNotWarned, noteWarning } from "../../../storage/client-days.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ownerAddresses } from "../../../storage/owners.ts";
import { kindOfError } from "../../log.ts";
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
  const mail = { template: "client_limit_near", data: { client_id: clientId, until: (day + 1) * dayMs }, now } as const;
  const onlyIf = isNotWarned({ clientId, day });
  const owners = await ownerAddresses(db, services.vault, of.businessId);
  const mails = await Promise.all(owners.map((to) => insertMail(db, services.vault, { ...mail, to, onlyIf })));
  await batch(db, [...mails.flat(), noteWarning(db, { clientId, day }, now)]);
};

/** Of any number at once, one writes the mails. If it fails, the next submission calls for it again. */
export const warnNearLimit = async (services: Runtime & Stores, db: Database, of: Counted): Promise<void> => {
  try {
    await writeMails(services, db, of);
  } catch (error) {
    services.log.fault({ at: "warn-near-limit", error: kindOfError(error) });
  }
};
