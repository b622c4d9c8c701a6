// The routes of withdrawal: the person's need no credential and work whatever the business has paid; the business records and
// acknowledges with its key.
import { keyActor } from "../../../core/access/principal.ts";
import { z } from "@hono/zod-openapi";
import { withdrawalReceiptView } from "../../../core/certificates/views.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { behindApiKey, forAnyone, limitByAddress } from "../../http/guards.ts";
import { idempotent, keeping, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf, bodyOf, optionalBodyOf } from "../../http/wire.ts";
import { openWithdrawalContext, withdrawalContext } from "../../http/withdrawal-context.ts";
import { certificateReceipt, entityWithdrawalReceipt, viewContext, withdrawalReceipt } from "../../operations/certificates/verify.ts";
import { acknowledgeSingle, acknowledgeWithdrawal, type Ceased } from "../../operations/withdrawals/acknowledge.ts";
import { confirmWithdrawal, withdrawByLink } from "../../operations/withdrawals/by-person.ts";
import { recordWithdrawal } from "../../operations/withdrawals/record.ts";
import { requestWithdrawalCode } from "../../operations/withdrawals/request-code.ts";
import type { Withdrawn } from "../../operations/withdrawals/withdraw.ts";
import { iso27560Schema, kantaraSchema } from "../certificates/receipt-schema.ts";
import { certParams, withdrawalReceiptSchema } from "../certificates/schema.ts";
import { ceaseExample, recordedExample, withdrawalReceiptExample, withdrawnExample } from "./examples.ts";
import * as wire from "./schema.ts";

const createRoute = routesOf("withdrawal");

const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;

const requestRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/request",
  operationId: "requestWithdrawalCode",
  summary: "Ask for a code to withdraw",
  description:
    "For the person named on the certificate. If the address is the one on it, a six-digit code is mailed to it, valid for 10 minutes. The answer is the same for every address, in body, headers and time. It works for every certificate of the same business and environment that names the address. At most three codes are live at once, a new one cancels none of them, and at most five an hour and ten a day are mailed. The answer sets a cookie: tries from the same browser are counted apart from everybody else's.",
  middleware: forAnyone(limitByAddress("OPT_OUT_REQUEST_PER_IP"), jsonBody, idempotent),
  request: { params: certParams, body: bodyOf(wire.optOutRequestSchema, { email: "pat@example.com" }) },
  responses: {
    200: answerOf("Taken. Whether a mail was sent is not told.", "OptOutRequestAnswer", wire.acceptedSchema, { accepted: true }),
  },
  refuses: ["cert_not_found"],
});

const withdrawnAnswer = answerOf("The consent is withdrawn.", "WithdrawnAnswer", wire.withdrawnSchema, withdrawnExample);
const elsewhere = { forbidden: "A browser sent this from a site that is neither ours nor the business's." } as const;

const confirmRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/confirm",
  operationId: "confirmWithdrawal",
  summary: "Withdraw with the mailed code",
  description:
    "The certificate becomes revoked, the ten business days begin, the business's owner is mailed the certificate's id and the deadline, and the event `certificate.revoked` is sent. With `entities` only those recipients must cease contact and the certificate stays active for the others, until the last is named. Nothing is deleted. A wrong address, a wrong code, an expired one, one that was tried too often and none at all are one and the same refusal. Works whatever the state of the business's account.",
  middleware: forAnyone(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotent),
  request: { params: certParams, body: bodyOf(wire.optOutConfirmSchema, { email: "pat@example.com", code: "042917" }) },
  responses: { 200: withdrawnAnswer },
  refuses: ["opt_out_failed", "cert_not_found"],
  when: {
    ...elsewhere,
    invalid_request: "The message names the input and the rule. No try is spent.",
    already_revoked: "Address and code are right, and the certificate is revoked already, or all of `entities` are withdrawn from.",
  },
});

const manageRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/opt-out/manage",
  operationId: "withdrawByLink",
  summary: "Withdraw with the link from the 201",
  description:
    "The one tap behind `manage_url`: its token withdraws this one certificate without a mail, for five years after it was issued; another `scope` is refused, because whoever submits a form is given this link, whosever address the form named. The link in a mail with a code works here too, for a day and with either `scope`. Everything else as for the code.",
  middleware: forAnyone(limitByAddress("OPT_OUT_CONFIRM_PER_IP"), jsonBody, idempotent),
  request: { params: certParams, body: bodyOf(wire.optOutManageSchema, { token: "rUVtHX5vjYqXkKzwhxKQ5mB1yWSSJzEp0eE2lH3c9pA" }) },
  responses: { 200: withdrawnAnswer },
  refuses: ["cert_not_found"],
  when: {
    ...elsewhere,
    opt_out_failed: "The token is none of this certificate's, or it has expired.",
    already_revoked: "The token is right, and the certificate is revoked already, or all of `entities` are withdrawn from.",
  },
});

const receiptRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/receipt",
  operationId: "withdrawalReceipt",
  summary: "The signed receipt of a withdrawal, or the consent receipt",
  description:
    "For anyone, without a credential; nothing personal is in it. Without `format` it is the receipt of the withdrawal: the issuer's signature is over `canonical`. Save the answer as a file: `svc-verify receipt.json --trust trust.json` checks it without any network. With `format` it is the certificate, active or withdrawn, as a consent receipt that other systems read.",
  middleware: forAnyone(limitByAddress("VERIFY_PER_IP")),
  request: { params: certParams, query: wire.receiptQuerySchema },
  responses: {
    200: answerOf(
      "The receipt.",
      "ReceiptAnswer",
      z.union([withdrawalReceiptSchema, iso27560Schema, kantaraSchema]),
      withdrawalReceiptExample,
    ),
  },
  refuses: ["cert_not_found"],
  when: {
    not_a_consent: "With `format`: the person agreed to none of the recipients they were asked about.",
    invalid_request: "`format` is none of them.",
    not_found: "Without `format`: the certificate is active, there is no withdrawal; or none of that number.",
  },
});

const recordRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/withdrawals",
  operationId: "recordWithdrawal",
  summary: "Record a withdrawal that reached you otherwise",
  description:
    "By text message, on the telephone, by letter, in person: whatever reasonable way the person chose. The certificate becomes revoked, and with `scope: business` (the default, unless your business has set another) every other active one of yours that names the person; `certificate.revoked` is sent for each, and `cease_by` counts from `received_at`. With `entities` only those recipients must cease contact. The person gets a mail where the certificate holds an address. Possible while a payment is past due: withdrawing is the person's right.",
  middleware: behindApiKey(jsonBody, takesKey),
  request: {
    params: certParams,
    body: bodyOf(wire.recordWithdrawalSchema, { method: "sms_stop", received_at: "2026-03-20T08:30:00.250Z" }),
  },
  responses: {
    201: answerOf(
      "Recorded; the certificate is revoked, or withdrawn from the recipients that you named.",
      "RecordedAnswer",
      wire.recordedSchema,
      recordedExample,
    ),
  },
  refuses: ["already_revoked"],
  when: notYours,
});

const ceaseRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/cease-ack",
  operationId: "acknowledgeWithdrawal",
  summary: "Acknowledge that contact has ceased",
  description:
    "Once a certificate, for good, and anchored in the ledger; the certificate stays revoked. With `entities`: once a recipient that the person withdrew from alone, by an entry of the audit log; the certificate stays what it is. A second time answers with the first. A write: refused while a payment is past due. No body is needed.",
  middleware: behindApiKey(optionalJsonBody, idempotent),
  request: {
    params: certParams,
    body: optionalBodyOf(wire.ceaseSchema, { acknowledged_by: "Privacy team", actions: ["removed from the dialler"] }),
  },
  responses: { 200: answerOf("Acknowledged.", "CeasedAnswer", wire.ceasedSchema, ceaseExample) },
  refuses: ["subscription_past_due", "cease_not_open"],
  when: notYours,
});

export const withdrawals = newApi();

withdrawals.openapi(requestRoute, async (c) => {
  const { cert_id: certId } = c.req.valid("param");
  const { email } = c.req.valid("json");
  const context = openWithdrawalContext(c);
  const accepted = await requestWithdrawalCode(c.var.services, { certId, email, context, language: c.var.language });
  return answer(c, 200, accepted, () => ({ accepted: true as const }));
});

withdrawals.openapi(confirmRoute, async (c) => {
  const { services } = c.var;
  const given = {
    certId: c.req.valid("param").cert_id,
    ...c.req.valid("json"),
    context: withdrawalContext(c),
    origin: c.req.header("origin") ?? null,
    language: c.var.language,
  };
  const toWire = (withdrawn: Withdrawn) => wire.withdrawnToWire(services.config.baseUrl, withdrawn);
  return answer(c, 200, await confirmWithdrawal(services, given, keeping(c, 200, toWire)), toWire);
});

withdrawals.openapi(manageRoute, async (c) => {
  const { services } = c.var;
  const link = {
    certId: c.req.valid("param").cert_id,
    ...c.req.valid("json"),
    origin: c.req.header("origin") ?? null,
    language: c.var.language,
  };
  const toWire = (withdrawn: Withdrawn) => wire.withdrawnToWire(services.config.baseUrl, withdrawn);
  return answer(c, 200, await withdrawByLink(services, link, keeping(c, 200, toWire)), toWire);
});

withdrawals.openapi(receiptRoute, async (c) => {
  const { cert_id: certId } = c.req.valid("param");
  const { services } = c.var;
  const { format, withdrawal: act } = c.req.valid("query");
  const attachedAs = (name: string) => c.header("Content-Disposition", `attachment; filename="${name}-${certId}.json"`);
  if (format === undefined) {
    const withdrawal = await (act === undefined ? withdrawalReceipt(services, certId) : entityWithdrawalReceipt(services, certId, act));
    if (!withdrawal.ok) return refusal(c, withdrawal);
    attachedAs("withdrawal");
    return success(c, 200, withdrawalReceiptView(withdrawal.value));
  }
  const receipt = await certificateReceipt(services, certId, format);
  if (!receipt.ok) return refusal(c, receipt);
  attachedAs(`receipt-${format}`);
  return success(c, 200, receipt.value);
});

withdrawals.openapi(recordRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { method: channel, received_at: receivedAt, note, scope, entities } = c.req.valid("json");
  const told = { channel, receivedAt: Date.parse(receivedAt), note: note ?? null, scope, entities, idempotencyKey: sentKey(c) };
  const recorded = await recordWithdrawal(services, principal, certId, told);
  if (recorded.ok && recorded.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return answer(c, 201, recorded, (withdrawal) => wire.recordedToWire(certId, withdrawal, viewContext(services)));
});

withdrawals.openapi(ceaseRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { note, acknowledged_by: acknowledgedBy, actions, entities } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  if (entities !== null) {
    const single = await acknowledgeSingle(services, principal, keyActor(principal), certId, { ...details, entities });
    return answer(c, 200, single, (ceased) => wire.entitiesCeasedToWire(ceased, viewContext(services)));
  }
  const toWire = (ceased: Ceased) => wire.ceasedToWire(ceased, viewContext(services));
  const ceased = await acknowledgeWithdrawal(services, principal, keyActor(principal), certId, details, keeping(c, 200, toWire));
  return answer(c, 200, ceased, toWire);
});
