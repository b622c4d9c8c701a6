// Reads the recipients whose consent was withdrawn from a certificate, grouped by withdrawal.
import type { JsonObject } from "../core/canonical-json.ts";
import { asObject, asString } from "./json.ts";

export type ListedEntities = readonly JsonObject[];

/** Returns the number of the withdrawal in which the recipient is listed, or 0 if the receipt's URL contains no number. */
export const parseWithdrawalNumber = (entity: JsonObject): number =>
  Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(asString(entity.receipt_url) ?? "")?.[1] ?? 0);

/** Groups the withdrawn recipients by withdrawal number. Does not use `Map.groupBy`, which Node 20 and older browsers lack. */
export const groupEntitiesByWithdrawal = (certificate: JsonObject): ReadonlyMap<number, ListedEntities> => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  const groups = new Map<number, JsonObject[]>();
  for (const entity of listed.map(asObject).filter((item) => item !== null)) {
    const number = parseWithdrawalNumber(entity);
    const group = groups.get(number);
    if (group === undefined) groups.set(number, [entity]);
    else group.push(entity);
  }
  return groups;
};
