// One email for each template. If a template accepts text from a stranger, the email contains such text.
import type { MailTemplate, TemplatedMail } from "../../core/mail/templates.ts";

/** A name that would add a link, a header or markup if it were not escaped. */
const hostileName = 'Acme <b>& "Sons"</b>\r\nBcc: everyone@example.com https://evil.example/pay www.evil.example pay@evil.example';
const shared = { businessName: hostileName, groups: ["email", "address"], until: Date.UTC(2027, 10, 20) } as const;
const stopped = {
  shareId: "shr_00k3v9d2m4q8x1c7b5n0t6w2h9",
  businessName: hostileName,
  at: Date.UTC(2026, 10, 20, 10, 5),
  ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
} as const;
const signInUrl = (surface: string): string => `https://app.example.com/${surface}/sign-in/link#s=${"Zm9v".repeat(10)}abc`;
/** One email for each template, with all optional parts. */
export const sampleMails: { readonly [T in MailTemplate]: Extract<TemplatedMail, { template: T }> } = {
  login_code: { template: "login_code", data: { code: "123456", signInUrl: signInUrl("app") } },
  signup_code: { template: "signup_code", data: { code: "123456", signInUrl: signInUrl("portal") } },
  member_invited: {
    template: "member_invited",
    data: { businessName: hostileName, signInUrl: "https://app.example.com/portal/sign-in", until: Date.UTC(2026, 10, 27, 10, 5) },
  },
  owner_digest: {
    template: "owner_digest",
    data: {
      kind: "withdrawal_owner_notice",
      count: 1_204,
      since: Date.UTC(2026, 10, 20, 10, 5),
      earliestCeaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
    },
  },
  domain_missing: { template: "domain_missing", data: { domain: "acme.example", lapsesAt: Date.UTC(2026, 11, 4, 10, 5) } },
  domain_lapsed: { template: "domain_lapsed", data: { domain: "acme.example" } },
  withdrawal_code: {
    template: "withdrawal_code",
    data: { code: "123456", businessName: hostileName, isTest: true, verifyUrl: "https://verify.example.com/c/cc_00abc?a=1&b=2" },
  },
  passkey_added: {
    template: "passkey_added",
    data: { at: Date.parse("2026-11-20T10:05:00.000Z"), device: "Firefox, Windows", accountUrl: "/app/account" },
  },
  withdrawal_confirmation: {
    template: "withdrawal_confirmation",
    data: {
      certId: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
      businessName: hostileName,
      isTest: false,
      by: "person",
      entities: null,
      coversAllConsents: true,
      withdrawnAt: Date.UTC(2026, 10, 20, 10, 5),
      ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
      receiptUrl: "https://api.example.com/v1/certs/cc_00k3v9d2m4q8x1c7b5n0t6w2h9/receipt",
      contact: hostileName,
      mailingAddress: hostileName,
    },
  },
  account_withdrawal_confirmation: {
    template: "account_withdrawal_confirmation",
    data: {
      business: {
        id: "biz_00k3v9d2m4q8x1c7b5n0t6w2h9",
        businessName: hostileName,
        contact: hostileName,
        mailingAddress: hostileName,
      },
      withdrawnAt: Date.UTC(2026, 10, 20, 10, 5),
      ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
    },
  },
  withdrawal_owner_notice: {
    template: "withdrawal_owner_notice",
    data: { certIds: ["cc_00k3v9d2m4q8x1c7b5n0t6w2h9"], ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999) },
  },
  entities_owner_notice: {
    template: "entities_owner_notice",
    data: {
      certId: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
      entities: Array.from({ length: 25 }, (_, at) => `${at} ${hostileName}`),
      ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
    },
  },
  agent_connected: {
    template: "agent_connected",
    data: {
      clientName: "Helper",
      clientHost: "assistant.example.com",
      redirectHost: "127.0.0.1",
      at: Date.UTC(2026, 10, 20, 10, 5),
      endUrl: "https://app.example.com/oauth/end/tok_x?t=y",
    },
  },
  agent_ending: {
    template: "agent_ending",
    data: {
      clientName: "Helper",
      until: Date.UTC(2026, 11, 4, 10, 5),
      endUrl: "https://app.example.com/oauth/end/tok_x?t=y",
    },
  },
  agent_changed: {
    template: "agent_changed",
    data: { tokenId: "tok_00k3v9d2m4q8x1c7b5n0t6w2h9", at: Date.UTC(2026, 10, 20, 10, 5) },
  },
  webhook_failing: {
    template: "webhook_failing",
    data: { webhookId: "whk_00k3v9d2m4q8x1c7b5n0t6w2h9", failingSince: Date.UTC(2026, 10, 20, 10, 5), failures: 100 },
  },
  webhook_secret_replaced: {
    template: "webhook_secret_replaced",
    data: { webhookId: "whk_00k3v9d2m4q8x1c7b5n0t6w2h9", until: Date.UTC(2026, 10, 27, 10, 5) },
  },
  share_receipt: {
    template: "share_receipt",
    data: {
      ...shared,
      host: "acme-solar.example",
      purpose: hostileName,
      stopUrl: "https://app.example.com/stop/shr_00abc#t=token",
      appUrl: "https://app.example.com/app",
    },
  },
  share_expiring: {
    template: "share_expiring",
    data: {
      ...shared,
      renewUrl: "https://app.example.com/app/shares/shr_00abc/renew",
      stopUrl: "https://app.example.com/stop/shr_00abc#t=token",
    },
  },
  share_stopped: {
    template: "share_stopped",
    data: {
      ...stopped,
      by: "person",
      groups: shared.groups,
      contact: "privacy@example.com",
      appUrl: "https://app.example.com/app/shares/shr_00abc",
    },
  },
  share_ceased: { template: "share_ceased", data: { ...stopped, note: hostileName } },
  share_overdue: { template: "share_overdue", data: { ...stopped, contact: null } },
  account_deleted: { template: "account_deleted", data: { at: stopped.at } },
  removal_completed: {
    template: "removal_completed",
    data: {
      completedCount: 11,
      targetCount: 12,
      recheckAt: stopped.ceaseBy,
      affidavitUrl: "https://app.example.com/app/removals/rmv_00k3v9d2m4q8x1c7b5n0t6w2h9",
    },
  },
  share_owner_notice: { template: "share_owner_notice", data: { shareIds: [stopped.shareId], ceaseBy: stopped.ceaseBy } },
  client_limit_near: {
    template: "client_limit_near",
    data: { clientId: "pc_live_00k3v9d2m4q8x1c7b5n0t6w2h9", until: Date.UTC(2026, 10, 21) },
  },
};
