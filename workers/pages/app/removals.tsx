// Serves /app/removals: a person's requests to delete personal data at data brokers, the results, and the signed affidavit.
import { cutText } from "../../../core/cut-text.ts";
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
import { ChoiceField, OptionalLabel, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { renderCrossSiteBlocked, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import {
  formatDay,
  VerbatimText,
  EmptyState,
  FieldError,
  formatMessage,
  Hash,
  Icon,
  DescriptionRow,
  Section,
  StatusBadge,
} from "../shared/components.tsx";
import { DataTable } from "../shared/signed-in-components.tsx";
import { getAccountMessages, PostForm, useAppView, type AppView } from "./components.tsx";
import { appPage } from "./page.tsx";
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
      <div>
        <p>
          <a href={`/app/removals/${id}`}>
            <strong>{formatMessage(getAccountMessages(view).removals.asked, { date: formatDay(view.language, requestedAt) })}</strong>
          </a>
        </p>
        <p class="small quiet" translate="no">
          {targets.map(({ name }) => removalTargets[name]).join(", ")}
        </p>
      </div>
      <RemovalStatusLabel status={status} />
    </li>
  );
};

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
    <Section name="new-removal" heading={removals.request}>
      <PostForm action="/app/removals" class="stack">
        <fieldset aria-describedby={targetError && "targets-fault"} aria-invalid={targetError && "true"}>
          <legend>{removals.whom}</legend>
          {targetError !== undefined && <FieldError text={targetError} id="targets-fault" />}
          {removalTargetNames.map((name) => (
            <ChoiceField type="checkbox" name={`target.${name}`} value="on" id={`target-${name}`} checked={form?.has(`target.${name}`)}>
              <span translate="no">{removalTargets[name]}</span>
            </ChoiceField>
          ))}
        </fieldset>
        <TextField
          id="notes"
          label={<OptionalLabel text={removals.notes} />}
          hint={removals.notesHint}
          error={errorAt("notes")}
          maxlength={500}
          autocomplete="off"
          value={form === undefined ? undefined : cutText(form.get("notes") ?? "", 1_000)}
        />
        <div>
          {authorizeError !== undefined && <FieldError text={authorizeError} />}
          <ChoiceField
            type="checkbox"
            name="authorize"
            value="on"
            id="authorize"
            aria-describedby={authorizeError && "fault"}
            aria-invalid={authorizeError && "true"}
          >
            {removals.authorize}
          </ChoiceField>
        </div>
        <SubmitButton>{removals.send}</SubmitButton>
      </PostForm>
    </Section>
  );
};

const RemovalsUnavailable: FC<{ reason: UnavailableReason; isFirst: boolean }> = ({ reason, isFirst }) => {
  const { removals } = getAccountMessages(useAppView());
  const isSold = reason === "not_on_plan";
  return (
    <div class="card">
      <EmptyState
        icon="credit-card"
        title={isFirst ? removals.none : removals.request}
        advice={`${removals.notOnPlan} ${isSold ? removals.upgradeAdvice : removals.notSold}`}
        {...(isSold && {
          action: (
            <a class="btn primary" href="/app/removals/upgrade">
              {removals.upgrade}
            </a>
          ),
        })}
      />
    </div>
  );
};

const removalListPage = (view: AppView, data: RemovalListData): Page => {
  const { removals, sections } = getAccountMessages(view);
  const { list, unavailableReason, error } = data;
  const isAvailable = unavailableReason === null;
  return appPage(
    view,
    { tab: "account", section: "removals", title: sections.removals, lede: removals.intro, hasError: error !== undefined },
    <>
      {list.length > 0 && (
        <Section
          name="removals"
          heading={removals.listHeading}
          content={
            <ul class="lines consents">
              {list.map((removal) => (
                <RemovalItem removal={removal} />
              ))}
            </ul>
          }
        />
      )}
      {list.length === 0 && isAvailable && (
        <div class="card">
          <EmptyState icon="scroll-text" title={removals.none} advice={removals.noneAdvice} />
        </div>
      )}
      {isAvailable ? <RemovalRequestForm data={data} /> : <RemovalsUnavailable reason={unavailableReason} isFirst={list.length === 0} />}
    </>,
  );
};

const removalPage = (view: AppView, removal: Removal): Page => {
  const { removals, sections } = getAccountMessages(view);
  const { id, status, targets, requestedAt, recheckAt, notes, affidavit } = removal;
  const requestedOn = formatMessage(removals.asked, { date: formatDay(view.language, requestedAt) });
  return appPage(
    view,
    {
      tab: "account",
      title: `${sections.removals}${view.messages.colon} ${requestedOn}`,
      heading: requestedOn,
      status: <RemovalStatusLabel status={status} />,
      trail: {
        parents: [
          { path: "/app/account", text: view.messages.tabs.account },
          { path: "/app/removals", text: sections.removals },
        ],
        current: requestedOn,
      },
    },
    <>
      <Section
        name="results"
        heading={removals.results}
        content={
          <DataTable
            label={removals.results}
            columns={[{ heading: removals.target }, { heading: removals.status, kind: "corner" }, { heading: removals.day }]}
            rows={targets.map(({ name, status: targetStatus, completedAt }) => [
              <span translate="no">{removalTargets[name]}</span>,
              <RemovalStatusLabel status={targetStatus} />,
              completedAt !== null && formatDay(view.language, completedAt),
            ])}
          />
        }
        {...(recheckAt !== null && { footer: formatMessage(removals.recheck, { date: formatDay(view.language, recheckAt) }) })}
      />
      <Section name="record" heading={removals.record}>
        {notes !== null && (
          <p class="small quiet">
            {view.messages.youWrote} <VerbatimText text={notes} />
          </p>
        )}
        {affidavit === null ? (
          <p>{removals.notReady}</p>
        ) : (
          <>
            <p>
              <a class="btn" href={`/app/removals/${id}/affidavit`} download={`affidavit-${id}.pdf`}>
                <Icon name="file-down" />
                {removals.affidavit}
              </a>
            </p>
            <dl class="kv up">
              <DescriptionRow name={removals.hash}>
                <Hash value={affidavit.sha256} />
              </DescriptionRow>
            </dl>
          </>
        )}
      </Section>
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
  // The removals page explains why the request was refused.
  return requested.code === "invalid_request" ? renderError("notes", removals.badNotes) : c.redirect("/app/removals", 303);
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
  // The removal's page shows when the affidavit will be available.
  if (!file.ok) return file.code === "not_found" ? removalNotFoundPage(request) : c.redirect(`/app/removals/${id}`, 303);
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
};

/** Redirects to the payment provider. Refuses links from other sites, because a link there could make people pay by mistake. */
const redirectToUpgrade = async (request: AppRequest): Promise<Response> => {
  const { c, services, session } = request;
  if (c.req.header("sec-fetch-site") === "cross-site") return renderCrossSiteBlocked(c);
  const limitResponse = await checkPersonLimit(request, "CHECKOUT");
  if (limitResponse !== null) return limitResponse;
  const payment = await createPaymentSession(services, session, "white_glove");
  if (payment.ok) return c.redirect(payment.value, 303);
  // The removals page says that upgrades are unavailable.
  return payment.code === "billing_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/removals", 303);
};

export const registerRemovalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/removals", authenticatedPage(renderRemovalList));
  pages.post("/removals", authenticatedAction(handleRequestRemoval));
  pages.get("/removals/upgrade", authenticatedPage(redirectToUpgrade));
  pages.get("/removals/:id", authenticatedPage(renderRemoval));
  pages.get("/removals/:id/affidavit", authenticatedPage(downloadAffidavit));
};
