// The form that adds or changes an endpoint: its URL, its description, and its event types, which are listed in three groups.
import { useContext, type FC } from "hono/jsx";
import { toPlainUrl } from "../../../core/access/outbound-url.ts";
import type { EventType } from "../../../core/events/event.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Endpoint } from "../../../core/webhooks/endpoint.ts";
import { maxDescriptionLength, selectableEventTypes } from "../../../core/webhooks/event-selection.ts";
import { FieldError, FormattedMessage } from "../shared/components.tsx";
import type { FormFields } from "../shared/form-handlers.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { CheckboxField, Field, FormContext, FormErrorMessage, IdempotencyField, Link, PostForm, messages } from "./components.tsx";
import { toFormError, type FormError } from "./portal-request.ts";
import { OptInEventTypes } from "./webhook-components.tsx";

const { form: formMessages, groups: groupNames, types: typeHints } = messages.webhooks;

type Group = keyof typeof groupNames;

const groupOf = (type: EventType): Group =>
  type.startsWith("certificate.") ? "certificates" : type.startsWith("consumer.") ? "details" : "shares";

const typesByGroup = (Object.keys(groupNames) as Group[]).map(
  (group) => [group, selectableEventTypes.filter((type) => groupOf(type) === group)] as const,
);

const EventTypeFields: FC<{ selected: readonly string[] | null }> = ({ selected }) => {
  const { form, error } = useContext(FormContext);
  const choice = form?.get("events") ?? (selected === null ? "all" : "some");
  const isInvalid = error?.field === "events";
  return (
    <fieldset class="picks" aria-describedby={isInvalid ? "events-error" : undefined}>
      <legend>{formMessages.events}</legend>
      {isInvalid && <FieldError id="events-error" text={error.text} />}
      <div class="option">
        <div class="tick">
          <input type="radio" name="events" id="events-all" value="all" checked={choice === "all"} />
          <label for="events-all">
            <b>{formMessages.all}</b>
          </label>
          <span class="hint">
            <FormattedMessage text={formMessages.allHint} parts={{ types: <OptInEventTypes join=" or " /> }} />
          </span>
        </div>
        <div class="tick">
          <input type="radio" name="events" id="events-some" value="some" checked={choice === "some"} />
          <label for="events-some">
            <b>{formMessages.some}</b>
          </label>
        </div>
      </div>
      <div class="tick-cols if-some">
        {typesByGroup.map(([group, types]) => (
          <fieldset>
            <legend>{groupNames[group]}</legend>
            {types.map((type) => (
              <CheckboxField
                name={`event.${type}`}
                label={<code>{type}</code>}
                hint={typeHints[type]}
                checked={selected?.includes(type) === true}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </fieldset>
  );
};

interface EndpointFormProps {
  readonly action: string;
  /** Null for a new endpoint. */
  readonly endpoint: Pick<Endpoint, "url" | "description" | "events"> | null;
  readonly submitLabel: string;
  readonly footnote: string;
  readonly cancelPath: string;
}

export const EndpointForm: FC<EndpointFormProps> = ({ action, endpoint, submitLabel, footnote, cancelPath }) => (
  <PostForm requiredRole="owner" action={action} class="card" label={submitLabel}>
    <div class="body">
      <FormErrorMessage fields={["url", "description", "events"]} />
      {endpoint === null && <IdempotencyField />}
      <Field
        name="url"
        label={formMessages.url}
        hint={formMessages.urlHint}
        type="url"
        required
        maxlength={2_048}
        value={endpoint?.url ?? null}
      />
      <Field
        name="description"
        label={formMessages.description}
        hint={formMessages.descriptionHint}
        isOptional
        maxlength={maxDescriptionLength}
        value={endpoint?.description ?? null}
      />
      <EventTypeFields selected={endpoint === null ? null : endpoint.events} />
    </div>
    <footer>
      <span>{footnote}</span>
      <span class="row">
        <Link class="btn" to={cancelPath} text={messages.cancel} />
        <SubmitButton>{submitLabel}</SubmitButton>
      </span>
    </footer>
  </PostForm>
);

export interface EndpointInput {
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[] | null;
}

/** Reads the form. Returns `invalid_request` if "Only the types I choose" is selected without a type. */
export const readEndpointForm = (form: FormFields): Result<EndpointInput, "invalid_request"> => {
  const chosen = selectableEventTypes.filter((type) => form.has(`event.${type}`));
  const isAll = form.get("events") === "all";
  if (!isAll && chosen.length === 0) return refuse("invalid_request", `events: ${formMessages.noneChosen}`);
  return ok({
    url: toPlainUrl(form.get("url") ?? ""),
    description: form.get("description")?.trim() || null,
    events: isAll ? null : chosen,
  });
};

/** Converts a refusal into a form error. Errors about the URL are shown beside its field. */
export const toEndpointError = (refusal: Parameters<typeof toFormError>[0]): FormError => {
  const error = toFormError(refusal);
  return error.code === "invalid_webhook_url" || error.code === "webhook_exists" ? { ...error, field: "url" } : error;
};
