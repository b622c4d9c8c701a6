// The business's profile and account settings.
import type { Hono } from "hono";
import type { BusinessProfileChange } from "../../../core/accounts/profile.ts";
import type { AppEnv } from "../../http/context.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { updateAccount } from "../../operations/portal/update-account.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText } from "../shared/components.tsx";
import {
  SelectField,
  Field,
  PostForm,
  PropertyList,
  getFormRestriction,
  CheckboxField,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const settingsMessages = messages.settings;

const renderSettings = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const account = await getAccount(request.services, request.member);
  const lines = [
    { name: "name", value: account.name, required: true },
    { name: "legal_name", value: account.legalName },
    { name: "mailing_address", value: account.mailingAddress, rows: 3 },
    { name: "contact_email", value: account.contactEmail, type: "email" },
    { name: "contact_phone", value: account.contactPhone },
    { name: "logo_url", value: account.logoUrl, type: "url" },
    { name: "country", value: account.country, required: true },
  ] as const;
  const restriction = getFormRestriction(request.member, "owner");
  return renderMemberPage(request, {
    tab: "settings",
    error,
    content:
      restriction !== null ? (
        <>
          <p class="quiet">{restriction}</p>
          <PropertyList
            lines={[
              ...lines.map(
                ({ name, value }) =>
                  [settingsMessages.labels[name], value === null ? messages.none : <VerbatimText text={value} />] as const,
              ),
              [settingsMessages.retention, account.retentionYears],
            ]}
          />
        </>
      ) : (
        <PostForm action="/portal/settings">
          <FormErrorMessage fields={[...lines.map(({ name }) => name), "retention_years"]} />
          <p>{settingsMessages.intro}</p>
          {lines.map((line) => (
            <Field {...line} label={settingsMessages.labels[line.name]} />
          ))}
          <Field
            name="retention_years"
            label={settingsMessages.retention}
            hint={settingsMessages.retentionHint}
            value={String(account.retentionYears)}
            required
          />
          <SelectField
            name="revocation_scope_default"
            label={settingsMessages.scope}
            value={account.revocationScopeDefault}
            options={settingsMessages.scopes}
          />
          <p class="choice">
            <CheckboxField name="emits" label={settingsMessages.emits} checked={account.emitsIssued} />
          </p>
          <SubmitButton>{settingsMessages.save}</SubmitButton>
        </PostForm>
      ),
  });
};

const handleSaveSettings = async (request: PortalFormRequest): Promise<Response> => {
  const { services, member, form } = request;
  const years = Number(form.get("retention_years"));
  if (!Number.isInteger(years) || years < 1 || years > 10)
    return renderSettings(request, { code: "invalid_request", field: "retention_years", text: settingsMessages.badYears });
  const orNull = (name: string): string | null => form.get(name)?.replaceAll("\r\n", "\n").trim() || null;
  const change: BusinessProfileChange = {
    name: orNull("name") ?? "",
    legalName: orNull("legal_name"),
    mailingAddress: orNull("mailing_address"),
    contactEmail: orNull("contact_email"),
    contactPhone: orNull("contact_phone"),
    logoUrl: orNull("logo_url"),
    country: orNull("country") ?? "",
    retentionYears: years,
    revocationScopeDefault: form.get("revocation_scope_default") === "certificate" ? "certificate" : "business",
    emitsIssued: form.has("emits"),
  };
  const changed = await updateAccount(services, member, change);
  return changed.ok ? redirectTo(request, "/portal/settings", "saved") : renderSettings(request, toFormError(changed));
};

export const registerSettingsRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/settings", authenticatedPage(renderSettings));
  pages.post("/settings", authenticatedAction({ ownerOnly: true }, handleSaveSettings));
};
