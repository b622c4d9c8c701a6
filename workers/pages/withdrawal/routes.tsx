// Routes for withdrawing consent in a browser, with or without scripts. A form that changes something redirects to a page that can be
// reloaded without repeating the change:
// - POST /c/{id}/withdraw sends an email code
// - GET /c/{id}/withdraw shows the form of the current step
// - POST /c/{id}/withdraw/confirm checks the code
// - POST /c/{id}/withdraw/link withdraws with a link's token
// - GET /c/{id}/withdrawn shows the result
import { cutText } from "../../../core/cut-text.ts";
import type { Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { hasEmailAddress } from "../../../core/certificates/recognized-fields.ts";
import { isConsentRefused, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { parseCertId, type CertId } from "../../../core/ids.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
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
import type { Language } from "../../../core/language.ts";
import { parseLanguage } from "../shared/language.ts";
import { getPageLanguage, renderPage } from "../shared/layout.tsx";
import { renderCertificateNotFound } from "../shared/notice-pages.tsx";
import { createFormHandlerFactory, limitPageByAddress, type FormFields, type FormRequest } from "../shared/form-handlers.ts";
import { withLanguage } from "../shared/components.tsx";
import { maskIfErased } from "./components.tsx";
import { codePage, emailPage, noEmailPage, withdrawalScopePage, partlyWithdrawnPage, withdrawnPage } from "./views.tsx";

const getSelectedLanguage = (c: Context<AppEnv>): Language | null => parseLanguage(c.req.query("lang"));

/** The cookie with the sealed `WithdrawalNote`: the typed email address and, once the address is verified, the token that proves it. */
const pendingWithdrawalCookie = "svc_asked";

const findCertificate = async (c: Context<AppEnv>): Promise<PublishedCertificate | null> => {
  const certId = parseCertId(c.req.param("id") ?? "");
  const found = certId === null ? null : await verifyCertificate(c.var.services, certId);
  return found?.ok ? { ...found.value, ...maskIfErased(found.value) } : null;
};

/**
 * Returns whether a person can withdraw consent on these pages. After an erasure, the person's email address cannot be verified, and a
 * refusal contains no consent. The certificate page explains both.
 */
const canWithdraw = (certificate: PublishedCertificate): boolean => certificate.subjectErasedAt === null && !isConsentRefused(certificate);

/**
 * Reads the email address that was typed for this certificate, and the token that verifies it. Both are null if the browser has no cookie
 * for this certificate.
 */
const getPendingWithdrawal = async (c: Context<AppEnv>, certId: CertId): Promise<WithdrawalNote> => {
  const sealed = findCookie(c, pendingWithdrawalCookie);
  return sealed === undefined ? { email: null, token: null } : openWithdrawalNote(c.var.services, certId, sealed);
};

const savePendingWithdrawal = async (c: Context<AppEnv>, certId: CertId, note: WithdrawalNote): Promise<void> => {
  setCookie(c, pendingWithdrawalCookie, await sealWithdrawalNote(c.var.services, certId, note), {
    ...cookieOptions(c),
    maxAge: withdrawalNoteSeconds,
  });
};

/** Finds other certificates with the same email address. Returns null unless this browser has verified the address. */
const findOtherCertificates = async (c: Context<AppEnv>, certId: CertId) => {
  const { token } = await getPendingWithdrawal(c, certId);
  return token === null ? null : listOtherCertificatesByLink(c.var.services, certId, token);
};

const redirectTo = (c: Context<AppEnv>, path: string): Response => c.redirect(withLanguage(path, getSelectedLanguage(c)), 303);

type WithdrawalFormRequest = FormRequest<{ readonly certificate: PublishedCertificate }>;

const certificateFormHandler = createFormHandlerFactory(async (c) => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  return canWithdraw(certificate) ? { certificate } : redirectTo(c, `/c/${certificate.id}`);
}, "verifyUrl");

/**
 * Returns the selected recipients. If none is selected, returns null, which means all recipients. The name of each checkbox contains the
 * recipient's index.
 */
export const parseSelectedEntities = (form: FormFields, { entities }: PublishedCertificate): readonly string[] | null => {
  const selected = entities.filter((_, index) => form.has(`entity.${index}`));
  return selected.length > 0 ? selected : null;
};

const handleCodeRequest = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const email = trimTypedAddress(form.get("email") ?? "");
  if (!isEmailAddress(email)) {
    return renderPage(c, 400, (pageContext) =>
      emailPage(pageContext, {
        certificate,
        typedValue: cutText(email, maxTypedEmailLength),
        error: pageContext.messages.withdraw.badEmail,
      }),
    );
  }
  const { services } = c.var;
  const context = ensureWithdrawalContext(c);
  const requested = await requestWithdrawalCode(services, { certId: certificate.id, email, context, language: getPageLanguage(c) });
  if (!requested.ok) return renderCertificateNotFound(c);
  await savePendingWithdrawal(c, certificate.id, { email, token: null });
  return redirectTo(c, `/c/${certificate.id}/withdraw`);
};

/** Shows the current step: the scope if the email address is verified, the code if one was requested, and otherwise the email address. */
const renderWithdrawal = async (c: Context<AppEnv>): Promise<Response> => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  if (certificate.status === "revoked") return redirectTo(c, `/c/${certificate.id}/withdrawn`);
  if (!canWithdraw(certificate)) return redirectTo(c, `/c/${certificate.id}`);
  const { email, token } = await getPendingWithdrawal(c, certificate.id);
  const others = await findOtherCertificates(c, certificate.id);
  if (token !== null && others !== null)
    return renderPage(c, 200, (pageContext) => withdrawalScopePage(pageContext, { certificate, token, others }));
  const outcome = c.req.query("outcome");
  if (!hasEmailAddress(certificate)) {
    const contact = await getBusinessContact(c.var.services, certificate);
    return renderPage(c, 200, (pageContext) => {
      const error = outcome === "link" ? pageContext.messages.withdraw.linkFailed : undefined;
      return noEmailPage(pageContext, { certificate, contact, error });
    });
  }
  return renderPage(c, 200, (pageContext) => {
    const { messages } = pageContext;
    const linkError = `${messages.withdraw.linkFailed} ${messages.withdraw.linkFailedEmail}`;
    const error = outcome === "link" ? linkError : outcome === "failed" ? messages.withdraw.failed : undefined;
    return email === null || outcome === "link"
      ? emailPage(pageContext, { certificate, error })
      : codePage(pageContext, { certificate, email, error });
  });
};

/** Redirects to the form with the error, so that a reload does not count as another attempt. */
const redirectWithError = (c: Context<AppEnv>, certId: CertId, outcome: "failed" | "link"): Response => {
  const language = getSelectedLanguage(c);
  return c.redirect(`/c/${certId}/withdraw?outcome=${outcome}${language === null ? "" : `&lang=${language}`}`, 303);
};

const handleCodeConfirmation = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const { email } = await getPendingWithdrawal(c, certificate.id);
  if (email === null) return redirectWithError(c, certificate.id, "failed");
  const code = parseEmailCode(form.get("code") ?? "");
  if (code === null) {
    const typedValue = cutText(form.get("code") ?? "", 20);
    return renderPage(c, 400, (pageContext) =>
      codePage(pageContext, { certificate, email, typedValue, chosen: form, error: pageContext.messages.withdraw.badCode }),
    );
  }
  const submitted = await submitWithdrawalCode(c.var.services, {
    certId: certificate.id,
    email,
    code,
    context: findWithdrawalContext(c),
    scope: "certificate", // if the person has other certificates, nothing is withdrawn yet, and the next page asks for the scope
    entities: parseSelectedEntities(form, certificate),
    origin: null, // the form handler has already checked the origin
    language: getPageLanguage(c),
  });
  if (!submitted.ok && submitted.code !== "already_revoked") return redirectWithError(c, certificate.id, "failed");
  if (!submitted.ok) {
    deleteCookie(c, pendingWithdrawalCookie, cookieOptions(c));
    return redirectTo(c, `/c/${certificate.id}/withdrawn`);
  }
  const { isWithdrawn, token } = submitted.value;
  await savePendingWithdrawal(c, certificate.id, { email: isWithdrawn ? null : email, token });
  return redirectTo(c, `/c/${certificate.id}/${isWithdrawn ? "withdrawn" : "withdraw"}`);
};

const handleLinkWithdrawal = async (c: Context<AppEnv>, { form, certificate }: WithdrawalFormRequest): Promise<Response> => {
  const token = form.get("token") ?? "";
  const entities = parseSelectedEntities(form, certificate);
  // The token of an emailed link verifies the address, so the person may see their other certificates and choose the scope.
  const others = await listOtherCertificatesByLink(c.var.services, certificate.id, token);
  const isScopeOpen = entities === null && !form.has("scope") && certificate.status === "active";
  if (isScopeOpen && others !== null && others.count > 0) {
    // Saved in the cookie so that the page's language links lead to the same step.
    await savePendingWithdrawal(c, certificate.id, { email: null, token });
    return renderPage(c, 200, (pageContext) => withdrawalScopePage(pageContext, { certificate, token, others }));
  }
  const scope = form.get("scope") === "business" ? "business" : "certificate";
  const link = { certId: certificate.id, token, scope, entities, origin: null, language: getPageLanguage(c) } as const;
  const withdrawn = await withdrawByLink(c.var.services, link);
  if (!withdrawn.ok && withdrawn.code !== "already_revoked") return redirectWithError(c, certificate.id, "link");
  if (others !== null) await savePendingWithdrawal(c, certificate.id, { email: null, token });
  return redirectTo(c, `/c/${certificate.id}/withdrawn`);
};

const renderWithdrawn = async (c: Context<AppEnv>): Promise<Response> => {
  const certificate = await findCertificate(c);
  if (certificate === null) return renderCertificateNotFound(c);
  const { withdrawal } = certificate;
  if (withdrawal === null && certificate.entitiesWithdrawn.length === 0) return redirectTo(c, `/c/${certificate.id}`);
  const { services } = c.var;
  const [others, contact] = await Promise.all([findOtherCertificates(c, certificate.id), getBusinessContact(services, certificate)]);
  const result = { certificate, apiBaseUrl: services.config.baseUrl, others, contact };
  return renderPage(c, 200, (pageContext) =>
    withdrawal === null ? partlyWithdrawnPage(pageContext, result) : withdrawnPage(pageContext, { ...result, withdrawal }),
  );
};

export const registerWithdrawalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/:id/withdraw", limitPageByAddress("VERIFY_PER_IP"), renderWithdrawal);
  // If a POST returned the page, its language links lead here.
  pages.get("/:id/withdraw/:step", (c) => redirectTo(c, `/c/${encodeURIComponent(c.req.param("id"))}/withdraw`));
  pages.post("/:id/withdraw", certificateFormHandler("OPT_OUT_REQUEST_PER_IP", handleCodeRequest));
  pages.post("/:id/withdraw/confirm", certificateFormHandler("OPT_OUT_CONFIRM_PER_IP", handleCodeConfirmation));
  pages.post("/:id/withdraw/link", certificateFormHandler("OPT_OUT_CONFIRM_PER_IP", handleLinkWithdrawal));
  pages.get("/:id/withdrawn", limitPageByAddress("VERIFY_PER_IP"), renderWithdrawn);
};
