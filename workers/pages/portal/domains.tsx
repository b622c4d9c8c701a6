// Domains: claimed, proved by one of three ways, removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { challengesOf } from "../../../core/accounts/domain-claim.ts";
import { domainIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { claimDomain, dropDomain, listDomains, proveDomain, type Domain } from "../../operations/portal/domains.ts";
import type { Words } from "../shared/i18n/words.ts";
import type { Page } from "../shared/layout.tsx";
import { CopyButton, filled, Foreign, Moment } from "../shared/parts.tsx";
import { Allowed, Careful, Field, portalPage, PostForm, Press, Status, Table, Wrong, type PortalView, type Tone } from "./parts.tsx";
import { acting, answer, crowded, faultOf, nothing, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

const tones: Readonly<Record<Domain["status"], Tone>> = { verified: "good", pending: "caution", lapsed: "bad" };

const State: FC<{ view: PortalView; domain: Domain }> = ({ view: { words, setting }, domain }) => (
  <>
    <Status tone={domain.lapsesAt === null ? tones[domain.status] : "caution"} text={words.domains.states[domain.status]} />
    {domain.lapsesAt !== null && (
      <>
        {" "}
        {words.domains.lapses} <Moment at={domain.lapsesAt} setting={setting} />
      </>
    )}
  </>
);

const listPage = (view: PortalView, domains: readonly Domain[], typed?: string, fault?: Fault): Page => {
  const { words, setting } = view;
  const { domains: said } = words;
  return portalPage(view, {
    tab: "domains",
    title: words.tabs.domains,
    fault,
    content: (
      <>
        {domains.length === 0 ? (
          <p>{said.empty}</p>
        ) : (
          <Table
            label={words.tabs.domains}
            rows={domains}
            columns={[
              { head: said.domain, cell: (row) => <a href={view.at(`/portal/domains/${row.id}`)}>{row.domain}</a> },
              { head: words.state, cell: (row) => <State view={view} domain={row} /> },
              { head: said.how, cell: (row) => (row.method === null ? said.notYet : said.methods[row.method]) },
              {
                head: said.checked,
                cell: (row) => (row.checkedAt === null ? said.notYet : <Moment at={row.checkedAt} setting={setting} />),
              },
            ]}
          />
        )}
        <section aria-labelledby="claim">
          <h2 id="claim">{said.add}</h2>
          <Allowed view={view}>
            <PostForm view={view} action="/portal/domains">
              <Wrong fault={fault} fields={["domain"]} setting={setting} />
              <Field
                name="domain"
                label={said.domain}
                hint={said.hint}
                required
                value={typed}
                fault={fault}
                setting={setting}
                maxlength={300}
              />
              <button type="submit" class="primary">
                {said.add}
              </button>
            </PostForm>
          </Allowed>
        </section>
      </>
    ),
  });
};

const Proof: FC<{ label: string; lines: readonly (readonly [string, string])[]; id: string; words: Words }> = ({
  label,
  lines,
  id,
  words,
}) => (
  <section aria-labelledby={id}>
    <h3 id={id}>{label}</h3>
    <dl>
      {lines.map(([name, value], at) => (
        <div>
          <dt>{name}</dt>
          <dd>
            <code class="whole" id={`${id}-${at}`} translate="no">
              {value}
            </code>{" "}
            <CopyButton of={`${id}-${at}`} label={`${words.copy}: ${label}, ${name}`} words={words} />
          </dd>
        </div>
      ))}
    </dl>
  </section>
);

const detailPage = (view: PortalView, domain: Domain, fault?: Fault, otherTexts: readonly string[] = []): Page => {
  const { words, setting } = view;
  const { domains: said } = words;
  const ways = domain.token === null ? null : challengesOf(domain.domain, domain.token);
  return portalPage(view, {
    tab: "domains",
    title: domain.domain,
    fault,
    content: (
      <>
        <p>
          <State view={view} domain={domain} />
        </p>
        <Wrong fault={fault} fields={[]} setting={setting} />
        {otherTexts.length > 0 && (
          <>
            <p>{said.otherTexts}</p>
            <ul class="plain">
              {otherTexts.map((text) => (
                <li>
                  <Foreign text={text} setting={setting} />
                </li>
              ))}
            </ul>
          </>
        )}
        {domain.status === "verified" && domain.method !== null && (
          <p>{filled(domain.method === "dns" ? said.coversAll : said.coversHost, { domain: domain.domain })}</p>
        )}
        {domain.status === "pending" && domain.expiresAt !== null && (
          <p>
            {said.until} <Moment at={domain.expiresAt} setting={setting} />.
          </p>
        )}
        {ways !== null && (
          <section aria-labelledby="ways">
            <h2 id="ways">{said.ways}</h2>
            <p>{said.oneIsEnough}</p>
            <Proof
              id="dns"
              label={said.methods.dns}
              lines={[
                [said.txtName, ways.dns.name],
                [said.txtValue, ways.dns.value],
              ]}
              words={setting.words}
            />
            <Proof
              id="file"
              label={said.methods.well_known}
              lines={[
                [said.address, ways.wellKnown.url],
                [said.line, ways.wellKnown.body],
              ]}
              words={setting.words}
            />
            <Proof
              id="tag"
              label={said.methods.meta}
              lines={[
                [said.address, ways.meta.url],
                [said.tag, ways.meta.tag],
              ]}
              words={setting.words}
            />
          </section>
        )}
        <Allowed view={view}>
          <div class="actions">
            {ways !== null && <Press view={view} action={`/portal/domains/${domain.id}/verify`} label={said.check} />}
            <Careful
              view={view}
              action={`/portal/domains/${domain.id}/remove`}
              label={said.remove}
              of={domain.domain}
              consequence={said.removal}
            />
          </div>
        </Allowed>
        <p>
          <a href={view.at("/portal/domains")}>{said.all}</a>
        </p>
      </>
    ),
  });
};

const list = async (visit: Visit): Promise<Response> =>
  answer(visit, listPage(visit.view, await listDomains(visit.services, visit.member)));

const ownDomain = async ({ c, services, member }: Visit): Promise<Domain | null> => {
  const id = domainIdOf(c.req.param("id") ?? "");
  return id === null ? null : ((await listDomains(services, member)).find((domain) => domain.id === id) ?? null);
};

const detail = async (visit: Visit): Promise<Response> => {
  const domain = await ownDomain(visit);
  return domain === null ? nothing(visit) : answer(visit, detailPage(visit.view, domain));
};

const claim = async (visit: Posted): Promise<Response> => {
  const { services, member, form, view } = visit;
  const domain = (form.get("domain") ?? "").trim();
  const claimed = await claimDomain(services, member, { domain, idempotencyKey: null });
  if (claimed.ok) return to(visit, `/portal/domains/${claimed.value.value.id}`, "added");
  const fault = faultOf(claimed);
  return answer(visit, listPage(view, await listDomains(services, member), domain.slice(0, 300), fault), fault.code);
};

const verify = async (visit: Posted): Promise<Response> => {
  const domain = await ownDomain(visit);
  if (domain === null) return nothing(visit);
  const full = await crowded(visit.c, "DOMAIN_CHECKS_PER_BUSINESS", visit.member.business.id);
  if (full !== null) return full;
  const proved = await proveDomain(visit.services, visit.member, domain.id, null);
  if (proved.ok) return to(visit, `/portal/domains/${domain.id}`, "proved");
  if (proved.code === "not_found") return nothing(visit);
  const fault = { code: proved.code, field: null, text: proved.detail ?? visit.view.words.domains.unproved };
  return answer(visit, detailPage(visit.view, domain, fault, proved.otherTexts), proved.code);
};

const remove = async (visit: Posted): Promise<Response> => {
  const id = domainIdOf(visit.c.req.param("id") ?? "");
  const dropped = id === null ? null : await dropDomain(visit.services, visit.member, id);
  return dropped?.ok ? to(visit, "/portal/domains", "removed") : nothing(visit);
};

export const mountDomains = (pages: Hono<Api>): void => {
  pages.get("/domains", reading(list));
  pages.post("/domains", acting({ owner: true }, claim));
  pages.get("/domains/:id", reading(detail));
  pages.post("/domains/:id/verify", acting({ owner: true }, verify));
  pages.post("/domains/:id/remove", acting({ owner: true }, remove));
};
