// /app/removals: a person lets us ask others to remove them, sees what came of it, and takes away the signed affidavit.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { parseRemovalId } from "../../../core/ids.ts";
import { removalTargetNames, removalTargets, type Removal, type RemovalStatus } from "../../../core/removals/removal.ts";
import type { AppEnv } from "../../http/context.ts";
import { createPaymentSession } from "../../operations/billing/create-payment-session.ts";
import { getAffidavit } from "../../operations/consumers/get-affidavit.ts";
import { getRemovalsAndPlan } from "../../operations/consumers/get-removals-and-plan.ts";
import { listRemovals } from "../../operations/consumers/list-removals.ts";
import { requestRemoval } from "../../operations/consumers/request-removal.ts";
import { ButtonLink, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { renderCrossSiteBlocked, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { formatDay, VerbatimText, FieldError, formatMessage, Hash, DescriptionRow, StatusBadge } from "../shared/components.tsx";
import { getAccountMessages, appPage, ItemList, PostForm, RecordTable, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  checkPersonLimit,
  setFlash,
  notFoundPage,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

const statusStyles = {
  requested: { tone: "plain", shape: "dot" },
  in_progress: { tone: "caution", shape: "clock" },
  completed: { tone: "good", shape: "tick" },
  rejected: { tone: "bad", shape: "cross" },
} as const;

const RemovalStatusLabel: FC<{ status: RemovalStatus }> = ({ status }) => (
  <StatusBadge {...statusStyles[status]} text={getAccountMessages(useAppView()).removals.state[status]} />
);

const RemovalItem: FC<{ removal: Removal }> = ({ removal: { id, status, requestedAt, targets } }) => {
  const view = useAppView();
  return (
    <li>
      <p>
        <RemovalStatusLabel status={status} />
      </p>
      <p>
        <a href={`/app/removals/${id}`}>
          {formatMessage(getAccountMessages(view).removals.asked, { date: formatDay(view.language, requestedAt) })}
        </a>
      </p>
      <p class="quiet" translate="no">
        {targets.map(({ name }) => removalTargets[name]).join(", ")}
      </p>
    </li>
  );
};

/** Why a request cannot be made. */
type UnavailableReason = "not_on_plan" | "not_sold";

type RequestInput = "targets" | "authorize" | "notes";

interface RemovalListData {
  readonly list: readonly Removal[];
  readonly unavailableReason: UnavailableReason | null;
  readonly form?: ReadonlyMap<string, string>;
  readonly error?: { readonly at: RequestInput; readonly text: string };
}

const RemovalRequestForm: FC<{ shown: RemovalListData }> = ({ shown: { form, error } }) => {
  const { removals } = getAccountMessages(useAppView());
  const faultAt = (input: RequestInput): string | undefined => (error?.at === input ? error.text : undefined);
  const [noTarget, notAuthorized] = [faultAt("targets"), faultAt("authorize")];
  return (
    <section aria-labelledby="new-removal">
      <h2 id="new-removal">{removals.request}</h2>
      <PostForm action="/app/removals">
        {noTarget !== undefined && <FieldError text={noTarget} />}
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
          error={faultAt("notes")}
          maxlength={500}
          autocomplete="off"
          value={form?.get("notes")?.slice(0, 1_000)}
        />
        {notAuthorized !== undefined && <FieldError text={notAuthorized} />}
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
        <SubmitButton>{removals.send}</SubmitButton>
      </PostForm>
    </section>
  );
};

const removalListPage = (view: AppView, shown: RemovalListData): Page => {
  const { removals, sections } = getAccountMessages(view);
  const { list, unavailableReason, error } = shown;
  return appPage(
    view,
    { tab: "account", section: "removals", title: sections.removals, isFaulty: error !== undefined },
    <>
      <p>{removals.intro}</p>
      <ItemList of={list.map((removal) => <RemovalItem removal={removal} />)} none={removals.none} />
      {unavailableReason === null && <RemovalRequestForm shown={shown} />}
      {unavailableReason !== null && (
        <p>
          {removals.notOnPlan} {unavailableReason === "not_sold" ? removals.notSold : removals.upgradeAdvice}
        </p>
      )}
      {unavailableReason === "not_on_plan" && (
        <p>
          <ButtonLink href="/app/removals/upgrade">{removals.upgrade}</ButtonLink>
        </p>
      )}
    </>,
  );
};

const removalPage = (view: AppView, removal: Removal): Page => {
  const { removals, sections } = getAccountMessages(view);
  const { id, status, targets, requestedAt, recheckAt, notes, affidavit } = removal;
  const asked = formatMessage(removals.asked, { date: formatDay(view.language, requestedAt) });
  return appPage(
    view,
    { tab: "account", title: `${sections.removals}: ${asked}`, heading: sections.removals },
    <>
      <p class="standing">
        <RemovalStatusLabel status={status} /> <span class="quiet">{asked}</span>
      </p>
      <RecordTable
        headings={[removals.target, removals.standing, removals.day]}
        rows={targets.map(({ name, status: state, completedAt }) => [
          <span translate="no">{removalTargets[name]}</span>,
          <RemovalStatusLabel status={state} />,
          completedAt !== null && formatDay(view.language, completedAt),
        ])}
      />
      {notes !== null && (
        <p class="quiet">
          {view.messages.youWrote} <VerbatimText text={notes} />
        </p>
      )}
      {recheckAt !== null && <p>{formatMessage(removals.recheck, { date: formatDay(view.language, recheckAt) })}</p>}
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
            <DescriptionRow name={removals.hash}>
              <Hash value={affidavit.sha256} />
            </DescriptionRow>
          </dl>
        </>
      )}
      <p>
        <a href="/app/removals">{removals.back}</a>
      </p>
    </>,
  );
};

const loadRemovalList = async ({ services, person }: AppRequest): Promise<RemovalListData> => {
  const { list, plan } = await getRemovalsAndPlan(services, person);
  if (plan === "white_glove") return { list, unavailableReason: null };
  return { list, unavailableReason: services.paymentProvider === null ? "not_sold" : "not_on_plan" };
};

const renderRemovalList = async (visit: AppRequest): Promise<Response> =>
  renderAppPage(visit, 200, removalListPage(visit.view, await loadRemovalList(visit)));

const handleRequestRemoval = async (visit: AppFormRequest): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { removals } = getAccountMessages(view);
  const again = async (at: RequestInput, text: string): Promise<Response> =>
    renderRefusal(visit, "invalid_request", removalListPage(view, { ...(await loadRemovalList(visit)), form, error: { at, text } }));
  const targets = removalTargetNames.filter((name) => form.has(`target.${name}`));
  if (targets.length === 0) return again("targets", removals.tickTarget);
  if (!form.has("authorize")) return again("authorize", removals.tickAuthorize);
  const crowded = await checkPersonLimit(visit, "REMOVALS");
  if (crowded !== null) return crowded;
  const requested = await requestRemoval(services, person, {
    targets,
    notes: form.get("notes") ?? null,
    language: view.language,
    requestId: c.var.requestId,
  });
  if (requested.ok) {
    await setFlash(visit, { key: "removalAsked" });
    return c.redirect(`/app/removals/${requested.value.id}`, 303);
  }
  return requested.code === "invalid_request" ? again("notes", removals.badNotes) : c.redirect("/app/removals", 303); // the page says why
};

const removalNotFoundPage = (visit: AppRequest): Promise<Response> => {
  const { removals } = getAccountMessages(visit.view);
  return notFoundPage(visit, removals.noneThere, removals.noneThereAdvice);
};

const renderRemoval = async (visit: AppRequest): Promise<Response> => {
  const id = parseRemovalId(visit.c.req.param("id") ?? "");
  const found = (await listRemovals(visit.services, visit.person)).find((removal) => removal.id === id);
  return found === undefined ? removalNotFoundPage(visit) : renderAppPage(visit, 200, removalPage(visit.view, found));
};

const downloadAffidavit = async (visit: AppRequest): Promise<Response> => {
  const { c, services, person } = visit;
  const id = parseRemovalId(c.req.param("id") ?? "");
  const file = await getAffidavit(services, person, id);
  if (!file.ok) return file.code === "not_found" ? removalNotFoundPage(visit) : c.redirect(`/app/removals/${id}`, 303); // the page says when
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
};

/** A link that leads to the payment provider; it changes nothing here. A page of another site could make somebody pay who did not mean to. */
const redirectToUpgrade = async (visit: AppRequest): Promise<Response> => {
  const { c, services, session } = visit;
  if (c.req.header("sec-fetch-site") === "cross-site") return renderCrossSiteBlocked(c);
  const crowded = await checkPersonLimit(visit, "CHECKOUT");
  if (crowded !== null) return crowded;
  const opened = await createPaymentSession(services, session, "white_glove");
  if (opened.ok) return c.redirect(opened.value, 303);
  return opened.code === "billing_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/removals", 303); // nothing is sold: the page says so
};

export const registerRemovalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/removals", authenticatedPage(renderRemovalList));
  pages.post("/removals", authenticatedAction(handleRequestRemoval));
  pages.get("/removals/upgrade", authenticatedPage(redirectToUpgrade));
  pages.get("/removals/:id", authenticatedPage(renderRemoval));
  pages.get("/removals/:id/affidavit", authenticatedPage(downloadAffidavit));
};
