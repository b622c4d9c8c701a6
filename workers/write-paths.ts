// Lists all routes, agent tools and scheduled jobs that store something or send email, with their limits. Tests fail if one is missing
// here. docs/reference/limits.md shows the same tables.
import type { defaultStorageLimits, LimitName } from "./limits.ts";

type StorageLimitName = (typeof defaultStorageLimits)[keyof typeof defaultStorageLimits]["recordsName" | "bytesName"];

export interface WritePath {
  /** What one call stores or sends. */
  readonly stores: string;
  /** The first limit is checked for each call, before anything is stored. */
  readonly limits: readonly [LimitName, ...(LimitName | StorageLimitName)[]];
  /**
   * The method and path of every route that can write. This includes GET routes that store something. A route under /portal/test is listed
   * only if there is no such route under /portal.
   */
  readonly routes: readonly string[];
}

/** The limits for changes that signed-in people make, unless a change has a limit of its own. */
const changes = ["SESSION", "CHANGES_PER_ACCOUNT"] as const;
const sandboxStorage = ["SANDBOX_RECORDS", "SANDBOX_BYTES"] as const;
const personStorage = ["PERSON_DAY", "PERSON_DAY_BYTES"] as const;

export const writePaths: readonly WritePath[] = [
  {
    stores: "A certificate",
    limits: [
      "CONSENT_PER_IP",
      "CONSENT_PER_CLIENT",
      "API_KEY",
      "CLIENT_DAY",
      "CLIENT_DAY_BYTES",
      "BUSINESS_DAY",
      "BUSINESS_DAY_BYTES",
      ...sandboxStorage,
    ],
    routes: ["POST /v1/consent"],
  },
  {
    stores: "A share",
    limits: [...changes, "GRANTS", ...personStorage],
    routes: ["POST /v1/share/consent", "POST /v1/me/shares/:share_id/renew", "POST /app/shares/:id/renew"],
  },
  {
    stores: "A share or test share from the consent sheet",
    limits: ["AUTHORIZE_PER_IP", "GRANTS", "FIELD_CHANGES", ...personStorage, ...sandboxStorage],
    routes: ["POST /authorize/decide"],
  },
  {
    stores: "A test share",
    limits: ["SANDBOX_CONSENT_PER_IP", "SANDBOX_GRANTS_PER_CLIENT", ...sandboxStorage],
    routes: ["POST /v1/share/sandbox-consent"],
  },
  { stores: "A test share and its events", limits: ["API_KEY", ...sandboxStorage], routes: ["POST /v1/sandbox/trigger"] },
  { stores: "A test share and its events", limits: [...changes, ...sandboxStorage], routes: ["POST /portal/test/sandbox/trigger"] },
  {
    stores: "Events of test shares that expire or end",
    limits: ["API_KEY", "SANDBOX_CLOCK", ...sandboxStorage],
    routes: ["POST /v1/sandbox/clock", "POST /v1/sandbox/reset"],
  },
  {
    stores: "Events of test shares that expire or end",
    limits: [...changes, "SANDBOX_CLOCK", ...sandboxStorage],
    routes: ["POST /portal/test/sandbox/clock", "POST /portal/test/sandbox/reset"],
  },
  {
    stores: "Nothing. Shows a step of the consent sheet",
    limits: ["AUTHORIZE_PER_IP"],
    routes: ["POST /authorize/opened", "POST /authorize/review"],
  },
  {
    stores: "The end of a share, once per share",
    limits: [...changes],
    routes: ["POST /v1/me/sever/:share_id", "POST /app/shares/:id/stop", "POST /app/with/:business/stop"],
  },
  {
    stores: "The end of a share, once per share",
    limits: ["REVOKE_LINK_PER_IP", "SESSION"],
    routes: ["POST /v1/shares/:share_id/revoke", "POST /stop/:id"],
  },
  {
    stores: "The first use of an authorization code",
    limits: ["REDEEM_PER_IP", "REDEEM_FAILURES_PER_CODE"],
    routes: ["POST /v1/share/redeem"],
  },
  {
    stores: "A withdrawal or acknowledgment, once per record and recipient",
    limits: ["API_KEY"],
    routes: ["POST /v1/certs/:cert_id/withdrawals", "POST /v1/certs/:cert_id/cease-ack", "POST /v1/shares/:share_id/cease-ack"],
  },
  {
    stores: "A withdrawal, acknowledgment or erasure, once per record and recipient",
    limits: [...changes],
    routes: [
      "POST /v1/me/certificates/withdraw",
      "POST /app/certificates/:id/withdraw",
      "POST /app/certificates/:id/withdraw-some",
      "POST /portal/deadlines/:id",
      "POST /v1/certs/:cert_id/erase-subject",
    ],
  },
  {
    stores: "An emailed withdrawal code",
    limits: ["OPT_OUT_REQUEST_PER_IP"],
    routes: ["POST /v1/certs/:cert_id/opt-out/request", "POST /c/:id/withdraw"],
  },
  {
    stores: "A withdrawal, once per certificate",
    limits: ["OPT_OUT_CONFIRM_PER_IP"],
    routes: [
      "POST /v1/certs/:cert_id/opt-out/confirm",
      "POST /v1/certs/:cert_id/opt-out/manage",
      "POST /c/:id/withdraw/confirm",
      "POST /c/:id/withdraw/link",
    ],
  },
  {
    stores: "An audit entry for a search or a match",
    limits: ["API_KEY", "MATCH_PER_KEY"],
    routes: ["POST /v1/certs/:cert_id/match", "POST /v1/contact-check", "POST /v1/certs/search"],
  },
  { stores: "Nothing. Signs a share request", limits: ["API_KEY"], routes: ["POST /v1/share/requests"] },
  {
    stores: "An emailed sign-in code",
    limits: ["AUTH_REQUEST_PER_IP", "AUTH_CODES_PER_ADDRESS"],
    routes: [
      "POST /v1/auth/request-code",
      "POST /withdraw",
      "POST /app/sign-in",
      "POST /portal/sign-in",
      "POST /authorize/email",
      "POST /authorize/new-code",
      "POST /oauth/authorize/email",
      "POST /oauth/authorize/new-code",
    ],
  },
  {
    stores: "A session, the end of a session, or a challenge that is valid for five minutes",
    limits: ["AUTH_VERIFY_PER_IP"],
    routes: [
      "POST /v1/auth/verify-code",
      "POST /v1/auth/passkey/options",
      "POST /v1/auth/passkey/verify",
      "POST /v1/auth/logout",
      "POST /app/sign-in/link",
      "POST /app/sign-in/elsewhere",
      "POST /portal/sign-in/passkey",
      "POST /portal/sign-in/passkey/answer",
      "POST /portal/sign-in/link",
      "POST /portal/sign-in/elsewhere",
      "POST /app/code",
      "POST /app/other-address",
      "POST /app/passkey",
      "POST /app/passkey/answer",
      "POST /portal/sign-in/code",
      "POST /portal/sign-in/other",
      "POST /portal/sign-out",
      "POST /authorize/code",
      "POST /authorize/passkey",
      "POST /authorize/passkey/answer",
      "POST /authorize/other-address",
      "POST /authorize/sign-out",
      "POST /oauth/authorize/code",
      "POST /oauth/authorize/other-address",
      "POST /oauth/authorize/sign-out",
    ],
  },
  {
    stores: "A sign-up and an emailed code",
    limits: ["SIGNUP_PER_IP", "AUTH_CODES_PER_ADDRESS"],
    routes: ["POST /v1/business/signup", "POST /portal/sign-up"],
  },
  {
    stores: "An invitation and its email",
    limits: [...changes, "INVITATIONS_PER_BUSINESS"],
    routes: ["POST /v1/business/portal/members", "POST /portal/team"],
  },
  {
    stores: "The result of a domain check",
    limits: [...changes, "DOMAIN_CHECKS_PER_BUSINESS"],
    routes: ["POST /v1/business/portal/domains/:domain_id/verify", "POST /portal/domains/:id/verify"],
  },
  {
    stores: "A delivery and its attempts",
    limits: [...changes, "WEBHOOK_CALLS"],
    routes: [
      "POST /v1/webhooks/:webhook_id/test",
      "POST /v1/webhooks/:webhook_id/recover",
      "POST /v1/webhooks/deliveries/:delivery_id/replay",
      "POST /portal/webhooks/:id/test",
      "POST /portal/webhooks/:id/recover",
      "POST /portal/webhooks/:id/deliveries/:delivery/replay",
      "POST /portal/events/:seq/replay",
    ],
  },
  {
    stores: "A change of contact fields, and its events",
    limits: [...changes, "FIELD_CHANGES"],
    routes: ["PUT /v1/me/fields", "POST /app/details/save", "POST /app/details/undo"],
  },
  { stores: "A removal request", limits: [...changes, "REMOVALS"], routes: ["POST /v1/me/removals", "POST /app/removals"] },
  { stores: "An audit entry for an export", limits: [...changes, "EXPORTS"], routes: ["POST /app/export"] },
  {
    stores: "A proposed mapping, for 30 days",
    limits: [...changes, "INTEGRATE"],
    routes: ["POST /v1/business/portal/integrate", "POST /portal/snippet"],
  },
  {
    stores: "A row that belongs to the account, or an audit entry",
    limits: [...changes],
    routes: [
      "DELETE /v1/me",
      "DELETE /v1/me/sessions",
      "DELETE /v1/me/sessions/:session_id",
      "POST /v1/me/passkeys/options",
      "POST /v1/me/passkeys",
      "DELETE /v1/me/passkeys/:passkey_id",
      "POST /v1/me/agent-token",
      "DELETE /v1/me/agent-tokens/:token_id",
      "POST /app/details",
      "POST /app/account/devices/end",
      "POST /app/account/devices/end-others",
      "POST /app/account/passkeys/remove",
      "POST /app/account/passkeys/add",
      "POST /app/account/passkeys",
      "POST /app/sign-out",
      "POST /app/agents",
      "POST /app/agents/remove",
      "POST /app/delete",
      "POST /v1/business/portal/agent-token",
      "DELETE /v1/business/portal/agent-tokens/:token_id",
      "PATCH /v1/business/portal",
      "POST /v1/business/portal/domains",
      "DELETE /v1/business/portal/domains/:domain_id",
      "POST /v1/business/portal/keys",
      "DELETE /v1/business/portal/keys/:key_id",
      "POST /v1/business/portal/clients",
      "PATCH /v1/business/portal/clients/:client_id",
      "PATCH /v1/business/portal/members/:member_id",
      "DELETE /v1/business/portal/members/me",
      "DELETE /v1/business/portal/members/:member_id",
      "POST /v1/business/portal/certs/:cert_id/reveal",
      "POST /v1/business/portal/recipients",
      "DELETE /v1/business/portal/recipients",
      "POST /v1/webhooks",
      "PATCH /v1/webhooks/:webhook_id",
      "DELETE /v1/webhooks/:webhook_id",
      "POST /v1/webhooks/:webhook_id/rotate-secret",
      "POST /v1/webhooks/deliveries/:delivery_id/reveal",
      "POST /portal/invitations/accept",
      "POST /portal/invitations/decline",
      "POST /portal/account/passkeys/new",
      "POST /portal/account/passkeys",
      "POST /portal/account/passkeys/remove",
      "POST /portal/account/sessions/end",
      "POST /portal/account/sessions/end-others",
      "POST /portal/businesses",
      "POST /portal/businesses/decline",
      "POST /portal/export",
      "POST /portal/certificates/views",
      "POST /portal/certificates/views/remove",
      "POST /portal/certificates/export",
      "POST /portal/certificates/find",
      "POST /portal/certificates/:id/reveal",
      "POST /portal/certificates/:id/evidence",
      "POST /portal/domains",
      "POST /portal/domains/:id/remove",
      "POST /portal/webhooks",
      "POST /portal/webhooks/:id/export",
      "POST /portal/webhooks/:id/edit",
      "POST /portal/webhooks/:id/status",
      "POST /portal/webhooks/:id/secret",
      "POST /portal/webhooks/:id/rotate",
      "POST /portal/webhooks/:id/remove",
      "POST /portal/webhooks/:id/deliveries/:delivery/reveal",
      "POST /portal/keys",
      "POST /portal/clients",
      "POST /portal/clients/:id",
      "POST /portal/keys/:id/remove",
      "POST /portal/lookup",
      "POST /portal/team/leave",
      "POST /portal/team/:id/role",
      "POST /portal/team/:id/remove",
      "POST /portal/billing/export",
      "POST /portal/settings/profile",
      "POST /portal/settings/retention",
      "POST /portal/settings/withdrawals",
      "POST /portal/settings/events",
    ],
  },
  {
    stores: "An assistant's connection, and its email",
    limits: ["OAUTH_AUTHORIZE_PER_IP", "CONNECT_PER_PRINCIPAL"],
    routes: ["POST /oauth/authorize/decide", "POST /oauth/authorize/end-one"],
  },
  { stores: "The end of a connection", limits: ["REVOKE_LINK_PER_IP"], routes: ["POST /oauth/end/:token_id"] },
  { stores: "An agent token, once per code", limits: ["OAUTH_TOKEN_PER_IP"], routes: ["POST /oauth/token", "POST /oauth/revoke"] },
  { stores: "Nothing. The client's ID contains its data", limits: ["OAUTH_REGISTER_PER_IP"], routes: ["POST /oauth/register"] },
  {
    stores: "An audit entry per tool call, and what the tool changes",
    limits: ["AGENT_TOKEN", "FIELD_CHANGES"],
    routes: ["ALL /mcp"],
  },
  { stores: "An event from the payment provider", limits: ["PROVIDER_SYNC_PER_IP"], routes: ["POST /v1/webhooks/stripe"] },
  {
    stores: "An audit entry for a read",
    limits: ["API_KEY"],
    routes: ["GET /v1/certs/:cert_id", "GET /v1/certs/:cert_id/evidence-pack", "GET /v1/consumers/:share_id/current"],
  },
  {
    stores: "An audit entry for a read",
    limits: ["SESSION"],
    routes: ["GET /v1/business/portal/certs/:cert_id/views", "GET /v1/webhooks/:webhook_id/secret", "GET /portal/certificates/:id"],
  },
  { stores: "An audit entry for an export", limits: ["SESSION", "EXPORTS"], routes: ["GET /v1/me/export"] },
  {
    stores: "A view of a certificate. 10,000 are stored for each certificate, and further ones are only counted",
    limits: ["VERIFY_PER_IP"],
    routes: ["GET /c/:id"],
  },
];

/** What any route can store in addition to the entries in `writePaths`. */
export const commonWrites = [
  { stores: "The day on which a key, token or session was last used", bounds: "Once a day for each" },
  { stores: "A refused request, for seven days", bounds: "`REFUSALS_KEPT`, `REFUSALS_PER_IP`" },
] as const;

interface ToolWrite {
  readonly stores: string;
  /** The first limit is checked for each call, before anything is stored. */
  readonly limits: readonly ["AGENT_TOKEN", ...LimitName[]];
  readonly tools: readonly string[];
}

export const toolWrites: readonly ToolWrite[] = [
  {
    stores: "An audit entry for the call",
    limits: ["AGENT_TOKEN"],
    tools: ["svc_list_shares", "svc_get_share", "svc_get_audit", "svc_list_events"],
  },
  { stores: "An audit entry, and the end of a share, once per share", limits: ["AGENT_TOKEN"], tools: ["svc_revoke_share"] },
  {
    stores: "An audit entry, and a change of contact fields with its events and email",
    limits: ["AGENT_TOKEN", "FIELD_CHANGES", "SHARE_UPDATES"],
    tools: ["svc_update_field"],
  },
];

interface JobWrite {
  readonly stores: string;
  /** What bounds the job's writes, in Markdown. Callers cannot start jobs, and jobs store only data that they derive from stored data. */
  readonly bounds: string;
  /** The names of the jobs in schedule.ts. */
  readonly jobs: readonly string[];
}

export const jobWrites: readonly JobWrite[] = [
  {
    stores: "Nothing. Deletes rows that have expired or were processed",
    bounds: "The rows that exist",
    jobs: ["change-log-cleanup", "expiry-sweep", "sandbox-sweep"],
  },
  { stores: "An audit log entry or an event", bounds: "Once for each stored change", jobs: ["audit-drain-requests", "event-sweep"] },
  { stores: "The counters of certificates", bounds: "Once for each certificate and each withdrawal", jobs: ["certificate-counting"] },
  { stores: "A ledger entry", bounds: "Once for each stored statement", jobs: ["anchoring", "parked-anchors"] },
  { stores: "The result of sending an email", bounds: "Once for each stored email", jobs: ["mail-relay"] },
  {
    stores: "Withdrawals of a person's other certificates, and policies with their texts",
    bounds: "Once for each certificate. `POLICY_CAPTURES_PER_BUSINESS`, `POLICY_DAY`, `POLICY_DAY_BYTES`, 20 waiting pages per business",
    jobs: ["outbox-relay"],
  },
  { stores: "The erasure of a certificate's personal data", bounds: "Once for each certificate", jobs: ["retention-sweep"] },
  {
    stores: "The end of a share or a warning before it, with their events and emails",
    bounds: "Three times for each share",
    jobs: ["share-sweep"],
  },
  {
    stores: "The rest of a grant, field change, deletion or withdrawal that a request began",
    bounds: "Once for each request. `SHARE_UPDATES`",
    jobs: ["share-settling"],
  },
  {
    stores: "The end of an account's plan or subscription",
    bounds: "Once for each account and subscription",
    jobs: ["unpaid-sweep", "subscription-ends"],
  },
  {
    stores: "The result of a domain check, with its notice",
    bounds: "Once a week for each verified domain. `OWNER_NOTICES`",
    jobs: ["domain-checks"],
  },
  {
    stores: "A copy of an account in a shard that issues its certificates",
    bounds: "Once for each account change whose process ended before it updated the copy",
    jobs: ["expired-holds"],
  },
  { stores: "A notice before an assistant's connection expires", bounds: "Once for each connection", jobs: ["connection-expiry-notices"] },
  {
    stores: "Checkpoints, their attestations and the size of each shard",
    bounds: "Once every 15 minutes for each log and shard",
    jobs: ["audit-checkpoints", "ledger-checkpoint", "attestations", "shard-sizes"],
  },
  { stores: "An alert to the operator, with its email", bounds: "Once a day for each kind of alert", jobs: ["operator-alerts"] },
];
