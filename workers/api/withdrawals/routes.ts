// The routes of withdrawal: the person's need no credential and work whatever the business has paid; the business records and
// acknowledges with its key.
import { actorFromApiKey } from "../../../core/access/principal.ts";
import { z } from "@hono/zod-openapi";
import { toWithdrawalReceiptView } from "../../../core/certificates/public-view.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, saveIdempotentResponse, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
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
import type { WithdrawalResult } from "../../operations/withdrawals/withdraw-certificate.ts";
import { iso27560ReceiptSchema, kantaraReceiptSchema } from "../certificates/receipt-schema.ts";
import { certIdParamSchema, withdrawalReceiptSchema } from "../certificates/schema.ts";
import * as wire from "./schema.ts";

const createRoute = createRouteFactory("withdrawal");

const certificateNotFoundRefusal = { cert_not_found: "There is no such certificate, or it is not yours." } as const;

const requestWithdrawalCodeRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/request",
  operationId: "requestWithdrawalCode",
  summary: "Ask for a code to withdraw",
  description:
    "For the person named on the certificate. If the address is the one on it, a six-digit code is mailed to it, valid for 10 minutes. The answer is the same for every address, in body, headers and time. It works for every certificate of the same business and environment that names the address. At most three codes are live at once, a new one cancels none of them, and at most five an hour and ten a day are mailed. The answer sets a cookie: tries from the same browser are counted apart from everybody else's.",
  middleware: publicGuard(limitByAddress("OPT_OUT_REQUEST_PER_IP"), jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(wire.optOutRequestSchema, { email: "pat@example.com" }) },
  responses: {
    200: successResponse("Taken. Whether a mail was sent is not told.", "OptOutRequestAnswer", wire.acceptedSchema, { accepted: true }),
  },
  refuses: ["cert_not_found"],
});

const withdrawnResponse = successResponse("The consent is withdrawn.", "WithdrawnAnswer", wire.withdrawnSchema, wire.withdrawnExample);
const crossSiteRefusal = { forbidden: "A browser sent this from a site that is neither ours nor the business's." } as const;

const confirmWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/confirm",
  operationId: "confirmWithdrawal",
  summary: "Withdraw with the mailed code",
  description:
    "The certificate becomes revoked, the ten business days begin, the business's owner is mailed the certificate's id and the deadline, and the event `certificate.revoked` is sent. With `entities` only those recipients must cease contact and the certificate stays active for the others, until the last is named. Nothing is deleted. A wrong address, a wrong code, an expired one, one that was tried too often and none at all are one and the same refusal. Works whatever the state of the business's account.",
  middleware: publicGuard(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(wire.optOutConfirmSchema, { email: "pat@example.com", code: "042917" }) },
  responses: { 200: withdrawnResponse },
  refuses: ["opt_out_failed", "cert_not_found"],
  when: {
    ...crossSiteRefusal,
    invalid_request: "The message names the input and the rule. No try is spent.",
    already_revoked: "Address and code are right, and the certificate is revoked already, or all of `entities` are withdrawn from.",
  },
});

const withdrawByLinkRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/manage",
  operationId: "withdrawByLink",
  summary: "Withdraw with the link from the 201",
  description:
    "The one tap behind `manage_url`: its token withdraws this one certificate without a mail, for five years after it was issued; another `scope` is refused, because whoever submits a form is given this link, whosever address the form named. The link in a mail with a code works here too, for a day and with either `scope`. Everything else as for the code.",
  middleware: publicGuard(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotencyGuard),
  request: {
    params: certIdParamSchema,
    body: requestBody(wire.optOutManageSchema, { token: "rUVtHX5vjYqXkKzwhxKQ5mB1yWSSJzEp0eE2lH3c9pA" }),
  },
  responses: { 200: withdrawnResponse },
  refuses: ["cert_not_found"],
  when: {
    ...crossSiteRefusal,
    opt_out_failed: "The token is none of this certificate's, or it has expired.",
    already_revoked: "The token is right, and the certificate is revoked already, or all of `entities` are withdrawn from.",
  },
});

const getReceiptRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/receipt",
  operationId: "withdrawalReceipt",
  summary: "The signed receipt of a withdrawal, or the consent receipt",
  description:
    "For anyone, without a credential; nothing personal is in it. Without `format` it is the receipt of the withdrawal: the issuer's signature is over `canonical`. Save the answer as a file: `svc-verify receipt.json --trust trust.json` checks it without any network. With `format` it is the certificate, active or withdrawn, as a consent receipt that other systems read.",
  middleware: publicGuard(limitByAddress("VERIFY_PER_IP")),
  request: { params: certIdParamSchema, query: wire.receiptQuerySchema },
  responses: {
    200: successResponse(
      "The receipt.",
      "ReceiptAnswer",
      z.union([withdrawalReceiptSchema, iso27560ReceiptSchema, kantaraReceiptSchema]),
      wire.withdrawalReceiptExample,
    ),
  },
  refuses: ["cert_not_found"],
  when: {
    not_a_consent: "With `format`: the person agreed to none of the recipients they were asked about.",
    invalid_request: "`format` is none of them.",
    not_found: "Without `format`: the certificate is active, there is no withdrawal; or none of that number.",
  },
});

const recordWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/withdrawals",
  operationId: "recordWithdrawal",
  summary: "Record a withdrawal that reached you otherwise",
  description:
    "By text message, on the telephone, by letter, in person: whatever reasonable way the person chose. The certificate becomes revoked, and with `scope: business` (the default, unless your business has set another) every other active one of yours that names the person; `certificate.revoked` is sent for each, and `cease_by` counts from `received_at`. With `entities` only those recipients must cease contact. The person gets a mail where the certificate holds an address. Possible while a payment is past due: withdrawing is the person's right.",
  middleware: apiKeyGuard(jsonBody, idempotencyKeyGuard),
  request: {
    params: certIdParamSchema,
    body: requestBody(wire.recordWithdrawalSchema, { method: "sms_stop", received_at: "2026-03-20T08:30:00.250Z" }),
  },
  responses: {
    201: successResponse(
      "Recorded; the certificate is revoked, or withdrawn from the recipients that you named.",
      "RecordedAnswer",
      wire.recordedWithdrawalSchema,
      wire.recordedWithdrawalExample,
    ),
  },
  refuses: ["already_revoked"],
  when: certificateNotFoundRefusal,
});

const acknowledgeWithdrawalRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/cease-ack",
  operationId: "acknowledgeWithdrawal",
  summary: "Acknowledge that contact has ceased",
  description:
    "Once a certificate, for good, and anchored in the ledger; the certificate stays revoked. With `entities`: once a recipient that the person withdrew from alone, by an entry of the audit log; the certificate stays what it is. A second time answers with the first. A write: refused while a payment is past due. No body is needed.",
  middleware: apiKeyGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: certIdParamSchema,
    body: optionalRequestBody(wire.acknowledgmentRequestSchema, { acknowledged_by: "Privacy team", actions: ["removed from the dialler"] }),
  },
  responses: { 200: successResponse("Acknowledged.", "CeasedAnswer", wire.acknowledgmentSchema, wire.acknowledgmentExample) },
  refuses: ["subscription_past_due", "cease_not_open"],
  when: certificateNotFoundRefusal,
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
  const given = {
    certId: c.req.valid("param").cert_id,
    ...c.req.valid("json"),
    context: findWithdrawalContext(c),
    origin: c.req.header("origin") ?? null,
    language: c.var.language,
  };
  const toWire = (withdrawn: WithdrawalResult) => wire.withdrawnToWire(services.config.baseUrl, withdrawn);
  return respond(c, 200, await withdrawByCode(services, given, saveIdempotentResponse(c, 200, toWire)), toWire);
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
  return respond(c, 200, await withdrawByLink(services, link, saveIdempotentResponse(c, 200, toWire)), toWire);
});

withdrawalRoutes.openapi(getReceiptRoute, async (c) => {
  const { cert_id: certId } = c.req.valid("param");
  const { services } = c.var;
  const { format, withdrawal: act } = c.req.valid("query");
  const attachedAs = (name: string) => c.header("Content-Disposition", `attachment; filename="${name}-${certId}.json"`);
  if (format === undefined) {
    const withdrawal = await (act === undefined
      ? getWithdrawalReceipt(services, certId)
      : getEntityWithdrawalReceipt(services, certId, act));
    if (!withdrawal.ok) return refusal(c, withdrawal);
    attachedAs("withdrawal");
    return success(c, 200, toWithdrawalReceiptView(withdrawal.value));
  }
  const receipt = await getCertificateReceipt(services, certId, format);
  if (!receipt.ok) return refusal(c, receipt);
  attachedAs(`receipt-${format}`);
  return success(c, 200, receipt.value);
});

withdrawalRoutes.openapi(recordWithdrawalRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { method: channel, received_at: receivedAt, note, scope, entities } = c.req.valid("json");
  const told = { channel, receivedAt: Date.parse(receivedAt), note: note ?? null, scope, entities, idempotencyKey: getIdempotencyKey(c) };
  const recorded = await recordWithdrawal(services, principal, certId, told);
  if (recorded.ok && recorded.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, recorded, (withdrawal) => wire.recordedWithdrawalToWire(certId, withdrawal, getViewContext(services)));
});

withdrawalRoutes.openapi(acknowledgeWithdrawalRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { note, acknowledged_by: acknowledgedBy, actions, entities } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  if (entities !== null) {
    const single = await acknowledgeEntityWithdrawals(services, principal, actorFromApiKey(principal), certId, { ...details, entities });
    return respond(c, 200, single, (ceased) => wire.entityAcknowledgmentToWire(ceased, getViewContext(services)));
  }
  const toWire = (ceased: WithdrawalAcknowledgement) => wire.acknowledgmentToWire(ceased, getViewContext(services));
  const ceased = await acknowledgeWithdrawal(
    services,
    principal,
    actorFromApiKey(principal),
    certId,
    details,
    saveIdempotentResponse(c, 200, toWire),
  );
  return respond(c, 200, ceased, toWire);
});
