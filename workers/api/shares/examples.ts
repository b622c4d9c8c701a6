// Worked examples of the share protocol: one share, from its grant to its end.
export const shareExample = {
  id: "shr_00k3v9d2m4q8x1c7b5n0t6w2h9",
  status: "active",
  fingerprint: "3f0f5b8a6f6f3a2c9d1e4b7a8c5d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d",
  business: { id: "biz_00f7m2k9x4c1v8b5n3q6t0w2h7", name: "Acme Solar LLC" },
  client_id: "pc_live_00f7m2k9x4c1v8b5n3q6t0w2h7",
  environment: "live",
  origin: "https://acme-solar.example",
  purpose: "Send you a solar estimate",
  scope: ["email", "phone"],
  scope_groups: ["email", "phone"],
  disclosure_hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  created_at: "2026-11-20T10:05:00.000Z",
  expires_at: "2027-11-20T10:05:00.000Z",
  duration_days: 365,
  revoked_at: null,
  expired_at: null,
  supersedes: null,
  superseded_by: null,
  cease: null,
};

export const authorizedRequestExample = {
  client: {
    client_id: shareExample.client_id,
    business_id: shareExample.business.id,
    business_name: shareExample.business.name,
    logo_url: null,
    environment: "live",
  },
  origin: shareExample.origin,
  scope: shareExample.scope,
  scope_groups: shareExample.scope_groups,
  needed: ["email"],
  labels: { email: "E-mail", phone: "Phone" },
  purpose: shareExample.purpose,
  duration_days: 365,
  disclosure_text: null,
  disclosure_hash: shareExample.disclosure_hash,
  state: "xyz",
  authorize_token: "az_00WzE3NjM2MzI4MDAwMDAsMywxLGZhbHNlXQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  expires_in: 600,
};

export const shareConsentExample = {
  client_id: shareExample.client_id,
  origin: shareExample.origin,
  scope: shareExample.scope,
  purpose: shareExample.purpose,
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  state: "xyz",
  consent: true,
};

const exampleCode = "ac_00dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const shareGrantExample = {
  code: exampleCode,
  expires_in: 60,
  expires_at: "2026-11-20T10:06:00.000Z",
  state: "xyz",
  share: shareExample,
};

/** The verifier of RFC 7636, appendix B. */
export const redeemRequestExample = {
  code: exampleCode,
  code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  client_id: shareExample.client_id,
};

const exampleFields = { email: "pat@example.com", phone: "+1 202 555 0123" };
export const redeemedShareExample = {
  share_id: shareExample.id,
  fingerprint: shareExample.fingerprint,
  status: "active",
  scope: shareExample.scope,
  fields: exampleFields,
  purpose: shareExample.purpose,
  granted_at: shareExample.created_at,
  expires_at: shareExample.expires_at,
  business_id: shareExample.business.id,
};

export const currentValuesExample = {
  share_id: shareExample.id,
  status: "active",
  scope: shareExample.scope,
  fields: exampleFields,
  field_updated_at: { email: "2026-11-20T10:04:00.000Z", phone: "2026-11-20T10:04:00.000Z" },
  as_of: "2026-11-21T08:00:00.000Z",
};

const ceaseNoticeExample = {
  status: "open",
  opened_at: "2026-11-22T09:00:00.000Z",
  cease_by: "2026-12-04T23:59:59.999Z",
  acknowledged_at: null as string | null,
  overdue: false,
};
const revokedShare = { ...shareExample, status: "revoked", revoked_at: ceaseNoticeExample.opened_at, cease: ceaseNoticeExample };
export const revokedShareExample = { share: revokedShare, cease_by: ceaseNoticeExample.cease_by };

const exampleAcknowledgedAt = "2026-11-23T15:30:00.000Z";
export const acknowledgedShareExample = {
  share: {
    ...revokedShare,
    status: "ceased",
    cease: { ...ceaseNoticeExample, status: "acknowledged", acknowledged_at: exampleAcknowledgedAt },
  },
  acknowledged_at: exampleAcknowledgedAt,
  cease_by: ceaseNoticeExample.cease_by,
  on_time: true,
};

export const shareDetailExample = {
  ...shareExample,
  disclosure_text: null,
  anchor: null,
  reason: null,
  history: [{ at: shareExample.created_at, type: "share.created", audit_seq: "17" }],
};
