// Withdrawing in a browser, with or without scripts: plain forms, each answered by a redirect to a page that can be loaded
// again without doing anything twice. POST /c/{id}/withdraw asks for a code, GET shows the form for it, POST …/confirm
// answers it, POST …/link follows the link from the 201, GET /c/{id}/withdrawn says what is so afterwards.
import type { Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { parseCertId, type CertId } from "../../../core/ids.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import { parseEmailCode } from "../../../core/access/email-code.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { ensureWithdrawalContext, findWithdrawalContext } from "../../http/withdrawal-context.ts";
import {
  withdrawalNoteSeconds,
  openWithdrawalNote,
  sealWithdrawalNote,
  type WithdrawalNote,
} from "../../operations/access/withdrawal-note.ts";
import { getBusinessContact } from "../../operations/certificates/get-business-contact.ts";
import { verifyCertificate } from "../../operations/certificates/verify-certificate.ts";
import { withdrawByLink } from "../../operations/withdrawals/withdraw-by-link.ts";
import { listOtherCertificatesByLink } from "../../operations/withdrawals/list-other-certificates-by-link.ts";
import { submitWithdrawalCode } from "../../operations/withdrawals/submit-withdrawal-code.ts";
import { requestWithdrawalCode } from "../../operations/withdrawals/request-withdrawal-code.ts";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { parseLanguage, type Language } from "../shared/language.ts";
import { getPageLanguage, renderPage } from "../shared/layout.tsx";
import { renderCertificateNotFound } from "../shared/notice-pages.tsx";
import { createFormHandlerFactory, rateLimited, type FormFields, type FormRequest } from "../shared/form-handlers.ts";
import { withLanguage } from "../shared/components.tsx";
import { maskIfErased } from "./components.tsx";
import { codePage, emailPage, withdrawalScopePage, partlyWithdrawnPage, withdrawnPage } from "./views.tsx";

const getSelectedLanguage = (c: Context<AppEnv>): Language | null => parseLanguage(c.req.query("lang"));

/** Holds the address that was typed, and what proves it, sealed. */
const pendingWithdrawalCookie = "svc_asked";

const findCertificate = async (c: Context<AppEnv>): Promise<PublishedCertificate | null> => {
  const certId = parseCertId(c.req.param("id") ?? "");
  const found = certId === null ? null : await verifyCertificate(c.var.services, certId);
  return found?.ok ? { ...found.value, ...maskIfErased(found.value) } : null;
};

/** What was typed a moment ago for this certificate, and what proves it. */
const getPendingWithdrawal = async (c: Context<AppEnv>, certId: CertId): Promise<WithdrawalNote> => {
  const sealed = findCookie(c, pendingWithdrawalCookie);
  return sealed === undefined ? { email: null, token: null } : openWithdrawalNote(c.var.services, certId, sealed);
};

const savePendingWithdrawal = async (c: Context<AppEnv>, certId: CertId, asked: WithdrawalNote): Promise<void> => {
  setCookie(c, pendingWithdrawalCookie, await sealWithdrawalNote(c.var.services, certId, asked), {
    ...cookieOptions(c),
    maxAge: withdrawalNoteSeconds,
  });
};

/** What else names the address, for a browser that has proved it; null for every other. */
const findOtherCertificates = async (c: Context<AppEnv>, certId: CertId) => {
  const { token } = await getPendingWithdrawal(c, certId);
  return token === null ? null : listOtherCertificatesByLink(c.var.services, certId, token);
};

const redirectTo = (c: Context<AppEnv>, path: string): Response => c.redirect(withLanguage(path, getSelectedLanguage(c)), 303);

type WithdrawalFormRequest = FormRequest<{ readonly certificate: PublishedCertificate }>;

const certificateFormHandler = createFormHandlerFactory(async (c) => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  return certificate.subjectErasedAt === null ? { certificate } : redirectTo(c, `/c/${certificate.id}`);
}, "verifyUrl");

/** The recipients that were ticked: boxes bear their places on the certificate. Null where none is: then all are meant. */
export const parseSelectedEntities = (form: FormFields, { entities }: PublishedCertificate): readonly string[] | null => {
  const ticked = entities.filter((_, at) => form.has(`entity.${at}`));
  return ticked.length > 0 ? ticked : null;
};

const handleCodeRequest = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  if (!isEmailAddress(email)) {
    return renderPage(c, 400, (setting) =>
      emailPage(setting, { certificate, typedValue: email.slice(0, maxTypedEmailLength), error: setting.messages.withdraw.badEmail }),
    );
  }
  const { services } = c.var;
  const context = ensureWithdrawalContext(c);
  const asked = await requestWithdrawalCode(services, { certId: certificate.id, email, context, language: getPageLanguage(c) });
  if (!asked.ok) return renderCertificateNotFound(c);
  await savePendingWithdrawal(c, certificate.id, { email, token: null });
  return redirectTo(c, `/c/${certificate.id}/withdraw`);
};

/** What to withdraw from where the address is proved, the form for the code where one was given, the form for the address where none was. */
const renderWithdrawal = async (c: Context<AppEnv>): Promise<Response> => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  if (certificate.status === "revoked") return redirectTo(c, `/c/${certificate.id}/withdrawn`);
  if (certificate.subjectErasedAt !== null) return redirectTo(c, `/c/${certificate.id}`); // it says whom to turn to
  const { email, token } = await getPendingWithdrawal(c, certificate.id);
  const others = await findOtherCertificates(c, certificate.id);
  if (token !== null && others !== null)
    return renderPage(c, 200, (setting) => withdrawalScopePage(setting, { certificate, token, others }));
  const answered = c.req.query("answer");
  return renderPage(c, 200, (setting) => {
    const { messages } = setting;
    const error = answered === "link" ? messages.withdraw.linkFailed : answered === "failed" ? messages.withdraw.failed : undefined;
    return email === null || answered === "link"
      ? emailPage(setting, { certificate, error })
      : codePage(setting, { certificate, email, error });
  });
};

/** Back to the form with what went wrong; loading that page again spends no try. */
const redirectWithError = (c: Context<AppEnv>, certId: CertId, answer: "failed" | "link"): Response => {
  const choice = getSelectedLanguage(c);
  return c.redirect(`/c/${certId}/withdraw?answer=${answer}${choice === null ? "" : `&lang=${choice}`}`, 303);
};

const handleCodeConfirmation = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const { email } = await getPendingWithdrawal(c, certificate.id);
  if (email === null) return redirectWithError(c, certificate.id, "failed");
  const code = parseEmailCode(form.get("code") ?? "");
  if (code === null) {
    const typed = (form.get("code") ?? "").slice(0, 20);
    return renderPage(c, 400, (setting) =>
      codePage(setting, { certificate, email, typedValue: typed, chosen: form, error: setting.messages.withdraw.badCode }),
    );
  }
  const answered = await submitWithdrawalCode(c.var.services, {
    certId: certificate.id,
    email,
    code,
    context: findWithdrawalContext(c),
    scope: "certificate", // where there is more to withdraw from, the person is asked first
    entities: parseSelectedEntities(form, certificate),
    origin: null, // judged above
    language: getPageLanguage(c),
  });
  if (!answered.ok && answered.code !== "already_revoked") return redirectWithError(c, certificate.id, "failed");
  if (!answered.ok) {
    deleteCookie(c, pendingWithdrawalCookie, cookieOptions(c));
    return redirectTo(c, `/c/${certificate.id}/withdrawn`);
  }
  const { isWithdrawn, token } = answered.value;
  await savePendingWithdrawal(c, certificate.id, { email: isWithdrawn ? null : email, token });
  return redirectTo(c, `/c/${certificate.id}/${isWithdrawn ? "withdrawn" : "withdraw"}`);
};

const handleLinkWithdrawal = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const token = form.get("token") ?? "";
  const entities = parseSelectedEntities(form, certificate);
  // A link from a mail proves the address: then the person is told what else there is, and chooses.
  const others = await listOtherCertificatesByLink(c.var.services, certificate.id, token);
  const isAsked = entities === null && !form.has("scope") && certificate.status === "active";
  if (isAsked && others !== null && others.count > 0)
    return renderPage(c, 200, (setting) => withdrawalScopePage(setting, { certificate, token, others }));
  const scope = form.get("scope") === "business" ? "business" : "certificate";
  const link = { certId: certificate.id, token, scope, entities, origin: null, language: getPageLanguage(c) } as const;
  const followed = await withdrawByLink(c.var.services, link);
  if (!followed.ok && followed.code !== "already_revoked") return redirectWithError(c, certificate.id, "link");
  if (others !== null) await savePendingWithdrawal(c, certificate.id, { email: null, token });
  return redirectTo(c, `/c/${certificate.id}/withdrawn`);
};

const renderWithdrawn = async (c: Context<AppEnv>): Promise<Response> => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  const { withdrawal } = certificate;
  if (withdrawal === null && certificate.entitiesWithdrawn.length === 0) return redirectTo(c, `/c/${certificate.id}`);
  const { services } = c.var;
  const [others, reach] = await Promise.all([findOtherCertificates(c, certificate.id), getBusinessContact(services, certificate)]);
  const shown = { certificate, apiBase: services.config.baseUrl, others, reach };
  return renderPage(c, 200, (setting) =>
    withdrawal === null ? partlyWithdrawnPage(setting, shown) : withdrawnPage(setting, { ...shown, withdrawal }),
  );
};

export const registerWithdrawalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/:id/withdraw", rateLimited("VERIFY_PER_IP"), renderWithdrawal);
  pages.post("/:id/withdraw", certificateFormHandler("OPT_OUT_REQUEST_PER_IP", handleCodeRequest));
  pages.post("/:id/withdraw/confirm", certificateFormHandler("OPT_OUT_CONFIRM_PER_IP", handleCodeConfirmation));
  pages.post("/:id/withdraw/link", certificateFormHandler("OPT_OUT_CONFIRM_PER_IP", handleLinkWithdrawal));
  pages.get("/:id/withdrawn", rateLimited("VERIFY_PER_IP"), renderWithdrawn);
};
