// The business's profile and account settings. Each card has its own form, so saving one card does not change the settings in another.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { BusinessProfileChange } from "../../../core/accounts/profile.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import type { AppEnv } from "../../http/context.ts";
import { getSettings } from "../../operations/portal/get-settings.ts";
import { updateAccount } from "../../operations/portal/update-account.ts";
import { FormattedMessage, Icon, Monogram, VerbatimText, formatMessage, toMailtoUrl } from "../shared/components.tsx";
import {
  Card,
  CheckboxField,
  Field,
  FormCard,
  FormErrorMessage,
  Link,
  RadioFields,
  language,
  messages,
  usePortalRequest,
} from "./components.tsx";
import { listCountryNames } from "../shared/country-names.ts";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const settingsMessages = messages.settings;
const settingsPath = "/portal/settings";
const maxRetentionYears = 10;

const retentionChoices: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: maxRetentionYears }, (_, at) => [
    String(at + 1),
    at === 0 ? settingsMessages.retention.year : formatMessage(settingsMessages.retention.years, { years: String(at + 1) }),
  ]),
);

const profileFields = ["name", "legal_name", "mailing_address", "country", "contact_email", "contact_phone", "logo_url"] as const;

const ProfileCard: FC<{ account: BusinessAccount }> = ({ account }) => {
  const { profile } = settingsMessages;
  return (
    <FormCard
      id="profile"
      title={profile.title}
      note={profile.note}
      action={`${settingsPath}/profile`}
      requiredRole="owner"
      submitLabel={profile.save}
      footnote={settingsMessages.ownersOnly}
      isPrimary
    >
      <FormErrorMessage fields={profileFields} />
      <div class="pair">
        <Field name="name" label={profile.labels.name} value={account.name} required autocomplete="organization" />
        <Field name="legal_name" label={profile.labels.legal_name} value={account.legalName} />
      </div>
      <Field name="mailing_address" label={profile.labels.mailing_address} value={account.mailingAddress} rows={3} />
      <Field name="country" label={profile.labels.country} value={account.country} options={listCountryNames(language)} />
      <div class="pair">
        <Field name="contact_email" label={profile.labels.contact_email} value={account.contactEmail} type="email" />
        <Field name="contact_phone" label={profile.labels.contact_phone} value={account.contactPhone} isOptional />
      </div>
      <Field name="logo_url" label={profile.labels.logo_url} hint={profile.logoHint} value={account.logoUrl} type="url" isOptional />
    </FormCard>
  );
};

/** Shows how the business appears on a certificate and on the consent sheet. */
const Preview: FC<{ account: BusinessAccount; phone: string | null; domain: string | null }> = ({ account, phone, domain }) => (
  <Card id="preview" title={settingsMessages.preview.title} footer={settingsMessages.preview.where}>
    <div class="row named">
      <Monogram name={account.name} />
      <div>
        <strong>
          <VerbatimText text={account.name} />
        </strong>
        {domain !== null && (
          <small class="quiet">
            <FormattedMessage text={settingsMessages.preview.verified} parts={{ domain: <VerbatimText text={domain} /> }} />
          </small>
        )}
      </div>
    </div>
    <p class="small quiet">
      {[account.legalName, account.mailingAddress, account.contactEmail, phone]
        .filter((line) => line !== null)
        .map((line) => (
          <>
            <VerbatimText text={line} />
            <br />
          </>
        ))}
    </p>
  </Card>
);

const DangerZone: FC<{ name: string }> = ({ name }) => {
  const { danger } = settingsMessages;
  const { supportEmail } = usePortalRequest().services.config;
  const lines = [
    { icon: "timer", ...danger.reset, path: "/portal/test/sandbox", look: "btn sm danger" },
    { icon: "log-out", ...danger.leave, path: "/portal/team", look: "btn sm" },
  ] as const;
  return (
    <Card id="danger" title={danger.title} isFlush isDangerous>
      <ul class="lines">
        {lines.map(({ icon, title, text, action, path, look }) => (
          <li>
            <Icon name={icon} />
            <div>
              <strong>{formatMessage(title, { business: name })}</strong>
              <small class="quiet">{text}</small>
            </div>
            <Link class={look} to={path} text={action} label={`${action}: ${formatMessage(title, { business: name })}`} />
          </li>
        ))}
        {supportEmail !== null && (
          <li>
            <Icon name="trash-2" />
            <div>
              <strong>{danger.close.title}</strong>
              <small class="quiet">{danger.close.text}</small>
            </div>
            <a class="btn sm" href={toMailtoUrl(supportEmail)} aria-label={`${danger.close.action}: ${danger.close.title}`}>
              {danger.close.action}
            </a>
          </li>
        )}
      </ul>
    </Card>
  );
};

const renderSettings = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { account, domains } = await getSettings(request.services, request.member);
  const { retention, withdrawals, events } = settingsMessages;
  return renderMemberPage(request, {
    tab: "settings",
    error,
    content: (
      <div class="cols main">
        <div class="stack">
          <ProfileCard account={account} />
          <FormCard
            id="retention"
            title={retention.title}
            note={retention.note}
            action={`${settingsPath}/retention`}
            requiredRole="owner"
            submitLabel={retention.save}
            footnote={retention.footnote}
          >
            <Field name="retention_years" label={retention.label} value={String(account.retentionYears)} options={retentionChoices} />
          </FormCard>
          <FormCard
            id="withdrawals"
            title={withdrawals.title}
            note={withdrawals.note}
            action={`${settingsPath}/withdrawals`}
            requiredRole="owner"
            submitLabel={withdrawals.save}
            footnote={withdrawals.footnote}
          >
            <RadioFields
              name="revocation_scope_default"
              legend={withdrawals.legend}
              value={account.revocationScopeDefault}
              options={withdrawals.scopes}
            />
          </FormCard>
          <FormCard
            id="events"
            title={events.title}
            action={`${settingsPath}/events`}
            requiredRole="owner"
            submitLabel={events.save}
            footnote={events.footnote}
          >
            <CheckboxField
              name="emits"
              label={<b>{events.label}</b>}
              hint={
                <FormattedMessage
                  text={events.hint}
                  parts={{ issued: <code>certificate.issued</code>, withdrawn: <code>certificate.entities_withdrawn</code> }}
                />
              }
              checked={account.emitsIssued}
            />
          </FormCard>
          <DangerZone name={account.name} />
        </div>
        <div class="stack">
          <Preview
            account={account}
            phone={account.contactPhone && request.services.formatPhone(account.contactPhone, account.country)}
            domain={domains.find(({ status }) => status === "verified")?.domain ?? null}
          />
        </div>
      </div>
    ),
  });
};

/** Saves the fields of one card. `read` returns the change, or the error of a field. */
const saveCard = (read: (form: PortalFormRequest["form"]) => BusinessProfileChange | FormError) =>
  authenticatedAction({ ownerOnly: true }, async (request) => {
    const { services, member, form } = request;
    const change = read(form);
    if ("code" in change) return renderSettings(request, change);
    const changed = await updateAccount(services, member, change);
    return changed.ok ? redirectTo(request, settingsPath, "saved") : renderSettings(request, toFormError(changed));
  });

const readProfile = (form: PortalFormRequest["form"]): BusinessProfileChange => {
  const orNull = (name: string): string | null => form.get(name)?.replaceAll("\r\n", "\n").trim() || null;
  return {
    name: orNull("name") ?? "",
    legalName: orNull("legal_name"),
    mailingAddress: orNull("mailing_address"),
    contactEmail: orNull("contact_email"),
    contactPhone: orNull("contact_phone"),
    logoUrl: orNull("logo_url"),
    country: orNull("country") ?? "",
  };
};

const readRetention = (form: PortalFormRequest["form"]): BusinessProfileChange | FormError => {
  const years = Number(form.get("retention_years"));
  if (!Number.isInteger(years) || years < 1 || years > maxRetentionYears)
    return { code: "invalid_request", field: null, text: settingsMessages.retention.bad };
  return { retentionYears: years };
};

export const registerSettingsRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/settings", authenticatedPage(renderSettings));
  pages.post("/settings/profile", saveCard(readProfile));
  pages.post("/settings/retention", saveCard(readRetention));
  pages.post(
    "/settings/withdrawals",
    saveCard((form) => ({ revocationScopeDefault: form.get("revocation_scope_default") === "certificate" ? "certificate" : "business" })),
  );
  pages.post(
    "/settings/events",
    saveCard((form) => ({ emitsIssued: form.has("emits") })),
  );
};
