// One operation of the API as the reference shows it: how it is called, what it takes, what it answers; and what is posted to endpoints.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { Joined } from "../shared/parts.tsx";
import {
  contentExample,
  curlOf,
  eventTypesOf,
  jsonText,
  limitsInWords,
  membersOf,
  payloadOf,
  present,
  refusalsOf,
  successesOf,
  typeInWords,
  type ApiDocument,
  type Member,
  type Operation,
  type Schema,
} from "./docs-reading.ts";

const Description = createContext<ApiDocument | null>(null);

/** The description of the API that is shown. */
export const DescriptionProvider = Description.Provider;

export const useDescription = (): ApiDocument => {
  const document = useContext(Description);
  if (document === null) throw new Error("docs: an operation is shown without the description of the API");
  return document;
};

/** The little Markdown that descriptions use: `code`, **strong** and *emphasis*. */
export const Inline: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((piece, at) => {
      if (at % 2 === 0) return piece;
      if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
      return piece.startsWith("**") ? <strong>{piece.slice(2, -2)}</strong> : <em>{piece.slice(1, -1)}</em>;
    })}
  </>
);

export const Paragraphs: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split("\n\n").map((paragraph) => (
      <p>
        <Inline text={paragraph} />
      </p>
    ))}
  </>
);

const Code: FC<{ text: string; label: string }> = ({ text, label }) => (
  <figure class="sample">
    <figcaption>{label}</figcaption>
    <pre translate="no">
      <code>{text}</code>
    </pre>
  </figure>
);

/** One input or output: its name, its type and limits, what it means. */
const Entry: FC<{ name: string; schema: Schema; remark: string; children?: Child }> = ({ name, schema, remark, children }) => {
  const document = useDescription();
  const { schema: own } = present(document, schema);
  const limits = limitsInWords(own).join("; ");
  return (
    <li>
      <p class="entry">
        <code class="entry-name">{name}</code> <span class="entry-type">{typeInWords(document, schema)}</span>
        {remark !== "" && <span class={`entry-${remark === "required" ? "required" : "type"}`}>{remark}</span>}
      </p>
      {own.description !== undefined && (
        <p>
          <Inline text={own.description} />
        </p>
      )}
      {limits !== "" && (
        <p class="quiet">
          <Inline text={`${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`} />
        </p>
      )}
      {children}
    </li>
  );
};

const deepest = 6; // descriptions here are three deep; a schema that names itself must end somewhere

/** The members of an object, each with its own members behind a disclosure. `optional` marks what may be left out. */
const Members: FC<{ members: readonly Member[]; sent: boolean; depth?: number }> = ({ members, sent, depth = 0 }) => (
  <ul class="entries">
    {members.map(({ name, schema, required }) => {
      const inner = depth < deepest ? membersOf(useDescription(), schema) : [];
      const remark = required ? (sent ? "required" : "") : sent ? "" : "not always present";
      return (
        <Entry name={name} schema={schema} remark={remark}>
          {inner.length > 0 && (
            <details>
              <summary>
                {inner.length === 1 ? "Its member" : `Its ${inner.length} members`}
                <span class="visually-hidden"> of {name}</span>
              </summary>
              <Members members={inner} sent={sent} depth={depth + 1} />
            </details>
          )}
        </Entry>
      );
    })}
  </ul>
);

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

const Inputs: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {(["path", "query", "header"] as const).map((place) => {
      const inputs = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
      return (
        inputs.length > 0 && (
          <>
            <h3>{places[place]}</h3>
            <ul class="entries">
              {inputs.map(({ name, schema, required, description }) => {
                const described = description === undefined ? schema : { ...schema, description };
                return <Entry name={name} schema={described} remark={required ? "required" : ""} />;
              })}
            </ul>
          </>
        )
      );
    })}
    {operation.requestBody !== undefined && (
      <>
        <h3>Body</h3>
        <p>
          <Joined of={Object.keys(operation.requestBody.content).map((type) => <code>{type}</code>)} by=" or " />.{" "}
          {operation.requestBody.description !== undefined && <Inline text={operation.requestBody.description} />}
        </p>
        <Members members={membersOf(useDescription(), operation.requestBody.content["application/json"]?.schema ?? {})} sent={true} />
      </>
    )}
  </>
);

const Successes: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {successesOf(operation).map(({ status, answer }) => {
      const document = useDescription();
      const content = answer.content?.["application/json"];
      const payload = content === undefined ? undefined : payloadOf(document, content.schema);
      const members = payload === undefined ? [] : membersOf(document, payload);
      const headers = Object.entries(answer.headers ?? {});
      return (
        <>
          <h3>
            <code>{status}</code> <Inline text={answer.description} />
          </h3>
          {members.length > 0 && (
            <>
              {payload !== content?.schema && (
                <p class="quiet">
                  Members of <code>data</code>:
                </p>
              )}
              <Members members={members} sent={false} />
            </>
          )}
          {headers.length > 0 && (
            <p class="quiet">
              With the headers{" "}
              {headers.map(([name, { description }], at) => (
                <>
                  {at > 0 && "; "}
                  <code>{name}</code>
                  {description !== undefined && (
                    <>
                      {" "}
                      (<Inline text={description.replace(/\.$/, "")} />)
                    </>
                  )}
                </>
              ))}
              .
            </p>
          )}
          {content !== undefined && <Code label={`Answer ${status}`} text={jsonText(contentExample(document, content))} />}
        </>
      );
    })}
  </>
);

const Refusals: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h3>Refusals</h3>
    <dl class="refusals">
      {refusalsOf(operation).map(({ status, code, when }) => (
        <div>
          <dt>
            <span class="refusal-status">{status}</span> <code>{code}</code>
          </dt>
          <dd>
            <Inline text={when} />
          </dd>
        </div>
      ))}
    </dl>
  </>
);

const callers = (operation: Operation): string => {
  if (operation.security.some((need) => "session" in need)) return "For a person who is signed in";
  const withKey = operation.security.some((need) => "apiKey" in need);
  if (!withKey) return "For anyone, without a credential";
  return operation.security.some((need) => Object.keys(need).length === 0)
    ? "For anyone; with an API key it also speaks for your server"
    : "With your API key";
};

export const OperationSection: FC<{ operation: Operation }> = ({ operation }) => (
  <section class="operation" aria-labelledby={operation.operationId}>
    <h2 id={operation.operationId} tabindex={-1}>
      {operation.summary}
    </h2>
    <p class="call">
      <span class="method">{operation.method}</span> <code translate="no">{operation.path}</code>
    </p>
    {operation.description !== undefined && <Paragraphs text={operation.description} />}
    <p class="quiet">{callers(operation)}.</p>
    <Code label="From the command line" text={curlOf(useDescription(), operation)} />
    <Inputs operation={operation} />
    <Successes operation={operation} />
    <Refusals operation={operation} />
  </section>
);

/** The values an event carries, of those that carry any. */
const changedBy = (document: ApiDocument, body: Schema): Member[] => {
  const data = membersOf(document, body).find(({ name }) => name === "data");
  return data === undefined ? [] : membersOf(document, data.schema);
};

/** What is posted to endpoints: one body for all types, of which each has its ids and its values. */
export const EventTypes: FC = () => (
  <section class="operation" aria-labelledby="event-types">
    <h2 id="event-types" tabindex={-1}>
      What is posted to your endpoints
    </h2>
    <p>
      Each type of event is posted as the feed holds it, signed in <code>Svc-Signature</code>. The type says which id is set and whether{" "}
      <code>data</code> holds new values.
    </p>
    {eventTypesOf(useDescription()).map(({ type, when, body }) => {
      const document = useDescription();
      const values = changedBy(document, body.schema);
      return (
        <section class="event-type" aria-labelledby={`event-${type}`}>
          <h3 id={`event-${type}`}>
            <code translate="no">{type}</code>
          </h3>
          <p>
            <Inline text={when} />
          </p>
          {values.length > 0 && (
            <p class="quiet">
              In <code>data</code>: <Joined of={values.map(({ name }) => <code>{name}</code>)} by=", " />.
            </p>
          )}
          <Code label={`Body of ${type}`} text={jsonText(contentExample(document, body))} />
        </section>
      );
    })}
  </section>
);
