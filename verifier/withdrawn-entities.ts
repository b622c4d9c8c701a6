// Reads the recipients for whom a certificate says consent was withdrawn, grouped by withdrawal.
import { groupBy } from "./group-by.ts";
import { asObject, asString, type JsonObject } from "./json.ts";

export type ListedEntities = readonly JsonObject[];

/** Returns the number of the withdrawal that listed the recipient, or 0 if the receipt's URL contains no number. */
export const parseWithdrawalNumber = (entity: JsonObject): number =>
  Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(asString(entity.receipt_url) ?? "")?.[1] ?? 0);

/** Groups the withdrawn recipients by withdrawal number. */
export const groupEntitiesByWithdrawal = (certificate: JsonObject): ReadonlyMap<number, ListedEntities> => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  return groupBy(
    listed.map(asObject).filter((entity) => entity !== null),
    parseWithdrawalNumber,
  );
};
