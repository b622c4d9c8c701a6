// One operation in the API reference (call, inputs, responses, errors), and the list of webhook event types.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { JoinedList } from "../shared/components.tsx";
import {
  getContentExample,
  buildCurlCommand,
  listEventTypes,
  formatJson,
  describeLimits,
  listMembers,
  getPayloadSchema,
  resolveNullable,
  listRefusals,
  listSuccesses,
  describeType,
  type ApiDocument,
  type SchemaMember,
  type Operation,
  type Schema,
} from "./openapi-document.ts";

const ApiDocumentContext = createContext<ApiDocument | null>(null);

export const ApiDocumentProvider = ApiDocumentContext.Provider;

export const useApiDocument = (): ApiDocument => {
  const document = useContext(ApiDocumentContext);
  if (document === null) throw new Error("docs: no ApiDocumentProvider above this component. Wrap it in one.");
  return document;
};

/** Renders the Markdown that descriptions use: `code`, **strong** and *emphasis*. */
export const InlineMarkdown: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((piece, index) => {
      if (index % 2 === 0) return piece;
      if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
      return piece.startsWith("**") ? <strong>{piece.slice(2, -2)}</strong> : <em>{piece.slice(1, -1)}</em>;
    })}
  </>
);

export const MarkdownParagraphs: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split("\n\n").map((paragraph) => (
      <p>
        <InlineMarkdown text={paragraph} />
      </p>
    ))}
  </>
);

const CodeSample: FC<{ text: string; label: string }> = ({ text, label }) => (
  <figure class="sample">
    <figcaption>{label}</figcaption>
    <pre translate="no">
      <code>{text}</code>
    </pre>
  </figure>
);

/** One input or output with its type, constraints and description. */
const SchemaEntry: FC<{ name: string; schema: Schema; remark: string; children?: Child }> = ({ name, schema, remark, children }) => {
  const document = useApiDocument();
  const { schema: own } = resolveNullable(document, schema);
  const limits = describeLimits(own).join("; ");
  return (
    <li>
      <p class="entry">
        <code class="entry-name">{name}</code> <span class="entry-type">{describeType(document, schema)}</span>
        {remark !== "" && <span class={`entry-${remark === "required" ? "required" : "type"}`}>{remark}</span>}
      </p>
      {own.description !== undefined && (
        <p>
          <InlineMarkdown text={own.description} />
        </p>
      )}
      {limits !== "" && (
        <p class="quiet">
          <InlineMarkdown text={`${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`} />
        </p>
      )}
      {children}
    </li>
  );
};

const maxSchemaDepth = 6; // schemas here nest three deep; the limit ends a recursive schema

/** Members of an object; nested members are collapsed. Inputs mark the required members, outputs those that may be missing. */
const SchemaMembers: FC<{ members: readonly SchemaMember[]; isInput: boolean; depth?: number }> = ({ members, isInput, depth = 0 }) => (
  <ul class="entries">
    {members.map(({ name, schema, required }) => {
      const inner = depth < maxSchemaDepth ? listMembers(useApiDocument(), schema) : [];
      const remark = required ? (isInput ? "required" : "") : isInput ? "" : "not always present";
      return (
        <SchemaEntry name={name} schema={schema} remark={remark}>
          {inner.length > 0 && (
            <details>
              <summary>
                {inner.length === 1 ? "Its member" : `Its ${inner.length} members`}
                <span class="visually-hidden"> of {name}</span>
              </summary>
              <SchemaMembers members={inner} isInput={isInput} depth={depth + 1} />
            </details>
          )}
        </SchemaEntry>
      );
    })}
  </ul>
);

const parameterHeadings = { path: "In the path", query: "In the query", header: "Headers" } as const;

const RequestInputs: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {(["path", "query", "header"] as const).map((location) => {
      const inputs = (operation.parameters ?? []).filter((parameter) => parameter.in === location);
      return (
        inputs.length > 0 && (
          <>
            <h3>{parameterHeadings[location]}</h3>
            <ul class="entries">
              {inputs.map(({ name, schema, required, description }) => {
                const described = description === undefined ? schema : { ...schema, description };
                return <SchemaEntry name={name} schema={described} remark={required ? "required" : ""} />;
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
          <JoinedList of={Object.keys(operation.requestBody.content).map((type) => <code>{type}</code>)} by=" or " />.{" "}
          {operation.requestBody.description !== undefined && <InlineMarkdown text={operation.requestBody.description} />}
        </p>
        <SchemaMembers
          members={listMembers(useApiDocument(), operation.requestBody.content["application/json"]?.schema ?? {})}
          isInput={true}
        />
      </>
    )}
  </>
);

const SuccessResponses: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {listSuccesses(operation).map(({ status, response }) => {
      const document = useApiDocument();
      const content = response.content?.["application/json"];
      const payload = content === undefined ? undefined : getPayloadSchema(document, content.schema);
      const members = payload === undefined ? [] : listMembers(document, payload);
      const headers = Object.entries(response.headers ?? {});
      return (
        <>
          <h3>
            <code>{status}</code> <InlineMarkdown text={response.description} />
          </h3>
          {members.length > 0 && (
            <>
              {payload !== content?.schema && (
                <p class="quiet">
                  Members of <code>data</code>:
                </p>
              )}
              <SchemaMembers members={members} isInput={false} />
            </>
          )}
          {headers.length > 0 && (
            <p class="quiet">
              With the headers{" "}
              {headers.map(([name, { description }], index) => (
                <>
                  {index > 0 && "; "}
                  <code>{name}</code>
                  {description !== undefined && (
                    <>
                      {" "}
                      (<InlineMarkdown text={description.replace(/\.$/, "")} />)
                    </>
                  )}
                </>
              ))}
              .
            </p>
          )}
          {content !== undefined && <CodeSample label={`Answer ${status}`} text={formatJson(getContentExample(document, content))} />}
        </>
      );
    })}
  </>
);

const ErrorResponses: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h3>Refusals</h3>
    <dl class="refusals">
      {listRefusals(operation).map(({ status, code, when }) => (
        <div>
          <dt>
            <span class="refusal-status">{status}</span> <code>{code}</code>
          </dt>
          <dd>
            <InlineMarkdown text={when} />
          </dd>
        </div>
      ))}
    </dl>
  </>
);

const describeAuthentication = (operation: Operation): string => {
  if (operation.security.some((scheme) => "session" in scheme)) return "For a person who is signed in";
  const acceptsKey = operation.security.some((scheme) => "apiKey" in scheme);
  if (!acceptsKey) return "For anyone, without a credential";
  return operation.security.some((scheme) => Object.keys(scheme).length === 0)
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
    {operation.description !== undefined && <MarkdownParagraphs text={operation.description} />}
    <p class="quiet">{describeAuthentication(operation)}.</p>
    <CodeSample label="From the command line" text={buildCurlCommand(useApiDocument(), operation)} />
    <RequestInputs operation={operation} />
    <SuccessResponses operation={operation} />
    <ErrorResponses operation={operation} />
  </section>
);

/** Lists the members of an event's `data`; empty if it does not have any. */
const listEventValues = (document: ApiDocument, body: Schema): SchemaMember[] => {
  const data = listMembers(document, body).find(({ name }) => name === "data");
  return data === undefined ? [] : listMembers(document, data.schema);
};

/** The webhook event types. All share one body; they differ in which IDs and values are set. */
export const EventTypes: FC = () => (
  <section class="operation" aria-labelledby="event-types">
    <h2 id="event-types" tabindex={-1}>
      What is posted to your endpoints
    </h2>
    <p>
      Each type of event is posted as the feed holds it, signed in <code>Svc-Signature</code>. The type says which id is set and whether{" "}
      <code>data</code> holds new values.
    </p>
    {listEventTypes(useApiDocument()).map(({ type, when, body }) => {
      const document = useApiDocument();
      const values = listEventValues(document, body.schema);
      return (
        <section class="event-type" aria-labelledby={`event-${type}`}>
          <h3 id={`event-${type}`}>
            <code translate="no">{type}</code>
          </h3>
          <p>
            <InlineMarkdown text={when} />
          </p>
          {values.length > 0 && (
            <p class="quiet">
              In <code>data</code>: <JoinedList of={values.map(({ name }) => <code>{name}</code>)} by=", " />.
            </p>
          )}
          <CodeSample label={`Body of ${type}`} text={formatJson(getContentExample(document, body))} />
        </section>
      );
    })}
  </section>
);
