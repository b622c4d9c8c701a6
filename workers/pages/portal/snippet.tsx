// The snippet builder: a page of the business is read as a stranger would, its form is mapped, and the tag for it is shown.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import { mapPage, planIntegration, type IntegrationInput, type MappedPage } from "../../operations/integration/map-page.ts";
import type { Page } from "../shared/layout.tsx";
import { CopyButton, Exact, filled } from "../shared/parts.tsx";
import { Allowed, Choice, Field, portalPage, PostForm, Status, Table, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, crowded, faultOf, reading, type Fault, type Posted, type Visit } from "./visit.ts";

const Built: FC<{ view: PortalView; built: MappedPage; scriptOrigin: string }> = ({ view, built, scriptOrigin }) => {
  const { words, setting } = view;
  const { snippet: said } = words;
  return (
    <section aria-labelledby="built">
      <h2 id="built">{said.built}</h2>
      <p>{filled(said.confidence, { percent: String(Math.round(built.confidence * 100)) })}</p>
      {built.warnings.length > 0 && (
        <>
          <h3>{said.warnings}</h3>
          <ul class="plain">
            {built.warnings.map((warning) => (
              <li>{warning}</li>
            ))}
          </ul>
        </>
      )}
      {built.fieldMap.length > 0 && (
        <Table
          label={said.fields}
          rows={built.fieldMap}
          columns={[
            {
              head: said.selector,
              cell: ([selector]) => (
                <code class="wraps">
                  <Exact text={selector} />
                </code>
              ),
            },
            { head: said.becomes, cell: ([, key]) => <code>{key}</code> },
          ]}
        />
      )}
      {built.unmapped.length > 0 && (
        <>
          <h3>{said.unmapped}</h3>
          <ul class="plain">
            {built.unmapped.map((name) => (
              <li>
                <code class="wraps">
                  <Exact text={name} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{said.tag}</h3>
      <p>{said.tagText}</p>
      <pre>
        <code id="tag" translate="no">
          {built.snippet}
        </code>
      </pre>
      <CopyButton of="tag" label={`${setting.words.copy}: ${said.tag}`} words={setting.words} />
      <h3>{said.now}</h3>
      <p>
        <Status tone={built.tagOnPage === "own" ? "good" : "caution"} text={said.onPage[built.tagOnPage]} />
      </p>
      {built.blocked.length === 0 ? (
        <p>
          <Status tone="good" text={said.allowed} />
        </p>
      ) : (
        <>
          <p>
            <Status tone="bad" text={said.blocked} />
          </p>
          <ul class="plain">
            {built.blocked.map((name) => (
              <li>
                <code>{name}</code>: {filled(said.unblock[name], { origin: scriptOrigin })}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="quiet">{said.again}</p>
    </section>
  );
};

interface Answered {
  readonly built: MappedPage;
  readonly scriptOrigin: string;
}

const pageOf = (view: PortalView, typed: Partial<IntegrationInput> = {}, answered: Answered | null = null, fault?: Fault): Page => {
  const { words, setting } = view;
  const { snippet: said } = words;
  return portalPage(view, {
    tab: "snippet",
    title: words.tabs.snippet,
    fault,
    content: (
      <>
        <p>{said.intro}</p>
        <Allowed view={view} ownerOnly={false}>
          <PostForm view={view} action="/portal/snippet">
            <Wrong fault={fault} fields={["url", "purpose", "entities"]} setting={setting} />
            <Choice name="mode" label={said.mode} value={typed.mode} options={Object.entries(said.modes)} />
            <Field
              name="url"
              label={said.url}
              hint={said.urlHint}
              type="url"
              required
              value={typed.url}
              fault={fault}
              setting={setting}
              maxlength={2_048}
            />
            <Field
              name="purpose"
              label={words.certificates.purpose}
              hint={said.purposeHint}
              required
              value={typed.purpose}
              fault={fault}
              setting={setting}
              maxlength={500}
            />
            <Field
              name="entities"
              label={words.certificates.recipients}
              hint={said.entitiesHint}
              rows={4}
              value={typed.entities?.join("\n")}
              fault={fault}
              setting={setting}
            />
            <button type="submit" class="primary">
              {said.map}
            </button>
          </PostForm>
        </Allowed>
        {answered !== null && <Built view={view} {...answered} />}
      </>
    ),
  });
};

const show = (visit: Visit): Promise<Response> => answer(visit, pageOf(visit.view));

/** Answered to the form: nothing of it is kept, and the address of the page would not bring it back. */
const build = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, view } = visit;
  const input: IntegrationInput = {
    mode: form.get("mode") === "share" ? "share" : "consent",
    url: (form.get("url") ?? "").trim(),
    purpose: form.get("purpose") ?? "",
    entities: (form.get("entities") ?? "")
      .split("\n")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  };
  const wrong = (refused: Parameters<typeof faultOf>[0]): Promise<Response> => {
    const fault = faultOf(refused);
    return answer(
      visit,
      pageOf(view, input, null, fault.code === "page_url_not_verified" ? { ...fault, field: "url" } : fault),
      fault.code,
    );
  };
  const plan = await planIntegration(services, member, input, view.environment);
  if (!plan.ok) return wrong(plan);
  if (plan.value.isFetchable) {
    const full = await crowded(c, "INTEGRATE", member.business.id);
    if (full !== null) return full;
  }
  const mapped = await mapPage(services, plan.value);
  if (!mapped.ok) return wrong(mapped);
  return answer(visit, pageOf(view, input, { built: mapped.value, scriptOrigin: new URL(services.config.cdnUrl).origin }));
};

export const mountSnippet = (pages: Hono<Api>): void => {
  pages.get("/snippet", reading(show));
  pages.post("/snippet", acting({}, build));
};
