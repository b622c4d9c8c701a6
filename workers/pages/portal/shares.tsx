// Shares as the people of a business read them: what people let it have, until when, and what became of it. Values are not shown here.
import type { Hono } from "hono";
import { shareIdOf } from "../../../core/ids.ts";
import { groupsOf } from "../../../core/shares/fields.ts";
import { shareStatuses, type Share, type ShareStatus } from "../../../core/shares/share.ts";
import type { Api } from "../../http/context.ts";
import { listShares, readShare, type ShareDetail, type SharePage } from "../../operations/shares/read.ts";
import { groupsIn } from "../authorize/views.tsx";
import type { Page } from "../shared/layout.tsx";
import { Exact, Foreign, Hash, Moment } from "../shared/parts.tsx";
import { Choice, portalPage, Status, Table, type PortalView, type Tone } from "./parts.tsx";
import { answer, nothing, reading, readerOf, type Visit } from "./visit.ts";

const perPage = 25;
const tones: Readonly<Record<ShareStatus, Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "plain",
  ceased: "plain",
  superseded: "plain",
};

interface Asked {
  readonly status: ShareStatus | null;
  readonly after: string | null;
}

const addressOf = ({ status, after }: Asked): string => {
  const query = new URLSearchParams();
  if (status !== null) query.set("status", status);
  if (after !== null) query.set("after", after);
  return query.size === 0 ? "/portal/shares" : `/portal/shares?${query}`;
};

const listPage = (view: PortalView, asked: Asked, { shares, hasMore }: SharePage): Page => {
  const { words, setting } = view;
  const { shares: said } = words;
  const last = shares.at(-1);
  return portalPage(view, {
    tab: "shares",
    title: words.tabs.shares,
    content: (
      <>
        <details class="filters" open={addressOf({ ...asked, after: null }) !== "/portal/shares"}>
          <summary>{words.filter}</summary>
          <form method="get" action={view.at("/portal/shares")} class="form">
            <Choice name="status" label={words.state} value={asked.status} options={[["", words.any], ...Object.entries(said.states)]} />
            <button type="submit" class="primary">
              {words.show}
            </button>
          </form>
        </details>
        {shares.length === 0 ? (
          <p>
            {asked.status === null && asked.after === null ? (
              <>
                {said.empty} <a href={view.at("/portal/snippet")}>{words.tabs.snippet}</a>
              </>
            ) : (
              <>
                {words.noMatch} <a href={view.at("/portal/shares")}>{words.clear}</a>
              </>
            )}
          </p>
        ) : (
          <Table
            label={words.tabs.shares}
            rows={shares}
            columns={[
              {
                head: said.granted,
                cell: (row) => (
                  <a href={view.at(`/portal/shares/${row.id}`)}>
                    <Moment at={row.createdAt} setting={setting} />
                  </a>
                ),
              },
              { head: words.state, cell: (row) => <Status tone={tones[row.status]} text={said.states[row.status]} /> },
              { head: said.fields, cell: (row) => groupsIn("en", groupsOf(row.scope)) },
              { head: words.certificates.purpose, cell: (row) => <Exact text={row.purpose} /> },
              { head: said.ends, cell: (row) => <Moment at={row.expiresAt} setting={setting} /> },
              {
                head: words.deadlines.due,
                cell: (row) => row.ceaseBy !== null && row.status === "revoked" && <Moment at={row.ceaseBy} setting={setting} />,
              },
            ]}
          />
        )}
        {(asked.after !== null || hasMore) && (
          <nav class="pages" aria-label={words.pages.label}>
            {asked.after !== null && <a href={view.at(addressOf({ ...asked, after: null }))}>{words.pages.first}</a>}
            {hasMore && last !== undefined && (
              <a href={view.at(addressOf({ ...asked, after: last.id }))} rel="next">
                {words.pages.next}
              </a>
            )}
          </nav>
        )}
      </>
    ),
  });
};

const Times = ({ view: { words, setting }, share }: { view: PortalView; share: Share }) => {
  const { shares: said, deadlines } = words;
  const lines: readonly (readonly [string, number | null])[] = [
    [said.granted, share.createdAt],
    [said.ends, share.expiresAt],
    [said.stopped, share.revokedAt],
    [deadlines.due, share.ceaseBy],
    [deadlines.acknowledged, share.acknowledgedAt],
  ];
  return (
    <>
      {lines.map(
        ([name, at]) =>
          at !== null && (
            <div>
              <dt>{name}</dt>
              <dd>
                <Moment at={at} setting={setting} />
              </dd>
            </div>
          ),
      )}
    </>
  );
};

const detailPage = (view: PortalView, { share, disclosureText, history, reason }: ShareDetail): Page => {
  const { words, setting } = view;
  const { shares: said } = words;
  return portalPage(view, {
    tab: "shares",
    title: said.one,
    content: (
      <>
        <p>
          <Status tone={tones[share.status]} text={said.states[share.status]} /> <Hash value={share.id} />
        </p>
        {share.environment === "sandbox" && <p class="band">{words.testBand}</p>}
        {share.status === "revoked" && (
          <p>
            <a class="button" href={view.at(`/portal/deadlines/${share.id}`)}>
              {words.deadlines.acknowledge}
            </a>
          </p>
        )}
        <dl>
          <div>
            <dt>{said.fields}</dt>
            <dd>{groupsIn("en", groupsOf(share.scope))}</dd>
          </div>
          <div>
            <dt>{words.certificates.purpose}</dt>
            <dd>
              <Foreign text={share.purpose} setting={setting} />
            </dd>
          </div>
          <div>
            <dt>{words.certificates.website}</dt>
            <dd>{share.origin}</dd>
          </div>
          <Times view={view} share={share} />
          {reason !== null && (
            <div>
              <dt>{said.reason}</dt>
              <dd>
                <Foreign text={reason} setting={setting} />
              </dd>
            </div>
          )}
        </dl>
        <section aria-labelledby="text">
          <h2 id="text">{words.certificates.what}</h2>
          <blockquote>
            <Exact text={disclosureText} passage />
          </blockquote>
        </section>
        <section aria-labelledby="history">
          <h2 id="history">{said.history}</h2>
          <Table
            label={said.history}
            rows={history}
            columns={[
              { head: words.audit.at, cell: (row) => <Moment at={row.at} setting={setting} /> },
              { head: words.audit.what, cell: (row) => <code>{row.type}</code> },
              { head: words.audit.seq, cell: (row) => row.auditSeq ?? words.audit.waiting },
            ]}
          />
        </section>
        <section aria-labelledby="values">
          <h2 id="values">{said.values}</h2>
          <p>{said.valuesText}</p>
          <pre>
            <code translate="no">{`curl -H "Authorization: Bearer $SVC_KEY" "$SVC_API/shares/${share.id}/current"`}</code>
          </pre>
        </section>
      </>
    ),
  });
};

const askedOf = ({ c }: Visit): Asked => ({
  status: shareStatuses.find((status) => status === c.req.query("status")) ?? null,
  after: shareIdOf(c.req.query("after") ?? ""),
});

const list = async (visit: Visit): Promise<Response> => {
  const { services, view } = visit;
  const asked = askedOf(visit);
  const startingAfter = asked.after === null ? null : shareIdOf(asked.after);
  const found = await listShares(services, readerOf(visit), { status: asked.status, limit: perPage, startingAfter });
  return found.ok ? answer(visit, listPage(view, asked, found.value)) : nothing(visit);
};

const detail = async (visit: Visit): Promise<Response> => {
  const { c, services, view } = visit;
  const found = await readShare(services, readerOf(visit), shareIdOf(c.req.param("id") ?? ""));
  return found.ok ? answer(visit, detailPage(view, found.value)) : nothing(visit);
};

export const mountShares = (pages: Hono<Api>): void => {
  pages.get("/shares", reading(list));
  pages.get("/shares/:id", reading(detail));
};
