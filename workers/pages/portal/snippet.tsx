// The snippet builder: a page of the business is read as a stranger would, its form is mapped, and the tag for it is shown.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Refusal } from "../../../core/result.ts";
import type { Api } from "../../http/context.ts";
import { mapPage, planIntegration, type MappedPage } from "../../operations/integration/map-page.ts";
import { Exact, filled } from "../shared/parts.tsx";
import { Choice, Copy, Field, List, PostForm, Section, Status, Submit, Table, useVisit, words, Wrong } from "./parts.tsx";
import { showPage } from "./page.tsx";
import { tooOften } from "../shared/own-form.ts";
import { acting, faultOf, reading, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.snippet;

const Name: FC<{ text: string }> = ({ text }) => (
  <code class="wraps">
    <Exact text={text} />
  </code>
);

const Built: FC<{ built: MappedPage }> = ({ built }) => {
  const { origin } = new URL(useVisit().services.config.cdnUrl);
  return (
    <Section id="built" title={said.built}>
      <p>{filled(said.confidence, { percent: String(Math.round(built.confidence * 100)) })}</p>
      {built.warnings.length > 0 && (
        <>
          <h3>{said.warnings}</h3>
          <List items={built.warnings} />
        </>
      )}
      {built.fieldMap.length > 0 && (
        <Table
          label={said.fields}
          rows={built.fieldMap}
          columns={[
            [said.selector, ([selector]) => <Name text={selector} />],
            [said.becomes, ([, key]) => <code>{key}</code>],
          ]}
        />
      )}
      {built.unmapped.length > 0 && (
        <>
          <h3>{said.unmapped}</h3>
          <List items={built.unmapped.map((name) => <Name text={name} />)} />
        </>
      )}
      <h3>{said.tag}</h3>
      <p>{said.tagText}</p>
      <pre>
        <code id="tag" translate="no">
          {built.snippet}
        </code>
      </pre>
      <Copy of="tag" label={said.tag} />
      <h3>{said.now}</h3>
      <p>
        <Status tone={built.tagOnPage === "own" ? "good" : "caution"} text={said.onPage[built.tagOnPage]} />
      </p>
      <p>
        <Status tone={built.blocked.length === 0 ? "good" : "bad"} text={built.blocked.length === 0 ? said.allowed : said.blocked} />
      </p>
      {built.blocked.length > 0 && (
        <List
          items={built.blocked.map((name) => (
            <>
              <code>{name}</code>: {filled(said.unblock[name], { origin })}
            </>
          ))}
        />
      )}
      <p class="quiet">{said.again}</p>
    </Section>
  );
};

const show = (visit: Visit, fault?: Fault, built?: MappedPage): Promise<Response> =>
  showPage(visit, {
    tab: "snippet",
    fault,
    content: (
      <>
        <p>{said.intro}</p>
        <PostForm by="member" action="/portal/snippet">
          <Wrong fields={["url", "purpose", "entities"]} />
          <Choice name="mode" label={said.mode} options={said.modes} />
          <Field name="url" label={said.url} hint={said.urlHint} type="url" required maxlength={2_048} />
          <Field name="purpose" label={words.certificates.purpose} hint={said.purposeHint} required maxlength={500} />
          <Field name="entities" label={words.certificates.recipients} hint={said.entitiesHint} rows={4} />
          <Submit label={said.map} />
        </PostForm>
        {built !== undefined && <Built built={built} />}
      </>
    ),
  });

/** Answered to the form: nothing of it is kept, and the address of the page would not bring it back. */
const build = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, environment } = visit;
  const refused = (why: Refusal): Promise<Response> => {
    const fault = faultOf(why);
    return show(visit, fault.code === "page_url_not_verified" ? { ...fault, field: "url" } : fault);
  };
  const input = {
    mode: form.get("mode") === "share" ? "share" : "consent",
    url: (form.get("url") ?? "").trim(),
    purpose: form.get("purpose") ?? "",
    entities: (form.get("entities") ?? "")
      .split("\n")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  } as const;
  const plan = await planIntegration(services, member, input, environment);
  if (!plan.ok) return refused(plan);
  const full = plan.value.isFetchable ? await tooOften(c, "INTEGRATE", member.business.id) : null;
  if (full !== null) return full;
  const mapped = await mapPage(services, plan.value);
  return mapped.ok ? show(visit, undefined, mapped.value) : refused(mapped);
};

export const mountSnippet = (pages: Hono<Api>): void => {
  pages.get("/snippet", reading(show));
  pages.post("/snippet", acting({}, build));
};
