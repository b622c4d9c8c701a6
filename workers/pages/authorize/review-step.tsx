// The last step of the consent sheet. It shows every detail to be shared, asks for missing fields, and asks for the decision.
import { capitalize, uncapitalize } from "../../../core/language.ts";
import type { Child, FC } from "hono/jsx";
import {
  filterKeysInGroup,
  formatFieldGroup,
  groupsFromKeys,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import { fieldLabels, groupLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { formatDuration, shorterDurationDays } from "../shared/share-options.ts";
import { EnterButton } from "../shared/enter-button.tsx";
import { ChoiceField, ContactField, SubmitButton } from "../shared/form-fields.tsx";
import type { IconName } from "../shared/icon-names.ts";
import type { Page } from "../shared/layout.tsx";
import { BusinessMessage, formatDay, formatMessage, Icon, IconList, Notice } from "../shared/components.tsx";
import { blankableKeys, fieldName, isTyped, listOptionalKeys, type DecisionChoices, type FieldErrorKind } from "./review-form.ts";
import { Answers, BusinessHeading, Decision, NotNowLink, RequestPurpose, sheetPage, type SheetView } from "./sheet-page.tsx";

export interface ReviewStep {
  readonly token: string;
  /** Null for a test person. */
  readonly email: string | null;
  /** The saved fields, and the sign-in address if no email address is saved. */
  readonly fields: ContactFields;
  /** The values of `fields`, formatted for display. */
  readonly shownFields: ContactFields;
  readonly now: Instant;
  /** Active shares with the same business, newest first. */
  readonly activeShares: readonly Share[];
  readonly choices: DecisionChoices;
  /** True if the person wants to change saved details. */
  readonly isEditing: boolean;
  readonly errors: ReadonlyMap<ContactKey, FieldErrorKind>;
  /** True if nothing was selected to share. */
  readonly isEmpty: boolean;
}

type Review = ReviewStep & { readonly view: SheetView };

const listFieldErrors = ({ view: { messages, language }, errors }: Review): ReadonlyMap<ContactKey, string> =>
  new Map(
    [...errors].map(([key, kind]) => {
      if (kind === "missing") return [key, formatMessage(messages.missing, { field: uncapitalize(language, fieldLabels[language][key]) })];
      const invalid: Partial<Record<ContactKey, string>> = {
        email: messages.badEmail,
        phone: messages.badPhone,
        country: messages.badCountry,
      };
      return [key, invalid[key] ?? messages.badText];
    }),
  );

const fieldId = (key: ContactKey): string => `field-${key}`;

/**
 * Lists the fields of a group that are shown as inputs. For a test person, there are none. For a person who is editing saved details, these
 * are all fields. Otherwise, they are the fields that the person typed into and the fields without a value. A field in `blankableKeys` that
 * is empty and was not typed into is shown only next to another input of the group.
 */
const listInputKeys = ({ fields, choices, isEditing, email }: Review, keys: readonly ContactKey[]): readonly ContactKey[] => {
  if (email === null) return [];
  const isNeededInput = (key: ContactKey): boolean =>
    isEditing || isTyped(choices, key) || (fields[key] === undefined && !blankableKeys.has(key));
  const isOpen = keys.some(isNeededInput);
  return keys.filter((key) => isNeededInput(key) || (isOpen && fields[key] === undefined));
};

const FieldInputs: FC<{ review: Review; keys: readonly ContactKey[] }> = ({ review, keys }) => {
  const { view, fields, choices } = review;
  const { messages, language } = view;
  const errors = listFieldErrors(review);
  return (
    <>
      {keys.map((key) => (
        <ContactField
          contactKey={key}
          id={fieldId(key)}
          label={`${fieldLabels[language][key]}${blankableKeys.has(key) ? ` ${messages.optional}` : ""}`}
          name={fieldName(key)}
          value={choices.get(fieldName(key)) ?? fields[key]?.value ?? ""}
          error={errors.get(key)}
          errorId={`${fieldId(key)}-error`}
        />
      ))}
    </>
  );
};

const FieldPair: FC<{ review: Review; keys: readonly ContactKey[] }> = ({ review, keys }) => {
  const inputs = <FieldInputs review={review} keys={keys} />;
  return keys.length === 2 ? <div class="pair">{inputs}</div> : inputs;
};

const groupIcons = { email: "mail", phone: "phone", address: "map-pin", name: "user" } as const satisfies Record<FieldGroup, IconName>;

/** Shows a group that the business requires: its saved values and its inputs. */
const NeededGroup: FC<{ review: Review; group: FieldGroup }> = ({ review, group }) => {
  const { shownFields, view } = review;
  const { messages, language } = view;
  const keys = filterKeysInGroup(view.request.requestedScope.needed, group);
  const inputs = listInputKeys(review, keys);
  const line = formatFieldGroup(
    shownFields,
    keys.filter((key) => !inputs.includes(key)),
    group,
  );
  const name = groupLabels[language][group];
  return (
    <>
      {(line !== null || inputs.length === 0) && (
        <div class="given">
          <Icon name={groupIcons[group]} />
          <div>
            <small class="quiet">{capitalize(language, name)}</small> <bdi>{line ?? messages.none}</bdi>
          </div>
          <span class="small quiet">{messages.required}</span>
        </div>
      )}
      {inputs.length > 0 && (
        <fieldset class="stack tight">
          <legend class="small">
            <strong>{formatMessage(messages.yourGroup, { group: name })}</strong> <span class="quiet">{messages.requiredAfter}</span>
          </legend>
          <FieldPair review={review} keys={inputs} />
        </fieldset>
      )}
    </>
  );
};

/**
 * Shows an optional group with a checkbox that only the person can select. The value of the checkbox lists the fields that the page shows.
 * The group's inputs, if any, are below it.
 */
const OptionalGroup: FC<{ review: Review; group: FieldGroup; hasNeeded: boolean }> = ({ review, group, hasNeeded }) => {
  const { fields, shownFields, choices, errors, view } = review;
  const { messages, language } = view;
  const keys = filterKeysInGroup(listOptionalKeys(view.request.requestedScope), group);
  const line = formatFieldGroup(shownFields, keys, group);
  const isEditing = review.isEditing || keys.some((key) => isTyped(choices, key) || errors.has(key));
  const inputs = line === null || isEditing ? listInputKeys({ ...review, isEditing }, keys) : [];
  if (line === null && inputs.length === 0)
    return (
      <p class="small">
        <span class="quiet">{capitalize(language, groupLabels[language][group])}</span> {messages.none}
      </p>
    );
  const id = `group-${group}`;
  return (
    <div class="option-line">
      <input
        type="checkbox"
        name={`group.${group}`}
        value={(inputs.length > 0 ? inputs : keys.filter((key) => fields[key] !== undefined)).join(" ")}
        id={id}
        checked={choices.has(`group.${group}`)}
        aria-invalid={review.isEmpty ? "true" : undefined}
      />
      <label for={id}>
        {formatMessage(hasNeeded ? messages.alsoShare : messages.shareOne, { group: groupLabels[language][group] })}{" "}
        <span class="small quiet">{messages.optional}</span>
        {line !== null && inputs.length === 0 && (
          <>
            {" "}
            <bdi>{line}</bdi>
          </>
        )}
      </label>
      {inputs.length > 0 && (
        <div class="then">
          <FieldPair review={review} keys={inputs} />
        </div>
      )}
    </div>
  );
};

const Duration: FC<{ review: Review }> = ({ review: { view, choices, now } }) => {
  const { request, messages, language } = view;
  const shorter = shorterDurationDays.filter((days) => days < request.durationDays);
  const chosen = shorter.find((days) => String(days) === choices.get("days"));
  return (
    <div class="field">
      <label for="days">{messages.shareUntil}</label>
      <select id="days" name="days">
        <option value="asked">{formatDuration(language, now, request.durationDays)}</option>
        {shorter.map((days) => (
          <option value={String(days)} selected={days === chosen}>
            {formatDuration(language, now, days)}
          </option>
        ))}
      </select>
    </div>
  );
};

const NextSteps: FC<{ review: Review }> = ({ review: { view, email } }) => {
  const { request, messages } = view;
  const steps: readonly (readonly [IconName, Child])[] = [
    ["send", <BusinessMessage text={messages.nextGets} name={request.client.business.name} />],
    ...(email === null ? [] : [["mail", messages.nextReceipt] as const]),
    ["hand", messages.nextStop],
  ];
  return (
    <section class="stack tight" aria-labelledby="next">
      <h2 id="next">{messages.nextHeading}</h2>
      <IconList items={steps} />
    </section>
  );
};

const TestPersonChoice: FC<{ review: Review }> = ({ review: { view, choices } }) => {
  const { messages } = view;
  const chosen = personaNames.find((name) => name === choices.get("persona")) ?? personaNames[0];
  return (
    <fieldset class="boxes">
      <legend>{messages.testPerson}</legend>
      {personaNames.map((name) => (
        <ChoiceField type="radio" name="persona" value={name} id={`persona-${name}`} checked={name === chosen}>
          {messages.persona[name]}
        </ChoiceField>
      ))}
    </fieldset>
  );
};

/**
 * Only the consent button posts to the URL that records the decision. The form's own action, and the button that browsers activate for the
 * Enter key, lead back to the review.
 */
export const reviewStepPage = (view: SheetView, step: ReviewStep): Page => {
  const { token, email, activeShares, isEditing, isEmpty } = step;
  const { request, search, messages, language } = view;
  const review = { ...step, view };
  const { needed } = request.requestedScope;
  const optional = listOptionalKeys(request.requestedScope);
  const newest = activeShares[0];
  const errors = [...listFieldErrors(review)].map(([key, text]) => ({ href: `#${fieldId(key)}`, text }));
  const firstBox = `#group-${groupsFromKeys(optional)[0] ?? ""}`;
  const listed = isEmpty ? [{ href: firstBox, text: messages.chooseOne }] : errors;
  return sheetPage(
    view,
    <Decision view={view}>
      <form method="post" action={`/authorize/review${search}`} novalidate data-guarded="">
        <EnterButton />
        <input type="hidden" name="token" value={token} />
        <div class="inner">
          <BusinessHeading view={view} text={newest === undefined ? messages.reviewHeading : messages.reviewHeadingMore} />
          {listed.length > 0 && (
            <Notice tone="bad" icon="circle-alert" title={messages.errorTitle} role="alert">
              <ul>
                {listed.map(({ href, text }) => (
                  <li>
                    <a href={href}>{text}</a>
                  </li>
                ))}
              </ul>
            </Notice>
          )}
          {newest !== undefined && (
            <p class="small">
              <BusinessMessage
                text={messages.already}
                name={request.client.business.name}
                parts={{ date: formatDay(language, newest.expiresAt) }}
              />
            </p>
          )}
          <div class="ask">
            {groupsFromKeys(needed).map((group) => (
              <NeededGroup review={review} group={group} />
            ))}
            {groupsFromKeys(optional).map((group) => (
              <OptionalGroup review={review} group={group} hasNeeded={needed.length > 0} />
            ))}
          </div>
          {email === null ? (
            <TestPersonChoice review={review} />
          ) : (
            !isEditing && (
              <p class="small">
                <a href={`/authorize${search}&edit=1`}>{messages.edit}</a>
              </p>
            )
          )}
          <RequestPurpose view={view} />
          <Duration review={review} />
          <NextSteps review={review} />
          {email !== null && (
            <p class="row small quiet">
              {formatMessage(messages.signedInAs, { address: email })}
              <button type="submit" class="link" form="sign-out">
                {messages.notYou}
              </button>
            </p>
          )}
        </div>
        <Answers>
          <NotNowLink view={view} />
          <SubmitButton formaction={`/authorize/decide${search}`}>{email === null ? messages.shareTest : messages.share}</SubmitButton>
        </Answers>
      </form>
      {email !== null && <form id="sign-out" method="post" action={`/authorize/sign-out${search}`} hidden />}
    </Decision>,
    { error: listed[0]?.text },
  );
};
