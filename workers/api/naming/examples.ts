// Certificates of one person, and what withdrawing from one answers.
const at = "2026-11-20T10:05:00.000Z";
const businessId = "biz_00f7m2k9x4c1v8b5n3q6t0w2h7";
export const certIdExample = "cc_00k3v9d2m4q8x1c7b5n0t6w2h9";

export const businessesExample = {
  businesses: [{ business_id: businessId, name: "Acme Solar LLC", certificates: 2, active: 1, last_issued_at: at }],
  has_more: false,
  incomplete: false,
};
export const certificatesExample = {
  certificates: [
    {
      cert_id: certIdExample,
      business_name: "Acme Solar LLC",
      status: "active",
      purpose: "solar quote follow-up",
      origin_domain: "acme-solar.example",
      issued_at: at,
      withdrawn_at: null,
      cease_by: null,
      verify_url: `https://verify.example.com/c/${certIdExample}`,
    },
  ],
  has_more: false,
};
export const ownWithdrawnExample = {
  withdrawn: 1,
  pending: false,
  withdrawn_at: at,
  cert_id: certIdExample,
  cease_by: "2026-12-04T23:59:59.999Z",
};
