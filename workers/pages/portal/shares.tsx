// Shares as the people of a business read them: what people let it have, until when, and what became of it. Values are not shown here.
import type { Hono } from "hono";
import { shareIdOf, type ShareId } from "../../../core/ids.ts";
import { groupsOf } from "../../../core/shares/fields.ts";
import { shareStatuses, type ShareStatus } from "../../../core/shares/share.ts";
import type { Api } from "../../http/context.ts";
import { listShares, readShare } from "../../operations/shares/read.ts";
import { groupsIn } from "../authorize/views.tsx";
import { Exact, Foreign, Hash, Moment } from "../shared/parts.tsx";
import { Filter, Further, language, Link, LinkLine, NoMatch, Properties, Section, Status, Table, words, type Tone } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { addressOf } from "./paths.ts";
import { reading, readerOf, withId, type Visit } from "./visit.ts";

const said = words.shares;
const perPage = 25;
const tones: Readonly<Record<ShareStatus, Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "plain",
  ceased: "plain",
  superseded: "plain",
};

const list = async (visit: Visit): Promise<Response> => {
  const { c, services } = visit;
  const status = shareStatuses.find((one) => one === c.req.query("status")) ?? null;
  const after = shareIdOf(c.req.query("after") ?? "");
  const found = await listShares(services, readerOf(visit), { status, limit: perPage, startingAfter: after });
  if (!found.ok) return nothing(visit);
  const { shares, hasMore } = found.value;
  const addressAfter = (id: ShareId | null): string => addressOf("/portal/shares", { status, after: id });
  const last = shares.at(-1);
  return showPage(visit, {
    tab: "shares",
    content: (
      <>
        <Filter path="/portal/shares" isOpen={status !== null} name="status" label={words.state} value={status} options={said.states} />
        <Table
          label={words.tabs.shares}
          rows={shares}
          empty={
            status === null && after === null ? (
              <>
                {said.empty} <Link to="/portal/snippet" text={words.tabs.snippet} />
              </>
            ) : (
              <NoMatch path="/portal/shares" />
            )
          }
          columns={[
            [said.granted, (row) => <Link to={`/portal/shares/${row.id}`} text={<Moment at={row.createdAt} />} />],
            [words.state, (row) => <Status tone={tones[row.status]} text={said.states[row.status]} />],
            [said.fields, (row) => groupsIn(language, groupsOf(row.scope))],
            [words.certificates.purpose, (row) => <Exact text={row.purpose} />],
            [said.ends, (row) => <Moment at={row.expiresAt} />],
            [words.deadlines.due, (row) => row.ceaseBy !== null && row.status === "revoked" && <Moment at={row.ceaseBy} />],
          ]}
        />
        <Further first={after !== null && addressAfter(null)} next={hasMore && last !== undefined && addressAfter(last.id)} />
      </>
    ),
  });
};

const detail = async (visit: Visit, id: ShareId): Promise<Response> => {
  const found = await readShare(visit.services, readerOf(visit), id);
  if (!found.ok) return nothing(visit);
  const { share, disclosureText, history, reason } = found.value;
  return showPage(visit, {
    tab: "shares",
    title: said.one,
    content: (
      <>
        <p>
          <Status tone={tones[share.status]} text={said.states[share.status]} /> <Hash value={share.id} />
        </p>
        {share.environment === "sandbox" && <p class="band">{words.testBand}</p>}
        {share.status === "revoked" && <LinkLine class="button" to={`/portal/deadlines/${share.id}`} text={words.deadlines.acknowledge} />}
        <Properties
          lines={[
            [said.fields, groupsIn(language, groupsOf(share.scope))],
            [words.certificates.purpose, <Foreign text={share.purpose} />],
            [words.certificates.website, share.origin],
            [said.granted, <Moment at={share.createdAt} />],
            [said.ends, <Moment at={share.expiresAt} />],
            [said.stopped, share.revokedAt !== null && <Moment at={share.revokedAt} />],
            [words.deadlines.due, share.ceaseBy !== null && <Moment at={share.ceaseBy} />],
            [words.deadlines.acknowledged, share.acknowledgedAt !== null && <Moment at={share.acknowledgedAt} />],
            [said.reason, reason !== null && <Foreign text={reason} />],
          ]}
        />
        <Section id="text" title={words.certificates.what}>
          <blockquote>
            <Exact text={disclosureText} passage />
          </blockquote>
        </Section>
        <Section id="history" title={said.history}>
          <Table
            label={said.history}
            rows={history}
            columns={[
              [words.audit.at, (row) => <Moment at={row.at} />],
              [words.audit.what, (row) => <code>{row.type}</code>],
              [words.audit.seq, (row) => row.auditSeq ?? words.audit.waiting],
            ]}
          />
        </Section>
        <Section id="values" title={said.values}>
          <p>{said.valuesText}</p>
          <pre>
            <code translate="no">{`curl -H "Authorization: Bearer $SVC_KEY" "$SVC_API/shares/${share.id}/current"`}</code>
          </pre>
        </Section>
      </>
    ),
  });
};

export const mountShares = (pages: Hono<Api>): void => {
  pages.get("/shares", reading(list));
  pages.get("/shares/:id", reading(withId(shareIdOf, detail)));
};
