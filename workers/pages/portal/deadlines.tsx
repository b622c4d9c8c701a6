// What is due: certificates and shares that people withdrew, until somebody here says that contact has ended.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { certIdOf, shareIdOf } from "../../../core/ids.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import type { Api } from "../../http/context.ts";
import { ownCertificate } from "../../operations/portal/certificates.ts";
import { listDeadlines, type Deadline, type DeadlinePage } from "../../operations/portal/overview.ts";
import { acknowledgeStop } from "../../operations/shares/acknowledge.ts";
import { readShare } from "../../operations/shares/read.ts";
import { acknowledgeSingle, acknowledgeWithdrawal } from "../../operations/withdrawals/acknowledge.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, numberText } from "../shared/parts.tsx";
import { Allowed, Field, personText, portalPage, PostForm, Status, Table, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, nothing, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

const Due: FC<{ view: PortalView; ceaseBy: Instant }> = ({ view: { words, setting, now }, ceaseBy }) => (
  <>
    <Moment at={ceaseBy} setting={setting} /> {isOverdue(ceaseBy, null, now) && <Status tone="bad" text={words.deadlines.overdue} />}
  </>
);

const listPage = (view: PortalView, { deadlines, hasMore }: DeadlinePage): Page => {
  const { words, setting } = view;
  const { deadlines: said } = words;
  const record = ({ kind, id }: Deadline) => (kind === "share" ? `/portal/shares/${id}` : `/portal/certificates/${id}`);
  return portalPage(view, {
    tab: "deadlines",
    title: words.tabs.deadlines,
    content: (
      <>
        {deadlines.length === 0 ? (
          <p>{said.empty}</p>
        ) : (
          <>
            {hasMore && <p>{filled(said.more, { max: numberText(deadlines.length, setting.language) })}</p>}
            <Table
              label={words.tabs.deadlines}
              rows={deadlines}
              columns={[
                { head: said.due, cell: (row) => <Due view={view} ceaseBy={row.ceaseBy} /> },
                { head: said.what, cell: (row) => <a href={record(row)}>{said.kinds[row.kind]}</a> },
                {
                  head: words.certificates.person,
                  cell: (row) => (row.person === null ? said.namedByShare : <Exact text={personText(row.person)} />),
                },
                { head: words.certificates.purpose, cell: (row) => <Exact text={row.purpose} /> },
                { head: said.withdrawn, cell: (row) => <Moment at={row.withdrawnAt} setting={setting} /> },
                {
                  head: words.action,
                  cell: (row) => (
                    <a class="button" href={view.at(`/portal/deadlines/${row.id}`)} aria-label={`${said.acknowledge}: ${row.id}`}>
                      {said.acknowledge}
                    </a>
                  ),
                },
              ]}
            />
          </>
        )}
      </>
    ),
  });
};

/** What somebody says contact has ended of. */
interface Duty {
  readonly id: string;
  readonly kind: "certificate" | "recipients" | "share";
  readonly ceaseBy: Instant;
  readonly recipients: readonly string[];
  /** Null while nobody has said it. */
  readonly acknowledgedAt: Instant | null;
}

const maxNote = 500;
const maxName = 120;
const actions = ["removed", "told", "deleted"] as const;

const dutyPage = (view: PortalView, duty: Duty, typed?: ReadonlyMap<string, string>, fault?: Fault): Page => {
  const { words, setting } = view;
  const { deadlines: said } = words;
  const record = duty.kind === "share" ? `/portal/shares/${duty.id}` : `/portal/certificates/${duty.id}`;
  return portalPage(view, {
    tab: "deadlines",
    title: said.acknowledgeTitle,
    fault,
    content: (
      <>
        <p>
          <a href={view.at(record)}>{said.kinds[duty.kind]}</a> <code>{duty.id}</code>
        </p>
        {duty.acknowledgedAt !== null ? (
          <p>
            {said.acknowledged} <Moment at={duty.acknowledgedAt} setting={setting} />.
          </p>
        ) : (
          <>
            <p>
              {said.due} <Due view={view} ceaseBy={duty.ceaseBy} />
            </p>
            {duty.recipients.length > 0 && (
              <>
                <p>{said.only}</p>
                <ul class="plain">
                  {duty.recipients.map((name) => (
                    <li>
                      <Exact text={name} />
                    </li>
                  ))}
                </ul>
              </>
            )}
            <p>{said.meaning}</p>
            <Allowed view={view} ownerOnly={false}>
              <PostForm view={view} action={`/portal/deadlines/${duty.id}`}>
                <Wrong fault={fault} fields={["note", "acknowledged_by"]} setting={setting} />
                <fieldset>
                  <legend>{said.done}</legend>
                  {actions.map((action) => (
                    <p>
                      <input
                        type="checkbox"
                        id={`action-${action}`}
                        name={`action.${action}`}
                        value="1"
                        checked={typed?.has(`action.${action}`)}
                      />
                      <label for={`action-${action}`}>{said.actions[action]}</label>
                    </p>
                  ))}
                </fieldset>
                <Field name="acknowledged_by" label={said.by} value={typed?.get("acknowledged_by")} fault={fault} setting={setting} />
                <Field
                  name="note"
                  label={said.note}
                  hint={said.noteHint}
                  rows={3}
                  value={typed?.get("note")}
                  fault={fault}
                  setting={setting}
                />
                <button type="submit" class="primary">
                  {said.acknowledge}
                </button>
              </PostForm>
            </Allowed>
          </>
        )}
      </>
    ),
  });
};

const dutyOf = async (visit: Visit): Promise<Duty | null> => {
  const { c, services, member, view } = visit;
  const given = c.req.param("id") ?? "";
  const certId = certIdOf(given);
  if (certId !== null) {
    const own = await ownCertificate(services, member, certId);
    if (!own.ok || own.value.environment !== view.environment) return null;
    const { withdrawal, entitiesWithdrawn } = own.value;
    if (withdrawal !== null) {
      const { ceaseBy, acknowledgedAt } = withdrawal;
      return { id: certId, kind: "certificate", ceaseBy, recipients: [], acknowledgedAt };
    }
    const open = entitiesWithdrawn.filter((one) => one.acknowledgedAt === null);
    const [first] = open.length > 0 ? open.toSorted((a, b) => a.ceaseBy - b.ceaseBy) : entitiesWithdrawn.toReversed();
    if (first === undefined) return null;
    const { ceaseBy, acknowledgedAt } = first;
    return { id: certId, kind: "recipients", ceaseBy, recipients: open.map(({ entity }) => entity), acknowledgedAt };
  }
  const shareId = shareIdOf(given);
  if (shareId === null) return null;
  const found = await readShare(services, readerOf(visit), shareId);
  if (!found.ok || found.value.share.ceaseBy === null) return null;
  const { ceaseBy, acknowledgedAt } = found.value.share;
  return { id: shareId, kind: "share", ceaseBy, recipients: [], acknowledgedAt };
};

const show = async (visit: Visit): Promise<Response> =>
  answer(visit, listPage(visit.view, await listDeadlines(visit.services, visit.member, visit.view.environment)));

const ask = async (visit: Visit): Promise<Response> => {
  const duty = await dutyOf(visit);
  return duty === null ? nothing(visit) : answer(visit, dutyPage(visit.view, duty));
};

const acknowledge = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, view } = visit;
  const duty = await dutyOf(visit);
  if (duty === null) return nothing(visit);
  const said = view.words.deadlines;
  const note = (form.get("note") ?? "").trim();
  const by = (form.get("acknowledged_by") ?? "").trim();
  const wrong = (field: string, text: string, code: RefusalCode = "invalid_request"): Promise<Response> => {
    const fault = { code, field, text };
    return answer(visit, dutyPage(view, duty, form, fault), code);
  };
  if (note.length > maxNote) return wrong("note", filled(view.words.tooLong, { max: String(maxNote) }));
  if (by.length > maxName) return wrong("acknowledged_by", filled(view.words.tooLong, { max: String(maxName) }));
  const details = {
    note: note || null,
    acknowledgedBy: by || null,
    actions: actions.filter((action) => form.has(`action.${action}`)).map((action) => said.actions[action]),
  };
  const reader = readerOf(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const certId = certIdOf(duty.id);
  const ceased =
    certId === null
      ? await acknowledgeStop(services, reader, actor, shareIdOf(duty.id), details, c.var.requestId)
      : duty.kind === "recipients" && duty.recipients.length > 0
        ? await acknowledgeSingle(services, reader, actor, certId, { ...details, entities: duty.recipients })
        : await acknowledgeWithdrawal(services, reader, actor, certId, details);
  if (ceased.ok) return to(visit, "/portal/deadlines", "acknowledged");
  if (ceased.code === "cease_not_open") return to(visit, `/portal/deadlines/${duty.id}`); // somebody else was first: the page says so
  return wrong("", view.words.again, ceased.code);
};

export const mountDeadlines = (pages: Hono<Api>): void => {
  pages.get("/deadlines", reading(show));
  pages.get("/deadlines/:id", reading(ask));
  pages.post("/deadlines/:id", acting({}, acknowledge));
};
