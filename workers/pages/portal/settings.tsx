// What the business says of itself, and what it chose about its account.
import type { Hono } from "hono";
import type { ProfileChange } from "../../../core/accounts/profile.ts";
import type { Api } from "../../http/context.ts";
import { changeAccount, readAccount } from "../../operations/portal/profile.ts";
import { Exact } from "../shared/parts.tsx";
import { Choice, Field, PostForm, Properties, readerBar, Submit, Tick, words, Wrong } from "./parts.tsx";
import { showPage } from "./page.tsx";
import { acting, faultOf, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.settings;

const show = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const account = await readAccount(visit.services, visit.member);
  const lines = [
    { name: "name", value: account.name, required: true },
    { name: "legal_name", value: account.legalName },
    { name: "mailing_address", value: account.mailingAddress, rows: 3 },
    { name: "contact_email", value: account.contactEmail, type: "email" },
    { name: "contact_phone", value: account.contactPhone },
    { name: "logo_url", value: account.logoUrl, type: "url" },
    { name: "country", value: account.country, required: true },
  ] as const;
  const bar = readerBar(visit.member, "owner");
  return showPage(visit, {
    tab: "settings",
    fault,
    content:
      bar !== null ? (
        <>
          <p class="quiet">{bar}</p>
          <Properties
            lines={[
              ...lines.map(({ name, value }) => [said.labels[name], value === null ? words.none : <Exact text={value} />] as const),
              [said.retention, account.retentionYears],
            ]}
          />
        </>
      ) : (
        <PostForm action="/portal/settings">
          <Wrong fields={[...lines.map(({ name }) => name), "retention_years"]} />
          <p>{said.intro}</p>
          {lines.map((line) => (
            <Field {...line} label={said.labels[line.name]} />
          ))}
          <Field name="retention_years" label={said.retention} hint={said.retentionHint} value={String(account.retentionYears)} required />
          <Choice name="revocation_scope_default" label={said.scope} value={account.revocationScopeDefault} options={said.scopes} />
          <p class="choice">
            <Tick name="emits" label={said.emits} checked={account.emitsIssued} />
          </p>
          <Submit label={said.save} />
        </PostForm>
      ),
  });
};

const save = async (visit: Posted): Promise<Response> => {
  const { services, member, form } = visit;
  const years = Number(form.get("retention_years"));
  if (!Number.isInteger(years) || years < 1 || years > 10)
    return show(visit, { code: "invalid_request", field: "retention_years", text: said.badYears });
  const orNull = (name: string): string | null => form.get(name)?.replaceAll("\r\n", "\n").trim() || null;
  const change: ProfileChange = {
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
  const changed = await changeAccount(services, member, change);
  return changed.ok ? to(visit, "/portal/settings", "saved") : show(visit, faultOf(changed));
};

export const mountSettings = (pages: Hono<Api>): void => {
  pages.get("/settings", reading(show));
  pages.post("/settings", acting({ owner: true }, save));
};
