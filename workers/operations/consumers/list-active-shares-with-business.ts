// Lists the person's active shares with one business.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import { listActiveSharesByBusiness } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Lists up to 20 shares, newest first. */
export const listActiveSharesWithBusiness = async (
  services: ReadDependencies,
  { id }: Person,
  businessId: BusinessId,
): Promise<readonly Share[]> => listActiveSharesByBusiness(services.shards.forId(businessId), id, businessId, services.clock());
