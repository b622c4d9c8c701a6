// What the business says of itself, and what it chose about its account.
import type { Hono } from "hono";
import type { ProfileChange } from "../../../core/accounts/profile.ts";
import type { Api } from "../../http/context.ts";
import { changeAccount, readAccount, type Account } from "../../operations/portal/profile.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact } from "../shared/parts.tsx";
import { Choice, Field, portalPage, PostForm, readerBar, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, faultOf, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

const lines = ["name", "legal_name", "mailing_address", "contact_email", "contact_phone", "logo_url", "country"] as const;
const typedNames = [...lines, "retention_years"];

const textsOf = (account: Account): Readonly<Record<(typeof lines)[number], string | null>> => ({
  name: account.name,
  legal_name: account.legalName,
  mailing_address: account.mailingAddress,
  contact_email: account.contactEmail,
  contact_phone: account.contactPhone,
  logo_url: account.logoUrl,
  country: account.country,
});

const types = { contact_email: "email", logo_url: "url" } as const;

const pageOf = (view: PortalView, account: Account, typed?: ReadonlyMap<string, string>, fault?: Fault): Page => {
  const { words, setting } = view;
  const { settings: said } = words;
  const texts = textsOf(account);
  const bar = readerBar(view);
  const shownIn = (name: (typeof lines)[number]): string | null => typed?.get(name) ?? texts[name];
  return portalPage(view, {
    tab: "settings",
    title: words.tabs.settings,
    fault,
    content:
      bar !== null ? (
        <>
          <p class="quiet">{bar}</p>
          <dl>
            {lines.map((name) => (
              <div>
                <dt>{said.labels[name]}</dt>
                <dd>{texts[name] === null ? words.none : <Exact text={texts[name]} />}</dd>
              </div>
            ))}
            <div>
              <dt>{said.retention}</dt>
              <dd>{account.retentionYears}</dd>
            </div>
          </dl>
        </>
      ) : (
        <PostForm view={view} action="/portal/settings">
          <Wrong fault={fault} fields={typedNames} setting={setting} />
          <p>{said.intro}</p>
          {lines.map((name) => (
            <Field
              name={name}
              label={said.labels[name]}
              value={shownIn(name)}
              fault={fault}
              setting={setting}
              required={name === "name" || name === "country"}
              {...(name in types && { type: types[name as keyof typeof types] })}
              {...(name === "mailing_address" && { rows: 3 })}
            />
          ))}
          <Field
            name="retention_years"
            label={said.retention}
            hint={said.retentionHint}
            value={typed?.get("retention_years") ?? String(account.retentionYears)}
            fault={fault}
            setting={setting}
            required
          />
          <Choice
            name="revocation_scope_default"
            label={said.scope}
            value={typed?.get("revocation_scope_default") ?? account.revocationScopeDefault}
            options={Object.entries(said.scopes)}
          />
          <p class="choice">
            <input
              type="checkbox"
              id="emits"
              name="emits"
              value="1"
              checked={typed === undefined ? account.emitsIssued : typed.has("emits")}
            />{" "}
            <label for="emits">{said.emits}</label>
          </p>
          <button type="submit" class="primary">
            {said.save}
          </button>
        </PostForm>
      ),
  });
};

const show = async (visit: Visit): Promise<Response> => answer(visit, pageOf(visit.view, await readAccount(visit.services, visit.member)));

const save = async (visit: Posted): Promise<Response> => {
  const { services, member, form, view } = visit;
  const wrong = async (fault: Fault): Promise<Response> =>
    answer(visit, pageOf(view, await readAccount(services, member), form, fault), fault.code);
  const years = Number(form.get("retention_years"));
  if (!Number.isInteger(years) || years < 1 || years > 10)
    return wrong({ code: "invalid_request", field: "retention_years", text: view.words.settings.badYears });
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
  return changed.ok ? to(visit, "/portal/settings", "saved") : wrong(faultOf(changed));
};

export const mountSettings = (pages: Hono<Api>): void => {
  pages.get("/settings", reading(show));
  pages.post("/settings", acting({ owner: true }, save));
};
