// A person whose consent, the worked certificate of the description, is withdrawn and acknowledged.
import { ceaseExample } from "../withdrawals/examples.ts";

export const contactExample = {
  results: [
    {
      contactable: false,
      reason: "revoked",
      basis: [{ type: "cert", id: ceaseExample.cert_id, status: "revoked", cease_by: ceaseExample.cease_by }],
      checked_at: ceaseExample.acknowledged_at,
    },
  ],
};
export const matchExample = { status: "active", email: true, phone: null, entity_named: true, one_to_one: true };
