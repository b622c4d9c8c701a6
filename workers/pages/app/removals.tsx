// /app/removals: requests to data brokers to remove a person, their results, and the signed affidavit.
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
  requested: { tone: "plain", icon: "circle-minus" },
  in_progress: { tone: "caution", icon: "clock-alert" },
  completed: { tone: "good", icon: "circle-check" },
  rejected: { tone: "bad", icon: "ban" },
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

/** Why a new request is not available. */
type UnavailableReason = "not_on_plan" | "not_sold";

type RequestInput = "targets" | "authorize" | "notes";

interface RemovalListData {
  readonly list: readonly Removal[];
  readonly unavailableReason: UnavailableReason | null;
  readonly form?: ReadonlyMap<string, string>;
  readonly error?: { readonly at: RequestInput; readonly text: string };
}

const RemovalRequestForm: FC<{ data: RemovalListData }> = ({ data: { form, error } }) => {
  const { removals } = getAccountMessages(useAppView());
  const errorAt = (input: RequestInput): string | undefined => (error?.at === input ? error.text : undefined);
  const [targetError, authorizeError] = [errorAt("targets"), errorAt("authorize")];
  return (
    <section aria-labelledby="new-removal">
      <h2 id="new-removal">{removals.request}</h2>
      <PostForm action="/app/removals">
        {targetError !== undefined && <FieldError text={targetError} />}
        <fieldset class="boxes" aria-describedby={targetError && "fault"}>
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
          error={errorAt("notes")}
          maxlength={500}
          autocomplete="off"
          value={form?.get("notes")?.slice(0, 1_000)}
        />
        {authorizeError !== undefined && <FieldError text={authorizeError} />}
        <p class="choice">
          <input
            type="checkbox"
            name="authorize"
            value="on"
            id="authorize"
            aria-describedby={authorizeError && "fault"}
            aria-invalid={authorizeError && "true"}
          />
          <label for="authorize">{removals.authorize}</label>
        </p>
        <SubmitButton>{removals.send}</SubmitButton>
      </PostForm>
    </section>
  );
};

const removalListPage = (view: AppView, data: RemovalListData): Page => {
  const { removals, sections } = getAccountMessages(view);
  const { list, unavailableReason, error } = data;
  return appPage(
    view,
    { tab: "account", section: "removals", title: sections.removals, hasError: error !== undefined },
    <>
      <p>{removals.intro}</p>
      <ItemList items={list.map((removal) => <RemovalItem removal={removal} />)} emptyMessage={removals.none} />
      {unavailableReason === null && <RemovalRequestForm data={data} />}
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
  const requestedOn = formatMessage(removals.asked, { date: formatDay(view.language, requestedAt) });
  return appPage(
    view,
    { tab: "account", title: `${sections.removals}: ${requestedOn}`, heading: sections.removals },
    <>
      <p class="standing">
        <RemovalStatusLabel status={status} /> <span class="quiet">{requestedOn}</span>
      </p>
      <RecordTable
        label={sections.removals}
        headings={[removals.target, removals.standing, removals.day]}
        rows={targets.map(({ name, status: targetStatus, completedAt }) => [
          <span translate="no">{removalTargets[name]}</span>,
          <RemovalStatusLabel status={targetStatus} />,
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
            <a class="btn" href={`/app/removals/${id}/affidavit`} download={`affidavit-${id}.pdf`}>
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

const renderRemovalList = async (request: AppRequest): Promise<Response> =>
  renderAppPage(request, removalListPage(request, await loadRemovalList(request)));

const handleRequestRemoval = async (request: AppFormRequest): Promise<Response> => {
  const { c, services, person, form } = request;
  const { removals } = getAccountMessages(request);
  const renderError = async (at: RequestInput, text: string): Promise<Response> =>
    renderRefusal(request, "invalid_request", removalListPage(request, { ...(await loadRemovalList(request)), form, error: { at, text } }));
  const targets = removalTargetNames.filter((name) => form.has(`target.${name}`));
  if (targets.length === 0) return renderError("targets", removals.tickTarget);
  if (!form.has("authorize")) return renderError("authorize", removals.tickAuthorize);
  const limitResponse = await checkPersonLimit(request, "REMOVALS");
  if (limitResponse !== null) return limitResponse;
  const requested = await requestRemoval(services, person, {
    targets,
    notes: form.get("notes") ?? null,
    language: request.language,
    requestId: c.var.requestId,
  });
  if (requested.ok) {
    await setFlash(request, { key: "removalAsked" });
    return c.redirect(`/app/removals/${requested.value.id}`, 303);
  }
  return requested.code === "invalid_request" ? renderError("notes", removals.badNotes) : c.redirect("/app/removals", 303); // that page explains why
};

const removalNotFoundPage = (request: AppRequest): Promise<Response> => {
  const { removals } = getAccountMessages(request);
  return notFoundPage(request, removals.noneThere, removals.noneThereAdvice);
};

const renderRemoval = async (request: AppRequest): Promise<Response> => {
  const id = parseRemovalId(request.c.req.param("id") ?? "");
  const found = (await listRemovals(request.services, request.person)).find((removal) => removal.id === id);
  return found === undefined ? removalNotFoundPage(request) : renderAppPage(request, removalPage(request, found));
};

const downloadAffidavit = async (request: AppRequest): Promise<Response> => {
  const { c, services, person } = request;
  const id = parseRemovalId(c.req.param("id") ?? "");
  const file = await getAffidavit(services, person, id);
  if (!file.ok) return file.code === "not_found" ? removalNotFoundPage(request) : c.redirect(`/app/removals/${id}`, 303); // that page shows when it is available
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
};

/** Redirects to the payment provider. Refuses links from other sites, which could make people pay by mistake. */
const redirectToUpgrade = async (request: AppRequest): Promise<Response> => {
  const { c, services, session } = request;
  if (c.req.header("sec-fetch-site") === "cross-site") return renderCrossSiteBlocked(c);
  const limitResponse = await checkPersonLimit(request, "CHECKOUT");
  if (limitResponse !== null) return limitResponse;
  const payment = await createPaymentSession(services, session, "white_glove");
  if (payment.ok) return c.redirect(payment.value, 303);
  return payment.code === "billing_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/removals", 303); // that page says that upgrades are unavailable
};

export const registerRemovalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/removals", authenticatedPage(renderRemovalList));
  pages.post("/removals", authenticatedAction(handleRequestRemoval));
  pages.get("/removals/upgrade", authenticatedPage(redirectToUpgrade));
  pages.get("/removals/:id", authenticatedPage(renderRemoval));
  pages.get("/removals/:id/affidavit", authenticatedPage(downloadAffidavit));
};
