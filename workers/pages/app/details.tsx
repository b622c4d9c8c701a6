// What a person keeps to share: ten fields in four groups. A change is shown with everybody who hears of it before it is saved.
import type { FC } from "hono/jsx";
import { audienceOf } from "../../../core/shares/audience.ts";
import { fieldGroups, groupNames, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { FieldsPreview } from "../../operations/consumers/fields.ts";
import { contactAutocomplete } from "../shared/contact-autocomplete.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, numberText, Sentence } from "../shared/parts.tsx";
import { appPage, Fault, faulty, Names, PostForm, type AppView } from "./parts.tsx";

/** What was typed, by field; empty clears. */
export type Typed = ReadonlyMap<ContactKey, string>;

interface Shown {
  readonly value: (key: ContactKey) => string;
  /** The field whose value was refused. */
  readonly wrong: string | undefined;
  readonly view: AppView;
}

/** With what else describes it, by its id. */
const Field: FC<{ name: ContactKey; shown: Shown; hint?: string }> = ({ name, shown: { value, wrong, view }, hint }) => {
  const isWrong = wrong === name;
  const described = [...(hint === undefined ? [] : [hint]), ...(isWrong ? [`${name}-fault`] : [])].join(" ");
  return (
    <>
      {isWrong && <Fault view={view} text={view.words.badValue} id={`${name}-fault`} />}
      <input
        id={name}
        name={name}
        type={name === "email" ? "email" : name === "phone" ? "tel" : "text"}
        autocomplete={contactAutocomplete[name] as never}
        maxlength={name === "email" ? 254 : 200}
        value={value(name)}
        aria-describedby={described === "" ? undefined : described}
        aria-invalid={isWrong ? "true" : undefined}
      />
    </>
  );
};

/** The fields that are told together, and to whom they go. */
const Group: FC<{ group: FieldGroup; shares: readonly Share[]; shown: Shown }> = ({ group, shares, shown }) => {
  const { words, setting } = shown.view;
  const keys: readonly ContactKey[] = fieldGroups[group];
  const { told } = audienceOf(shares, keys);
  const id = `${group}-goes`;
  const goes = (
    <p class="quiet" id={id}>
      {told.length === 0 ? (
        words.goesToNobody
      ) : (
        <Sentence text={words.goesTo} parts={{ businesses: <Names names={told} setting={setting} /> }} />
      )}
    </p>
  );
  const [first, ...more] = keys;
  if (first !== undefined && more.length === 0)
    return (
      <div class="group">
        <label for={first}>{words.groups[group]}</label>
        {goes}
        <Field name={first} shown={shown} hint={id} />
      </div>
    );
  return (
    <fieldset class="group" aria-describedby={id}>
      <legend>{words.groups[group]}</legend>
      {goes}
      {keys.map((key) => (
        <>
          <label for={key}>{fieldLabels[setting.language][key]}</label>
          <Field name={key} shown={shown} />
        </>
      ))}
    </fieldset>
  );
};

export interface Undoable {
  readonly until: number;
}

export interface Details {
  readonly fields: ContactFields;
  readonly shares: readonly Share[];
  /** Where the page comes back with what was typed. */
  readonly typed?: Typed;
  /** The field whose value was refused. */
  readonly wrong?: string;
  readonly undo: Undoable | null;
}

export const detailsPage = (view: AppView, { fields, shares, typed, wrong, undo }: Details): Page => {
  const { words, setting } = view;
  const isEmpty = Object.keys(fields).length === 0;
  const page = appPage(
    view,
    "details",
    words.detailsTitle,
    <>
      <h1>{words.detailsTitle}</h1>
      <p>{isEmpty ? words.detailsEmpty : words.detailsIntro}</p>
      {undo !== null && (
        <section class="card" aria-labelledby="undo">
          <h2 id="undo">{words.undoTitle}</h2>
          <p>
            <Sentence text={words.undoIntro} parts={{ time: <Moment at={undo.until} setting={setting} /> }} />
          </p>
          <PostForm view={view} action="/app/details/undo">
            <button type="submit">{words.undo}</button>
          </PostForm>
        </section>
      )}
      <PostForm view={view} action="/app/details" class="form details">
        {groupNames.map((group) => (
          <Group group={group} shares={shares} shown={{ value: (key) => typed?.get(key) ?? fields[key]?.value ?? "", wrong, view }} />
        ))}
        <button type="submit" class="primary">
          {words.review}
        </button>
      </PostForm>
    </>,
  );
  return faulty(view, wrong, page);
};

/** What changes, and who hears of it. Nothing is saved yet. */
export const reviewPage = (view: AppView, { before, after, changed }: FieldsPreview, shares: readonly Share[]): Page => {
  const { words, setting } = view;
  const { told, notTold } = audienceOf(shares, changed);
  const labels = fieldLabels[setting.language];
  const valueIn = (fields: ContactFields, key: ContactKey) =>
    fields[key] === undefined ? <span class="quiet">{words.emptyValue}</span> : <Exact text={fields[key].value} />;
  const save =
    told.length === 0
      ? words.save
      : told.length === 1
        ? words.saveAndTellOne
        : filled(words.saveAndTell, { count: numberText(told.length, setting.language) });
  return appPage(
    view,
    "details",
    words.reviewTitle,
    <>
      <h1>{words.reviewTitle}</h1>
      <dl>
        {changed.map((key) => (
          <div>
            <dt>{labels[key]}</dt>
            <dd>
              <p>
                <span class="quiet">{words.was}:</span> <del>{valueIn(before, key)}</del>
              </p>
              <p>
                <span class="quiet">{words.becomes}:</span> <ins>{valueIn(after, key)}</ins>
              </p>
            </dd>
          </div>
        ))}
      </dl>
      <p>
        {told.length === 0 ? (
          words.nobodyTold
        ) : (
          <Sentence text={words.toldAtOnce} parts={{ businesses: <Names names={told} setting={setting} /> }} />
        )}
      </p>
      {notTold.length > 0 && (
        <p>
          <Sentence text={words.notTold} parts={{ businesses: <Names names={notTold} setting={setting} /> }} />
        </p>
      )}
      <PostForm view={view} action="/app/details/save">
        {changed.map((key) => (
          <input type="hidden" name={key} value={after[key]?.value ?? ""} />
        ))}
        <div class="choices">
          <a class="button" href="/app/details">
            {words.changeMore}
          </a>
          <button type="submit" class="primary">
            {save}
          </button>
        </div>
      </PostForm>
    </>,
  );
};
