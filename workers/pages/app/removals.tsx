// /app/removals: a person lets us ask others to remove them, sees what came of it, and takes away the signed affidavit.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { removalIdOf } from "../../../core/ids.ts";
import { removalTargetNames, removalTargets, type Removal, type RemovalStatus } from "../../../core/removals/removal.ts";
import type { Api } from "../../http/context.ts";
import { openPayment } from "../../operations/billing/checkout.ts";
import { listRemovals, readAffidavit, removalsAndPlan, requestRemoval } from "../../operations/consumers/removals.ts";
import { ButtonLink, Submit, TextField } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import { foreignFormPage, outagePage } from "../shared/notices.tsx";
import { dayIn, Exact, FieldFault, filled, Hash, Row, Status } from "../shared/parts.tsx";
import { accountWordsOf, appPage, Lines, PostForm, Records, useView, type AppView } from "./parts.tsx";
import { acting, answer, counted, flash, nothingHere, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const looks = {
  requested: { tone: "plain", shape: "dot" },
  in_progress: { tone: "caution", shape: "clock" },
  completed: { tone: "good", shape: "tick" },
  rejected: { tone: "bad", shape: "cross" },
} as const;

const State: FC<{ status: RemovalStatus }> = ({ status }) => (
  <Status {...looks[status]} text={accountWordsOf(useView()).removals.state[status]} />
);

const Summary: FC<{ removal: Removal }> = ({ removal: { id, status, requestedAt, targets } }) => {
  const view = useView();
  return (
    <li>
      <p>
        <State status={status} />
      </p>
      <p>
        <a href={`/app/removals/${id}`}>{filled(accountWordsOf(view).removals.asked, { date: dayIn(view.language, requestedAt) })}</a>
      </p>
      <p class="quiet" translate="no">
        {targets.map(({ name }) => removalTargets[name]).join(", ")}
      </p>
    </li>
  );
};

/** Why a request cannot be made. */
type Closed = "not_on_plan" | "not_sold";

type Input = "targets" | "authorize" | "notes";

interface Shown {
  readonly list: readonly Removal[];
  readonly closed: Closed | null;
  readonly form?: ReadonlyMap<string, string>;
  readonly fault?: { readonly at: Input; readonly text: string };
}

const RequestForm: FC<{ shown: Shown }> = ({ shown: { form, fault } }) => {
  const { removals } = accountWordsOf(useView());
  const faultAt = (input: Input): string | undefined => (fault?.at === input ? fault.text : undefined);
  const [noTarget, notAuthorized] = [faultAt("targets"), faultAt("authorize")];
  return (
    <section aria-labelledby="new-removal">
      <h2 id="new-removal">{removals.request}</h2>
      <PostForm action="/app/removals">
        {noTarget !== undefined && <FieldFault text={noTarget} />}
        <fieldset class="boxes" aria-describedby={noTarget && "fault"}>
          <legend>{removals.whom}</legend>
          {removalTargetNames.map((name) => (
            <p>
              <input type="checkbox" name={`target.${name}`} value="on" id={`target-${name}`} checked={form?.has(`target.${name}`)} />
              <label for={`target-${name}`} translate="no">
                {removalTargets[name]}
              </label>
            </p>
          ))}
        </fieldset>
        <TextField
          id="notes"
          label={removals.notes}
          fault={faultAt("notes")}
          maxlength={500}
          autocomplete="off"
          value={form?.get("notes")?.slice(0, 1_000)}
        />
        {notAuthorized !== undefined && <FieldFault text={notAuthorized} />}
        <p class="choice">
          <input
            type="checkbox"
            name="authorize"
            value="on"
            id="authorize"
            aria-describedby={notAuthorized && "fault"}
            aria-invalid={notAuthorized && "true"}
          />
          <label for="authorize">{removals.authorize}</label>
        </p>
        <Submit>{removals.send}</Submit>
      </PostForm>
    </section>
  );
};

const listPage = (view: AppView, shown: Shown): Page => {
  const { removals, sections } = accountWordsOf(view);
  const { list, closed, fault } = shown;
  return appPage(
    view,
    { tab: "account", section: "removals", title: sections.removals, isFaulty: fault !== undefined },
    <>
      <p>{removals.intro}</p>
      <Lines of={list.map((removal) => <Summary removal={removal} />)} none={removals.none} />
      {closed === null && <RequestForm shown={shown} />}
      {closed !== null && (
        <p>
          {removals.notOnPlan} {closed === "not_sold" ? removals.notSold : removals.upgradeAdvice}
        </p>
      )}
      {closed === "not_on_plan" && (
        <p>
          <ButtonLink href="/app/removals/upgrade">{removals.upgrade}</ButtonLink>
        </p>
      )}
    </>,
  );
};

const removalPage = (view: AppView, removal: Removal): Page => {
  const { removals, sections } = accountWordsOf(view);
  const { id, status, targets, requestedAt, recheckAt, notes, affidavit } = removal;
  const asked = filled(removals.asked, { date: dayIn(view.language, requestedAt) });
  return appPage(
    view,
    { tab: "account", title: `${sections.removals}: ${asked}`, heading: sections.removals },
    <>
      <p class="standing">
        <State status={status} /> <span class="quiet">{asked}</span>
      </p>
      <Records
        headings={[removals.target, removals.standing, removals.day]}
        rows={targets.map(({ name, status: state, completedAt }) => [
          <span translate="no">{removalTargets[name]}</span>,
          <State status={state} />,
          completedAt !== null && dayIn(view.language, completedAt),
        ])}
      />
      {notes !== null && (
        <p class="quiet">
          {view.words.youWrote} <Exact text={notes} />
        </p>
      )}
      {recheckAt !== null && <p>{filled(removals.recheck, { date: dayIn(view.language, recheckAt) })}</p>}
      {affidavit === null ? (
        <p>{removals.notReady}</p>
      ) : (
        <>
          <p>
            <a class="button" href={`/app/removals/${id}/affidavit`} download={`affidavit-${id}.pdf`}>
              {removals.affidavit}
            </a>
          </p>
          <dl>
            <Row name={removals.hash}>
              <Hash value={affidavit.sha256} />
            </Row>
          </dl>
        </>
      )}
      <p>
        <a href="/app/removals">{removals.back}</a>
      </p>
    </>,
  );
};

const shown = async ({ services, person }: Visit): Promise<Shown> => {
  const { list, plan } = await removalsAndPlan(services, person);
  if (plan === "white_glove") return { list, closed: null };
  return { list, closed: services.paymentProvider === null ? "not_sold" : "not_on_plan" };
};

const show = async (visit: Visit): Promise<Response> => answer(visit, 200, listPage(visit.view, await shown(visit)));

const ask = async (visit: Posted): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { removals } = accountWordsOf(view);
  const again = async (at: Input, text: string): Promise<Response> =>
    refused(visit, "invalid_request", listPage(view, { ...(await shown(visit)), form, fault: { at, text } }));
  const targets = removalTargetNames.filter((name) => form.has(`target.${name}`));
  if (targets.length === 0) return again("targets", removals.tickTarget);
  if (!form.has("authorize")) return again("authorize", removals.tickAuthorize);
  const crowded = await counted(visit, "REMOVALS");
  if (crowded !== null) return crowded;
  const requested = await requestRemoval(services, person, {
    targets,
    notes: form.get("notes") ?? null,
    language: view.language,
    requestId: c.var.requestId,
  });
  if (requested.ok) {
    await flash(visit, { key: "removalAsked" });
    return c.redirect(`/app/removals/${requested.value.id}`, 303);
  }
  return requested.code === "invalid_request" ? again("notes", removals.badNotes) : c.redirect("/app/removals", 303); // the page says why
};

const noRemoval = (visit: Visit): Promise<Response> => {
  const { removals } = accountWordsOf(visit.view);
  return nothingHere(visit, removals.noneThere, removals.noneThereAdvice);
};

const showOne = async (visit: Visit): Promise<Response> => {
  const id = removalIdOf(visit.c.req.param("id") ?? "");
  const found = (await listRemovals(visit.services, visit.person)).find((removal) => removal.id === id);
  return found === undefined ? noRemoval(visit) : answer(visit, 200, removalPage(visit.view, found));
};

const download = async (visit: Visit): Promise<Response> => {
  const { c, services, person } = visit;
  const id = removalIdOf(c.req.param("id") ?? "");
  const file = await readAffidavit(services, person, id);
  if (!file.ok) return file.code === "not_found" ? noRemoval(visit) : c.redirect(`/app/removals/${id}`, 303); // the page says when
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
};

/** A link that leads to the payment provider; it changes nothing here. A page of another site could make somebody pay who did not mean to. */
const upgrade = async (visit: Visit): Promise<Response> => {
  const { c, services, session } = visit;
  if (c.req.header("sec-fetch-site") === "cross-site") return foreignFormPage(c);
  const crowded = await counted(visit, "CHECKOUT");
  if (crowded !== null) return crowded;
  const opened = await openPayment(services, session, "white_glove");
  if (opened.ok) return c.redirect(opened.value, 303);
  return opened.code === "billing_unavailable" ? outagePage(c) : c.redirect("/app/removals", 303); // nothing is sold: the page says so
};

export const mountRemovals = (pages: Hono<Api>): void => {
  pages.get("/removals", reading(show));
  pages.post("/removals", acting(ask));
  pages.get("/removals/upgrade", reading(upgrade));
  pages.get("/removals/:id", reading(showOne));
  pages.get("/removals/:id/affidavit", reading(download));
};
