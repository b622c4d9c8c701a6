// The wire of withdrawal: the person's routes need no credential and work whatever the business has paid; the business
// records and acknowledges with its key.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { certIdOf, type CertId } from "../../../core/ids.ts";
import { refuse, type Result } from "../../../core/result.ts";
import { isoOf } from "../../../core/time.ts";
import { withdrawalView } from "../../../core/certificates/views.ts";
import { receiptFormats, type ReceiptFormat } from "../../../core/certificates/consent-receipt.ts";
import { acknowledgeWithdrawal } from "../../operations/cease.ts";
import { certificateReceipt } from "../../operations/certificates.ts";
import { viewContext } from "../../operations/view-context.ts";
import {
  confirmWithdrawal,
  recordWithdrawal,
  requestWithdrawalCode,
  withdrawalReceipt,
  withdrawByLink,
  withdrawnView,
  type ConfirmRefusal,
  type Withdrawn,
} from "../../operations/withdrawals.ts";
import { pageLanguage } from "../../pages/language.ts";
import { jsonOnly, readJsonBody, readOptionalJsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { anyOrigin, apiKey, callersOrigin, limitByAddress, preflight } from "../../http/guards.ts";
import { idempotencyKeyOf, idempotent, idempotentByAddress } from "../../http/idempotency.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { exampleCertId } from "../certificates/examples.ts";
import { withdrawalReceiptSchema } from "../certificates/schema.ts";
import { queryOf } from "./query.ts";
import { iso27560Schema, kantaraSchema } from "../certificates/receipt-schema.ts";
import { ceaseExample, confirmExample, recordedExample, withdrawalReceiptExample } from "./examples.ts";
import {
  acceptedSchema,
  ceasedSchema,
  ceaseSchema,
  optOutConfirmSchema,
  optOutManageSchema,
  optOutRequestSchema,
  recordedSchema,
  recordWithdrawalSchema,
  withdrawnSchema,
} from "./schema.ts";
import { openWithdrawalContext, withdrawalContext } from "../../http/withdrawal-context.ts";
import { envelope, enveloped, failures, idempotencyHeaders, rateHeaders, repeatHeaders, schemaFault } from "../../http/wire.ts";
import { setHeaders } from "./headers.ts";

const certParam = z.object({
  cert_id: z.string().openapi({ description: "Id of the certificate, prefix `cc_`.", example: exampleCertId }),
});
const bodyRefusals = ["invalid_request", "payload_too_large", "unsupported_media_type"] as const;
const keyRefusals = ["unauthorized", "business_suspended", "business_inactive", "rate_limited", "storage_unavailable"] as const;
const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;
const badBody = { invalid_request: "The message names the input and the rule." } as const;

const requestRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/request",
  operationId: "requestWithdrawalCode",
  tags: ["withdrawal"],
  summary: "Ask for a code to withdraw",
  description:
    "For the person named on the certificate. If the address is the one on it, a six-digit code is mailed to it, valid for 10 minutes. The answer is the same for every address, in body, headers and time. At most three codes are live at once, a new one cancels none of them, and at most five an hour and ten a day are mailed. The answer sets a cookie: tries from the same browser are counted apart from everybody else's.",
  security: [],
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: { required: true, content: { "application/json": { schema: optOutRequestSchema, example: { email: "pat@example.com" } } } },
  },
  responses: {
    200: {
      description: "Taken. Whether a mail was sent is not told.",
      headers: repeatHeaders,
      content: { "application/json": { schema: envelope("OptOutRequestAnswer", acceptedSchema), example: enveloped({ accepted: true }) } },
    },
    ...failures([...bodyRefusals, "cert_not_found", "idempotency_conflict", "rate_limited", "storage_unavailable"], {
      ...badBody,
      rate_limited: "More than 10 an hour from one address.",
    }),
  },
});

const withdrawnAnswer = {
  description: "The consent is withdrawn.",
  headers: repeatHeaders,
  content: { "application/json": { schema: envelope("WithdrawnAnswer", withdrawnSchema), example: enveloped(confirmExample) } },
};
const personRefusals = [
  "forbidden",
  "cert_not_found",
  "already_revoked",
  "idempotency_conflict",
  "rate_limited",
  "storage_unavailable",
] as const;

const confirmRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/confirm",
  operationId: "confirmWithdrawal",
  tags: ["withdrawal"],
  summary: "Withdraw with the mailed code",
  description:
    "The certificate becomes revoked, the ten business days begin, the business's owner is mailed the certificate's id and the deadline, and the event `certificate.revoked` is sent. Nothing is deleted. A wrong address, a wrong code, an expired one, one that was tried too often and none at all are one and the same refusal. Works whatever the state of the business's account.",
  security: [],
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: {
      required: true,
      content: { "application/json": { schema: optOutConfirmSchema, example: { email: "pat@example.com", code: "042917" } } },
    },
  },
  responses: {
    200: withdrawnAnswer,
    ...failures([...bodyRefusals, "opt_out_failed", ...personRefusals], {
      invalid_request: "The message names the input and the rule. No try is spent.",
      forbidden: "A browser sent this from a site that is neither ours nor the business's.",
      already_revoked: "Address and code are right, and the certificate is revoked already.",
      rate_limited: "More than 30 an hour from one address.",
    }),
  },
});

const manageRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/manage",
  operationId: "withdrawByLink",
  tags: ["withdrawal"],
  summary: "Withdraw with the link from the 201",
  description:
    "The one tap behind `manage_url`: its token withdraws without a mail, for five years after the certificate was issued. The link in a mail with a code works here too, for a day. Everything else as for the code.",
  security: [],
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: {
      required: true,
      content: {
        "application/json": { schema: optOutManageSchema, example: { token: "rUVtHX5vjYqXkKzwhxKQ5mB1yWSSJzEp0eE2lH3c9pA" } },
      },
    },
  },
  responses: {
    200: withdrawnAnswer,
    ...failures([...bodyRefusals, "opt_out_failed", ...personRefusals], {
      ...badBody,
      opt_out_failed: "The token is none of this certificate's, or it has expired.",
      forbidden: "A browser sent this from a site that is neither ours nor the business's.",
      already_revoked: "The token is right, and the certificate is revoked already.",
      rate_limited: "More than 30 an hour from one address.",
    }),
  },
});

const receiptRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/receipt",
  operationId: "withdrawalReceipt",
  tags: ["withdrawal"],
  summary: "The signed receipt of a withdrawal, or the consent receipt",
  description:
    "For anyone, without a credential; nothing personal is in it. Without `format` it is the receipt of the withdrawal: the issuer's signature is over `canonical`. Save the answer as a file: `svc-verify receipt.json --trust trust.json` checks it without any network. With `format` it is the certificate, active or withdrawn, as a consent receipt that other systems read.",
  security: [],
  request: {
    params: certParam,
    query: z.object({
      format: z.enum(receiptFormats).optional().openapi({
        description: "`iso27560`: in the structure of ISO/IEC TS 27560:2023, as JSON-LD. `kantara`: Kantara Consent Receipt 1.1.0.",
      }),
    }),
  },
  responses: {
    200: {
      description: "The receipt.",
      headers: rateHeaders,
      content: {
        "application/json": {
          schema: envelope("ReceiptAnswer", z.union([withdrawalReceiptSchema, iso27560Schema, kantaraSchema])),
          example: enveloped(withdrawalReceiptExample),
        },
      },
    },
    ...failures(["invalid_request", "cert_not_found", "not_found", "rate_limited", "storage_unavailable"], {
      invalid_request: "`format` is none of them.",
      not_found: "Without `format`: the certificate is active, there is no withdrawal.",
      rate_limited: "More than 120 a minute from one address.",
    }),
  },
});

const recordRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/withdrawals",
  operationId: "recordWithdrawal",
  tags: ["withdrawal"],
  summary: "Record a withdrawal that reached you otherwise",
  description:
    "By text message, on the telephone, by letter, in person: whatever reasonable way the person chose. The certificate becomes revoked, `certificate.revoked` is sent, and `cease_by` counts from `received_at`. Possible while a payment is past due: withdrawing is the person's right.",
  security: [{ apiKey: [] }],
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: {
      required: true,
      content: {
        "application/json": { schema: recordWithdrawalSchema, example: { method: "sms_stop", received_at: "2026-03-20T08:30:00.250Z" } },
      },
    },
  },
  responses: {
    201: {
      description: "Recorded; the certificate is revoked.",
      headers: repeatHeaders,
      content: { "application/json": { schema: envelope("RecordedAnswer", recordedSchema), example: enveloped(recordedExample) } },
    },
    ...failures([...bodyRefusals, "cert_not_found", "already_revoked", "idempotency_conflict", ...keyRefusals], {
      ...badBody,
      ...notYours,
    }),
  },
});

const ceaseRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/cease-ack",
  operationId: "acknowledgeWithdrawal",
  tags: ["withdrawal"],
  summary: "Acknowledge that contact has ceased",
  description:
    "Once a certificate, for good, and anchored in the ledger; the certificate stays revoked. A second time answers with the first. A write: refused while a payment is past due. No body is needed.",
  security: [{ apiKey: [] }],
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: {
      required: false,
      content: {
        "application/json": { schema: ceaseSchema, example: { acknowledged_by: "Privacy team", actions: ["removed from the dialler"] } },
      },
    },
  },
  responses: {
    200: {
      description: "Acknowledged.",
      headers: repeatHeaders,
      content: { "application/json": { schema: envelope("CeasedAnswer", ceasedSchema), example: enveloped(ceaseExample) } },
    },
    ...failures([...bodyRefusals, "subscription_past_due", "cert_not_found", "cease_not_open", "idempotency_conflict", ...keyRefusals], {
      ...badBody,
      ...notYours,
    }),
  },
});

const certIdParam = (c: Context<Api>): CertId | null => certIdOf(c.req.param("cert_id") ?? "");

const isReceiptFormat = (format: string): format is ReceiptFormat => receiptFormats.some((known) => known === format);

const readRequired = (request: Request): ReturnType<typeof readOptionalJsonBody> => readJsonBody(request, jsonOnly);

/** The body as its schema has it; the answer of a refusal otherwise. */
const bodyOf = async <S extends z.ZodType>(c: Context<Api>, schema: S, read = readRequired): Promise<Result<z.infer<S>>> => {
  const body = await read(c.req.raw);
  if (!body.ok) return body;
  const parsed = schema.safeParse(body.value);
  return parsed.success ? { ok: true, value: parsed.data } : refuse("invalid_request", schemaFault(parsed.error));
};

const request = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c, optOutRequestSchema);
  if (!body.ok) return refusal(c, body);
  const certId = certIdParam(c);
  if (certId === null) return failure(c, "cert_not_found");
  const context = openWithdrawalContext(c);
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  const accepted = await requestWithdrawalCode(c.var.services, { certId, email: body.value.email, context, language });
  return accepted.ok ? success(c, 200, { accepted: true }) : refusal(c, accepted);
};

const withdrawnAs = (c: Context<Api>, result: Result<Withdrawn, ConfirmRefusal>): Response =>
  result.ok ? success(c, 200, withdrawnView(c.var.services, result.value)) : refusal(c, result);

const confirm = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c, optOutConfirmSchema);
  if (!body.ok) return refusal(c, body);
  const certId = certIdParam(c);
  if (certId === null) return failure(c, "cert_not_found");
  const { email, code, scope } = body.value;
  const origin = c.req.header("origin") ?? null;
  const asked = { certId, email, code, scope: scope ?? "certificate", context: withdrawalContext(c), origin };
  return withdrawnAs(c, await confirmWithdrawal(c.var.services, asked));
};

const manage = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c, optOutManageSchema);
  if (!body.ok) return refusal(c, body);
  const certId = certIdParam(c);
  if (certId === null) return failure(c, "cert_not_found");
  const { token, scope } = body.value;
  const asked = { certId, token, scope: scope ?? "certificate", origin: c.req.header("origin") ?? null } as const;
  return withdrawnAs(c, await withdrawByLink(c.var.services, asked));
};

const receipt = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  if (certId === null) return failure(c, "cert_not_found");
  const given = queryOf(c, ["format"]);
  if (!given.ok) return refusal(c, given);
  const { format } = given.value;
  if (format !== undefined && !isReceiptFormat(format)) return failure(c, "invalid_request", "format: must be iso27560 or kantara.");
  const { services } = c.var;
  const found = format === undefined ? await withdrawalReceipt(services, certId) : await certificateReceipt(services, certId, format);
  const name = format === undefined ? `withdrawal-${certId}` : `receipt-${format}-${certId}`;
  if (found.ok) setHeaders(c, { "Content-Disposition": `attachment; filename="${name}.json"` });
  return answer(c, 200, found);
};

const record = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c, recordWithdrawalSchema);
  if (!body.ok) return refusal(c, body);
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  const { services, principal } = c.var;
  const idempotencyKey = idempotencyKeyOf(c);
  if (!idempotencyKey.ok) return refusal(c, idempotencyKey);
  const { method, received_at: receivedAt, note } = body.value;
  const told = { channel: method, receivedAt: Date.parse(receivedAt), note: note ?? null, idempotencyKey: idempotencyKey.value };
  const recorded = await recordWithdrawal(services, principal, certId, told);
  if (!recorded.ok) return refusal(c, recorded);
  if (recorded.value.replayed) setHeaders(c, { "Idempotency-Replayed": "true" });
  return success(c, 201, recorded.value.answer);
};

const cease = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c, ceaseSchema, readOptionalJsonBody);
  if (!body.ok) return refusal(c, body);
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  const { services, principal } = c.var;
  const { note, acknowledged_by: acknowledgedBy, actions } = body.value;
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  const ceased = await acknowledgeWithdrawal(services, principal, certId, details);
  if (!ceased.ok) return refusal(c, ceased);
  const { withdrawal, acknowledgedAt, isRepeated } = ceased.value;
  return success(c, 200, {
    cert_id: certId,
    status: "revoked",
    acknowledged_at: isoOf(acknowledgedAt),
    cease_by: isoOf(withdrawal.ceaseBy),
    on_time: acknowledgedAt <= withdrawal.ceaseBy,
    withdrawal: withdrawalView(certId, withdrawal, viewContext(services)),
    ...(isRepeated && { already_acknowledged: true }),
  });
};

export const mountWithdrawals = (app: Hono<Api>): void => {
  app.use("/v1/certs/:cert_id/opt-out/*", callersOrigin);
  app.options("/v1/certs/:cert_id/opt-out/request", preflight("POST", "Content-Type, Idempotency-Key"));
  app.options("/v1/certs/:cert_id/opt-out/confirm", preflight("POST", "Content-Type, Idempotency-Key"));
  app.options("/v1/certs/:cert_id/opt-out/manage", preflight("POST", "Content-Type, Idempotency-Key"));
  mount(app, requestRoute, limitByAddress("OPT_OUT_REQUEST_PER_IP"), idempotentByAddress, request);
  mount(app, confirmRoute, limitByAddress("OPT_OUT_CONFIRM_PER_IP"), idempotentByAddress, confirm);
  mount(app, manageRoute, limitByAddress("OPT_OUT_CONFIRM_PER_IP"), idempotentByAddress, manage);

  app.use("/v1/certs/:cert_id/receipt", anyOrigin);
  mount(app, receiptRoute, limitByAddress("VERIFY_PER_IP"), receipt);

  mount(app, recordRoute, apiKey, record);
  mount(app, ceaseRoute, apiKey, idempotent, cease);
};
