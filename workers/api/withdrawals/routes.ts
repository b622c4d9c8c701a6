// Withdrawal routes (SPEC Withdrawal). The person's routes need no credential and work regardless of the business's billing status. A
// business records and acknowledges withdrawals with an API key.
import { actorFromApiKey } from "../../../core/access/principal.ts";
import { z } from "@hono/zod-openapi";
import { toWithdrawalReceiptView } from "../../../core/certificates/public-json.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, respondAndSave, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { successResponse, requestBody, optionalRequestBody } from "../../http/wire.ts";
import { ensureWithdrawalContext, findWithdrawalContext } from "../../http/withdrawal-context.ts";
import { getCertificateReceipt } from "../../operations/certificates/get-certificate-receipt.ts";
import { getEntityWithdrawalReceipt } from "../../operations/certificates/get-entity-withdrawal-receipt.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { getWithdrawalReceipt } from "../../operations/certificates/get-withdrawal-receipt.ts";
import { acknowledgeEntityWithdrawals } from "../../operations/withdrawals/acknowledge-entity-withdrawals.ts";
import { acknowledgeWithdrawal, type WithdrawalAcknowledgement } from "../../operations/withdrawals/acknowledge-withdrawal.ts";
import { withdrawByCode } from "../../operations/withdrawals/withdraw-by-code.ts";
import { withdrawByLink } from "../../operations/withdrawals/withdraw-by-link.ts";
import { recordWithdrawal } from "../../operations/withdrawals/record-withdrawal.ts";
import { requestWithdrawalCode } from "../../operations/withdrawals/request-withdrawal-code.ts";
import type { WithdrawalResult } from "../../operations/withdrawals/withdrawal-request.ts";
import { getReceiptSchemas } from "../certificates/receipt-schema.ts";
import { getCertificateSchemas } from "../certificates/response-schemas.ts";
import { certIdParamSchema, certificateNotFoundRefusal } from "../certificates/schema.ts";
import * as wire from "./schema.ts";

const createRoute = createRouteFactory("withdrawal");

const requestWithdrawalCodeRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/request",
  operationId: "requestWithdrawalCode",
  summary: "Request a withdrawal code",
  description:
    "Requests a code with which the person can withdraw consent. If the email address is on the certificate, we email a 6-digit code that is valid for 10 minutes and a link that is valid for 1 day. The response has the same body, headers and timing for every email address. The code works for all certificates of the same business and environment that contain the email address. Up to 3 codes can be active at the same time; a new one does not cancel the others. For each email address, business and environment, up to 5 codes per hour and 10 per day are sent. The response sets a cookie, so that attempts with a code are counted separately for this browser.",
  middleware: publicGuard(limitByAddress("OPT_OUT_REQUEST_PER_IP"), jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(wire.optOutRequestSchema, { email: "pat@example.com" }) },
  responses: {
    200: successResponse(
      "Accepted. The response does not reveal whether an email was sent.",
      "OptOutRequestResponse",
      () => wire.getWithdrawalSchemas().acceptedSchema,
      { accepted: true },
    ),
  },
  refuses: ["cert_not_found"],
});

const withdrawnResponse = successResponse(
  "Consent was withdrawn.",
  "WithdrawnResponse",
  () => wire.getWithdrawalSchemas().withdrawnSchema,
  () => wire.getWithdrawalExamples().withdrawn,
);
const crossSiteRefusal = { forbidden: "The request came from a web page that does not belong to us or to the business." } as const;

const confirmWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/confirm",
  operationId: "confirmWithdrawal",
  summary: "Withdraw with an email code",
  description:
    "Withdraws consent. The certificate becomes `revoked`, and all contact must stop within 10 business days. The owners of the business get an email with the certificate ID and the deadline, and a `certificate.revoked` event is sent. With `entities`, only those recipients must stop contacting the person; the certificate stays active for the others until consent for the last one is withdrawn. Nothing is deleted. All failed attempts (wrong email address, wrong or expired code, too many attempts, no code) get the same error. Works regardless of the business account's status.",
  middleware: publicGuard(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(wire.optOutConfirmSchema, { email: "pat@example.com", code: "042917" }) },
  responses: { 200: withdrawnResponse },
  refuses: ["opt_out_failed", "cert_not_found"],
  when: {
    ...crossSiteRefusal,
    invalid_request: "A field is invalid. The message says which one and why. The request does not count as an attempt with the code.",
    already_revoked:
      "The email address and code are correct, but consent was already withdrawn for the certificate or for all of `entities`.",
  },
});

const withdrawByLinkRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/manage",
  operationId: "withdrawByLink",
  summary: "Withdraw with a link",
  description:
    "Withdraws consent with the token in `manage_url`, without an email code. This token is valid for 5 years after issuance. It withdraws only its own certificate. `scope: business` is refused, because everyone who submits a form gets a link, even with another person's email address. The token in the link of a withdrawal email works too, for 1 day and with either `scope`. The effects are the same as with an email code.",
  middleware: publicGuard(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotencyGuard),
  request: {
    params: certIdParamSchema,
    body: requestBody(wire.optOutManageSchema, { token: "rUVtHX5vjYqXkKzwhxKQ5mB1yWSSJzEp0eE2lH3c9pA" }),
  },
  responses: { 200: withdrawnResponse },
  refuses: ["cert_not_found"],
  when: {
    ...crossSiteRefusal,
    opt_out_failed: "The token is not valid for this certificate, or has expired.",
    already_revoked: "The token is correct, but consent was already withdrawn for the certificate or for all of `entities`.",
  },
});

const getReceiptRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/receipt",
  operationId: "withdrawalReceipt",
  summary: "Get a withdrawal receipt or consent receipt",
  description:
    "Public. Contains no personal data. Without `format`, returns the signed receipt of the withdrawal. The issuer's signature covers `canonical`. To verify the receipt offline, save the response as `receipt.json` and run `svc-verify receipt.json --trust trust.json`. With `format`, returns the certificate, active or withdrawn, as a consent receipt in a standard format.",
  middleware: publicGuard(limitByAddress("VERIFY_PER_IP")),
  request: { params: certIdParamSchema, query: wire.receiptQuerySchema },
  responses: {
    200: successResponse(
      "The receipt.",
      "ReceiptResponse",
      () => {
        const { iso27560ReceiptSchema, kantaraReceiptSchema } = getReceiptSchemas();
        return z.union([getCertificateSchemas().withdrawalReceiptSchema, iso27560ReceiptSchema, kantaraReceiptSchema]);
      },
      () => wire.getWithdrawalExamples().receipt,
    ),
  },
  refuses: ["cert_not_found"],
  when: {
    not_a_consent: "You set `format`, but the person accepted none of the recipients.",
    invalid_request: "A query parameter is invalid. The message says which one and why.",
    not_found: "You did not set `format`, and the certificate has no withdrawal, or no withdrawal with this number.",
  },
});

const recordWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/withdrawals",
  operationId: "recordWithdrawal",
  summary: "Record a withdrawal",
  description:
    "Records a withdrawal that you received by text message, phone or letter, in person, or in any other reasonable way. Without `entities`, the certificate becomes `revoked`. With `scope: business` (the default, unless your profile sets another default), all your other active certificates that name the person also become `revoked`. A `certificate.revoked` event is sent for each, and `cease_by` counts from `received_at`. With `entities`, only those recipients must stop contacting the person; the certificate stays active for the others until consent for the last one is withdrawn. The person gets an email if the certificate has an email address. You can record withdrawals even while a payment is past due.",
  middleware: apiKeyGuard(jsonBody, idempotencyKeyGuard),
  request: {
    params: certIdParamSchema,
    body: requestBody(wire.recordWithdrawalSchema, { method: "sms_stop", received_at: "2026-03-20T08:30:00.250Z" }),
  },
  responses: {
    201: successResponse(
      "The withdrawal was recorded.",
      "RecordedResponse",
      () => wire.getWithdrawalSchemas().recordedWithdrawalSchema,
      () => wire.getWithdrawalExamples().recordedWithdrawal,
    ),
  },
  refuses: ["already_revoked"],
  when: certificateNotFoundRefusal,
});

const acknowledgeWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/cease-ack",
  operationId: "acknowledgeWithdrawal",
  summary: "Acknowledge a withdrawal",
  description:
    "Confirms that you stopped contacting the person. The acknowledgment is permanent and anchored in the ledger; the certificate stays `revoked`. With `entities`, it applies only to these recipients, is recorded only in the audit log, and does not change the certificate's status. Repeating the request returns the first acknowledgment. Refused while a payment is past due. No body is needed.",
  middleware: apiKeyGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: certIdParamSchema,
    body: optionalRequestBody(wire.acknowledgmentRequestSchema, { acknowledged_by: "Privacy team", actions: ["removed from the dialer"] }),
  },
  responses: {
    200: successResponse(
      "The acknowledgment.",
      "CeasedResponse",
      () => wire.getWithdrawalSchemas().acknowledgmentSchema,
      () => wire.getWithdrawalExamples().acknowledgment,
    ),
  },
  refuses: ["subscription_past_due"],
  when: {
    ...certificateNotFoundRefusal,
    cease_not_open:
      "The certificate is not revoked or, with `entities`, the person has not withdrawn consent for each of these recipients individually.",
  },
});

export const withdrawalRoutes = createApi();

withdrawalRoutes.openapi(requestWithdrawalCodeRoute, async (c) => {
  const { cert_id: certId } = c.req.valid("param");
  const { email } = c.req.valid("json");
  const context = ensureWithdrawalContext(c);
  const accepted = await requestWithdrawalCode(c.var.services, { certId, email, context, language: c.var.language });
  return respond(c, 200, accepted, () => ({ accepted: true as const }));
});

withdrawalRoutes.openapi(confirmWithdrawalRoute, async (c) => {
  const { services } = c.var;
  const request = {
    certId: c.req.valid("param").cert_id,
    ...c.req.valid("json"),
    context: findWithdrawalContext(c),
    origin: c.req.header("origin") ?? null,
    language: c.var.language,
  };
  const toWire = (withdrawn: WithdrawalResult) => wire.withdrawnToWire(services.config.baseUrl, withdrawn);
  return respondAndSave(c, 200, toWire, (save) => withdrawByCode(services, request, save));
});

withdrawalRoutes.openapi(withdrawByLinkRoute, async (c) => {
  const { services } = c.var;
  const link = {
    certId: c.req.valid("param").cert_id,
    ...c.req.valid("json"),
    origin: c.req.header("origin") ?? null,
    language: c.var.language,
  };
  const toWire = (withdrawn: WithdrawalResult) => wire.withdrawnToWire(services.config.baseUrl, withdrawn);
  return respondAndSave(c, 200, toWire, (save) => withdrawByLink(services, link, save));
});

withdrawalRoutes.openapi(getReceiptRoute, async (c) => {
  const { cert_id: certId } = c.req.valid("param");
  const { services } = c.var;
  const { format, withdrawal: withdrawalNumber } = c.req.valid("query");
  const setAttachmentName = (name: string) => c.header("Content-Disposition", `attachment; filename="${name}-${certId}.json"`);
  if (format === undefined) {
    const withdrawal = await (withdrawalNumber === undefined
      ? getWithdrawalReceipt(services, certId)
      : getEntityWithdrawalReceipt(services, certId, withdrawalNumber));
    if (!withdrawal.ok) return refusal(c, withdrawal);
    setAttachmentName("withdrawal");
    return success(c, 200, toWithdrawalReceiptView(withdrawal.value));
  }
  const receipt = await getCertificateReceipt(services, certId, format);
  if (!receipt.ok) return refusal(c, receipt);
  setAttachmentName(`receipt-${format}`);
  return success(c, 200, receipt.value);
});

withdrawalRoutes.openapi(recordWithdrawalRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { method: channel, received_at: receivedAt, note, scope, entities } = c.req.valid("json");
  const request = {
    channel,
    receivedAt: Date.parse(receivedAt),
    note: note ?? null,
    scope,
    entities,
    idempotencyKey: getIdempotencyKey(c),
  };
  const recorded = await recordWithdrawal(services, principal, certId, request);
  if (recorded.ok && recorded.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, recorded, (withdrawal) => wire.recordedWithdrawalToWire(certId, withdrawal, getViewContext(services)));
});

withdrawalRoutes.openapi(acknowledgeWithdrawalRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { note, acknowledged_by: acknowledgedBy, actions, entities } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  const actor = actorFromApiKey(principal);
  if (entities !== null) {
    const acknowledged = await acknowledgeEntityWithdrawals(services, principal, actor, certId, { ...details, entities });
    return respond(c, 200, acknowledged, (acknowledgment) => wire.entityAcknowledgmentToWire(acknowledgment, getViewContext(services)));
  }
  const toWire = (acknowledgment: WithdrawalAcknowledgement) => wire.acknowledgmentToWire(acknowledgment, getViewContext(services));
  return respondAndSave(c, 200, toWire, (save) => acknowledgeWithdrawal(services, principal, actor, certId, details, save));
});
