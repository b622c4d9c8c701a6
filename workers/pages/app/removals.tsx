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
import { getOwnRemoval } from "../../operations/consumers/get-own-removal.ts";
import { requestRemoval } from "../../operations/consumers/request-removal.ts";
import type { FormFields } from "../shared/form-handlers.ts";
import { ChoiceField, OptionalLabel, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { renderCrossSiteBlocked, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import {
  formatDay,
  VerbatimText,
  EmptyCard,
  FieldError,
  formatMessage,
  Hash,
  Icon,
  PropertyList,
  Section,
  StatusBadge,
} from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { checkPersonLimit, setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { PostForm, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { notFoundPage, renderAppPage } from "./page.tsx";

const statusStyles = {
  requested: { tone: "plain", icon: "circle-minus" },
  in_progress: { tone: "caution", icon: "clock-alert" },
  completed: { tone: "good", icon: "circle-check" },
  rejected: { tone: "bad", icon: "ban" },
} as const;

const RemovalStatusLabel: FC<{ status: RemovalStatus }> = ({ status }) => (
  <StatusBadge {...statusStyles[status]} text={useAppRequest().messages.removals.state[status]} />
);

const RemovalItem: FC<{ removal: Removal }> = ({ removal: { id, status, requestedAt, targets } }) => {
  const { messages, language } = useAppRequest();
  return (
    <li>
      <div>
        <p>
          <a href={`/app/removals/${id}`}>
            <strong>{formatMessage(messages.removals.asked, { date: formatDay(language, requestedAt) })}</strong>
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

type RequestInput = "targets" | "authorize" | "notes";

/** The posted form and its error, if the form was refused. */
interface RefusedRemoval {
  readonly form: FormFields;
  readonly at: RequestInput;
  readonly text: string;
}

const RemovalRequestForm: FC<{ refused: RefusedRemoval | undefined }> = ({ refused }) => {
  const { removals } = useAppRequest().messages;
  const errorAt = (input: RequestInput): string | undefined => (refused?.at === input ? refused.text : undefined);
  const [targetError, authorizeError] = [errorAt("targets"), errorAt("authorize")];
  return (
    <Section name="new-removal" heading={removals.request}>
      <PostForm action="/app/removals" class="stack">
        <fieldset aria-describedby={targetError && "targets-fault"} aria-invalid={targetError && "true"}>
          <legend>{removals.whom}</legend>
          {targetError !== undefined && <FieldError text={targetError} id="targets-fault" />}
          {removalTargetNames.map((name) => (
            <ChoiceField
              type="checkbox"
              name={`target.${name}`}
              value="on"
              id={`target-${name}`}
              checked={refused?.form.has(`target.${name}`)}
            >
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
          value={refused && cutText(refused.form.get("notes") ?? "", 1_000)}
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

const RemovalsUnavailable: FC<{ isSold: boolean; isFirst: boolean }> = ({ isSold, isFirst }) => {
  const { removals } = useAppRequest().messages;
  return (
    <EmptyCard
      icon="credit-card"
      title={isFirst ? removals.none : removals.request}
      advice={`${removals.notOnPlan} ${isSold ? removals.upgradeAdvice : removals.notSold}`}
      action={
        isSold ? (
          <a class="btn primary" href="/app/removals/upgrade">
            {removals.upgrade}
          </a>
        ) : undefined
      }
    />
  );
};

const renderRemovalList = async (request: AppRequest, refused?: RefusedRemoval): Promise<Response> => {
  const { services, person, messages } = request;
  const { removals, sections } = messages;
  const { list, plan } = await getRemovalsAndPlan(services, person);
  const isAvailable = plan === "white_glove";
  return renderAppPage(
    request,
    { tab: "account", section: "removals", title: sections.removals, lede: removals.intro, error: refused?.text },
    <>
      {list.length > 0 && (
        <Section name="removals" heading={removals.listHeading} isFlush>
          <ul class="lines consents">
            {list.map((removal) => (
              <RemovalItem removal={removal} />
            ))}
          </ul>
        </Section>
      )}
      {list.length === 0 && isAvailable && <EmptyCard icon="scroll-text" title={removals.none} advice={removals.noneAdvice} />}
      {isAvailable ? (
        <RemovalRequestForm refused={refused} />
      ) : (
        <RemovalsUnavailable isSold={services.paymentProvider !== null} isFirst={list.length === 0} />
      )}
    </>,
  );
};

const removalNotFoundPage = (request: AppRequest): Promise<Response> => {
  const { noneThere, noneThereAdvice } = request.messages.removals;
  return notFoundPage(request, noneThere, noneThereAdvice);
};

const renderRemoval = async (request: AppRequest): Promise<Response> => {
  const { c, services, person, messages, language } = request;
  const found = await getOwnRemoval(services, person, parseRemovalId(c.req.param("id") ?? ""));
  if (!found.ok) return removalNotFoundPage(request);
  const { id, status, targets, requestedAt, recheckAt, notes, affidavit } = found.value;
  const { removals, sections } = messages;
  const requestedOn = formatMessage(removals.asked, { date: formatDay(language, requestedAt) });
  return renderAppPage(
    request,
    {
      tab: "account",
      title: `${sections.removals}${messages.colon} ${requestedOn}`,
      heading: requestedOn,
      status: <RemovalStatusLabel status={status} />,
      trail: {
        parents: [
          { path: "/app/account", text: messages.tabs.account },
          { path: "/app/removals", text: sections.removals },
        ],
        current: requestedOn,
      },
    },
    <>
      <Section
        name="results"
        heading={removals.results}
        isFlush
        footer={recheckAt === null ? undefined : formatMessage(removals.recheck, { date: formatDay(language, recheckAt) })}
      >
        <Table
          label={removals.results}
          rows={targets}
          columns={[
            [removals.target, ({ name }) => <span translate="no">{removalTargets[name]}</span>],
            [removals.status, (target) => <RemovalStatusLabel status={target.status} />, "corner"],
            [removals.day, ({ completedAt }) => completedAt !== null && formatDay(language, completedAt)],
          ]}
        />
      </Section>
      <Section name="record" heading={removals.record}>
        {notes !== null && (
          <p class="small quiet">
            {messages.youWrote} <VerbatimText text={notes} />
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
            <PropertyList isStacked lines={[[removals.hash, <Hash value={affidavit.sha256} />]]} />
          </>
        )}
      </Section>
    </>,
  );
};

const handleRequestRemoval = async (request: AppFormRequest): Promise<Response> => {
  const { c, services, person, form, messages } = request;
  const { removals } = messages;
  const renderError = (at: RequestInput, text: string): Promise<Response> => renderRemovalList(request, { form, at, text });
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
  // After the redirect, the removals page explains why the request was refused.
  return requested.code === "invalid_request" ? renderError("notes", removals.badNotes) : c.redirect("/app/removals", 303);
};

const downloadAffidavit = async (request: AppRequest): Promise<Response> => {
  const { c, services, person } = request;
  const id = parseRemovalId(c.req.param("id") ?? "");
  const file = await getAffidavit(services, person, id);
  // After the redirect, the removal's page shows when the affidavit will be available.
  if (!file.ok) return file.code === "not_found" ? removalNotFoundPage(request) : c.redirect(`/app/removals/${id}`, 303);
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
};

/** Redirects to the payment provider. Refuses links from other sites, because such a link could trick people into paying. */
const redirectToUpgrade = async (request: AppRequest): Promise<Response> => {
  const { c, services, session } = request;
  if (c.req.header("sec-fetch-site") === "cross-site") return renderCrossSiteBlocked(c);
  const limitResponse = await checkPersonLimit(request, "CHECKOUT");
  if (limitResponse !== null) return limitResponse;
  const payment = await createPaymentSession(services, session, "white_glove");
  if (payment.ok) return c.redirect(payment.value, 303);
  // After the redirect, the removals page says that upgrades are unavailable.
  return payment.code === "billing_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/removals", 303);
};

export const registerRemovalRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/removals", authenticatedPage(renderRemovalList));
  pages.post("/removals", authenticatedAction(handleRequestRemoval));
  pages.get("/removals/upgrade", authenticatedPage(redirectToUpgrade));
  pages.get("/removals/:id", authenticatedPage(renderRemoval));
  pages.get("/removals/:id/affidavit", authenticatedPage(downloadAffidavit));
};
