// /app/removals: a person lets us ask others to remove them, sees what came of it, and takes away the signed affidavit.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { removalIdOf } from "../../../core/ids.ts";
import { removalTargetNames, removalTargets, type Removal, type RemovalStatus } from "../../../core/removals/removal.ts";
import type { Api } from "../../http/context.ts";
import { openPayment } from "../../operations/billing/checkout.ts";
import { listRemovals, readAffidavit, removalsAndPlan, requestRemoval } from "../../operations/consumers/removals.ts";
import type { Page } from "../shared/layout.tsx";
import { foreignFormPage, outagePage } from "../shared/notices.tsx";
import { Exact, filled, Hash, Shape } from "../shared/parts.tsx";
import { accountWordsOf, sectionPage } from "./account-parts.tsx";
import { appNotice, appPage, dayIn, Fault, faulty, PostForm, type AppView } from "./parts.tsx";
import { acting, answer, counted, flash, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const looks = {
  requested: ["plain", "dot"],
  in_progress: ["caution", "clock"],
  completed: ["good", "tick"],
  rejected: ["bad", "cross"],
} as const;

const State: FC<{ status: RemovalStatus; view: AppView }> = ({ status, view }) => {
  const [tone, shape] = looks[status];
  return (
    <span class={`status ${tone}`}>
      <Shape name={shape} />
      {accountWordsOf(view).removals.state[status]}
    </span>
  );
};

const Targets: FC<{ removal: Removal; view: AppView }> = ({ removal, view }) => {
  const { removals } = accountWordsOf(view);
  return (
    <table class="records">
      <thead>
        <tr>
          {[removals.target, removals.standing, removals.day].map((heading) => (
            <th scope="col">{heading}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {removal.targets.map(({ name, status, completedAt }) => (
          <tr>
            <th scope="row">
              <span translate="no">{removalTargets[name]}</span>
            </th>
            <td data-label={removals.standing}>
              <State status={status} view={view} />
            </td>
            <td data-label={removals.day}>{completedAt !== null && dayIn(view.setting.language, completedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const Summary: FC<{ removal: Removal; view: AppView }> = ({ removal: { id, status, requestedAt, targets }, view }) => {
  const { removals } = accountWordsOf(view);
  return (
    <li>
      <p>
        <State status={status} view={view} />
      </p>
      <p>
        <a href={`/app/removals/${id}`}>{filled(removals.asked, { date: dayIn(view.setting.language, requestedAt) })}</a>
      </p>
      <p class="quiet" translate="no">
        {targets.map(({ name }) => removalTargets[name]).join(", ")}
      </p>
    </li>
  );
};

/** Why a request cannot be made. */
type Closed = "not_on_plan" | "not_sold";

interface Shown {
  readonly list: readonly Removal[];
  readonly closed: Closed | null;
  readonly form?: ReadonlyMap<string, string>;
  readonly fault?: { readonly at: "targets" | "authorize" | "notes"; readonly text: string };
}

const RequestForm: FC<{ view: AppView; shown: Shown }> = ({ view, shown: { form, fault } }) => {
  const { removals } = accountWordsOf(view);
  const wrong = (at: "targets" | "authorize" | "notes") =>
    fault?.at === at ? { "aria-describedby": "fault", "aria-invalid": "true" as const } : {};
  const said = (at: "targets" | "authorize" | "notes") => fault?.at === at && <Fault view={view} text={fault.text} />;
  return (
    <section aria-labelledby="new-removal">
      <h2 id="new-removal">{removals.request}</h2>
      <PostForm view={view} action="/app/removals">
        {said("targets")}
        <fieldset class="boxes" aria-describedby={fault?.at === "targets" ? "fault" : undefined}>
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
        <label for="notes">{removals.notes}</label>
        {said("notes")}
        <input
          id="notes"
          name="notes"
          type="text"
          maxlength={500}
          autocomplete="off"
          value={form?.get("notes")?.slice(0, 1_000)}
          {...wrong("notes")}
        />
        {said("authorize")}
        <p class="choice">
          <input type="checkbox" name="authorize" value="on" id="authorize" {...wrong("authorize")} />
          <label for="authorize">{removals.authorize}</label>
        </p>
        <button type="submit" class="primary">
          {removals.send}
        </button>
      </PostForm>
    </section>
  );
};

const listPage = (view: AppView, shown: Shown): Page => {
  const { removals } = accountWordsOf(view);
  const { list, closed, fault } = shown;
  return faulty(
    view,
    fault?.text,
    sectionPage(
      view,
      "removals",
      removals.title,
      <>
        <p>{removals.intro}</p>
        {list.length === 0 ? (
          <p>{removals.none}</p>
        ) : (
          <ul class="lines">
            {list.map((removal) => (
              <Summary removal={removal} view={view} />
            ))}
          </ul>
        )}
        {closed === null && <RequestForm view={view} shown={shown} />}
        {closed !== null && (
          <p>
            {removals.notOnPlan} {closed === "not_sold" ? removals.notSold : removals.upgradeAdvice}
          </p>
        )}
        {closed === "not_on_plan" && (
          <p>
            <a class="button" href="/app/removals/upgrade">
              {removals.upgrade}
            </a>
          </p>
        )}
      </>,
    ),
  );
};

const removalPage = (view: AppView, removal: Removal): Page => {
  const { removals } = accountWordsOf(view);
  const { id, status, requestedAt, recheckAt, notes, affidavit } = removal;
  const { language } = view.setting;
  const title = filled(removals.asked, { date: dayIn(language, requestedAt) });
  return appPage(
    view,
    "account",
    `${removals.title}: ${title}`,
    <>
      <h1>{removals.title}</h1>
      <p class="standing">
        <State status={status} view={view} /> <span class="quiet">{title}</span>
      </p>
      <Targets removal={removal} view={view} />
      {notes !== null && (
        <p class="quiet">
          {removals.yourNotes} <Exact text={notes} />
        </p>
      )}
      {recheckAt !== null && <p>{filled(removals.recheck, { date: dayIn(language, recheckAt) })}</p>}
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
            <div>
              <dt>{removals.hash}</dt>
              <dd>
                <Hash value={affidavit.sha256} />
              </dd>
            </div>
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
  const again = async (at: "targets" | "authorize" | "notes", text: string): Promise<Response> =>
    refused(visit, "invalid_request", listPage(view, { ...(await shown(visit)), form, fault: { at, text } }));
  const targets = removalTargetNames.filter((name) => form.has(`target.${name}`));
  if (targets.length === 0) return again("targets", removals.tickTarget);
  if (!form.has("authorize")) return again("authorize", removals.tickAuthorize);
  const crowded = await counted(visit, "REMOVALS");
  if (crowded !== null) return crowded;
  const requested = await requestRemoval(services, person, {
    targets,
    notes: form.get("notes") ?? null,
    language: view.setting.language,
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
  return refused(visit, "not_found", appNotice(visit.view, removals.noneThere, removals.noneThereAdvice));
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
