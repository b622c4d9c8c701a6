// Worked examples of a person's account.
import { shareExample } from "../shares/examples.ts";

export const profileExample = {
  id: "con_00k3v9d2m4q8x1c7b5n0t6w2h9",
  email: "pat@example.com",
  plan: "free",
  created_at: "2026-11-01T08:00:00.000Z",
  shares_active: 1,
  fields_updated_at: "2026-11-20T10:04:00.000Z",
};

const none = { address_line1: null, address_line2: null, city: null, state: null, zip: null, country: null };
const fields = { email: "pat@example.com", phone: "+1 202 555 0199", ...none, first_name: "Pat", last_name: "Example" };
const at = "2026-11-20T10:04:00.000Z";
export const fieldsExample = { fields, updated_at: { email: at, phone: at, ...none, first_name: at, last_name: at } };
export const changedExample = { fields, changed_groups: ["phone"], events_emitted: 1 };

/** As its person sees it. */
export const ownShareExample = { ...shareExample, last_delivered_at: "2026-11-20T10:05:03.000Z" };

const renewed = { ...shareExample, id: "shr_00m2k9x4c1v8b5n3q6t0w2h7f7", supersedes: shareExample.id };
export const renewedExample = { share: renewed, superseded: { id: shareExample.id, status: "superseded" } };

export const deletedExample = { deleted: true, shares_revoked: 2, fields_erased: true };

export const exportExample = {
  export_version: "1",
  exported_at: at,
  profile: profileExample,
  fields: fieldsExample,
  shares: [{ ...ownShareExample, disclosure_text: "", anchor: null, granted: { email: "pat@example.com" } }],
  audit: [],
  audit_pending: [],
  removals: [],
  agent_tokens: [],
  receipts: [],
};
