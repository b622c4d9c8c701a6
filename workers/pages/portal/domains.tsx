// Domains: claimed, proved by one of three ways, removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { challengesOf } from "../../../core/accounts/domain-claim.ts";
import { domainIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { claimDomain, dropDomain, listDomains, proveDomain, type Domain } from "../../operations/portal/domains.ts";
import { filled, Foreign, Moment } from "../shared/parts.tsx";
import {
  Allowed,
  Careful,
  Copy,
  Field,
  Link,
  LinkLine,
  List,
  PostForm,
  Press,
  Properties,
  Section,
  Status,
  Submit,
  Table,
  words,
  Wrong,
  type Tone,
} from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { acting, faultOf, reading, to, withId, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.domains;
const tones: Readonly<Record<Domain["status"], Tone>> = { verified: "good", pending: "caution", lapsed: "bad" };

const State: FC<{ domain: Domain }> = ({ domain: { status, lapsesAt } }) => (
  <>
    <Status tone={lapsesAt === null ? tones[status] : "caution"} text={said.states[status]} />
    {lapsesAt !== null && (
      <>
        {" "}
        {said.lapses} <Moment at={lapsesAt} />
      </>
    )}
  </>
);

const list = async (visit: Visit, fault?: Fault): Promise<Response> =>
  showPage(visit, {
    tab: "domains",
    fault,
    content: (
      <>
        <Table
          label={words.tabs.domains}
          rows={await listDomains(visit.services, visit.member)}
          empty={said.empty}
          columns={[
            [said.domain, (row) => <Link to={`/portal/domains/${row.id}`} text={row.domain} />],
            [words.state, (row) => <State domain={row} />],
            [said.how, (row) => (row.method === null ? said.notYet : said.methods[row.method])],
            [said.checked, (row) => (row.checkedAt === null ? said.notYet : <Moment at={row.checkedAt} />)],
          ]}
        />
        <Section id="claim" title={said.add}>
          <PostForm by="owner" action="/portal/domains">
            <Wrong fields={["domain"]} />
            <Field name="domain" label={said.domain} hint={said.hint} required maxlength={300} />
            <Submit label={said.add} />
          </PostForm>
        </Section>
      </>
    ),
  });

const Proof: FC<{ id: string; label: string; lines: Readonly<Record<string, string>> }> = ({ id, label, lines }) => (
  <section aria-labelledby={id}>
    <h3 id={id}>{label}</h3>
    <Properties
      lines={Object.entries(lines).map(([name, value], at) => [
        name,
        <>
          <code class="whole" id={`${id}-${at}`} translate="no">
            {value}
          </code>{" "}
          <Copy of={`${id}-${at}`} label={`${label}, ${name}`} />
        </>,
      ])}
    />
  </section>
);

const Ways: FC<{ domain: string; token: string }> = ({ domain, token }) => {
  const { dns, wellKnown, meta } = challengesOf(domain, token);
  const { txtName, txtValue, address, line, tag, methods } = said;
  return (
    <Section id="ways" title={said.ways}>
      <p>{said.oneIsEnough}</p>
      <Proof id="dns" label={methods.dns} lines={{ [txtName]: dns.name, [txtValue]: dns.value }} />
      <Proof id="file" label={methods.well_known} lines={{ [address]: wellKnown.url, [line]: wellKnown.body }} />
      <Proof id="tag" label={methods.meta} lines={{ [address]: meta.url, [tag]: meta.tag }} />
    </Section>
  );
};

const detail = async (visit: Visit, id: string, fault?: Fault, otherTexts: readonly string[] = []): Promise<Response> => {
  const found = (await listDomains(visit.services, visit.member)).find((one) => one.id === id);
  if (found === undefined) return nothing(visit);
  const { domain, status, method, expiresAt, token } = found;
  return showPage(visit, {
    tab: "domains",
    title: domain,
    fault,
    content: (
      <>
        <p>
          <State domain={found} />
        </p>
        <Wrong />
        {otherTexts.length > 0 && (
          <>
            <p>{said.otherTexts}</p>
            <List items={otherTexts.map((text) => <Foreign text={text} />)} />
          </>
        )}
        {status === "verified" && method !== null && <p>{filled(method === "dns" ? said.coversAll : said.coversHost, { domain })}</p>}
        {status === "pending" && expiresAt !== null && (
          <p>
            {said.until} <Moment at={expiresAt} />.
          </p>
        )}
        {token !== null && <Ways domain={domain} token={token} />}
        <Allowed to="owner">
          <div class="actions">
            {token !== null && <Press action={`/portal/domains/${id}/verify`} label={said.check} />}
            <Careful action={`/portal/domains/${id}/remove`} label={said.remove} of={domain} consequence={said.removal} />
          </div>
        </Allowed>
        <LinkLine to="/portal/domains" text={said.all} />
      </>
    ),
  });
};

const claim = async (visit: Posted): Promise<Response> => {
  const domain = (visit.form.get("domain") ?? "").trim();
  const claimed = await claimDomain(visit.services, visit.member, { domain, idempotencyKey: null });
  return claimed.ok ? to(visit, `/portal/domains/${claimed.value.value.id}`, "added") : list(visit, faultOf(claimed));
};

const verify = async (visit: Posted, id: string): Promise<Response> => {
  const proved = await proveDomain(visit.services, visit.member, id, null);
  if (proved.ok) return to(visit, `/portal/domains/${id}`, "proved");
  if (proved.code === "not_found") return nothing(visit);
  const fault = { code: proved.code, field: null, text: proved.detail ?? said.unproved };
  return detail(visit, id, fault, proved.otherTexts);
};

const remove = async (visit: Posted, id: string): Promise<Response> => {
  const dropped = await dropDomain(visit.services, visit.member, id);
  return dropped.ok ? to(visit, "/portal/domains", "removed") : nothing(visit);
};

export const mountDomains = (pages: Hono<Api>): void => {
  pages.get("/domains", reading(list));
  pages.post("/domains", acting({ owner: true }, claim));
  pages.get("/domains/:id", reading(withId(domainIdOf, detail)));
  pages.post("/domains/:id/verify", acting({ owner: true, businessLimit: "DOMAIN_CHECKS_PER_BUSINESS" }, withId(domainIdOf, verify)));
  pages.post("/domains/:id/remove", acting({ owner: true }, withId(domainIdOf, remove)));
};
